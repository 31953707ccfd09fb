package syncer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// decimate deletes n posts, spread over all files, and returns their URLs, sorted.
func (l *lab) decimate(n int) []string {
	l.Helper()
	ids := l.origin.PublishedPosts()
	var gone []string
	for i := range n {
		gone = append(gone, l.origin.Delete(ids[i*len(ids)/n]).URL)
	}
	slices.Sort(gone)
	return gone
}

// decide rules on held removals. Readers see it at once, so the run that is current then is remembered anew.
func (l *lab) decide(keys []models.Key, approve bool, want int64) {
	l.Helper()
	if n, err := l.store.DecideRemovals(l.Context(), l.site.ID, keys, approve); err != nil || n != want {
		l.Fatalf("decided %d, %v; want %d", n, err, want)
	}
	l.kept[len(l.kept)-1].pages = l.sights(models.AsOf{})
}

func (l *lab) states(urls []string) map[models.State]int {
	l.Helper()
	seen := l.kept[len(l.kept)-1].pages
	out := map[models.State]int{}
	for _, url := range urls {
		out[seen[url].State]++
	}
	return out
}

func TestEngine_ManyRemovalsAreHeldUntilAPersonApproves(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 200, PerFile: 40, Seed: 1})
	l.run(true)
	gone := l.decimate(21)
	fresh := l.origin.Publish(sitetest.Spec{}).URL
	held := l.run(true)
	if held.Counts.Held != 21 || held.Counts.Removed != 0 || held.Counts.Added != 1 {
		t.Fatalf("counts %+v: want 21 held, none removed, one added", held.Counts)
	}
	if diff := cmp.Diff(map[models.State]int{models.StateHeld: 21}, l.states(gone)); diff != "" {
		t.Error("states:", diff)
	}
	feed := l.feed(held.ID)
	if diff := cmp.Diff(gone, feed[models.KindHeld]); diff != "" {
		t.Error("feed:", diff)
	}
	if diff := cmp.Diff([]string{fresh}, feed[models.KindAdded]); diff != "" {
		t.Error("additions must go on:", diff)
	}
	if again := l.run(true); again.Counts.Held != 21 || len(l.feed(again.ID)) != 0 {
		t.Errorf("held pages stay held without a word: %+v, feed %v", again.Counts, l.feed(again.ID))
	}
	l.decide(nil, true, 21)
	after := l.run(true)
	l.converged(after)
	if diff := cmp.Diff(gone, l.feed(after.ID)[models.KindRemoved]); diff != "" {
		t.Error("feed:", diff)
	}
	l.unbroken()
	l.remembered()
}

func TestEngine_RejectedRemovalsStay(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 200, PerFile: 40, Seed: 1})
	l.run(true)
	gone := l.decimate(30)
	l.run(true)
	l.decide(nil, false, 30)
	for range 2 {
		if r := l.run(true); r.Counts.Removed+r.Counts.Held+r.Counts.Pending != 0 {
			t.Errorf("counts %+v: want nothing removed, held or pending", r.Counts)
		}
		if states := l.states(gone); states[models.StateRemoved]+states[models.StateHeld]+states[models.StatePending] != 0 {
			t.Errorf("states %v", states)
		}
	}
	if site, err := l.store.Site(t.Context(), l.site.ID); err != nil || site.Live != 201 || len(l.pages(models.PageFilter{})) != 201 {
		t.Errorf("site %+v, %v, and %d live pages: want 201", site, err, len(l.pages(models.PageFilter{})))
	}
	l.unbroken()
	l.remembered()
}

func TestEngine_SomeDecisionsApproveSomePages(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 200, PerFile: 40, Seed: 1})
	l.run(true)
	gone := l.decimate(30)
	l.run(true)
	var keys []models.Key
	for _, url := range gone[:4] {
		keys = append(keys, keyOf(t, url))
	}
	l.decide(keys, true, 4)
	if r := l.run(true); r.Counts.Removed != 4 || r.Counts.Held != 26 {
		t.Errorf("counts %+v: want 4 removed, 26 held", r.Counts)
	}
	if diff := cmp.Diff(map[models.State]int{models.StateRemoved: 4, models.StateHeld: 26}, l.states(gone)); diff != "" {
		t.Error("states:", diff)
	}
	l.unbroken()
	l.remembered()
}

