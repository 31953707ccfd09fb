package syncer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// papers is a site of hand-written documents, followed by an engine on SQLite. HOME in a text stands for its address.
type papers struct {
	*testing.T
	home   string
	store  *store.Store
	engine *syncer.Engine
	site   models.Site
	clock  *clock
	writes *writes

	mu    sync.Mutex
	files map[string]string
}

// writes counts what an engine writes of findings across documents, and what it reads for it.
type writes struct {
	*store.Store
	saved, looked int
}

func newPapers(t *testing.T, files map[string]string) *papers {
	t.Helper()
	p := &papers{T: t, files: files, clock: &clock{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.home = server.URL
	s, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "papers.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p.store, p.writes = s, &writes{Store: s}
	p.site, err = s.AddSite(t.Context(), models.Site{Name: "papers", Home: p.home + "/", Root: p.home + "/wp-sitemap.xml"})
	if err != nil {
		t.Fatal(err)
	}
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Backoff: time.Millisecond, PageDelay: -1})
	t.Cleanup(client.Close)
	p.engine, err = syncer.New(syncer.Options{Store: p.writes, Web: client, Now: p.clock.now, Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *papers) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.files[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, ".xml") {
		w.Header().Set("Content-Type", "application/xml")
	}
	_, _ = w.Write([]byte(strings.ReplaceAll(text, "HOME", p.home)))
}

func (p *papers) put(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text == "" {
		delete(p.files, name)
	} else {
		p.files[name] = text
	}
}

func (p *papers) run() models.Run {
	p.Helper()
	p.clock.advance(time.Hour)
	p.writes.saved, p.writes.looked = 0, 0
	site, err := p.store.Site(p.Context(), p.site.ID)
	if err != nil {
		p.Fatal(err)
	}
	p.site = site
	r, err := p.engine.Run(p.Context(), syncer.Request{SiteID: site.ID, Cause: models.CauseManual, Confirm: true})
	if err != nil || !r.Current {
		p.Fatalf("run: %+v, %v", r, err)
	}
	return r
}

// found gives the findings of codes that begin alike at a run, the site's address left out.
func (p *papers) found(run int64, prefix string) []string {
	p.Helper()
	list, err := p.store.Findings(p.Context(), p.site.ID, models.FindingFilter{Run: run})
	if err != nil {
		p.Fatal(err)
	}
	var out []string
	for _, f := range list {
		if strings.HasPrefix(f.Code, prefix) {
			out = append(out, strings.ReplaceAll(fmt.Sprintf("%s %s: %s", f.Code, f.Page, f.Text), p.home, ""))
		}
	}
	slices.Sort(out)
	return out
}

func (p *papers) expect(prefix string, want ...string) {
	p.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, p.found(0, prefix)); diff != "" {
		p.Errorf("findings (-want +got):\n%s", diff)
	}
}

// urlset writes entries: "/a" or "/a de=/a en=/b" with language versions, "/a @2026-01-02" with a lastmod.
func urlset(entries ...string) string {
	var b strings.Builder
	b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">`)
	for _, entry := range entries {
		for i, word := range strings.Fields(entry) {
			switch lang, href, version := strings.Cut(word, "="); {
			case i == 0:
				b.WriteString("<url><loc>HOME" + word + "</loc>")
			case word[0] == '@':
				b.WriteString("<lastmod>" + word[1:] + "</lastmod>")
			case version:
				b.WriteString(`<xhtml:link rel="alternate" hreflang="` + lang + `" href="HOME` + href + `"/>`)
			}
		}
		b.WriteString("</url>\n")
	}
	return b.String() + "</urlset>"
}

