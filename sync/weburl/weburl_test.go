package weburl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

func parse(t testing.TB, base, raw string) (weburl.URL, weburl.Problem) {
	t.Helper()
	if base == "" {
		return weburl.ParseString(nil, raw)
	}
	b, problem := weburl.ParseString(nil, base)
	if problem != weburl.None {
		t.Fatalf("base %s: %v", base, problem)
	}
	return weburl.ParseString(&b, raw)
}

func TestParse_WireAndIdentity(t *testing.T) {
	t.Parallel()
	const base = "https://example.org/blog/sitemap.xml?x=1"
	for _, c := range []struct{ raw, wire, identity string }{
		{"https://example.org/a", "https://example.org/a", "https://example.org/a"},
		{"  https://example.org/a\n", "https://example.org/a", "https://example.org/a"},
		{"HTTPS://Example.ORG/A/B", "HTTPS://Example.ORG/A/B", "https://example.org/A/B"},
		{"https://example.org", "https://example.org", "https://example.org/"},
		{"https://example.org?q", "https://example.org?q", "https://example.org/?q"},
		{"https://example.org/?", "https://example.org/?", "https://example.org/?"},
		{"https://example.org:443/a", "https://example.org:443/a", "https://example.org/a"},
		{"http://example.org:080/a", "http://example.org:080/a", "http://example.org/a"},
		{"https://example.org:8443/a", "https://example.org:8443/a", "https://example.org:8443/a"},
		{"https://example.org:/a", "https://example.org:/a", "https://example.org/a"},
		{"https://example.org/a#b", "https://example.org/a#b", "https://example.org/a"},
		{"https://example.org/%7ea%2fb%c3%a9", "https://example.org/%7ea%2fb%c3%a9", "https://example.org/~a%2Fb%C3%A9"},
		{"https://example.org/é ü", "https://example.org/%C3%A9%20%C3%BC", "https://example.org/%C3%A9%20%C3%BC"},
		{"https://example.org/%e9é", "https://example.org/%e9%C3%A9", "https://example.org/%E9%C3%A9"},
		{"https://example.org/a?q=é&r='x'", "https://example.org/a?q=%C3%A9&r='x'", "https://example.org/a?q=%C3%A9&r=%27x%27"},
		{"https://example.org/a|b[c]", "https://example.org/a%7Cb[c]", "https://example.org/a%7Cb%5Bc%5D"},
		{"https://example.org/a/../b/./c/", "https://example.org/a/../b/./c/", "https://example.org/b/c/"},
		{"https://example.org/../..", "https://example.org/../..", "https://example.org/"},
		{"https://example.org/a/.", "https://example.org/a/.", "https://example.org/a/"},
		{"https://example.org/a/%2e%2E/b", "https://example.org/a/%2e%2E/b", "https://example.org/b"},
		{"https://example.org/a...b/.c/..d", "https://example.org/a...b/.c/..d", "https://example.org/a...b/.c/..d"},
		{"https://example.org//a//b", "https://example.org//a//b", "https://example.org//a//b"},
		{"https:\\\\example.org\\a", "https://example.org/a", "https://example.org/a"},
		{"https:/example.org/a", "https://example.org/a", "https://example.org/a"},
		{"https:example.org/a", "https://example.org/a", "https://example.org/a"},
		{"https:\\/\\/example.org\\/a", "https://example.org/a", "https://example.org/a"},
		{"https://user:pw@example.org/a", "https://user:pw@example.org/a", "https://user:pw@example.org/a"},
		{"https://bücher.example/a", "https://xn--bcher-kva.example/a", "https://xn--bcher-kva.example/a"},
		{"https://BÜCHER.example/a", "https://xn--bcher-kva.example/a", "https://xn--bcher-kva.example/a"},
		{"https://faß.de/", "https://xn--fa-hia.de/", "https://xn--fa-hia.de/"},
		{"https://ex%61mple.org/", "https://ex%61mple.org/", "https://example.org/"},
		{"https://my_host.example.org/", "https://my_host.example.org/", "https://my_host.example.org/"},
		{"http://0x7f.1/", "http://0x7f.1/", "http://127.0.0.1/"},
		{"http://2130706433/a", "http://2130706433/a", "http://127.0.0.1/a"},
		{"http://[::0001]:80/a", "http://[::0001]:80/a", "http://[::1]/a"},
		{"https://example.org./a", "https://example.org./a", "https://example.org./a"},
		{"https://example.org/long\n\tpath", "https://example.org/longpath", "https://example.org/longpath"},
		{"https://example.org/100%", "https://example.org/100%", "https://example.org/100%"},
		{"\u200bhttps://example.org/a\ufeff", "https://example.org/a", "https://example.org/a"},
		// relative to the base
		{"/a", "https://example.org/a", "https://example.org/a"},
		{"a/b", "https://example.org/blog/a/b", "https://example.org/blog/a/b"},
		{"../a", "https://example.org/a", "https://example.org/a"},
		{"?y=2", "https://example.org/blog/sitemap.xml?y=2", "https://example.org/blog/sitemap.xml?y=2"},
		{"#top", "https://example.org/blog/sitemap.xml?x=1#top", "https://example.org/blog/sitemap.xml?x=1"},
		{"//cdn.example.net/a", "https://cdn.example.net/a", "https://cdn.example.net/a"},
		{"example.org/a", "https://example.org/a", "https://example.org/a"},
		{"WWW.example.com/a", "https://www.example.com/a", "https://www.example.com/a"},
		{"index.html", "https://example.org/blog/index.html", "https://example.org/blog/index.html"},
	} {
		u, problem := parse(t, base, c.raw)
		if problem != weburl.None || string(u.Wire) != c.wire || string(u.Identity) != c.identity {
			t.Errorf("%q: %v\n got %s %s\nwant %s %s", c.raw, problem, u.Wire, u.Identity, c.wire, c.identity)
		}
	}
}

