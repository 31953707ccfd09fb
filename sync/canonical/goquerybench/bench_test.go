// Package goquerybench compares the extraction of a page's head with goquery on
// the same page, in one run. It is a module of its own so that the product's
// go.mod stays free of a library that only this comparison needs.
//
//	cd sync/canonical/goquerybench && go test -bench .
package goquerybench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"golang.org/x/net/html"
)

func page() []byte {
	return []byte(`<!DOCTYPE html><html><head><meta charset="UTF-8"><title>A post</title><style>` + strings.Repeat(".a{margin:0;color:#000}\n", 600) +
		`</style><link rel="canonical" href="https://example.com/a-post/"></head><body>` +
		strings.Repeat(`<p class="b">Words of a paragraph with a <a href="https://example.com/other/">link</a> and <em>stress</em>.</p>`+"\n", 1250) + `</body></html>`)
}

func BenchmarkCanonical(b *testing.B) {
	doc := page()
	header := map[string][]string{"Content-Type": {"text/html; charset=UTF-8"}}
	b.Run("Extract, head only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ev := canonical.Extract(canonical.Response{URL: "https://example.com/a-post/", Status: 200, Header: header, Body: doc, After: -1})
			if len(ev.Declared()) != 1 {
				b.Fatal("no canonical")
			}
		}
	})
	b.Run("Extract, whole page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			canonical.Extract(canonical.Response{URL: "https://example.com/a-post/", Status: 200, Header: header, Body: doc})
		}
	})
	b.Run("html.Parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := html.Parse(bytes.NewReader(doc)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("goquery", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := goquery.NewDocumentFromReader(bytes.NewReader(doc))
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := d.Find(`head link[rel="canonical"]`).Attr("href"); !ok {
				b.Fatal("no canonical")
			}
		}
	})
}
