package browser_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// Promised weights in bytes: of a page with all it loads as sent, and of all scripts compressed.
const (
	pageBudget   = 100_000
	scriptBudget = 50_000
)

// lived is a daemon whose site has a history: additions, edits, removals, held removals, faults, deliveries and a token.
func lived(t *testing.T) (base, page string) {
	t.Helper()
	base = daemon(t)
	site := origin(t, 400)
	post(t, base+"/api/v1/sites", map[string]any{"home": site.URL(), "name": "example shop"})
	walk := func() {
		before := runs(t, base)
		post(t, base+"/api/v1/sites/1/runs", nil)
		until(t, "a run ends", func() bool { return runs(t, base) > before })
	}
	walk()
	for range 4 {
		site.BulkImport(3)
		for _, id := range site.PublishedPosts()[:3] {
			site.Edit(id)
		}
		walk()
	}
	posts := site.PublishedPosts()
	site.Delete(posts[10])
	walk()
	time.Sleep(1100 * time.Millisecond) // what confirms a removal
	walk()
	for _, id := range posts[20:330] {
		site.Trash(id)
	}
	walk()
	site.Fail("/wp-sitemap-taxonomies-category-1.xml", sitetest.CutCleanly(0.6))
	site.Fail("/wp-sitemap-users-1.xml", sitetest.WrongNamespace())
	walk()
	for name, posts := range map[string]int{"city library": 900, "museum news": 120} {
		post(t, base+"/api/v1/sites", map[string]any{"home": origin(t, posts).URL(), "name": name})
	}
	post(t, base+"/api/v1/sites/2/runs", nil)
	post(t, base+"/api/v1/sites/3/runs", nil)
	post(t, base+"/api/v1/tokens", map[string]any{"name": "search index", "scopes": []string{"read"}})
	var key struct {
		TokenURL string `json:"token_url"`
	}
	decode(t, post(t, base+"/api/v1/sites/1/hook-keys", nil), &key)
	if r, err := http.PostForm(base+strings.TrimPrefix(key.TokenURL, base), url.Values{"post_url": {site.URL() + "/new/"}}); err == nil {
		_ = r.Body.Close()
	}
	if r, err := http.Post(base+"/hooks/1", "application/json", strings.NewReader("{}")); err == nil {
		_ = r.Body.Close()
	}
	post(t, base+"/api/v1/channels", map[string]any{"address": "https://index.example.invalid/in", "name": "index", "types": []string{"held.*", "run.finished"}, "digest": "0 8 * * 1"})
	post(t, base+"/api/v1/alert-rules", map[string]any{"trigger": "removals_held", "name": "mass removal", "channels": []int{1}})
	post(t, base+"/api/v1/alert-rules", map[string]any{"trigger": "pages_removed", "name": "shrinking", "threshold": 20, "site_id": 1})
	var pages struct{ Items []struct{ URL string } }
	r, err := http.Get(base + "/api/v1/sites/1/changes?kind=changed&page_size=1")
	if err != nil {
		t.Fatal(err)
	}
	decode(t, r, &pages)
	if len(pages.Items) == 0 {
		t.Fatal("no page changed")
	}
	return base, pages.Items[0].URL
}

