package syncer_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// clock stands still until it is moved: the origin and the engine share it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// lab is one engine on a real SQLite file that follows one made-up WordPress site.
type lab struct {
	testing.TB
	origin *sitetest.Site
	path   string
	store  *store.Store
	engine *syncer.Engine
	site   models.Site
	clock  *clock
	kept   []memory // what was visible after each run
}

// memory is what readers saw at one run.
type memory struct {
	run   int64
	pages map[string]sight
}

// sight is what the inventory says of a page, less what may grow later (last_seen, to_run).
type sight struct {
	State   models.State
	Lastmod string
	Images  string
	First   time.Time
	From    int64
}

func newLab(t testing.TB, o sitetest.Options) *lab { return newLabOn(t, o, nil) }

// newLabOn is newLab on a database of the test's own.
func newLabOn(t testing.TB, o sitetest.Options, s *store.Store) *lab {
	t.Helper()
	l := &lab{TB: t, clock: &clock{at: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}}
	o.Now = l.clock.now
	l.origin = sitetest.New(o)
	if err := l.origin.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.origin.Close() })
	if s == nil {
		l.path = filepath.Join(t.TempDir(), "sitemapd.db")
		var err error
		if s, err = store.Open(t.Context(), "sqlite:"+l.path, store.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
	}
	l.store = s
	l.follow(models.Site{})
	return l
}

// follow adds the site and wires an engine. A given site keeps its settings.
func (l *lab) follow(site models.Site) {
	l.Helper()
	if site.Name == "" {
		site.Name = "shop"
	}
	site.Home, site.Root = l.origin.URL()+"/", l.origin.Index()
	site.Roots = []models.Root{{URL: site.Root, Discovery: "direct_URL"}}
	added, err := l.store.AddSite(l.Context(), site)
	if err != nil {
		l.Fatal(err)
	}
	l.site = added
	l.restart(nil)
}

// restart wires a new engine, as a new process would have it. wrap, when given, stands between engine and database.
func (l *lab) restart(wrap func(*syncer.Options)) {
	l.Helper()
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Backoff: time.Millisecond, MaxRetryAfter: time.Millisecond, PageDelay: -1, HeaderTimeout: time.Second})
	l.Cleanup(client.Close)
	o := syncer.Options{Store: l.store, Web: client, Now: l.clock.now, Owner: "test"}
	if wrap != nil {
		wrap(&o)
	}
	engine, err := syncer.New(o)
	if err != nil {
		l.Fatal(err)
	}
	l.engine = engine
}

// run makes one run an hour after the last thing that happened and remembers what is visible then.
func (l *lab) run(confirm bool) models.Run {
	l.Helper()
	l.clock.advance(time.Hour)
	r, err := l.engine.Run(l.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual, Confirm: confirm})
	if err != nil {
		l.Fatalf("run: %v", err)
	}
	if !r.Current {
		l.Fatalf("run %d is not visible: %+v", r.ID, r)
	}
	l.kept = append(l.kept, memory{r.ID, l.sights(models.AsOf{})})
	return r
}

func (l *lab) pages(f models.PageFilter) []models.Page {
	l.Helper()
	var out []models.Page
	if err := l.store.Pages(l.Context(), l.site.ID, f, func(p *models.Page) error {
		out = append(out, *p)
		return nil
	}); err != nil {
		l.Fatalf("pages: %v", err)
	}
	return out
}

func (l *lab) sights(at models.AsOf) map[string]sight {
	l.Helper()
	out := map[string]sight{}
	for _, p := range l.pages(models.PageFilter{State: models.StateAll, AsOf: at}) {
		if _, twice := out[p.URL]; twice {
			l.Errorf("%s is in the inventory twice", p.URL)
		}
		s := sight{State: p.State, Images: imagesOf(l, p.Images), First: p.FirstSeen, From: p.FromRun}
		if p.Lastmod != nil {
			s.Lastmod = p.Lastmod.Raw
		}
		out[p.URL] = s
	}
	return out
}

func imagesOf(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var images []struct{ Loc string }
	if err := json.Unmarshal(raw, &images); err != nil {
		t.Fatalf("images %s: %v", raw, err)
	}
	var out []string
	for _, i := range images {
		out = append(out, i.Loc)
	}
	return strings.Join(out, " ")
}

