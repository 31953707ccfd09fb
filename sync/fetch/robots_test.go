package fetch_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

func TestParseRobots_Allowed(t *testing.T) {
	t.Parallel()
	// Rules are RFC 9309's; the cases follow the behaviours that the test suite of
	// Google's open-source parser names.
	for _, row := range []struct {
		name, text      string
		allowed, denied string // paths, separated by blanks
	}{
		{"empty file", "", "/ /x", ""},
		{"nothing forbidden", "User-agent: *\nDisallow:", "/ /x", ""},
		{"everything forbidden", "User-agent: *\nDisallow: /", "/robots.txt", "/ /x"},
		{"named group wins", "User-agent: *\nDisallow: /\nUser-agent: sitemapd\nDisallow: /p", "/x", "/p /page"},
		{"case of the name", "user-AGENT: SiteMapD\ndisALLOW: /p", "/x", "/p"},
		{"version in the name", "User-agent: sitemapd/1.0\nDisallow: /p", "/x", "/p"},
		{"shorter name is another", "User-agent: site\nDisallow: /", "/x", ""},
		{"longer name is another", "User-agent: sitemapd-news\nDisallow: /", "/x", ""},
		{"groups of one name join", "User-agent: sitemapd\nDisallow: /a\n\nUser-agent: b\nDisallow: /b\n\nUser-agent: sitemapd\nDisallow: /c", "/b", "/a /c"},
		{"names share a group", "User-agent: a\nUser-agent: sitemapd\nDisallow: /p", "/x", "/p"},
		{"other lines end no row of names", "User-agent: sitemapd\nCrawl-delay: 3\nSitemap: x\nUser-agent: b\nDisallow: /p", "/x", "/p"},
		{"blank lines end no group", "User-agent: sitemapd\n\n\nDisallow: /p", "/x", "/p"},
		{"rules before a group", "Disallow: /\nUser-agent: *\nDisallow: /p", "/x", "/p"},
		{"star with a comment", "User-agent: * # all\nDisallow: /p # secret", "/x", "/p"},
		{"longest match", "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/a/b /a/b/d", "/a /a/c /a/b/c/d"},
		{"tie is allowed", "User-agent: *\nDisallow: /same\nAllow: /same", "/same", ""},
		{"tie, other order", "User-agent: *\nAllow: /same\nDisallow: /same", "/same", ""},
		{"wordpress", "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php", "/wp-admin/admin-ajax.php /wp-admin", "/wp-admin/ /wp-admin/x.php"},
		{"star", "User-agent: *\nDisallow: /*.php", "/x", "/index.php /a/b.php?x=1"},
		{"end", "User-agent: *\nDisallow: /*.php$", "/index.php?x /x", "/index.php"},
		{"star in the middle", "User-agent: *\nDisallow: /a*b*c", "/ab /acb", "/abc /a1b2c3"},
		{"end after overlap", "User-agent: *\nDisallow: /*a*a$", "/a /ab", "/aa /xaya"},
		{"only a dollar", "User-agent: *\nDisallow: /$", "/x", "/"},
		{"query", "User-agent: *\nDisallow: /*?replytocom", "/a", "/a?replytocom=1"},
		{"path is case-sensitive", "User-agent: *\nDisallow: /P", "/p", "/P"},
		{"hex case", "User-agent: *\nDisallow: /%e6%97%a5", "/", "/%E6%97%A5 /%e6%97%a5/x"},
		{"raw utf-8", "User-agent: *\nDisallow: /日", "/", "/%e6%97%a5 /日"},
		{"unreserved decoded", "User-agent: *\nDisallow: /%62%61z", "/", "/baz"},
		{"reserved kept", "User-agent: *\nDisallow: /a%2Fb", "/a/b", "/a%2fb"},
		{"bom and cr", "\ufeffUser-agent: *\rDisallow: /p\r\n", "/x", "/p"},
		{"no colon", "User-agent *\nDisallow /p", "/x", "/p"},
		{"misspelt", "useragent: *\nDissallow: /p", "/x", "/p"},
		{"unknown lines", "User-agent: *\nNoindex: /x\n<html>\nDisallow: /p", "/x", "/p"},
		{"html page", "<!DOCTYPE html><html><body>User-agent</body></html>", "/x", ""},
	} {
		rules := fetch.ParseRobots([]byte(row.text), "sitemapd")
		for _, path := range strings.Fields(row.allowed) {
			if !rules.Allowed("https://example.org" + path) {
				t.Errorf("%s: %s is forbidden", row.name, path)
			}
		}
		for _, path := range strings.Fields(row.denied) {
			if rules.Allowed("https://example.org" + path) {
				t.Errorf("%s: %s is allowed", row.name, path)
			}
		}
	}
}

