package canonical_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
	"golang.org/x/net/html"
)

// wordpressPage makes a page as WordPress with an SEO plugin prints it: a head
// of about 20 KB, most of it inline style, and paragraphs up to size bytes.
func wordpressPage(size int) []byte {
	var b strings.Builder
	const url = "https://example.com/2026/11/a-post/"
	b.WriteString(`<!DOCTYPE html><html lang="en-US"><head><meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
		`<meta name='robots' content='index, follow, max-image-preview:large, max-snippet:-1, max-video-preview:-1'><title>A post &#8211; A site</title>` +
		`<link rel="canonical" href="` + url + `"><meta property="og:locale" content="en_US"><meta property="og:type" content="article">` +
		`<meta property="og:title" content="A post"><meta property="og:url" content="` + url + `"><meta property="og:site_name" content="A site">`)
	b.WriteString(`<script type="application/ld+json" class="yoast-schema-graph">{"@context":"https://schema.org","@graph":[{"@type":"Article","@id":"` + url +
		`#article","isPartOf":{"@id":"` + url + `"},"author":{"name":"A","@id":"https://example.com/#/schema/person/1"},"headline":"A post","datePublished":"2026-11-30T10:00:00+00:00","mainEntityOfPage":{"@id":"` +
		url + `"},"wordCount":900,"inLanguage":"en-US"},{"@type":"WebPage","@id":"` + url + `","url":"` + url + `","name":"A post","isPartOf":{"@id":"https://example.com/#website"},"breadcrumb":{"@id":"` + url +
		`#breadcrumb"}},{"@type":"BreadcrumbList","@id":"` + url + `#breadcrumb","itemListElement":[{"@type":"ListItem","position":1,"name":"Home","item":"https://example.com/"}]},{"@type":"WebSite","@id":"https://example.com/#website","url":"https://example.com/","name":"A site"}]}</script>`)
	for i := 0; i < 12; i++ {
		fmt.Fprintf(&b, `<link rel='stylesheet' id='style-%d-css' href='https://example.com/wp-content/plugins/p%d/style.css?ver=7.1' media='all'><script src="https://example.com/wp-includes/js/s%d.js" defer></script>`, i, i, i)
	}
	b.WriteString("<style id='global-styles-inline-css'>" + strings.Repeat(".wp-block-group{--wp--preset--color--black: #000000; margin-block-start: 0;}\n", 180) + "</style>")
	b.WriteString(`<link rel="https://api.w.org/" href="https://example.com/wp-json/"><link rel="alternate" title="JSON" type="application/json" href="https://example.com/wp-json/wp/v2/posts/7">` +
		`<link rel='shortlink' href='https://example.com/?p=7'></head><body class="post single"><header><nav><ul>` + strings.Repeat(`<li class="menu-item"><a href="/x">Item</a></li>`, 30) + `</ul></nav></header><main><article>`)
	for b.Len() < size {
		b.WriteString(`<p class="wp-block-paragraph">Words of a paragraph with a <a href="https://example.com/other/">link</a>, <em>stress</em> and an image <img src="/i.jpg" alt="x" width="10" height="10">.</p>` + "\n")
	}
	b.WriteString("</article></main></body></html>")
	return []byte(b.String())
}

func response(page []byte, after int) canonical.Response {
	return canonical.Response{URL: "https://example.com/2026/11/a-post/", Status: 200, Body: page, After: after, Header: map[string][]string{
		"Content-Type": {"text/html; charset=UTF-8"}, "Link": {`<https://example.com/wp-json/>; rel="https://api.w.org/"`,
			`<https://example.com/wp-json/wp/v2/posts/7>; rel="alternate"; title="JSON"; type="application/json"`, `<https://example.com/?p=7>; rel=shortlink`}}}
}

// The benchmarks read one page of 150 KB. Compare them within one run.
func BenchmarkPage(b *testing.B) {
	page := wordpressPage(150_000)
	offset, _ := headscan.Ended(page)
	b.Run(fmt.Sprintf("scan of the head, %d of %d bytes", offset, len(page)), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			headscan.Ended(page)
		}
	})
	b.Run("Extract, head only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			canonical.Extract(response(page, -1))
		}
	})
	b.Run("Extract, whole page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			canonical.Extract(response(page, 0))
		}
	})
	b.Run("Extract and Judge, head only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			canonical.Judge(canonical.Input{Evidence: canonical.Extract(response(page, -1)), At: epoch})
		}
	})
	b.Run("x/net tokenizer, whole page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			z := html.NewTokenizer(bytes.NewReader(page))
			for z.Next() != html.ErrorToken {
			}
		}
	})
	b.Run("html.Parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := html.Parse(bytes.NewReader(page)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestWordPressPage_IsValidatedSelf(t *testing.T) {
	t.Parallel()
	for _, after := range []int{-1, 0} {
		ev := canonical.Extract(response(wordpressPage(150_000), after))
		v := canonical.Judge(canonical.Input{Evidence: ev, At: epoch})
		if len(v.Relationships) != 1 || v.Relationships[0].Rule != "E1" || v.Relationships[0].Score != 0.98 {
			t.Errorf("after %d: %+v", after, v.Relationships)
		}
		if n := len(ev.Items); n < 9 {
			t.Errorf("after %d: %d statements", after, n)
		}
	}
}
