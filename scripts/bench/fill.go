package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// What the database of the screens' benchmark holds besides its pages. One site is as large as the target says; the
// others make the overview long, as that of an agency.
const (
	smallSites     = 40
	smallPages     = 500
	smallRuns      = 30
	manyRuns       = 2000 // of the large site, an hour apart
	changingRuns   = 10   // every so many runs change something
	heldPages      = 20_000
	gonePages      = 5_000
	deliveries     = 10_000
	documentFaults = 10
)

// filler writes one site's history the way the engine does, only faster: it makes up what a walk would have found.
type filler struct {
	ctx     context.Context
	store   *store.Store
	site    models.Site
	lease   models.Lease
	perFile int
	pages   int
	now     time.Time
	rng     *rand.Rand
	served  []int64 // triggers that the next run serves
}

func (f *filler) url(document int32, i int) string {
	section := []string{"blog", "produkte", "news", "2024/05", "docs"}[int(document)%5]
	return fmt.Sprintf("%s%s/a-post-title-of-usual-length-%d-%d/", f.site.Home, section, document, i)
}

func (f *filler) documentURL(n int32) string {
	if n == 1 {
		return f.site.Root
	}
	return fmt.Sprintf("%swp-sitemap-posts-post-%d.xml", f.site.Home, n-1)
}