func TestParse_RefusesWithReason(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]weburl.Problem{
		"": weburl.Empty, " \n": weburl.Empty,
		"https://example.org/" + strings.Repeat("a", 8173): weburl.TooLong,
		"javascript:alert(1)":                              weburl.BadScheme, "mailto:a@b.c": weburl.BadScheme, "ftp://example.org/": weburl.BadScheme,
		"data:text/html,x": weburl.BadScheme, "file:///etc/passwd": weburl.BadScheme,
		"https://": weburl.NoHost, "https:///": weburl.NoHost, "https://?x": weburl.NoHost, "https://:80/": weburl.NoHost,
		"https://exa mple.org/": weburl.BadHost, "https://[::1/": weburl.BadHost, "https://1.2.3.4.5/": weburl.BadHost,
		"https://a\u0000b/x":          weburl.None, // the control character is dropped
		"https://example.org:99999/":  weburl.BadPort,
		"https://example.org:8a/":     weburl.BadPort,
		"<a href='x'>y</a>":           weburl.BadContent,
		"not an address at all":       weburl.BadContent,
		"{{ url }}":                   weburl.BadContent,
		"https://ex%00mple.org/":      weburl.BadHost,
		"https://256.256.256.256/":    weburl.BadHost,
		"https://" + "\u00ad" + "/":   weburl.BadHost,
		"https://example.org\u2028/a": weburl.BadHost,
	} {
		if _, got := parse(t, "https://example.org/", raw); got != want {
			t.Errorf("%.40q: got %v, want %v", raw, got, want)
		}
	}
	if _, got := parse(t, "", "/relative"); got != weburl.NoHost {
		t.Errorf("relative without a base: %v", got)
	}
}

func TestParse_NeverFolds(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, raw := range []string{
		"https://example.org/a", "https://example.org/a/", "https://example.org/A", "https://example.org/a?",
		"https://example.org/a?x=1&y=2", "https://example.org/a?y=2&x=1", "https://example.org/a?x=1&y=2&", "http://example.org/a",
		"https://www.example.org/a", "https://example.org/a/index.html", "https://example.org//a", "https://example.org/a%2F",
		"https://example.org/a;x", "https://example.org/a+b", "https://example.org/a%20b", "https://example.org/a%2Bb",
	} {
		u, problem := parse(t, "", raw)
		if problem != weburl.None {
			t.Fatalf("%s: %v", raw, problem)
		}
		if other, ok := seen[string(u.Identity)]; ok {
			t.Errorf("%s and %s share an identity", raw, other)
		}
		seen[string(u.Identity)] = raw
	}
}

