package canonical_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

func TestExtract_ACrowdHidesNoDeclaration(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("<html><head>")
	for i := 0; i < 5000; i++ {
		fmt.Fprintf(&b, `<link rel="alternate" hreflang="l%d" href="/%d/">`, i, i)
	}
	b.WriteString(`<link rel="canonical" href="` + source + `"></head></html>`)
	r := answer(200, "")
	r.Body = []byte(b.String())
	ev := canonical.Extract(r)
	if d := ev.Declared(); len(d) != 1 || ev.Dropped == 0 || len(ev.Items) > canonical.MaxItems+canonical.MaxDeclared {
		t.Errorf("%d declarations, %d statements, %d dropped", len(d), len(ev.Items), ev.Dropped)
	}
	r.Body = []byte(strings.Replace(b.String(), "canonical", "other", 1))
	if ev := canonical.Extract(r); ev.Reading != canonical.ReadingTruncated {
		t.Errorf("statements were dropped and none declares: %s, want truncated", ev.Reading)
	}
}

func TestExtract_OpensGzipThatNobodyDeclared(t *testing.T) {
	t.Parallel()
	r := answer(200, source)
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, _ = zw.Write(r.Body)
	_ = zw.Close()
	whole := b.Bytes()
	for name, body := range map[string][]byte{"whole": whole, "cut": whole[:len(whole)-9]} {
		r.Body = body
		if ev := canonical.Extract(r); len(ev.Declared()) != 1 {
			t.Errorf("%s: %s, %+v", name, ev.Reading, ev.Items)
		}
	}
	bomb := bytes.NewBuffer(nil)
	zw = gzip.NewWriter(bomb)
	for i := 0; i < 64; i++ {
		_, _ = zw.Write(make([]byte, 1<<20))
	}
	_ = zw.Close()
	r.Body = bomb.Bytes()
	if ev := canonical.Extract(r); ev.Reading == canonical.ReadingRead && len(ev.Items) > 0 {
		t.Errorf("%s with %d statements", ev.Reading, len(ev.Items))
	}
}

func TestExtract_ReadsTheSameInEveryEncoding(t *testing.T) {
	t.Parallel()
	doc := string(answer(200, "https://example.com/a?x=1").Body)
	utf16 := func(order func(rune) []byte, bom string) []byte {
		out := []byte(bom)
		for _, r := range doc {
			out = append(out, order(r)...)
		}
		return out
	}
	le := func(r rune) []byte { return []byte{byte(r), byte(r >> 8)} }
	be := func(r rune) []byte { return []byte{byte(r >> 8), byte(r)} }
	for name, body := range map[string][]byte{"utf-8": []byte(doc), "utf-8 with mark": []byte("\xef\xbb\xbf" + doc), "utf-16le": utf16(le, "\xff\xfe"), "utf-16be": utf16(be, "\xfe\xff")} {
		r := answer(200, "")
		r.Header["Content-Type"], r.Body = []string{"text/html"}, body
		ev := canonical.Extract(r)
		if d := ev.Declared(); len(d) != 1 || d[0].URL != "https://example.com/a?x=1" {
			t.Errorf("%s: %s %s %+v", name, ev.Reading, ev.Charset, ev.Items)
		}
	}
}

func TestExtract_KeepsEveryHopApart(t *testing.T) {
	t.Parallel()
	r := answer(200, "https://example.com/c/")
	r.URL = "https://example.com/a/"
	loc := func(u string) map[string][]string { return map[string][]string{"location": {u}} }
	r.Hops = []canonical.Hop{{URL: r.URL, Status: 301, Header: loc("/b/")}, {URL: "https://example.com/b/", Status: 302, Header: loc("https://example.com/c/")}}
	r.Sitemaps = []canonical.SitemapListing{{Document: "https://example.com/sitemap.xml", Loc: r.URL}}
	ev := canonical.Extract(r)
	if ev.Source != "https://example.com/a/" || len(ev.Along) != 2 || ev.Along[0].Source != "https://example.com/b/" || ev.Landing().Source != "https://example.com/c/" {
		t.Fatalf("%s along %d, landing %s", ev.Source, len(ev.Along), ev.Landing().Source)
	}
	if len(ev.Declared())+len(ev.Along[0].Declared()) != 0 || len(ev.Landing().Declared()) != 1 {
		t.Error("the page's declaration counts for a URL that leads to it")
	}
	if n := len(ev.Of(canonical.KindSitemap)); n != 1 || len(ev.Landing().Of(canonical.KindSitemap)) != 0 {
		t.Error("the listing of the asked URL is not with it alone")
	}
	v := canonical.Judge(canonical.Input{Evidence: ev, At: epoch})
	if v.Head.Edge != "https://example.com/b/" {
		t.Errorf("a leads to %q", v.Head.Edge)
	}
	for _, c := range v.Candidates {
		if c.Target == "https://example.com/c/" {
			t.Error("a temporary hop moved the preference")
		}
	}
}

func TestExtract_ReadsThePagesDates(t *testing.T) {
	t.Parallel()
	r := answer(200, "")
	r.Header["Last-Modified"] = []string{"Mon, 30 Nov 2026 12:00:00 GMT"}
	r.Body = []byte(`<html><head><meta property="article:published_time" content="2026-11-01T10:00:00+01:00"><meta property="article:modified_time" content="2026-11-20T10:00:00+01:00">` +
		`<script type="application/ld+json">{"@type":"Article","dateModified":"2026-11-21T09:00:00Z","author":{"@type":"Person","dateModified":"2030-01-01"}}</script></head></html>`)
	ev := canonical.Extract(r)
	if want := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC); !ev.Modified().Equal(want) || len(ev.Dates) != 4 {
		t.Errorf("modified %s of %+v", ev.Modified(), ev.Dates)
	}
}

func TestAlternates_NeedReturnLinks(t *testing.T) {
	t.Parallel()
	page := func(url string, links ...string) canonical.Evidence {
		r := canonical.Response{URL: url, Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: []byte("<head>" + strings.Join(links, "") + "</head>")}
		return canonical.Extract(r)
	}
	link := func(lang, url string) string {
		return `<link rel="alternate" hreflang="` + lang + `" href="` + url + `">`
	}
	en, de, fr, it := "https://example.com/en/", "https://example.com/de/", "https://example.com/fr/", "https://example.com/it/"
	me := page(en, link("en", en), link("de", de), link("fr", fr), link("it", it))
	known := map[canonical.Key]*canonical.Evidence{}
	for _, e := range []canonical.Evidence{me, page(de, link("en", en), link("de", de)), page(fr, link("fr", fr), `<link rel="canonical" href="/">`)} {
		known[e.Key] = &e
	}
	noReturn, nonCanonical := canonical.Alternates(&me, known)
	if diff := cmp.Diff([][]string{{fr}, {fr}}, [][]string{noReturn, nonCanonical}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