// declare makes the declarations of one document, ascending by key; edition changes what they say.
func (f *filler) declare(document int32, edition int, which func(i int) bool) []models.Declaration {
	var rows []models.Declaration
	for i := range f.rows(document) {
		if which != nil && !which(i) {
			continue
		}
		link := f.url(document, i)
		u, _ := weburl.ParseString(nil, link)
		sum := sha256.Sum256([]byte(link + strconv.Itoa(edition)))
		at := f.now.Add(-time.Duration(int64(sum[0])*int64(sum[1])) * time.Hour).Truncate(time.Second)
		d := models.Declaration{Key: models.Key(u.Key()), URL: link, Fingerprint: models.Fingerprint(sum[:16]),
			Lastmod: &models.Lastmod{Raw: at.Format(time.RFC3339), Instant: at, Precision: models.PrecisionSecond, Zone: true}}
		switch {
		case i%3 == 0:
			d.Extensions = []byte(`{"images":[{"loc":"` + link + `picture.jpg"},{"loc":"` + link + `other.jpg"}]}`)
		case i%11 == 0:
			d.Extensions = []byte(`{"alternates":[{"hreflang":"de","href":"` + link + `"},{"hreflang":"en","href":"` + link + `en/"},{"hreflang":"x-default","href":"` + link + `"}]}`)
		case i%101 == 0:
			d.Extensions = []byte(`{"videos":[{"content_loc":"` + link + `film.mp4","title":"A film of usual length"}]}`)
		}
		rows = append(rows, d)
	}
	slices.SortFunc(rows, func(a, b models.Declaration) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return rows
}

func (f *filler) documents() int32 { return int32((f.pages + f.perFile - 1) / f.perFile) }

func (f *filler) rows(document int32) int { return min(f.perFile, f.pages-int(document-2)*f.perFile) }

func (f *filler) begin(at time.Time) (models.Run, error) {
	run, err := f.store.BeginRun(f.ctx, f.lease, f.site.ID, models.Run{Cause: models.CauseCron, StartedAt: at})
	run.StartedAt = at
	return run, err
}

func (f *filler) finish(run models.Run, counts models.Counts) error {
	at := run.StartedAt.Add(40 * time.Second)
	run.FinishedAt, run.Verdict, run.Counts = &at, models.VerdictComplete, counts
	run.Documents = models.RunDocuments{Read: int64(f.documents()) + 1, Unchanged: int64(f.documents())}
	run.Counts.Live, run.Baseline = int64(f.pages), run.ID == 1
	return f.store.Finish(f.ctx, f.lease, run, f.served, nil)
}

func (f *filler) saveDocument(run models.Run, n int32, verdict models.Verdict) error {
	link := f.documentURL(n)
	u, _ := weburl.ParseString(nil, link)
	d := models.Document{Number: n, URL: link, Key: models.Key(u.Key()), Parent: 1, Depth: 1, Discovery: "sitemap_index", FirstRun: 1}
	d.Verdict, d.Type, d.Status, d.FetchedAt, d.ObservedAt = verdict, "urlset", 200, run.StartedAt, run.StartedAt
	d.ContentType, d.Encoding, d.Generator, d.LastmodTrust = "application/xml", "UTF-8", "core", 0.1+0.9*f.rng.Float64()
	var findings []models.Finding
	if n == 1 {
		d.Parent, d.Depth, d.Discovery, d.Type, d.Children = 0, 0, "robots_txt", "sitemapindex", int64(f.documents())
	} else {
		d.Entries = int64(f.rows(n))
		for i := range documentFaults {
			code := []string{"lastmod-in-future", "duplicate-loc", "priority-invalid", "image-loc-relative", "lastmod-without-zone"}[i%5]
			findings = append(findings, models.Finding{Code: code, Severity: []string{"warning", "info", "error"}[i%3], Document: link, Page: f.url(n, i),
				Line: 10 * i, Text: "a text of usual length that says what is wrong", Rule: "sitemaps.org"})
		}
	}
	return f.store.SaveDocument(f.ctx, f.lease, f.site.ID, run.ID, &d, findings)
}

// first is the run that finds everything.
func (f *filler) first(at time.Time) error {
	run, err := f.begin(at)
	if err != nil {
		return err
	}
	for n := range f.documents() + 1 {
		if err := f.saveDocument(run, n+1, models.VerdictComplete); err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if err := f.store.StageDocument(f.ctx, f.lease, f.site.ID, run.ID, n+1, nil, f.declare(n+1, 0, nil)); err != nil {
			return err
		}
	}
	if err := f.store.SharedKeys(f.ctx, f.site.ID, func(models.Key) error { return nil }); err != nil { // as the engine does; it completes the index by page
		return err
	}
	return f.finish(run, models.Counts{Added: int64(f.pages)})
}

// change is a run that changes 20 pages in each of some documents.
func (f *filler) change(run models.Run) (models.Counts, error) {
	var counts models.Counts
	for range min(5, f.documents()) {
		n := 2 + f.rng.Int32N(f.documents())
		offset := f.rng.IntN(100)
		if err := f.saveDocument(run, n, models.VerdictComplete); err != nil {
			return counts, err
		}
		rows := f.declare(n, int(run.ID), func(i int) bool { return i%100 == offset })
		keys := make([]models.Key, len(rows))
		for i := range rows {
			rows[i].FirstRun, keys[i] = 1, rows[i].Key
		}
		if err := f.store.StageDocument(f.ctx, f.lease, f.site.ID, run.ID, n, keys, rows); err != nil {
			return counts, err
		}
		counts.Changed += int64(len(rows))
	}
	return counts, nil
}

// leave puts the first pages of the last documents into cases: some removed, many held.
func (f *filler) leave(run models.Run, stage string, documents int, pages int) error {
	for k := range documents {
		n := f.documents() + 1 - int32(k)
		rows := f.declare(n, 0, func(i int) bool { return i < pages/documents })
		var cases []models.Removal
		var keys []models.Key
		for i := range rows {
			r := models.Removal{Key: rows[i].Key, URL: rows[i].URL, Document: n, FromRun: run.ID, FirstRun: 1, DecidedRun: models.Open, Stage: stage,
				Since: run.StartedAt, Reason: "20,000 of 1,000,000 pages left at once", Evidence: []byte(`{"runs":[1]}`)}
			if stage == models.StageHeld {
				r.HeldRun = run.ID
			} else {
				r.DecidedRun, r.Reason = run.ID, "missing from two complete walks"
			}
			cases, keys = append(cases, r), append(keys, r.Key)
		}
		if err := f.store.SaveRemovals(f.ctx, f.lease, f.site.ID, run.ID, cases); err != nil {
			return err
		}
		if stage != models.StageRemoved {
			continue
		}
		if err := f.saveDocument(run, n, models.VerdictComplete); err != nil {
			return err
		}
		if err := f.store.StageDocument(f.ctx, f.lease, f.site.ID, run.ID, n, keys, nil); err != nil {
			return err
		}
	}
	return nil
}

// history adds runs, an hour apart and ending now.
func (f *filler) history(runs int) error {
	for i := range runs {
		run, err := f.begin(f.now.Add(time.Duration(i-runs) * time.Hour))
		if err != nil {
			return err
		}
		var counts models.Counts
		switch large := f.pages > 100*smallPages; {
		case large && i == runs/2:
			counts.Removed = gonePages
			err = f.leave(run, models.StageRemoved, 5, gonePages)
		case large && i == runs-3:
			counts.Held = heldPages
			err = f.leave(run, models.StageHeld, 20, heldPages)
		case large && i == runs-2: // documents that cannot be read: their pages are stale
			for n := range int32(5) {
				err = cmp.Or(err, f.saveDocument(run, 20+n, models.VerdictUnavailable))
			}
			counts.Held, counts.Stale = heldPages, int64(5*f.perFile)
		case i%changingRuns == 0:
			counts, err = f.change(run)
		}
		if i >= runs-2 && large(f) {
			counts.Held = heldPages
		}
		if err != nil {
			return err
		}
		if err := f.finish(run, counts); err != nil {
			return err
		}
	}
	return nil
}

func large(f *filler) bool { return f.pages > 100*smallPages }

// inbox adds deliveries and what they announced.
func (f *filler) inbox() error {
	var expected []models.Expectation
	for i := range deliveries {
		at := f.now.Add(-time.Duration(deliveries-i) * 10 * time.Minute)
		link := f.url(2, i%f.perFile)
		u, _ := weburl.ParseString(nil, link)
		d := models.Delivery{SiteID: f.site.ID, At: at, Status: 200, Dialect: "standard_webhooks", KeyID: "abcd1234", Remote: "127.0.0.1", Bytes: 400,
			Result: []string{models.DeliveryAccepted, models.DeliveryAccepted, models.DeliveryDuplicate, models.DeliveryIgnored, models.DeliveryRejected}[i%5],
			Hints:  []models.Hint{{Event: "post.updated", URL: link, PostID: int64(i), PostType: "post", Expect: "changed"}}}
		if d.Result == models.DeliveryAccepted {
			var err error
			d.Trigger, _, err = f.store.SaveTrigger(f.ctx, models.Trigger{SiteID: f.site.ID, Kind: models.CauseHook, Dialect: d.Dialect, ReceivedAt: at, Hints: d.Hints})
			if err != nil {
				return err
			}
			f.served = append(f.served, d.Trigger)
			met := at.Add(time.Duration(5+f.rng.IntN(300)) * time.Second)
			expected = append(expected, models.Expectation{SiteID: f.site.ID, Trigger: d.Trigger, Key: models.Key(u.Key()), URL: link, Kind: models.ExpectChanged,
				OpenedAt: at, OpenedRun: 2, Checks: 1, Outcome: models.OutcomeMet, DecidedRun: 3, DecidedAt: &met})
		}
		if err := f.store.SaveDelivery(f.ctx, d); err != nil {
			return err
		}
	}
	if err := f.store.SaveExpectations(f.ctx, f.lease, expected); err != nil {
		return err
	}
	run, err := f.begin(f.now)
	if err != nil {
		return err
	}
	return f.finish(run, models.Counts{Held: heldPages, Stale: int64(5 * f.perFile)})
}

// fill makes one database: the large site and the small ones beside it.
func fill(ctx context.Context, dsn string, pages, perFile int) error {
	s, err := store.Open(ctx, dsn, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	for k := range smallSites + 1 {
		name := fmt.Sprintf("agency-client-%02d.example", k)
		f := &filler{ctx: ctx, store: s, perFile: perFile, pages: smallPages, now: time.Now().UTC(), rng: rand.New(rand.NewPCG(uint64(k), 1))}
		runs := smallRuns
		if k == 0 {
			name, f.pages, runs = "large.example", pages, manyRuns
		}
		home := "https://" + name + "/"
		f.site, err = s.AddSite(ctx, models.Site{Name: name, Home: home, Root: home + "wp-sitemap.xml", Schedule: "@hourly", Paused: true,
			Roots: []models.Root{{URL: home + "wp-sitemap.xml", Discovery: "robots_txt"}}})
		if err != nil {
			return err
		}
		if f.lease, err = s.AcquireLease(ctx, keyOf(name), "bench", time.Hour); err != nil {
			return err
		}
		if err := f.first(f.now.Add(-time.Duration(runs+1) * time.Hour)); err != nil {
			return err
		}
		if err := f.history(runs); err != nil {
			return err
		}
		if k == 0 {
			if err := f.inbox(); err != nil {
				return err
			}
		}
		if err := s.ReleaseLease(ctx, f.lease); err != nil {
			return err
		}
	}
	return nil
}

// canonicalSQL gives every page of the large site what verification would have kept of it, in the few columns that lists
// read; it runs in either database's own client.
const canonicalSQL = `
INSERT INTO canonical_heads (site_id, url_key, url, target, edge, edge_kind, own, status, reason, listed, resolution, depth)
  SELECT site_id, url_key, url, '', '', '', 'self', CASE WHEN document %% 10 = 0 THEN 'conflicting' WHEN document %% 10 = 1 THEN 'declared' ELSE 'validated' END,
  'ok', 1, 'self', 0 FROM declarations WHERE site_id = 1 AND to_run = 9223372036854775807;
INSERT INTO canonical_findings (site_id, finding, url_key, code, report, severity, state, page, template, first_seen, last_seen, changed_at, confirmed, body)
  SELECT site_id, %s, url_key, 'canonical-missing', 'canonical', 'warning', 'open', url, '/blog/', %s, %s, %s, 2,
  '{"text":"the page declares no canonical URL","weight":"low"}' FROM declarations WHERE site_id = 1 AND document BETWEEN 2 AND 21 AND to_run = 9223372036854775807;
`

// keyOf names a host's lease.
func keyOf(name string) models.Key {
	sum := sha256.Sum256([]byte(name))
	return models.Key(sum[:16])
}