func TestParse_Parts(t *testing.T) {
	t.Parallel()
	u, _ := parse(t, "", "HTTP://u@Example.org:8080/a/b?c=d#e")
	got := map[string]string{
		"scheme": string(u.Scheme), "host": string(u.Host), "port": string(u.Port), "path": string(u.Path),
		"query": string(u.Query), "text": u.String(),
	}
	want := map[string]string{
		"scheme": "http", "host": "example.org", "port": "8080", "path": "/a/b", "query": "c=d",
		"text": "HTTP://u@Example.org:8080/a/b?c=d#e",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	plain, _ := parse(t, "", "https://example.org:8080/a/b?c")
	if string(plain.Origin()) != "https://example.org:8080" || string(plain.Authority()) != "example.org:8080" ||
		string(plain.Directory()) != "https://example.org:8080/a/" {
		t.Errorf("%s %s %s", plain.Origin(), plain.Authority(), plain.Directory())
	}
}

func TestParse_Notes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]weburl.Note{
		"https://example.org/a":      0,
		"/a":                         weburl.NoteRelative,
		"//example.org/a":            weburl.NoteSchemeMissing,
		"https://example.org/ä":      weburl.NoteEscaped,
		"https://ä.example/":         weburl.NoteIDN,
		"https://example.org/#x":     weburl.NoteFragment,
		"https://a:b@example.org/":   weburl.NoteUserinfo,
		"https://example.org/a\nb":   weburl.NoteTrimmed,
		"https:/example.org/":        weburl.NoteSlashes,
		"https://example.org/%":      weburl.NoteBadPercent,
		"HTTPS://example.org/":       weburl.NoteCase,
		"https://example.org/a/../b": weburl.NoteDots,
	} {
		u, problem := parse(t, "https://example.org/", raw)
		if problem != weburl.None || u.Notes != want {
			t.Errorf("%q: %v, notes %b, want %b", raw, problem, u.Notes, want)
		}
	}
}

// TestParse_IsIdempotent: an identity key, and a wire form, parse to themselves.
func TestParse_IsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`(https?://|//|/|)([a-zA-Z0-9.ü%-]{1,12})(:[0-9]{0,4})?(/[a-zA-Z0-9._~%é \\'|-]{0,6}){0,4}(\?[a-z=&%'é]{0,8})?(#x)?`).Draw(t, "raw")
		base, _ := weburl.ParseString(nil, "https://example.org/a/b")
		u, problem := weburl.ParseString(&base, raw)
		if problem != weburl.None {
			return
		}
		for _, text := range [][]byte{u.Identity, u.Wire} {
			again, problem := weburl.Parse(nil, text)
			if problem != weburl.None || string(again.Identity) != string(u.Identity) {
				t.Fatalf("%q -> %q -> %v %q, first identity %q", raw, text, problem, again.Identity, u.Identity)
			}
			if string(again.Wire) != string(text) {
				t.Fatalf("%q is published as %q", text, again.Wire)
			}
		}
	})
}

func TestParse_AllocatesNothingForOrdinaryURLs(t *testing.T) {
	base, _ := weburl.ParseString(nil, "https://example.org/")
	var p weburl.Parser
	for _, raw := range []string{
		"https://example.org/2024/some-page/?x=1&y=2", "https://other.example/a.html", "https://example.org/%e6%97%a5",
		"https://example.org/ü", "/relative",
	} {
		text := []byte(raw)
		p.Parse(&base, text)
		if n := testing.AllocsPerRun(100, func() { p.Parse(&base, text) }); n != 0 {
			t.Errorf("%s: %v allocations", raw, n)
		}
	}
}

func TestClone_IsIndependent(t *testing.T) {
	t.Parallel()
	raw := []byte("https://example.org/ü#x")
	u, _ := weburl.Parse(nil, raw)
	c := u.Clone()
	wire, identity := string(c.Wire), string(c.Identity)
	for i := range u.Wire {
		u.Wire[i] = '!'
	}
	for i := range u.Identity {
		u.Identity[i] = '!'
	}
	if string(c.Wire) != wire || string(c.Identity) != identity || c.Notes&weburl.NoteEscaped == 0 {
		t.Errorf("%s %s %b", c.Wire, c.Identity, c.Notes)
	}
}

func TestScopeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want weburl.Scope
	}{
		{"https://example.org/a", "https://EXAMPLE.org:443/a#x", weburl.SameURL},
		{"https://example.org/a", "https://example.org/b", weburl.SameOrigin},
		{"https://example.org/a", "http://example.org/a", weburl.SameHost},
		{"https://example.org/a", "https://example.org:8443/a", weburl.SameHost},
		{"https://example.org/a", "https://www.example.org/a", weburl.SameSite},
		{"https://a.example.co.uk/", "https://b.example.co.uk/", weburl.SameSite},
		{"https://a.co.uk/", "https://b.co.uk/", weburl.OtherSite},
		{"https://a.github.io/", "https://b.github.io/", weburl.OtherSite},
		{"http://127.0.0.1/", "http://127.0.0.2/", weburl.OtherSite},
		{"http://localhost/", "http://localhost:80/", weburl.SameURL},
	} {
		a, _ := parse(t, "", c.a)
		b, _ := parse(t, "", c.b)
		if got := weburl.ScopeOf(a, b); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	const page = "https://example.org/Page?x=1&y=2"
	for other, want := range map[string]weburl.Variant{
		page:                                      0,
		"http://example.org/Page?x=1&y=2":         weburl.VariantScheme,
		"https://www.example.org/Page?x=1&y=2":    weburl.VariantWWW,
		"https://m.example.org/Page?x=1&y=2":      weburl.VariantHost,
		"https://example.org:8443/Page?x=1&y=2":   weburl.VariantPort,
		"https://example.org/Page/?x=1&y=2":       weburl.VariantSlash,
		"https://example.org/page?x=1&y=2":        weburl.VariantCase,
		"https://example.org/page/?x=1&y=2":       weburl.VariantCase | weburl.VariantSlash,
		"https://example.org/other?x=1&y=2":       weburl.VariantPath,
		"https://example.org/Page?y=2&x=1":        weburl.VariantOrder,
		"https://example.org/Page?x=1":            weburl.VariantQuery,
		"https://example.org/Page":                weburl.VariantQuery,
		"https://example.org/Page?x=1&y=2#part":   weburl.VariantFragment,
		"http://www.example.org/page/?x=1&y=2#p":  weburl.VariantScheme | weburl.VariantWWW | weburl.VariantCase | weburl.VariantSlash | weburl.VariantFragment,
		"https://example.org/Page?x=1&y=2&utm=ab": weburl.VariantQuery,
	} {
		a, _ := parse(t, "", page)
		b, _ := parse(t, "", other)
		if got := weburl.Variants(a, b); got != want {
			t.Errorf("%s: %b, want %b", other, got, want)
		}
	}
}

