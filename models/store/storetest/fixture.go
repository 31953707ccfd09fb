package storetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// Fixture is a site in a store with its host's lease, and short forms of what an engine does. Every failure ends the
// test. Its methods may be called from several goroutines for different documents.
type Fixture struct {
	t     testing.TB
	Store *store.Store
	Site  models.Site
	Lease models.Lease
	clock time.Time
	last  int64
}

// KeyOf gives a page's key in tests.
func KeyOf(url string) models.Key {
	sum := sha256.Sum256([]byte(url))
	return models.Key(sum[:16])
}

// NewFixture adds a site and takes its lease.
func NewFixture(t testing.TB, s *store.Store) *Fixture {
	t.Helper()
	return NewSite(t, s, "example.com")
}

// NewSite is NewFixture for a host of one's own choice.
func NewSite(t testing.TB, s *store.Store, host string) *Fixture {
	t.Helper()
	site, err := s.AddSite(t.Context(), models.Site{Name: host, Home: "https://" + host + "/", Root: "https://" + host + "/sitemap.xml"})
	if err != nil {
		t.Fatalf("add site: %v", err)
	}
	lease, err := s.AcquireLease(t.Context(), KeyOf(host), "test", time.Hour)
	if err != nil {
		t.Fatalf("acquire lease: %v", err)
	}
	return &Fixture{t: t, Store: s, Site: site, Lease: lease, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (f *Fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// At is the time at which a run of the fixture ends.
func (f *Fixture) At(run int64) time.Time {
	return f.clock.Add(time.Duration(run)*time.Hour + 30*time.Minute)
}

// Begin begins a run.
func (f *Fixture) Begin() models.Run {
	f.t.Helper()
	run, err := f.Store.BeginRun(f.t.Context(), f.Lease, f.Site.ID, models.Run{Cause: models.CauseManual, StartedAt: f.clock})
	f.must(err)
	run.StartedAt = f.At(run.ID).Add(-time.Minute)
	f.last = run.ID
	return run
}

// Last is the number of the last run begun.
func (f *Fixture) Last() int64 { return f.last }

// DocumentURL is the URL of a numbered document.
func (f *Fixture) DocumentURL(number int32) string {
	return fmt.Sprintf("https://%s/%s%d.xml", f.Site.Name, []string{"category-sitemap", "sitemap-", "post-sitemap"}[number%3], number)
}

// SaveDocument stages a version of a numbered document.
func (f *Fixture) SaveDocument(run models.Run, number int32, verdict models.Verdict, findings ...models.Finding) models.Document {
	f.t.Helper()
	url := f.DocumentURL(number)
	d := models.Document{Number: number, URL: url, Key: KeyOf(url), Parent: 0, Depth: 1, Discovery: "sitemap_index"}
	d.Verdict, d.Type, d.FetchedAt, d.ObservedAt = verdict, "urlset", f.At(run.ID), f.At(run.ID)
	if verdict == models.VerdictComplete {
		d.SemanticHash = []byte(fmt.Sprint("meaning of ", number, " at ", run.ID))[:16]
	}
	if !verdict.Read() {
		d.Reason = "because it is " + string(verdict)
	}
	f.must(f.Store.SaveDocument(f.t.Context(), f.Lease, f.Site.ID, run.ID, &d, findings))
	return d
}

// Stage stages rows of a document.
func (f *Fixture) Stage(run models.Run, document int32, close []models.Key, add []models.Declaration) {
	f.t.Helper()
	slices.SortFunc(add, func(a, b models.Declaration) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	f.must(f.Store.StageDocument(f.t.Context(), f.Lease, f.Site.ID, run.ID, document, close, add))
}

// Finish makes a run visible.
func (f *Fixture) Finish(run models.Run, served ...int64) {
	f.t.Helper()
	at := f.At(run.ID)
	run.Verdict, run.FinishedAt = models.VerdictComplete, &at
	f.looked()
	f.must(f.Store.Finish(f.t.Context(), f.Lease, run, served, nil))
	f.looked()
}

// watchers holds, by store, what looks at its fixtures before and after each run ends.
var watchers sync.Map

// Watch lets look see every fixture of a store before and after each of its runs ends: while it is staged, and when
// readers see it.
func Watch(s *store.Store, look func(*Fixture)) { watchers.Store(s, look) }

func (f *Fixture) looked() {
	f.t.Helper()
	if look, ok := watchers.Load(f.Store); ok {
		look.(func(*Fixture))(f)
	}
}

// Page makes a declaration that says content of a URL.
func Page(url, content string) models.Declaration {
	sum := sha256.Sum256([]byte(url + "\x00" + content))
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(sum[0]) * time.Hour)
	return models.Declaration{Key: KeyOf(url), URL: url, Fingerprint: models.Fingerprint(sum[:16]), Changefreq: content,
		Lastmod: &models.Lastmod{Raw: at.Format(time.RFC3339), Instant: at, Precision: models.PrecisionSecond, Zone: true}}
}

// Pages reads pages by a filter.
func (f *Fixture) Pages(filter models.PageFilter) []models.Page {
	f.t.Helper()
	var out []models.Page
	f.must(f.Store.Pages(f.t.Context(), f.Site.ID, filter, func(p *models.Page) error {
		out = append(out, *p)
		return nil
	}))
	return out
}

// States gives "state url" of every page at a moment, sorted by URL.
func (f *Fixture) States(at models.AsOf) []string {
	f.t.Helper()
	var out []string
	for _, p := range f.Pages(models.PageFilter{State: models.StateAll, AsOf: at}) {
		out = append(out, string(p.State)+" "+p.URL)
	}
	sortByURL(out)
	return out
}

// sortByURL sorts texts of the form "word url".
func sortByURL(texts []string) {
	url := func(text string) string { return text[strings.IndexByte(text, ' '):] }
	slices.SortFunc(texts, func(a, b string) int { return strings.Compare(url(a), url(b)) })
}

func sortTexts(texts []string) { slices.Sort(texts) }

// Changes reads the feed by a filter.
func (f *Fixture) Changes(filter models.ChangeFilter) []models.Change {
	f.t.Helper()
	var out []models.Change
	f.must(f.Store.Changes(f.t.Context(), f.Site.ID, filter, func(c *models.Change) error {
		out = append(out, *c)
		return nil
	}))
	return out
}

// Listed gives "document url-key role" of all open rows of some documents, staged ones included.
func (f *Fixture) Listed(documents ...int32) []models.Listing {
	f.t.Helper()
	var out []models.Listing
	for _, d := range documents {
		f.must(f.Store.Listings(f.t.Context(), f.Site.ID, d, func(l models.Listing) error {
			out = append(out, l)
			return nil
		}))
	}
	return out
}