func index(names ...string) string {
	text := `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for _, name := range names {
		text += "<sitemap><loc>HOME/" + name + "</loc></sitemap>"
	}
	return text + "</sitemapindex>"
}

func (w *writes) Listed(ctx context.Context, site, run int64, keys []models.Key) ([]models.Declaration, error) {
	w.looked++
	return w.Store.Listed(ctx, site, run, keys)
}

func (w *writes) SaveSiteFindings(ctx context.Context, lease models.Lease, site, run int64, document int32, f []models.Finding) error {
	w.saved++
	return w.Store.SaveSiteFindings(ctx, lease, site, run, document, f)
}

func TestAcross_LanguageVersionsNameEachOther(t *testing.T) {
	t.Parallel()
	p := newPapers(t, map[string]string{
		"wp-sitemap.xml": index("de.xml", "en.xml"),
		"de.xml":         urlset("/de de=/de en=/en x-default=/en", "/lone de=/lone fr=/fr x-default=/lone", "/two de=/two en=/zwei x-default=/two"),
		"en.xml":         urlset("/en de=/de en=/en x-default=/en", "/zwei en=/zwei de=/two x-default=/zwei", "/plain"),
	})
	lone := "hreflang-unlisted /lone: names /fr as fr, which no document lists"
	two := []string{"hreflang-x-default-ambiguous /two: names /two as x-default, its version /zwei names /zwei",
		"hreflang-x-default-ambiguous /zwei: names /zwei as x-default, its version /two names /two"}
	first := p.run()
	p.expect("hreflang-", append(two, lone)...)
	before := p.found(0, "hreflang-")

	// The English page drops its link back: the German one, whose document is the same, is told of it.
	p.put("en.xml", urlset("/en en=/en x-default=/en", "/zwei en=/zwei de=/two x-default=/zwei", "/plain"))
	p.run()
	back := "hreflang-no-return /de: names /en as en, which does not name it back"
	p.expect("hreflang-", append(two, lone, back)...)

	// The missing page appears and knows nothing of versions; the x-defaults agree.
	p.put("en.xml", urlset("/en de=/de en=/en x-default=/en", "/zwei en=/zwei de=/two x-default=/two", "/plain", "/fr"))
	p.run()
	p.expect("hreflang-", "hreflang-no-return /lone: names /fr as fr, which does not name it back")

	// It names the page back, but has no x-default of its own.
	p.put("en.xml", urlset("/en de=/de en=/en x-default=/en", "/zwei en=/zwei de=/two x-default=/two", "/plain", "/fr fr=/fr de=/lone"))
	p.run()
	p.expect("hreflang-", "hreflang-x-default-missing /fr: names 2 language versions, but none as x-default")

	if diff := cmp.Diff(before, p.found(first.ID, "hreflang-")); diff != "" {
		t.Errorf("as of the first run (-want +got):\n%s", diff)
	}
	groups, err := p.store.FindingGroups(t.Context(), p.site.ID, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, g := range groups {
		counts[g.Code] = g.Count
	}
	if counts["hreflang-x-default-ambiguous"] != 2 || counts["hreflang-unlisted"] != 1 || counts[""] != 0 {
		t.Errorf("groups of the first run: %v", counts)
	}

	// The page leaves: what named it names an unlisted page.
	p.put("en.xml", urlset("/en de=/de en=/en x-default=/en", "/zwei en=/zwei de=/two x-default=/two", "/plain"))
	p.run()
	p.expect("hreflang-", lone)
}

// TestAcross_FullSetsAreRefilled: more is wrong than is kept, and when some of it is mended the rest comes to light.
func TestAcross_FullSetsAreRefilled(t *testing.T) {
	t.Parallel()
	var wrong, half []string
	for i := range 40 {
		entry := fmt.Sprintf("/p%02d de=/p%02d en=/gone%02d x-default=/p%02d", i, i, i, i)
		wrong = append(wrong, entry)
		if i < 25 {
			entry = fmt.Sprintf("/p%02d", i)
		}
		half = append(half, entry)
	}
	p := newPapers(t, map[string]string{"wp-sitemap.xml": urlset(wrong...)})
	p.run()
	if n := len(p.found(0, "hreflang-unlisted")); n != 20 {
		t.Errorf("%d findings are kept, want 20", n)
	}
	p.put("wp-sitemap.xml", urlset(half...))
	p.run()
	if got := p.found(0, "hreflang-unlisted"); len(got) != 15 || !strings.Contains(got[0], "/p25:") {
		t.Errorf("%d findings, want the 15 that are left: %v", len(got), got)
	}
	var plain []string
	for i := range 40 {
		plain = append(plain, fmt.Sprintf("/p%02d", i))
	}
	p.put("wp-sitemap.xml", urlset(plain...))
	p.run()
	p.expect("hreflang-")
}

func TestAcross_DuplicatesThatDisagree(t *testing.T) {
	t.Parallel()
	p := newPapers(t, map[string]string{
		"wp-sitemap.xml": index("a.xml", "b.xml"),
		"a.xml":          urlset("/same @2026-01-01", "/other @2026-01-01"),
		"b.xml":          urlset("/same @2026-01-01", "/other @2026-01-02", "/b"),
	})
	p.run()
	p.expect("duplicate-dis", "duplicate-disagreement /other: /other is listed by /b.xml too, with another lastmod")
	p.put("b.xml", urlset("/same @2026-01-05", "/other @2026-01-01", "/b"))
	p.run()
	p.expect("duplicate-dis", "duplicate-disagreement /same: /same is listed by /b.xml too, with another lastmod")
	p.put("b.xml", urlset("/b"))
	p.run()
	p.expect("duplicate-dis")
}

// TestAcross_LargeRuns takes the way of a run that writes more pages than are looked up one by one.
func TestAcross_LargeRuns(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var names []string
	for f := range 2 {
		var entries []string
		for i := range 26_000 {
			entries = append(entries, fmt.Sprintf("/%d/%d", f, i))
		}
		if f == 0 {
			entries = append(entries, "/de de=/de en=/en x-default=/de", "/good de=/good en=/well x-default=/good", "/twice @2026-01-01")
		} else {
			entries = append(entries, "/en en=/en x-default=/en", "/well de=/good en=/well x-default=/good", "/twice @2026-01-03", "/no de=/no en=/en")
		}
		name := fmt.Sprintf("%d.xml", f)
		names, files[name] = append(names, name), urlset(entries...)
	}
	files["wp-sitemap.xml"] = index(names...)
	p := newPapers(t, files)
	p.run()
	p.expect("hreflang-", "hreflang-no-return /de: names /en as en, which does not name it back",
		"hreflang-no-return /no: names /en as en, which does not name it back",
		"hreflang-x-default-missing /no: names 2 language versions, but none as x-default")
	p.expect("duplicate-dis", "duplicate-disagreement /twice: /twice is listed by /1.xml too, with another lastmod")
}

// TestAcross_NothingChangedCostsNothing: what is found stays without being looked for or written again.
func TestAcross_NothingChangedCostsNothing(t *testing.T) {
	t.Parallel()
	p := newPapers(t, map[string]string{"wp-sitemap.xml": urlset("/a de=/a en=/b x-default=/a", "/c")})
	p.run()
	if p.writes.saved != 1 {
		t.Errorf("%d sets written by the first run, want 1", p.writes.saved)
	}
	p.run()
	if p.writes.saved+p.writes.looked != 0 {
		t.Errorf("a run without changes wrote %d sets after %d looks", p.writes.saved, p.writes.looked)
	}
	p.put("wp-sitemap.xml", urlset("/a de=/a en=/b x-default=/a", "/c @2026-01-01"))
	p.run()
	if p.writes.saved != 0 || p.writes.looked == 0 {
		t.Errorf("a change elsewhere: %d sets written after %d looks", p.writes.saved, p.writes.looked)
	}
	p.expect("hreflang-", "hreflang-unlisted /a: names /b as en, which no document lists")
}

func TestNotice_DocumentsBesideEachOther(t *testing.T) {
	t.Parallel()
	yoast := "<!-- XML Sitemap generated by Yoast SEO -->"
	p := newPapers(t, map[string]string{
		"wp-sitemap.xml": index("a.xml", "b.xml", "empty.xml", "nothing.xml"),
		"a.xml":          urlset("/a"), "b.xml": "\n" + urlset("/a"), "empty.xml": urlset(), "nothing.xml": urlset(),
	})
	p.run()
	p.expect("documents-identical", "documents-identical : lists the same entries as /a.xml")

	p.put("wp-sitemap.xml", index("a1.xml", "b1.xml"))
	p.put("a1.xml", urlset("/a")+yoast)
	p.put("b1.xml", urlset("/b"))
	p.run()
	p.expect("documents-identical")
	p.expect("file-renamed", "file-renamed : lists what /b.xml listed, which is no longer listed itself")
	p.run()
	p.expect("file-renamed")

	p.put("a1.xml", urlset("/a")+"<!-- XML Sitemap generated by Rank Math SEO Plugin (c) Rank Math - rankmath.com -->")
	p.run()
	p.expect("generator-changed", "generator-changed : was written by yoast, is written by rank_math")
}

func TestNotice_ABlogThatIsNotPublic(t *testing.T) {
	t.Parallel()
	p := newPapers(t, map[string]string{"wp-sitemap.xml": urlset("/a"), "robots.txt": "User-agent: *\nDisallow: /wp-admin/\nSitemap: HOME/wp-sitemap.xml\n"})
	p.run()
	p.put("wp-sitemap.xml", "")
	if r := p.run(); r.Verdict != models.VerdictUnavailable {
		t.Errorf("verdict %s", r.Verdict)
	}
	p.expect("blog-not-public")
	p.put("robots.txt", "User-agent: *\nDisallow: /wp-admin/\n")
	r := p.run()
	want := "blog-not-public : is not found, and /robots.txt names no sitemap: search engines may be discouraged in the settings"
	p.expect("blog-not-public", want)
	if r.Counts.Live != 1 {
		t.Errorf("counts %+v, want the page kept", r.Counts)
	}
	p.put("robots.txt", "")
	p.run()
	p.expect("blog-not-public")

	p = newPapers(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /wp-admin/\n"})
	p.run()
	p.expect("blog-not-public", want)
}

// TestNotice_EveryCodeIsInTheCatalogue looks for codes in the engine's text.
func TestNotice_EveryCodeIsInTheCatalogue(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?:\.note\(|\.limit\([\w.]+, |Code: )"([a-z0-9-]+)"`)
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "verify") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			n++
			_, document := sitemap.RuleOf(m[1])
			if _, site := sitemap.SiteRuleOf(m[1]); !document && !site {
				t.Errorf("%s: %s is not in the catalogue", name, m[1])
			}
		}
	}
	if n < 8 {
		t.Errorf("%d codes were found in the engine", n)
	}
}

