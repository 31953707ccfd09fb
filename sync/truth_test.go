package syncer_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// smallSite is a hand-written site on a real server and database: what a test says is what is served.
type smallSite struct {
	testing.TB
	clock
	server *httptest.Server
	store  *store.Store
	engine *syncer.Engine
	site   models.Site

	mu      sync.Mutex
	bodies  map[string]string // documents by path; @ stands for the site's address
	headers map[string]http.Header
	moved   map[string]string // pages that redirect
	gone    bool              // pages that no document lists answer 404
}

func newSmallSite(t testing.TB, dsn string, bodies map[string]string) *smallSite {
	t.Helper()
	x := &smallSite{TB: t, clock: clock{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}, bodies: bodies,
		headers: map[string]http.Header{}, moved: map[string]string{}}
	x.server = httptest.NewServer(x)
	t.Cleanup(x.server.Close)
	var err error
	if x.store, err = store.Open(t.Context(), dsn, store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.store.Close() })
	root := x.server.URL + "/sitemap.xml"
	x.site, err = x.store.AddSite(t.Context(), models.Site{Name: "small", Home: x.server.URL + "/", Root: root, Roots: []models.Root{{URL: root, Discovery: "direct_URL"}}})
	if err != nil {
		t.Fatal(err)
	}
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, PageDelay: -1, Retries: -1, Now: x.now})
	t.Cleanup(client.Close)
	if x.engine, err = syncer.New(syncer.Options{Store: x.store, Web: client, Now: x.now, Owner: "test"}); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *smallSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	w.Header().Set("Date", x.now().Format(http.TimeFormat))
	for name, values := range x.headers[r.URL.Path] {
		w.Header()[name] = values
	}
	body, ok := x.bodies[r.URL.Path]
	switch {
	case ok && body == "":
		w.WriteHeader(http.StatusServiceUnavailable)
	case ok:
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write([]byte(strings.ReplaceAll(body, "@", x.server.URL)))
	case x.moved[r.URL.Path] != "":
		http.Redirect(w, r, x.server.URL+x.moved[r.URL.Path], http.StatusMovedPermanently)
	case x.gone && !slices.ContainsFunc(mapValues(x.bodies), func(body string) bool { return strings.Contains(body, "<loc>@"+r.URL.Path+"<") }):
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>A page</title>"))
	}
}

func mapValues(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// pagesXML lists pages, "path" or "path lastmod".
func pagesXML(pages ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">`)
	for _, page := range pages {
		path, rest, _ := strings.Cut(page, " ")
		lastmod, image, _ := strings.Cut(rest, " ")
		fmt.Fprintf(&b, "<url><loc>@%s</loc>", path)
		if lastmod != "" {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", lastmod)
		}
		if image != "" {
			fmt.Fprintf(&b, "<image:image><image:loc>@/%s</image:loc></image:image>", image)
		}
		b.WriteString("</url>")
	}
	return b.String() + "</urlset>"
}

func indexXML(files ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, file := range files {
		fmt.Fprintf(&b, "<sitemap><loc>@%s</loc></sitemap>", file)
	}
	return b.String() + "</sitemapindex>"
}

func (x *smallSite) run(confirm bool) models.Run {
	x.Helper()
	run, err := x.engine.Run(x.Context(), syncer.Request{SiteID: x.site.ID, Cause: models.CauseManual, Confirm: confirm})
	if err != nil {
		x.Fatal(err)
	}
	x.advance(10 * time.Minute)
	return run
}

// states gives "state path" of every page, by path.
func (x *smallSite) states() []string {
	x.Helper()
	out := []string{}
	err := x.store.Pages(x.Context(), x.site.ID, models.PageFilter{State: models.StateAll}, func(p *models.Page) error {
		out = append(out, string(p.State)+" "+strings.TrimPrefix(p.URL, x.server.URL))
		return nil
	})
	if err != nil {
		x.Fatal(err)
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(a[strings.Index(a, " "):], b[strings.Index(b, " "):]) })
	return out
}

// feed gives "kind path" of what a run said.
func (x *smallSite) feed(run models.Run) []string {
	x.Helper()
	out := []string{}
	err := x.store.Changes(x.Context(), x.site.ID, models.ChangeFilter{Run: run.ID}, func(c *models.Change) error {
		out = append(out, c.Kind+" "+strings.TrimPrefix(c.URL, x.server.URL))
		return nil
	})
	if err != nil {
		x.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func (x *smallSite) expect(what string, got []string, want ...string) {
	x.Helper()
	if !slices.Equal(got, want) {
		x.Errorf("%s: %q, want %q", what, got, want)
	}
}

// onEach runs a test on SQLite and, where there is a server, on MySQL or MariaDB.
func onEach(t *testing.T, test func(t *testing.T, dsn string)) {
	for name, dsn := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			if t.Parallel(); name == "MySQL" && os.Getenv(storetest.Server) == "" {
				t.Skip(storetest.Server + " is not set")
			}
			test(t, dsn(t))
		})
	}
}