// entry is what the site says of a page, read by encoding/xml and nothing of ours.
type entry struct{ Lastmod, Images string }

// published reads every document of the site and compares the result with the site's own inventory.
func (l *lab) published() map[string]entry {
	l.Helper()
	type image struct {
		Loc string `xml:"http://www.google.com/schemas/sitemap-image/1.1 loc"`
	}
	type urlset struct {
		URLs []struct {
			Loc     string  `xml:"loc"`
			Lastmod string  `xml:"lastmod"`
			Images  []image `xml:"http://www.google.com/schemas/sitemap-image/1.1 image"`
		} `xml:"url"`
	}
	out := map[string]entry{}
	for _, document := range l.origin.Documents()[1:] {
		response, err := http.Get(document)
		if err != nil {
			l.Fatal(err)
		}
		var u urlset
		err = xml.NewDecoder(response.Body).Decode(&u)
		_ = response.Body.Close()
		if err != nil {
			l.Fatalf("%s: %v", document, err)
		}
		for _, x := range u.URLs {
			var images []string
			for _, i := range x.Images {
				images = append(images, i.Loc)
			}
			out[x.Loc] = entry{instantOf(l, x.Lastmod), strings.Join(images, " ")}
		}
	}
	inventory := l.origin.Inventory()
	for url, stamp := range inventory {
		if got, ok := out[url]; !ok || got.Lastmod != instantOf(l, stamp) {
			l.Fatalf("the two oracles disagree about %s: %q and %v", url, stamp, got)
		}
	}
	if len(out) != len(inventory) {
		l.Fatalf("the two oracles disagree: %d and %d pages", len(out), len(inventory))
	}
	return out
}