// TestRun_ADamagedStreamAddsNothing: what inflates before a wrong checksum is no evidence of pages or changes.
func TestRun_ADamagedStreamAddsNothing(t *testing.T) {
	t.Parallel()
	packed := func(text string, home string, damage bool) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(strings.ReplaceAll(text, "HOME", home)))
		_ = w.Close()
		if damage {
			b.Bytes()[b.Len()-6] ^= 0xff // the checksum is 8 bytes long, with the length behind it
		}
		return b.String()
	}
	p := newPapers(t, map[string]string{"wp-sitemap.xml": index("a.xml.gz", "b.xml")})
	p.put("a.xml.gz", packed(urlset("/a @2026-01-01", "/b"), p.home, false))
	p.put("b.xml", urlset("/c"))
	p.run()
	p.put("a.xml.gz", packed(urlset("/a @2026-02-02", "/b", "/flipped"), p.home, true))
	r := p.run()
	if r.Verdict != models.VerdictPartial || r.Counts.Added+r.Counts.Changed+r.Counts.Removed+r.Counts.Pending != 0 || r.Counts.Stale != 2 {
		t.Errorf("%s, counts %+v: want partial, nothing added, changed or removed, 2 stale", r.Verdict, r.Counts)
	}
	if got := p.found(0, "gzip-damaged"); len(got) != 1 {
		t.Errorf("findings %v", got)
	}
	if r = p.run(); r.Counts.Added+r.Counts.Changed != 0 {
		t.Errorf("again: counts %+v", r.Counts)
	}
	p.put("a.xml.gz", packed(urlset("/a @2026-02-02", "/b", "/new"), p.home, false))
	if r = p.run(); r.Verdict != models.VerdictComplete || r.Counts.Added != 1 || r.Counts.Changed != 1 || r.Counts.Stale != 0 {
		t.Errorf("whole again: %s, counts %+v", r.Verdict, r.Counts)
	}

	// One that was never whole gives nothing.
	p = newPapers(t, map[string]string{"wp-sitemap.xml": index("a.xml.gz", "b.xml"), "b.xml": urlset("/c")})
	p.put("a.xml.gz", packed(urlset("/a", "/b"), p.home, true))
	if r = p.run(); r.Verdict != models.VerdictPartial || r.Counts.Live != 1 || r.Counts.Added != 1 {
		t.Errorf("first of all damaged: %s, counts %+v", r.Verdict, r.Counts)
	}
}

// TestAcross_RareFieldsAreReadToo: alternates for media are no language versions, and fields beside them hide none.
func TestAcross_RareFieldsAreReadToo(t *testing.T) {
	t.Parallel()
	rare := `<xhtml:link rel="alternate" media="only screen" href="HOME/m"/>` +
		`<xhtml:link rel="alternate" hreflang="DE" href="HOME/a" type="text/html"/><xhtml:link rel="alternate" hreflang="x-default" href="HOME/a"/>` +
		`<xhtml:link rel="other" hreflang="fr" href="HOME/fr"/><xhtml:link rel="alternate" hreflang="en" href="HOME/&quot;b&quot;\c"/></url>`
	p := newPapers(t, map[string]string{"wp-sitemap.xml": strings.Replace(urlset("/a", "/m"), "</url>", rare, 1)})
	p.run()
	p.expect("hreflang-", "hreflang-unlisted /a: names /%22b%22/c as en, which no document lists")
}
