package canonical_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// seeds are the bodies of all fixtures.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	paths, _ := filepath.Glob("testdata/cases/*.case")
	var out [][]byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		if i := bytes.Index(b, []byte("<html>")); i >= 0 && !bytes.Contains(b, []byte("{{repeat")) {
			out = append(out, []byte(unescape(string(b[i:]))))
		} else if i := bytes.Index(b, []byte("@head: ")); i >= 0 && !bytes.Contains(b, []byte("{{repeat")) {
			out = append(out, []byte(unescape(strings.ReplaceAll(string(b[i:]), "@head: ", ""))))
		}
	}
	return out
}

// FuzzExtract plays any document and header through the whole package.
func FuzzExtract(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, `</c>; rel="canonical", <https://example.com/x>; rel=alternate; hreflang=de`, "text/html; charset=utf-8", "noindex, unavailable_after: 25 Jun 2030 15:00:00 PST", 200)
	}
	f.Add([]byte("\xff\xfe<\x00h\x00"), "<", "text/html; charset=utf-16", ":,", 404)
	f.Fuzz(func(t *testing.T, body []byte, link, contentType, robots string, status int) {
		r := canonical.Response{URL: "https://example.com/blog/post/", Status: status, Fetched: epoch, Body: body,
			Header: map[string][]string{"Content-Type": {contentType}, "Link": {link}, "X-Robots-Tag": {robots}, "Refresh": {link}}}
		ev := canonical.Extract(r)
		if len(ev.Items) > canonical.MaxItems+canonical.MaxDeclared {
			t.Fatalf("%d statements", len(ev.Items))
		}
		for _, it := range ev.Items {
			if len(it.Raw) > canonical.MaxRaw || len(it.Source) > 600 {
				t.Fatalf("a value of %d bytes, its tag of %d", len(it.Raw), len(it.Source))
			}
			if it.Accepted && it.Kind == canonical.KindHTMLLink && it.Place != canonical.PlaceHead {
				t.Fatalf("accepted in %s: %+v", it.Place, it)
			}
			if it.Accepted == (it.Reason != "") && it.Kind != canonical.KindRobots {
				t.Fatalf("accepted %v with reason %q", it.Accepted, it.Reason)
			}
			if it.Accepted && it.Declares() && (it.URL == "" || it.Key.IsZero()) {
				t.Fatalf("a declaration without target is accepted: %+v", it)
			}
		}
		v := canonical.Judge(canonical.Input{Evidence: ev, At: epoch})
		for _, rel := range v.Relationships {
			if rel.Score < 0 || rel.Score > 0.99 || rel.Rule == "" {
				t.Fatalf("relationship %+v", rel)
			}
		}
		s := canonical.Advance(canonical.Record{}, canonical.Observed{Evidence: ev, Verdict: v, At: epoch})
		canonical.Advance(s.Next, canonical.Observed{Evidence: ev, Verdict: v, At: epoch.Add(2 * time.Hour)})
		canonical.Report(canonical.Case{Evidence: ev, Verdict: v, Listing: canonical.Listing{Listed: true}})
		if _, err := json.Marshal(canonical.Lines(&ev, v)); err != nil {
			t.Fatalf("lines: %v", err)
		}
	})
}

func FuzzRobots(f *testing.F) {
	for _, s := range []string{"noindex, nofollow", "googlebot: noindex, otherbot: none", "unavailable_after: Wednesday, 25-Jun-26 15:00:00 GMT, noarchive", "max-snippet:-1,max-image-preview:large", ":::,,,"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, inHeader bool) {
		out := canonical.ParseRobots(s, inHeader)
		if len(out) > 64 {
			t.Fatalf("%d directives", len(out))
		}
		for _, d := range out {
			if strings.ToLower(d.Name) != d.Name || !inHeader && d.Agent != "" {
				t.Fatalf("directive %+v", d)
			}
		}
	})
}

func FuzzRefresh(f *testing.F) {
	for _, s := range []string{"0; url=/x", "0;", "5", "0;URL='/x'", ".5;x", "0 , url = \"a", "99999999999999999999;x", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		delay, url, ok := canonical.ParseRefresh(s)
		if !ok && (delay != 0 || url != "") || delay < 0 || len(url) > len(s) {
			t.Fatalf("%q: %d %q %v", s, delay, url, ok)
		}
	})
}