func sqliteFile(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "truth.db") }

// TestFeed_APageThatMovesOutOfAnUnreadableFileIsFresh: the pages of file 2 are stale while it fails; one of them shifts into
// file 1 meanwhile, and nobody who follows the feed is left with a stale page.
func TestFeed_APageThatMovesOutOfAnUnreadableFileIsFresh(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, dsn string) {
		x := newSmallSite(t, dsn, map[string]string{"/sitemap.xml": indexXML("/s-1.xml", "/s-2.xml"),
			"/s-1.xml": pagesXML("/a", "/b"), "/s-2.xml": pagesXML("/c", "/d")})
		x.run(false)
		x.bodies["/s-2.xml"] = ""
		x.expect("while it fails", x.feed(x.run(false)), "stale /c", "stale /d")
		x.bodies["/s-1.xml"], x.bodies["/s-2.xml"] = pagesXML("/a", "/b", "/c"), pagesXML("/d")
		x.expect("all is well, and c is elsewhere", x.feed(x.run(false)), "fresh /c", "fresh /d")
		x.expect("the inventory", x.states(), "live /a", "live /b", "live /c", "live /d")
		x.bodies["/s-1.xml"] = strings.TrimSuffix(pagesXML("/a", "/b", "/d"), "</urlset>") // cut
		x.expect("a file that was cut lists c no more, and d", x.feed(x.run(false)), "stale /a", "stale /b", "stale /c")
		x.expect("the inventory in the end", x.states(), "stale /a", "stale /b", "stale /c", "live /d")
	})
}

// TestAge_AnOlderCopyNeverOverwritesANewerOne: a cache on the way answers with what the site said yesterday.
func TestAge_AnOlderCopyNeverOverwritesANewerOne(t *testing.T) {
	t.Parallel()
	x := newSmallSite(t, sqliteFile(t), map[string]string{"/sitemap.xml": pagesXML("/a 2026-11-01", "/b 2026-11-01")})
	x.run(false)
	x.bodies["/sitemap.xml"] = pagesXML("/a 2026-11-30", "/b 2026-11-01", "/c 2026-11-30")
	second := x.run(false)
	x.expect("the site goes on", x.feed(second), "added /c", "changed /a")

	x.bodies["/sitemap.xml"] = pagesXML("/a 2026-11-01", "/b 2026-11-01")
	x.headers["/sitemap.xml"] = http.Header{"Age": {"1500"}} // from before the second run
	old := x.run(true)
	x.expect("an old copy says nothing", x.feed(old))
	if !slices.ContainsFunc(old.Findings, func(f models.Finding) bool { return f.Code == "edge-stale" }) || old.Counts.Live != 3 {
		t.Errorf("a run that met an old copy: %+v", old)
	}
	documents, err := x.store.DocumentsAt(t.Context(), x.site.ID, models.AsOf{})
	if err != nil || !documents[0].ObservedAt.Equal(*second.FinishedAt) {
		t.Errorf("observed at %v, want the second run's %v, %v", documents, second.FinishedAt, err)
	}

	x.bodies["/sitemap.xml"] = pagesXML("/a 2026-11-30", "/b 2026-11-30", "/c 2026-11-30")
	x.headers["/sitemap.xml"] = http.Header{"Age": {"300"}} // a cached copy, but younger than what is stored
	younger := x.run(false)
	x.expect("a younger copy is news", x.feed(younger), "changed /b")
	if len(younger.Findings) > 0 {
		t.Errorf("the finding stays: %+v", younger.Findings)
	}
}

