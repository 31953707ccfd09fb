package canonical_test

import (
	"html"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// href gives the statement that a link with that href comes to, on the page
// https://example.com/blog/post/?p=1.
func href(raw string) canonical.Item {
	r := canonical.Response{URL: "https://example.com/blog/post/?p=1", Status: 200, Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}},
		Body: []byte(`<html><head><link rel="canonical" href="` + html.EscapeString(raw) + `"></head></html>`)}
	ev := canonical.Extract(r)
	return ev.Of(canonical.KindHTMLLink)[0]
}

// TestResolve_FollowsTheURLStandard has the inputs on which net/url and the
// WHATWG URL standard differ.
func TestResolve_FollowsTheURLStandard(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://h.org/a\n":              "https://h.org/a",
		"https://h.o\trg/\na":            "https://h.org/a",
		`https:\\h.org\a`:                "https://h.org/a",
		"https:/a":                       "https://example.com/a",
		"https:a":                        "https://example.com/blog/post/a",
		"http:/h.org/a":                  "http://h.org/a",
		"///h.org/x":                     "https://h.org/x",
		"HTTPS://Example.COM:443/":       "https://example.com/",
		"https://exämple.com/":           "https://xn--exmple-cua.com/",
		"?q=ü":                           "https://example.com/blog/post/?q=%C3%BC",
		"/%zz":                           "https://example.com/%zz",
		"/100%":                          "https://example.com/100%",
		`a\b`:                            "https://example.com/blog/post/a/b",
		"/a/%2e%2e/b":                    "https://example.com/b",
		"/a/../../b":                     "https://example.com/b",
		"https://h.org?x":                "https://h.org/?x",
		"https://h.org":                  "https://h.org/",
		"https://h.org/#":                "https://h.org/",
		"\ufeffhttps://h.org/":           "https://example.com/blog/post/%EF%BB%BFhttps://h.org/",
		"https://0x7f.1/":                "https://127.0.0.1/",
		"https://2130706433/":            "https://127.0.0.1/",
		"https://[::1]/x":                "https://[::1]/x",
		"#top":                           "https://example.com/blog/post/?p=1",
		"page":                           "https://example.com/blog/post/page",
		"./":                             "https://example.com/blog/post/",
		"../":                            "https://example.com/blog/",
		"//h.org":                        "https://h.org/",
		"www.h.org/x":                    "https://example.com/blog/post/www.h.org/x",
		"example.com/x":                  "https://example.com/blog/post/example.com/x",
		"/a b":                           "https://example.com/a%20b",
		"{x} y":                          "https://example.com/blog/post/%7Bx%7D%20y",
		"/a^b":                           "https://example.com/a%5Eb",
		"/a<b>":                          "https://example.com/a%3Cb%3E",
		"/%d9%85":                        "https://example.com/%d9%85",
		"https://h.org/a,b;c=1?x=%2F&y=": "https://h.org/a,b;c=1?x=%2F&y=",
	} {
		if it := href(raw); it.URL != want || !it.Accepted {
			t.Errorf("%q: %q (%s), want %q", raw, it.URL, it.Reason, want)
		}
	}
	for _, raw := range []string{"//", "http://", "https://h.org:99999/", "https://h.org:x/", "https://a b/", "https://exa%00mple.com/", "https://[::1/"} {
		if it := href(raw); it.Accepted {
			t.Errorf("%q: accepted as %q", raw, it.URL)
		}
	}
}