func post(t *testing.T, address string, body any) *http.Response {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	r, err := http.Post(address, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode >= 300 {
		t.Fatalf("%s: %s", address, r.Status)
	}
	return r
}

func decode(t *testing.T, r *http.Response, v any) {
	t.Helper()
	defer func() { _ = r.Body.Close() }()
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// runs counts those that have ended.
func runs(t *testing.T, base string) int {
	t.Helper()
	r, err := http.Get(base + "/api/v1/sites/1")
	if err != nil {
		t.Fatal(err)
	}
	var site struct {
		CurrentRun int `json:"current_run"`
	}
	decode(t, r, &site)
	return site.CurrentRun
}

func screens(page string) [][2]string {
	return [][2]string{
		{"overview", "/"}, {"new-site", "/sites/new"}, {"site", "/sites/1"}, {"inventory", "/sites/1/urls"}, {"filtered", "/sites/1/urls?contains=a&state=all"},
		{"sorted", "/sites/1/urls?sort=-lastmod&state=all"}, {"go", "/go?from=1"},
		{"columns", "/sites/1/urls?state=all&rows=dense&columns=state,lastmod,first_seen,last_seen,changefreq,priority,declares,freshness,confidence,document,reason,from_run"},
		{"page", "/sites/1/page?" + url.Values{"url": {page}}.Encode()}, {"runs", "/sites/1/runs"}, {"run", "/sites/1/runs/3"}, {"changes", "/sites/1/changes"},
		{"canonical", "/sites/1/canonical"}, {"compare", "/sites/1/compare?from=1"}, {"hreflang", "/sites/1/hreflang"},
		{"documents", "/sites/1/documents"}, {"document", "/sites/1/documents/2"}, {"findings", "/sites/1/findings"}, {"finding", "/sites/1/findings?code=xml-truncated"}, {"held", "/sites/1/held"},
		{"reports", "/sites/1/reports"}, {"stale", "/sites/1/stale?by=path"}, {"rules", "/findings"}, {"deliveries", "/sites/1/deliveries"}, {"expectations", "/sites/1/expectations"},
		{"site-settings", "/sites/1/settings"}, {"settings", "/settings"}, {"channels", "/settings/channels"}, {"channel", "/settings/channels/1"}, {"alerts", "/settings/alerts"}, {"rule", "/settings/alerts?edit=1"}, {"digest", "/digest"}, {"not-found", "/sites/99"}, {"login", "/login"},
	}
}

func TestScreens_InBothThemesAndOnAPhone(t *testing.T) {
	base, page := lived(t)
	script := axe()
	if script == "" {
		t.Log("axe-core cannot be had: accessibility is not checked")
	}
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 390, 844}} {
		t.Run(look.name, func(t *testing.T) {
			b := newTab(t, base, true)
			b.do(chromedp.EmulateViewport(look.width, look.height), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
				_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
				return err
			}))
			for _, screen := range screens(page) {
				look := look
				b.open(screen[1])
				if screen[0] == "not-found" {
					b.forget("404")
				}
				for _, v := range accessibility(t, b, script) {
					t.Errorf("%s (%s): %s: %s: %q", screen[0], look.name, v.ID, v.Help, v.Targets)
				}
				if wide := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
					t.Errorf("%s (%s): %d pixels too wide", screen[0], look.name, wide)
				}
				picture(t, b, screen[0]+"-"+look.name)
			}
		})
	}
}

func accessibility(t *testing.T, b *tab, script string) []violation {
	t.Helper()
	if script == "" {
		return nil
	}
	return runAxe(t, b, script)
}

// forget drops the browser's own note of a status that was expected.
func (b *tab) forget(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.complaints[:0]
	for _, c := range b.complaints {
		if !strings.Contains(c, part) {
			kept = append(kept, c)
		}
	}
	b.complaints = kept
}

func picture(t *testing.T, b *tab, name string) {
	t.Helper()
	folder := os.Getenv("SITEMAPD_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestScreens_StayLight(t *testing.T) {
	base, page := lived(t)
	size := func(address string) (sent, plain int) {
		request, err := http.NewRequest(http.MethodGet, base+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "gzip")
		request.Header.Set("Accept", "text/html")
		r, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		var b bytes.Buffer
		if _, err := b.ReadFrom(r.Body); err != nil {
			t.Fatal(err)
		}
		sent = b.Len()
		if r.Header.Get("Content-Encoding") != "gzip" {
			return sent, sent
		}
		z, err := gzip.NewReader(&b)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		return sent, text.Len()
	}
	scripts, _ := size("/static/app.js")
	styles, _ := size("/static/app.css")
	icon, _ := size("/static/icon.svg")
	if scripts > scriptBudget {
		t.Errorf("scripts: %d bytes", scripts)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "app.js %d, app.css %d, icon %d bytes\n", scripts, styles, icon)
	for _, screen := range screens(page) {
		sent, plain := size(screen[1])
		whole := sent + scripts + styles + icon
		fmt.Fprintf(&table, "%-14s html %6d (%6d plain), whole page %6d\n", screen[0], sent, plain, whole)
		if whole > pageBudget {
			t.Errorf("%s: %d bytes", screen[0], whole)
		}
	}
	t.Log("\n" + table.String())
}
