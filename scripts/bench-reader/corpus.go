// Package benchreader measures the sitemap reader beside other parsers on documents of 50,000 entries that it makes
// itself. run.sh runs it and the peers of other languages; results are ratios of one run on one machine.
package benchreader

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"
)

// Entries is the protocol's limit for one document.
const Entries = 50_000

// Core is a document as WordPress core writes it: loc and lastmod, all on one line.
func Core() []byte { return document(false, false) }

// Yoast is the same, pretty-printed.
func Yoast() []byte { return document(true, false) }

// Rich is the same with three language alternates and one to three images an entry.
func Rich() []byte { return document(true, true) }

// words makes a vocabulary of 4,096 made-up words, so that a document compresses about as well as those of real sites do
// (four to one for plain entries).
func words(random *rand.Rand) []string {
	syllables := []string{
		"ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "ne", "pa", "ri", "so", "tu", "ve", "wa", "ster", "land", "ing",
		"ment", "tion", "er", "al", "on",
	}
	out := make([]string, 4096)
	for i := range out {
		for range 2 + random.IntN(3) {
			out[i] += syllables[random.IntN(len(syllables))]
		}
	}
	return out
}

func document(pretty, rich bool) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	vocabulary := words(random)
	var b bytes.Buffer
	nl, tab := "", ""
	if pretty {
		nl, tab = "\n", "\t"
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + nl)
	b.WriteString(`<?xml-stylesheet type="text/xsl" href="https://www.example-shop.org/wp-sitemap.xsl" ?>` + nl)
	b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`)
	if rich {
		b.WriteString(` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml"`)
	}
	b.WriteString(">" + nl)
	for i := range Entries {
		word := func() string { return vocabulary[random.IntN(len(vocabulary))] }
		published := time.Unix(1_300_000_000+random.Int64N(400_000_000), 0).UTC()
		path := fmt.Sprintf("%s/%s-%s-%s-%s/", published.Format("2006/01"), word(), word(), word(), word())
		b.WriteString(tab + "<url>" + nl)
		fmt.Fprintf(&b, "%s%s<loc>https://www.example-shop.org/%s</loc>%s", tab, tab, path, nl)
		fmt.Fprintf(&b, "%s%s<lastmod>%s+02:00</lastmod>%s", tab, tab,
			published.Add(time.Duration(random.IntN(1e6))*time.Second).Format("2006-01-02T15:04:05"), nl)
		if rich {
			for _, lang := range [][2]string{{"en", ""}, {"de", "de/"}, {"fr-CA", "fr-ca/"}} {
				fmt.Fprintf(&b, "%s%s<xhtml:link rel=\"alternate\" hreflang=\"%s\" href=\"https://www.example-shop.org/%s%s\" />%s",
					tab, tab, lang[0], lang[1], path, nl)
			}
			for j := range 1 + i%3 {
				fmt.Fprintf(&b, "%s%s<image:image>%s%s%s%s<image:loc>https://www.example-shop.org/wp-content/uploads/%s/%s-%s-%d-%d.jpg</image:loc>%s%s%s</image:image>%s",
					tab, tab, nl, tab, tab, tab, published.Format("2006/01"), word(), word(), i, j, nl, tab, tab, nl)
			}
		}
		b.WriteString(tab + "</url>" + nl)
	}
	b.WriteString("</urlset>" + nl)
	return b.Bytes()
}