// TestAge_AnOlderCopyIsOlderThanWhatWasSeenAgain: the site says in the second run what it said in the first, and nothing is
// written of that; a copy from between the two is old all the same, unless the second was a copy as well.
func TestAge_AnOlderCopyIsOlderThanWhatWasSeenAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second http.Header
		feed   []string
	}{
		"seen":        {nil, nil},
		"seen a copy": {http.Header{"Age": {"3000"}}, []string{"added /c", "pending /b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSmallSite(t, sqliteFile(t), map[string]string{"/sitemap.xml": pagesXML("/a", "/b")})
			x.run(false)
			x.clock.advance(10 * time.Hour)
			x.headers["/sitemap.xml"] = c.second
			x.expect("nothing new", x.feed(x.run(false)))
			x.clock.advance(10 * time.Hour)
			x.bodies["/sitemap.xml"] = pagesXML("/a", "/c")
			x.headers["/sitemap.xml"] = http.Header{"Age": {"43200"}} // from between the two runs
			third := x.run(false)
			x.expect("the copy", x.feed(third), c.feed...)
			if found := slices.ContainsFunc(third.Findings, func(f models.Finding) bool { return f.Code == "edge-stale" }); found != (c.feed == nil) {
				t.Errorf("findings %+v", third.Findings)
			}
			x.headers["/sitemap.xml"] = nil
			x.bodies["/sitemap.xml"] = pagesXML("/a", "/b", "/d")
			x.run(false)
			if pages := x.states(); !slices.Contains(pages, "live /d") || !slices.Contains(pages, "live /b") {
				t.Errorf("in the end %q", pages)
			}
		})
	}
}

// TestMoves_ASlugThatChangedIsOneMove: the old address redirects to one that appeared.
func TestMoves_ASlugThatChangedIsOneMove(t *testing.T) {
	t.Parallel()
	x := newSmallSite(t, sqliteFile(t), map[string]string{"/sitemap.xml": pagesXML("/a", "/b", "/c")})
	x.run(false)
	x.bodies["/sitemap.xml"], x.moved["/b"] = pagesXML("/a", "/b-new", "/c"), "/b-new"
	run := x.run(false)
	x.expect("the move", x.feed(run), "added /b-new", "moved /b")
	if run.Counts.Moved != 1 || run.Counts.Removed != 0 || run.Counts.Pending != 0 {
		t.Errorf("%+v", run.Counts)
	}
	x.expect("the inventory", x.states(), "live /a", "removed /b", "live /b-new", "live /c")
	gone := x.run(false)
	x.expect("once is enough", x.feed(gone))
}

// TestWindows_TheNewestPagesAlone: a map that always holds the newest ten pages drops the oldest, which says nothing of it.
func TestWindows_TheNewestPagesAlone(t *testing.T) {
	t.Parallel()
	newest := func(from int) string {
		var pages []string
		for i := from; i < from+10; i++ {
			pages = append(pages, fmt.Sprintf("/p%02d 2026-11-%02d", i, i))
		}
		return strings.Replace(pagesXML(pages...), "?><", "?><!-- Sitemap is generated for this view --><", 1)
	}
	mark := `<!-- Sitemap is generated on 2026-11-30 GMT -->`
	body := func(from int) string {
		return strings.Replace(newest(from), "</urlset>", mark+"</urlset><!-- Sitemap is generated for this view -->", 1)
	}
	x := newSmallSite(t, sqliteFile(t), map[string]string{"/sitemap.xml": body(1)})
	x.run(false)
	documents, err := x.store.DocumentsAt(t.Context(), x.site.ID, models.AsOf{})
	if err != nil || !strings.HasPrefix(documents[0].Generator, "seo_framework") {
		t.Fatalf("the map is one of %q, %v", documents[0].Generator, err)
	}
	x.bodies["/sitemap.xml"] = body(2)
	x.expect("the window goes on", x.feed(x.run(true)), "added /p11", "stale /p01")
	pages := x.states()
	if !slices.Contains(pages, "stale /p01") {
		t.Errorf("%q", pages)
	}
	x.bodies["/sitemap.xml"] = strings.Replace(body(2), `<url><loc>@/p05</loc><lastmod>2026-11-05</lastmod></url>`, "", 1)
	x.expect("a page in the middle was unpublished", x.feed(x.run(true)), "removed /p05")
}

// TestSwitch_AnotherPluginIsNoChange: other files, another index, the same pages.
func TestSwitch_AnotherPluginIsNoChange(t *testing.T) {
	t.Parallel()
	x := newSmallSite(t, sqliteFile(t), map[string]string{"/sitemap.xml": indexXML("/wp-sitemap-posts-post-1.xml", "/wp-sitemap-posts-post-2.xml"),
		"/wp-sitemap-posts-post-1.xml": pagesXML("/a", "/b"), "/wp-sitemap-posts-post-2.xml": pagesXML("/c", "/d")})
	x.run(false)
	for _, files := range [][]string{{"/post-sitemap.xml"}, {"/post-sitemap1.xml", "/post-sitemap2.xml"}} {
		x.bodies = map[string]string{"/sitemap.xml": indexXML(files...), files[0]: pagesXML("/d", "/c", "/b", "/a")}
		if len(files) == 2 {
			x.bodies[files[0]], x.bodies[files[1]] = pagesXML("/d", "/b"), pagesXML("/c", "/a")
		}
		run := x.run(true)
		x.expect("a switch to "+files[0], x.feed(run))
		if run.Counts.Live != 4 || run.Counts.Pending != 0 {
			t.Errorf("%+v", run.Counts)
		}
	}
}