// TestParse_MakesNoTriplet: decoding an unreserved character never completes a stray percent sign.
func TestParse_MakesNoTriplet(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://e.org/%9%65e":     "https://e.org/%9%65e",
		"https://e.org/%%39e":      "https://e.org/%%39e",
		"https://e.org/%%39%65":    "https://e.org/%%39e", // the second completes nothing
		"https://e.org/a%9%67":     "https://e.org/a%9g",
		"https://e.org/?%9%65":     "https://e.org/?%9%65",
		"https://e.org/%c3%9%41":   "https://e.org/%C3%9%41",
		"https://e.org/%c3%a9%65e": "https://e.org/%C3%A9ee",
	} {
		u, problem := weburl.ParseString(nil, raw)
		if problem != weburl.None || string(u.Identity) != want {
			t.Errorf("%s: %v %s, want %s", raw, problem, u.Identity, want)
			continue
		}
		if again, _ := weburl.Parse(nil, u.Identity); string(again.Identity) != want {
			t.Errorf("%s: read again it is %s", want, again.Identity)
		}
	}
}

// FuzzParse: no text makes the parser fail, and what it accepts is stable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"https://example.org/a", "//x", "\\\\x", "http://[::1]/", "https://ü/%2e%2e/", "?a", "#", "http://0x/", "/%9%65e", "/%%39e", "/?%%39%65"} {
		f.Add(seed)
	}
	base, _ := weburl.ParseString(nil, "https://example.org/a/b?c")
	f.Fuzz(func(t *testing.T, raw string) {
		u, problem := weburl.ParseString(&base, raw)
		if problem != weburl.None {
			return
		}
		again, problem := weburl.Parse(nil, u.Identity)
		if problem != weburl.None || string(again.Identity) != string(u.Identity) {
			t.Fatalf("%q -> %q -> %v %q", raw, u.Identity, problem, again.Identity)
		}
		wire, problem := weburl.Parse(nil, u.Wire)
		if problem != weburl.None || string(wire.Identity) != string(u.Identity) {
			t.Fatalf("%q -> wire %q -> %v %q, want %q", raw, u.Wire, problem, wire.Identity, u.Identity)
		}
		weburl.Site(u.Host)
	})
}

// TestPlainLength_StopsWhereParseWouldWork: what it takes for plain is its own wire form and identity key, and it stops
// at the first byte that makes a difference.
func TestPlainLength_StopsWhereParseWouldWork(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 17 {
			text := []byte("https://example.org:8443/aaaaaaaaaaaaaaaaaaaaaaaaaaaa?bbbbbbbbbbbbbb")
			text[25+at] = byte(c)
			n, own := weburl.PlainLength([]byte("https://example.org:8443/"), text)
			if !own || n < 25+at {
				t.Fatalf("%q: %d %v", text, n, own)
			}
			u, problem := weburl.Parse(nil, text[:n])
			if problem != weburl.None || string(u.Identity) != string(text[:n]) {
				t.Errorf("%q at %d: taken for plain, is %q", text[:n], at, u.Identity)
			}
			if n == 25+at {
				whole, problem := weburl.Parse(nil, append(text[:n:n], byte(c), 'x'))
				if problem == weburl.None && string(whole.Identity) == string(text[:n])+string(rune(c))+"x" && c != '&' && c != '.' && c != '%' && c < 0x80 {
					t.Errorf("%q stops at %q without need", text, rune(c))
				}
			}
		}
	}
}