// instantOf makes different spellings of one moment equal.
func instantOf(t testing.TB, stamp string) string {
	t.Helper()
	if stamp == "" {
		return ""
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC().Format(time.RFC3339)
}

// live is the inventory as the oracle would put it.
func (l *lab) live() map[string]entry {
	l.Helper()
	out := map[string]entry{}
	for _, p := range l.pages(models.PageFilter{}) {
		e := entry{Images: imagesOf(l, p.Images)}
		if p.Lastmod != nil {
			e.Lastmod = instantOf(l, p.Lastmod.Raw)
			if !p.Lastmod.Instant.Equal(p.Lastmod.Instant.UTC()) || p.Lastmod.Instant.UTC().Format(time.RFC3339) != e.Lastmod {
				l.Errorf("%s: lastmod %q is not %s", p.URL, p.Lastmod.Raw, p.Lastmod.Instant)
			}
		}
		out[p.URL] = e
	}
	return out
}

// converged fails unless the live inventory is what the site publishes and the run says so in its counts.
func (l *lab) converged(r models.Run) {
	l.Helper()
	l.lists(l.published(), r)
}

// inventory is the site's own list, for when faults bend what it serves; a layout without images is assumed.
func (l *lab) inventory() map[string]entry {
	l.Helper()
	out := map[string]entry{}
	for url, stamp := range l.origin.Inventory() {
		out[url] = entry{Lastmod: instantOf(l, stamp)}
	}
	return out
}

func (l *lab) lists(want map[string]entry, r models.Run) {
	l.Helper()
	if diff := differ(want, l.live()); diff != "" {
		l.Fatalf("run %d: the inventory is not what the site publishes: %s", r.ID, diff)
	}
	if r.Verdict != models.VerdictComplete || r.Counts.Live != int64(len(want)) || r.Counts.Pending+r.Counts.Held+r.Counts.Stale != 0 {
		l.Errorf("run %d: %s (%s), counts %+v; want complete with %d live", r.ID, r.Verdict, r.Reason, r.Counts, len(want))
	}
}

// differ tells how two maps differ, "" when they do not: how much, and the first few of it.
func differ[V comparable](want, got map[string]V) string {
	var out []string
	for _, url := range slices.Sorted(maps.Keys(want)) {
		if have, ok := got[url]; !ok {
			out = append(out, fmt.Sprintf("missing %s: %v", url, want[url]))
		} else if have != want[url] {
			out = append(out, fmt.Sprintf("%s is %v, want %v", url, have, want[url]))
		}
	}
	for _, url := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[url]; !ok {
			out = append(out, fmt.Sprintf("unexpected %s: %v", url, got[url]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("%d differences (want %d, have %d):\n  %s", len(out), len(want), len(got), strings.Join(out[:min(5, len(out))], "\n  "))
}

// differFeeds compares feeds.
func differFeeds(want, got map[string][]string) string {
	flat := func(feed map[string][]string) map[string]string {
		out := map[string]string{}
		for kind, urls := range feed {
			for _, url := range urls {
				out[kind+" "+url] += "1"
			}
		}
		return out
	}
	return differ(flat(want), flat(got))
}

// feed is what the change feed says of one run: kind -> pages, sorted. A rename says "old -> new".
func (l *lab) feed(run int64) map[string][]string {
	l.Helper()
	out := map[string][]string{}
	err := l.store.Changes(l.Context(), l.site.ID, models.ChangeFilter{Run: run}, func(c *models.Change) error {
		if c.Run != run {
			l.Errorf("the feed of run %d tells %s of run %d", run, c.Kind, c.Run)
		}
		text := c.URL
		if c.Kind == models.KindMoved {
			for _, f := range c.Fields {
				text = fmt.Sprintf("%v -> %v", f.Old, f.New)
			}
		}
		out[c.Kind] = append(out[c.Kind], text)
		return nil
	})
	if err != nil {
		l.Fatalf("changes of run %d: %v", run, err)
	}
	for _, urls := range out {
		slices.Sort(urls)
	}
	return out
}

// meaning is what a change of the published state means: what a correct feed says.
func meaning(before, after map[string]entry) map[string][]string {
	out := map[string][]string{}
	for url, e := range after {
		if was, ok := before[url]; !ok {
			out[models.KindAdded] = append(out[models.KindAdded], url)
		} else if was != e {
			out[models.KindChanged] = append(out[models.KindChanged], url)
		}
	}
	for url := range before {
		if _, ok := after[url]; !ok {
			out[models.KindRemoved] = append(out[models.KindRemoved], url)
		}
	}
	for _, urls := range out {
		slices.Sort(urls)
	}
	return out
}

// remembered fails unless every earlier run can still be read as it was seen then.
func (l *lab) remembered() {
	l.Helper()
	for _, m := range l.kept {
		if diff := differ(m.pages, l.sights(models.AsOf{Run: m.run})); diff != "" {
			l.Fatalf("as of run %d the inventory is not what it was then: %s", m.run, diff)
		}
	}
}

// unbroken fails unless the history of every page that was ever seen has no gap and no overlap, up to now.
func (l *lab) unbroken() {
	l.Helper()
	seen := map[string]bool{}
	for _, m := range l.kept {
		for url := range m.pages {
			seen[url] = true
		}
	}
	for url := range seen {
		l.unbrokenPage(url)
	}
}

func (l *lab) unbrokenPage(url string) []models.Page {
	l.Helper()
	history, err := l.store.PageHistory(l.Context(), l.site.ID, keyOf(l, url))
	if err != nil {
		l.Fatalf("history of %s: %v", url, err)
	}
	if len(history) == 0 {
		l.Fatalf("history of %s: nothing", url)
	}
	for i, p := range history {
		last := i == len(history)-1
		switch {
		case last && p.ToRun != nil:
			l.Fatalf("history of %s ends at run %d: %s", url, *p.ToRun, lines(history))
		case !last && (p.ToRun == nil || *p.ToRun != history[i+1].FromRun || *p.ToRun <= p.FromRun):
			l.Fatalf("history of %s has a gap or an overlap: %s", url, lines(history))
		}
	}
	return history
}

func lines(history []models.Page) string {
	var b strings.Builder
	for _, p := range history {
		to := "now"
		if p.ToRun != nil {
			to = fmt.Sprint(*p.ToRun)
		}
		fmt.Fprintf(&b, "\n  %d to %s: %s in %s", p.FromRun, to, p.State, p.Document)
	}
	return b.String()
}

func keyOf(t testing.TB, url string) models.Key {
	t.Helper()
	u, problem := weburl.Parse(nil, []byte(url))
	if problem != weburl.None {
		t.Fatalf("%s: %s", url, problem)
	}
	return models.Key(u.Key())
}