// TestLastmod_EachDishonestyIsSeen: what a document's dates are not to be trusted for is said, with its evidence; an honest
// one keeps its trust.
func TestLastmod_EachDishonestyIsSeen(t *testing.T) {
	t.Parallel()
	day := func(d int) string { return fmt.Sprintf("2026-10-%02dT08:00:00+00:00", d) }
	pages := func(lastmod func(i int) string, image string) string {
		var out []string
		for i := range 12 {
			out = append(out, strings.TrimSpace(fmt.Sprintf("/p%02d %s %s", i, lastmod(i), image)))
		}
		return pagesXML(out...)
	}
	for _, tt := range []struct {
		name    string
		reading func(n int, now time.Time) string // of the n-th run
		want    string                            // a part of the evidence, "" when it is to be trusted
	}{
		{"honest", func(n int, _ time.Time) string {
			return pages(func(i int) string { return day(i + 1 + n*min(1, i%3)) }, "")
		}, ""},
		{"always now", func(_ int, now time.Time) string {
			return pages(func(i int) string { return now.Add(-time.Duration(i) * time.Second).Format(time.RFC3339) }, "")
		}, "time of the request"},
		{"build time", func(n int, _ time.Time) string { return pages(func(int) string { return day(10 + n) }, "") }, "time the file was built"},
		{"future", func(n int, _ time.Time) string {
			return pages(func(i int) string { return fmt.Sprintf("2031-01-%02dT00:00:00Z", i+1+n) }, "")
		}, "lies in the future"},
		{"backwards", func(n int, _ time.Time) string {
			return pages(func(i int) string { return day(28 - i - n*(1+i%2)) }, "")
		}, "moves backwards"},
		{"frozen", func(n int, _ time.Time) string {
			return pages(func(i int) string { return day(i + 1) }, fmt.Sprintf("v%d.png", n))
		}, "their lastmod does not"},
		{"a zero date", func(n int, _ time.Time) string {
			return pages(func(i int) string {
				if i == 3 {
					return "0000-00-00"
				}
				return day(i + 1 + n*min(1, i%3))
			}, "")
		}, "zero date"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newSmallSite(t, sqliteFile(t), map[string]string{})
			for n := range 4 {
				x.bodies["/sitemap.xml"] = tt.reading(n, x.now())
				x.run(true)
			}
			documents, err := x.store.DocumentsAt(t.Context(), x.site.ID, models.AsOf{})
			if err != nil {
				t.Fatal(err)
			}
			d := documents[0]
			if (tt.want == "") != (d.LastmodTrust == 1) || d.LastmodTrust <= 0 {
				t.Errorf("trust %.2f: %s", d.LastmodTrust, d.LastmodRecord)
			}
			_, reasons := syncer.LastmodTrust(d.LastmodRecord)
			if tt.want != "" && !slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(reason, tt.want) }) {
				t.Errorf("because of %q, want %q", reasons, tt.want)
			}
		})
	}
}

// TestLastmod_AWholeShiftIsOneEvent: another time zone's offset on every page is no edit, and one that was edited meanwhile is.
func TestLastmod_AWholeShiftIsOneEvent(t *testing.T) {
	t.Parallel()
	body := func(hour int, edited string) string {
		var out []string
		for i := range 6 {
			out = append(out, fmt.Sprintf("/p%d 2026-10-%02dT%02d:00:00Z", i, i+1, hour))
		}
		return strings.Replace(pagesXML(out...), "/p4</loc>", "/p4</loc>"+edited, 1)
	}
	x := newSmallSite(t, sqliteFile(t), map[string]string{"/sitemap.xml": body(8, "")})
	x.run(false)
	x.bodies["/sitemap.xml"] = body(10, "<changefreq>daily</changefreq>")
	run := x.run(false)
	x.expect("the edit alone", x.feed(run), "changed /p4")
	if run.Counts.Changed != 1 || !slices.ContainsFunc(run.Findings, func(f models.Finding) bool { return f.Code == "lastmod-shifted" }) {
		t.Errorf("%+v", run)
	}
}