// TestResolve_KnowsAHostWhoseSchemeWasForgotten whether the URL standard reads it as a path or as a scheme.
func TestResolve_KnowsAHostWhoseSchemeWasForgotten(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"192.0.2.1:8080/x": true, "192.0.2.1:8080": true, "192.0.2.1/x": true, "192.0.2.1:8080?x=1": true, "192.0.2.1": false, "1.2.3/x": false, "192.0.2.256/x": false,
		"[2001:db8::1]:8080/x": true, "[2001:db8::1]/x": true, "[2001:DB8::1]": true, "[::ffff:192.0.2.1]:80/": true, "2001:db8::1/x": false, "[x]/y": false, "[192.0.2.1]/y": false,
		"localhost:8080/x": true, "localhost:8080": true, "localhost/x": true, "localhost": false, "LOCALHOST:80/": true,
		"example.com:443/x": true, "example.com:443": true, "EXAMPLE.com:443/x": true, "example.com:/x": true, "example.com./x": true, "example.com:99999/x": false,
		"example.com:8080?p=1": true, "www.example.com:8080/x": true, "www.example.com?x": true, "www.example.com": true, "1and1.com:443/x": true, "3d.example.com/x": true,
		"münchen.de:8080/x": true, "my_shop.example.com:80/x": true, "shop.internal:8080/x": true, "wordpress:8080/x": true, "wordpress:8080": false,
		"example.com/x": true, "http//example.com/x": true, "feed.xml/x": false, "index.html": false, "v1.2/x": false, "v1.2:3/x": false, "12:30/x": false, "a:b/c": false,
		"mailto:25/x": false, "tel:911": false, "/192.0.2.1:8080/x": false, "//192.0.2.1:8080/x": false, "?u=192.0.2.1:8080/x": false, "page/192.0.2.1:8080/x": false, ":8080/x": false,
		"user@example.com:80/x": false, "http://192.0.2.1:8080/x": false,
	} {
		if it := href(raw); it.HasHint(canonical.HintMissingScheme) != want {
			t.Errorf("%q: hints %v, want missing_scheme %t", raw, it.Hints, want)
		}
	}
}

// TestResolve_IsIdempotent: what was resolved resolves to itself, with the same key.
func TestResolve_IsIdempotent(t *testing.T) {
	t.Parallel()
	paths := []string{"/", "/a", "/%7Ea", "/%2F", "/a/./b/../c", "/%zz", "/ä", "/a b", "//x//", "/?", "/?a=%26&b", "/a;b=c,d", "/%d9", "/a|b", "/a'b", "/[x]"}
	hosts := []string{"https://example.com", "HTTP://EXAMPLE.com:80", "https://exämple.com", "https://example.com.", "http://[2001:DB8::1]:8080"}
	for _, h := range hosts {
		for _, p := range paths {
			first := href(h + p)
			if !first.Accepted {
				t.Errorf("%s%s: refused %s", h, p, first.Reason)
				continue
			}
			second := href(first.URL)
			if second.URL != first.URL || second.Key != first.Key || canonical.KeyOf(first.URL) != first.Key {
				t.Errorf("%s%s: %q, then %q", h, p, first.URL, second.URL)
			}
		}
	}
}

func TestResolve_NeverEqualsWhatOnlyLooksAlike(t *testing.T) {
	t.Parallel()
	groups := []string{"https://example.com/a", "https://example.com/a/", "https://example.com/A", "http://example.com/a", "https://www.example.com/a", "https://example.com/a?",
		"https://example.com/a?x=1&y=2", "https://example.com/a?y=2&x=1", "https://example.com//a", "https://example.com/a%2Fb", "https://example.com/a/b", "https://example.com./a",
		"https://example.com:8443/a", "https://example.com/a;x", "https://example.com/a?x=+", "https://example.com/a?x=%20", "https://example.com/a?utm_source=x"}
	seen := map[canonical.Key]string{}
	for _, u := range groups {
		k := canonical.KeyOf(u)
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have one key", u, other)
		}
		seen[k] = u
	}
	for _, pair := range [][2]string{{"https://example.com/%7Ea", "https://example.com/~a"}, {"https://example.com/%d9", "https://example.com/%D9"},
		{"https://example.com", "https://example.com:443/"}, {"https://example.com/a#x", "https://example.com/a"}} {
		if canonical.KeyOf(pair[0]) != canonical.KeyOf(pair[1]) {
			t.Errorf("%s and %s have two keys", pair[0], pair[1])
		}
	}
}

func TestKey_RoundTrips(t *testing.T) {
	t.Parallel()
	k := canonical.KeyOf("https://example.com/")
	b, _ := k.MarshalText()
	var back canonical.Key
	if err := back.UnmarshalText(b); err != nil || back != k || k.IsZero() {
		t.Errorf("%s, %v", back, err)
	}
	for _, bad := range []string{"", "zz", strings.Repeat("g", 32)} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is read as a key", bad)
		}
	}
	if !canonical.KeyOf("mailto:a@example.com").IsZero() || !canonical.KeyOf("not a url").IsZero() {
		t.Error("what cannot be fetched has a key")
	}
}
