package sitetest_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// noon is the clock of the tests.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func start(t *testing.T, o sitetest.Options) *sitetest.Site {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	s := sitetest.New(o)
	if err := s.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// small is a site with several files of every kind in each layout.
func small(l sitetest.Layout, p sitetest.Permalinks) sitetest.Options {
	return sitetest.Options{
		Layout: l, Permalinks: p, Posts: 25, Pages: 12, Categories: 4, Tags: 30, Users: 3, PerFile: 10, Seed: 7,
	}
}

// get asks once and follows no redirect.
func get(t *testing.T, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("GET %s: read body: %v", url, err)
	}
	return resp, string(text)
}

type document struct {
	XMLName xml.Name
	URLs    []listed `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
	Files   []listed `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemap"`
}

type listed struct {
	Loc     string   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
	Lastmod string   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 lastmod"`
	Images  []string `xml:"http://www.google.com/schemas/sitemap-image/1.1 image>loc"`
}

func parse(t *testing.T, text string) document {
	t.Helper()
	var d document
	if err := xml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("parse: %v\n%.300s", err, text)
	}
	return d
}

// walk reads everything from the index and returns the URLs, and the files.
func walk(t *testing.T, s *sitetest.Site) (map[string]string, []string) {
	t.Helper()
	files := []string{s.Index()}
	urls := map[string]string{}
	_, text := get(t, s.Index())
	for _, file := range parse(t, text).Files {
		files = append(files, file.Loc)
		resp, text := get(t, file.Loc)
		if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
			t.Fatalf("GET %s: %s", file.Loc, resp.Status)
		}
		for _, u := range parse(t, text).URLs {
			if _, twice := urls[u.Loc]; twice {
				t.Errorf("%s is listed twice", u.Loc)
			}
			urls[u.Loc] = u.Lastmod
		}
	}
	return urls, files
}

func TestSite_InventoryIsWhatAWalkReads(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]sitetest.Options{
		"core":           small(sitetest.Core, sitetest.PostName),
		"core by day":    small(sitetest.Core, sitetest.DayName),
		"core plain":     small(sitetest.Core, sitetest.Plain),
		"yoast":          small(sitetest.Yoast, sitetest.PostName),
		"rank math":      small(sitetest.RankMath, sitetest.PostName),
		"rank math day":  small(sitetest.RankMath, sitetest.DayName),
		"empty core":     {},
		"zone":           {Posts: 5, Location: time.FixedZone("", 5*3600+1800)},
		"404 with body":  {Posts: 12, Pages: 9, PerFile: 3, BlogPage: 10},
		"404 everything": {Pages: 3, NoPosts404: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, o)
			urls, files := walk(t, s)
			if diff := cmp.Diff(s.Inventory(), urls); diff != "" {
				t.Errorf("inventory and walk differ (-inventory +walk):\n%s", diff)
			}
			if diff := cmp.Diff(s.Documents(), files); diff != "" {
				t.Errorf("documents (-said +read):\n%s", diff)
			}
			if len(urls) < 1 {
				t.Error("nothing is listed")
			}
			for url := range urls {
				if resp, text := get(t, url); resp.StatusCode != http.StatusOK || !strings.Contains(text, `<link rel="canonical" href="`+strings.ReplaceAll(url, "&", "&amp;")+`"`) {
					t.Errorf("GET %s: %s\n%s", url, resp.Status, text)
				}
			}
		})
	}
}

func TestSite_EditsShowInInventoryAndWalk(t *testing.T) {
	t.Parallel()
	for _, layout := range []sitetest.Layout{sitetest.Core, sitetest.Yoast, sitetest.RankMath} {
		s := start(t, small(layout, sitetest.PostName))
		before := s.Inventory()
		p := &sitetest.Publisher{Site: s, Seed: 3}
		kinds := map[string]int{}
		for range 120 {
			e := p.Step()
			kinds[e.Type]++
			if _, live := s.Inventory()[e.URL]; live != (e.Type == "post.published" || e.Type == "post.updated") {
				t.Fatalf("layout %d: after %+v listed = %v", layout, e, live)
			}
			if _, live := s.Inventory()[e.PreviousURL]; live {
				t.Fatalf("layout %d: %+v: the previous URL is still listed", layout, e)
			}
		}
		for _, kind := range []string{"post.published", "post.updated", "post.unpublished", "post.deleted"} {
			if kinds[kind] == 0 {
				t.Errorf("layout %d: 120 edits held no %s: %v", layout, kind, kinds)
			}
		}
		urls, _ := walk(t, s)
		if diff := cmp.Diff(s.Inventory(), urls); diff != "" {
			t.Errorf("layout %d: inventory and walk differ:\n%s", layout, diff)
		}
		if cmp.Equal(before, urls) {
			t.Error("edits changed nothing")
		}
	}
}