func TestEngine_TheGuardLooksAtEachDocument(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 1000, PerFile: 50, Seed: 1})
	l.run(true)
	for id := range uint32(11) { // 1 % of the site, but more than a tenth of the first file
		l.origin.Delete(id + 1)
	}
	if r := l.run(true); r.Counts.Held != 11 {
		t.Errorf("counts %+v: want 11 held", r.Counts)
	}
}

func TestEngine_NothingLeftIsHeldHoweverSmall(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 3, Seed: 1})
	l.run(true)
	l.origin.Fail("/wp-sitemap.xml", sitetest.EmptyIndex())
	if r := l.run(true); r.Counts.Removed != 0 || r.Counts.Held != 4 { // three posts and the home page
		t.Errorf("counts %+v: want all four held", r.Counts)
	}
	l.origin.Heal()
	l.converged(l.run(true))
	l.unbroken()
	l.remembered()
}

// TestEngine_MigrationIsOneEvent moves the whole site to another name. The index stays where it was.
func TestEngine_MigrationIsOneEvent(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 120, PerFile: 25, Seed: 1})
	before := l.origin.URL()
	now := strings.Replace(before, "127.0.0.1", "localhost", 1)
	site := l.site
	site.Settings.Hosts = []string{strings.TrimPrefix(now, "http://")}
	if err := l.store.SaveSite(t.Context(), site); err != nil {
		t.Fatal(err)
	}
	first := l.run(true)
	l.origin.SetBase(now)
	r := l.run(true)
	l.converged(r)
	if r.Counts.Moved != first.Counts.Live || r.Counts.Added+r.Counts.Removed+r.Counts.Held+r.Counts.Changed != 0 {
		t.Errorf("counts %+v: want %d moved and nothing else", r.Counts, first.Counts.Live)
	}
	feed := l.feed(r.ID)
	if len(feed) != 1 || len(feed[models.KindMoved]) != int(first.Counts.Live) {
		t.Errorf("feed %s: want every page moved and nothing else", kinds(feed))
	}
	for _, text := range feed[models.KindMoved] {
		old, target, _ := strings.Cut(text, " -> ")
		if strings.Replace(old, before, now, 1) != target {
			t.Errorf("moved %s", text)
		}
	}
	if !slices.ContainsFunc(r.Findings, func(f models.Finding) bool { return f.Code == "site-migrated" }) {
		t.Errorf("findings %v: want site-migrated", r.Findings)
	}
	l.unbroken()
	l.remembered()
}

func kinds(feed map[string][]string) string {
	out := map[string]int{}
	for kind, urls := range feed {
		out[kind] = len(urls)
	}
	return fmt.Sprint(out)
}