func TestParseRobots_SitemapsAndCrawlDelay(t *testing.T) {
	t.Parallel()
	rules := fetch.ParseRobots([]byte("Sitemap: https://a.test/1.xml\nUser-agent: *\nCrawl-delay: 2.5\n"+
		"SITEMAP:https://a.test/2.xml # two\nUser-agent: other\nDisallow:/\nCrawl-delay: 9\nsitemap: /3.xml\nSitemap:\n"), "sitemapd")
	if diff := cmp.Diff([]string{"https://a.test/1.xml", "https://a.test/2.xml", "/3.xml"}, rules.Sitemaps()); diff != "" {
		t.Errorf("sitemaps (-want +got):\n%s", diff)
	}
	for text, want := range map[string]time.Duration{
		"2.5": 2500 * time.Millisecond, "0": 0, "-1": 0, "NaN": 0, "soon": 0, "1e300": 24 * time.Hour, "10": 10 * time.Second,
	} {
		if got := fetch.ParseRobots([]byte("User-agent: *\nCrawl-delay: "+text), "sitemapd").CrawlDelay(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	var none *fetch.RobotsRules
	if !none.Allowed("/x") || none.CrawlDelay() != 0 || none.Sitemaps() != nil || fetch.DenyAll().Allowed("/x") || !fetch.DenyAll().Allowed("/robots.txt") {
		t.Error("no rules must allow, DenyAll must not")
	}
}

func TestReadRobots_StatusDecides(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("User-agent: sitemapd\nDisallow: /p\n"))
	_ = z.Close()
	for name, row := range map[string]struct {
		h           http.HandlerFunc
		rest, under bool // "/x" and "/p" allowed
	}{
		"found": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RequestURI() != "/robots.txt" {
				w.WriteHeader(500)
			}
			_, _ = w.Write([]byte("User-agent: sitemapd\nDisallow: /p\n"))
		}, true, false},
		"gzip unasked": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(zipped.Bytes()) }, true, false},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.Redirect(w, r, "/other.txt", http.StatusMovedPermanently)
				return
			}
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /p\n"))
		}, true, false},
		"not found":   {http.NotFound, true, true},
		"forbidden":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, true, true},
		"empty":       {func(http.ResponseWriter, *http.Request) {}, true, true},
		"loop":        {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/robots.txt", http.StatusFound) }, true, true},
		"unavailable": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, false, false},
		"busy":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, false, false},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("User-agent: *"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, row.h)
			o := loopback()
			o.UserAgent = "sitemapd/1.0"
			rules, r := newClient(t, o).ReadRobots(t.Context(), fetch.Request{URL: s.URL + "/a/page/?x=1"})
			if rules.Allowed(s.URL+"/x") != row.rest || rules.Allowed(s.URL+"/p") != row.under {
				t.Errorf("%q %d: /x %v, /p %v", r.Outcome, r.Status, rules.Allowed("/x"), rules.Allowed("/p"))
			}
		})
	}
}

func FuzzParseRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*a*$\nAllow: /%e6\n"), "/a?b=%zz")
	f.Add([]byte("\xef\xbb\xbfuser agent *\rdisallow"), "//[::1")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		rules := fetch.ParseRobots(text, "sitemapd")
		rules.Allowed(path)
		if !rules.Allowed("/robots.txt") || rules.CrawlDelay() < 0 {
			t.Error("robots.txt must be readable, a delay not negative")
		}
	})
}
