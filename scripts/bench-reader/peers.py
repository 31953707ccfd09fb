"""Reads a document with a Python library and prints the processor time in milliseconds and the number of pages.
usage: peers.py scrapy|lxml|etree|expat FILE ROUNDS"""
import sys
import time

library, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
body = open(name, "rb").read()


def with_scrapy():
    from scrapy.utils.sitemap import Sitemap

    return sum(1 for _ in Sitemap(body))


def with_lxml():
    import lxml.etree

    root = lxml.etree.fromstring(body, lxml.etree.XMLParser(huge_tree=True))
    return sum(1 for url in root if url.findtext("{*}loc"))


def with_etree():
    import io
    import xml.etree.ElementTree as tree

    n = 0
    for _, element in tree.iterparse(io.BytesIO(body)):
        if element.tag.endswith("}url"):
            n += 1
            element.clear()
    return n


def with_expat():
    import xml.parsers.expat

    n = [0]
    parser = xml.parsers.expat.ParserCreate()

    def end(tag):
        n[0] += tag == "url"

    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: None
    parser.Parse(body, True)
    return n[0]


for _ in range(rounds):
    start = time.process_time()
    n = globals()["with_" + library]()
    print("%.1f %d" % ((time.process_time() - start) * 1000, n))
