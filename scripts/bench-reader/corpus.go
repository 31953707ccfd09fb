// Package benchreader measures the sitemap reader beside other parsers on documents of 50,000 entries that it makes
// itself. run.sh runs it and the peers of other languages; results are ratios of one run on one machine.
package benchreader

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Entries is the protocol's limit for one document.
const Entries = 50_000

// Core is a document as WordPress core writes it: loc and lastmod, all on one line.
func Core() []byte { return document(false, false) }

// Yoast is the same, pretty-printed.
func Yoast() []byte { return document(true, false) }

// Rich is the same with three language alternates and one to three images an entry.
func Rich() []byte { return document(true, true) }

var words = []string{
	"winter", "garden", "recipe", "review", "travel", "update", "release", "simple", "garlic", "coffee", "mountain",
	"morning", "kitchen", "library", "project", "weekend", "history", "village", "climate", "evening",
}

func document(pretty, rich bool) []byte {
	random := rand.New(rand.NewPCG(1, 2))
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
		word := func() string { return words[random.IntN(len(words))] }
		path := fmt.Sprintf("%04d/%02d/%s-%s-%s-%d/", 2010+i%15, 1+i%12, word(), word(), word(), i)
		b.WriteString(tab + "<url>" + nl)
		fmt.Fprintf(&b, "%s%s<loc>https://www.example-shop.org/%s</loc>%s", tab, tab, path, nl)
		fmt.Fprintf(&b, "%s%s<lastmod>%04d-%02d-%02dT%02d:%02d:%02d+02:00</lastmod>%s", tab, tab,
			2010+i%15, 1+i%12, 1+i%28, i%24, i%60, i*7%60, nl)
		if rich {
			for _, lang := range [][2]string{{"en", ""}, {"de", "de/"}, {"fr-CA", "fr-ca/"}} {
				fmt.Fprintf(&b, "%s%s<xhtml:link rel=\"alternate\" hreflang=\"%s\" href=\"https://www.example-shop.org/%s%s\" />%s",
					tab, tab, lang[0], lang[1], path, nl)
			}
			for j := range 1 + i%3 {
				fmt.Fprintf(&b, "%s%s<image:image>%s%s%s%s<image:loc>https://www.example-shop.org/wp-content/uploads/%04d/%02d/%s-%s-%d-%d.jpg</image:loc>%s%s%s</image:image>%s",
					tab, tab, nl, tab, tab, tab, 2010+i%15, 1+i%12, word(), word(), i, j, nl, tab, tab, nl)
			}
		}
		b.WriteString(tab + "</url>" + nl)
	}
	b.WriteString("</urlset>" + nl)
	return b.Bytes()
}