const namespace = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`

// listing makes a urlset; each entry is a URL, with "|" and a lastmod when it has one.
func listing(entries ...string) sitetest.Fault {
	var b strings.Builder
	for _, e := range entries {
		url, lastmod, has := strings.Cut(e, "|")
		b.WriteString("<url><loc>" + url + "</loc>")
		if has {
			b.WriteString("<lastmod>" + lastmod + "</lastmod>")
		}
		b.WriteString("</url>\n")
	}
	return sitetest.Body("application/xml", `<?xml version="1.0" encoding="UTF-8"?><urlset `+namespace+">\n"+b.String()+"</urlset>\n")
}

// entries are what the site says of pages, as listing takes it.
func (l *lab) entries(urls ...string) []string {
	out := make([]string, 0, len(urls))
	for _, url := range urls {
		out = append(out, url+"|"+l.origin.Inventory()[url])
	}
	return out
}

func TestEngine_DuplicatesCountOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 40, Pages: 2, PerFile: 25, Seed: 1})
	home, twice := l.origin.URL()+"/", l.origin.PostURL(30)
	lastmod := l.origin.Inventory()[twice]
	pages := "/wp-sitemap-posts-page-1.xml"
	undo := l.origin.Fail(pages, listing(append(l.entries(home, l.origin.PostURL(41), l.origin.PostURL(42)), twice+"|2020-01-01")...))
	first := l.run(true)
	if first.Counts.Live != 43 || first.Counts.Added != 43 {
		t.Fatalf("counts %+v: want 43 pages", first.Counts)
	}
	page := l.pages(models.PageFilter{State: models.StateAll, Key: new(keyOf(t, twice))})
	if len(page) != 1 || page[0].Lastmod == nil || page[0].Lastmod.Raw != lastmod || len(page[0].Listings) != 1 ||
		!strings.HasSuffix(page[0].Listings[0], pages) || !strings.Contains(page[0].Document, "posts-post-2") {
		t.Fatalf("page listed twice: %+v", page)
	}
	// Its first document drops it: the other listing takes over, so the page changes and is not removed.
	hide := l.origin.Fail("/wp-sitemap-posts-post-2.xml", sitetest.Without(twice))
	r := l.run(true)
	if r.Counts.Live != 43 || r.Counts.Removed+r.Counts.Pending != 0 {
		t.Errorf("counts %+v: want 43 pages and no removal", r.Counts)
	}
	if diff := differFeeds(map[string][]string{models.KindChanged: {twice}}, l.feed(r.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	// The last listing goes as well.
	undo()
	r = l.run(true)
	if diff := differFeeds(map[string][]string{models.KindRemoved: {twice}}, l.feed(r.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	hide()
	r = l.run(true)
	l.converged(r)
	if diff := differFeeds(map[string][]string{models.KindRestored: {twice}}, l.feed(r.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	l.unbroken()
	l.remembered()
}

// A duplicate that comes and goes says nothing new of the page.
func TestEngine_DuplicatesComeAndGoInSilence(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 40, Pages: 2, PerFile: 25, Seed: 1})
	l.run(true)
	honest := l.entries(l.origin.URL()+"/", l.origin.PostURL(41), l.origin.PostURL(42))
	undo := l.origin.Fail("/wp-sitemap-posts-page-1.xml", listing(append(honest, l.origin.PostURL(3), l.origin.PostURL(30))...))
	for range 2 {
		r := l.run(true)
		if got := l.feed(r.ID); len(got) > 0 || r.Counts.Live != 43 || r.Counts.Unchanged != 43 {
			t.Errorf("counts %+v, feed %v: want nothing new", r.Counts, got)
		}
		l.lists(l.inventory(), r)
	}
	undo()
	r := l.run(true)
	if got := l.feed(r.ID); len(got) > 0 {
		t.Errorf("feed %v: want nothing", got)
	}
	l.converged(r)
	l.unbroken()
	l.remembered()
}

func TestEngine_ForeignPagesStayApart(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 40, PerFile: 25, Seed: 1})
	l.run(true)
	stranger := "https://other.example/page/"
	undo := l.origin.Fail("/wp-sitemap-posts-page-1.xml", listing(append(l.entries(l.origin.URL()+"/"), stranger)...))
	r := l.run(true)
	l.lists(l.inventory(), r)
	if got := l.feed(r.ID); len(got) > 0 {
		t.Errorf("feed %v: want nothing", got)
	}
	if p := l.pages(models.PageFilter{State: models.StateForeign}); len(p) != 1 || p[0].URL != stranger {
		t.Errorf("foreign pages: %+v", p)
	}
	undo()
	r = l.run(true)
	l.converged(r)
	if p := l.pages(models.PageFilter{State: models.StateForeign}); len(p) != 0 || len(l.feed(r.ID)) != 0 {
		t.Errorf("foreign pages: %+v, feed %v", p, l.feed(r.ID))
	}
	l.remembered()
}
