package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

const (
	pageA = "https://example.com/a"
	pageB = "https://example.com/b"
	pageC = "https://example.com/c"
	pageD = "https://example.com/d"
)

// settled gives a site after one run: document 1 lists a and b, document 2 lists c; c's removal is pending since run 2.
func settled(t *testing.T, s *store.Store) *Fixture {
	t.Helper()
	f := NewFixture(t, s)
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete, models.Finding{Code: "first", Severity: models.SeverityInfo})
	f.Stage(run, 1, nil, []models.Declaration{Page(pageA, "1"), Page(pageB, "1")})
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Stage(run, 2, nil, []models.Declaration{Page(pageC, "1")})
	f.Finish(run)
	run = f.Begin()
	f.SaveRemovals(run, Case(run, 2, pageC, models.StagePending))
	f.Finish(run)
	return f
}

// Case makes a removal that begins in a run.
func Case(run models.Run, document int32, url, stage string) models.Removal {
	return models.Removal{Key: KeyOf(url), URL: url, Document: document, FromRun: run.ID, FirstRun: 1, DecidedRun: models.Open,
		Stage: stage, Since: run.StartedAt, AgreedRun: run.ID, Reason: "not listed by run " + string(rune('0'+run.ID%10))}
}

// SaveRemovals stages cases.
func (f *Fixture) SaveRemovals(run models.Run, removals ...models.Removal) {
	f.t.Helper()
	f.must(f.Store.SaveRemovals(f.t.Context(), f.Lease, f.Site.ID, run.ID, removals))
}

// disturb stages something of every kind in a run.
func disturb(f *Fixture, run models.Run) {
	f.t.Helper()
	f.SaveDocument(run, 1, models.VerdictUnavailable, models.Finding{Code: "second", Severity: models.SeverityError})
	f.Stage(run, 1, []models.Key{KeyOf(pageA), KeyOf(pageB)}, []models.Declaration{Page(pageA, "2")})
	f.SaveDocument(run, 3, models.VerdictComplete, models.Finding{Code: "third", Severity: models.SeverityInfo})
	f.Stage(run, 3, nil, []models.Declaration{Page(pageD, "1")})
	removed := Case(run, 2, pageC, models.StageRemoved)
	removed.FromRun, removed.DecidedRun = 2, run.ID
	f.SaveRemovals(run, removed, Case(run, 1, pageB, models.StageHeld))
	f.Stage(run, 2, []models.Key{KeyOf(pageC)}, nil)
	f.must(f.Store.SaveRunFindings(f.t.Context(), f.Lease, f.Site.ID, run.ID, []models.Finding{{Code: "whole", Severity: models.SeverityWarning}}))
}

func visibility(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	reader := *f
	reader.Store = open()
	run := Run{f.Begin()}
	before := visible(&reader, run.ID)
	disturb(f, run.Run)
	same(t, "while the run is under way", before, visible(&reader, run.ID))
	f.Finish(run.Run)
	same(t, "once it finished", []string{"stale " + pageA, "removed " + pageC, "live " + pageD}, reader.States(models.AsOf{}))
	same(t, "the run before", []string{"live " + pageA, "live " + pageB, "pending " + pageC}, reader.States(models.AsOf{Run: 2}))
}

// Run keeps a run's number at hand.
type Run struct{ models.Run }

// visible is a picture without what the engine alone reads.
func visible(f *Fixture, hide int64) picture {
	p := dump(f, hide)
	p.Listings, p.Removals, p.Removed = nil, nil, nil
	return p
}

func sweep(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	before := dump(f, 3)
	for range 3 { // killed once, twice, thrice
		run := f.Begin()
		disturb(f, run)
	}
	f.Store = open() // another program
	if err := f.Store.ReleaseLease(t.Context(), f.Lease); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.Lease, err = f.Store.AcquireLease(t.Context(), f.Lease.Host, "successor", time.Hour); err != nil {
		t.Fatal(err)
	}
	run := f.Begin()
	if run.ID != 6 {
		t.Errorf("the run after three killed ones is %d, want 6: numbers are never used again", run.ID)
	}
	same(t, "after the sweep", before, dump(f, 3))
	dead, err := f.Store.Run(t.Context(), f.Site.ID, 4)
	if err != nil || dead.Error == "" || dead.FinishedAt == nil || dead.Current {
		t.Errorf("a killed run says so: %+v, %v", dead, err)
	}
	disturb(f, run)
	f.Finish(run)
	same(t, "the next run", []string{"stale " + pageA, "removed " + pageC, "live " + pageD}, f.States(models.AsOf{}))
	same(t, "as of a killed run", []string{"live " + pageA, "live " + pageB, "pending " + pageC}, f.States(models.AsOf{Run: 5}))
}

func failure(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	before := dump(f, 3)
	run := f.Begin()
	disturb(f, run)
	if err := f.Store.FailRun(t.Context(), f.Lease, f.Site.ID, run.ID, "the disk is full"); err != nil {
		t.Fatal(err)
	}
	same(t, "after a failed run", before, dump(f, 3))
	failed, err := f.Store.Run(t.Context(), f.Site.ID, run.ID)
	if err != nil || failed.Error != "the disk is full" || failed.FinishedAt == nil {
		t.Errorf("a failed run keeps its reason: %+v, %v", failed, err)
	}
	if run := f.Begin(); run.ID != 4 {
		t.Errorf("the next run is %d, want 4", run.ID)
	}
}

func runs(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin()
	if err := s.FailRun(ctx, f.Lease, f.Site.ID, run.ID, "no"); err != nil {
		t.Fatal(err)
	}
	run = f.Begin()
	at := f.At(run.ID)
	run.Verdict, run.FinishedAt, run.Reason = models.VerdictPartial, &at, "one document is cut"
	run.Counts = models.Counts{Live: 3, Added: 1, Removed: 2, Changed: 3, Moved: 4, Unchanged: 5, Pending: 6, Held: 7, Stale: 8, Restored: 9}
	run.Documents = models.RunDocuments{Read: 1, Unchanged: 2, Failed: 3}
	run.Requests, run.Bytes, run.SemanticHash, run.Triggers = 4, 5, "ab", []int64{1, 2}
	due := at.Add(time.Hour)
	if err := s.Finish(ctx, f.Lease, run, nil, &due); err != nil {
		t.Fatal(err)
	}
	run.Current = true
	got, err := s.Run(ctx, f.Site.ID, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	run.Findings = []models.Finding{}
	run.StartedAt = got.StartedAt // the fixture moves it
	same(t, "a run as read", run, got)
	current, err := s.CurrentRuns(ctx)
	f.must(err)
	plain := run
	plain.Findings = current[f.Site.ID].Findings // which are not read
	same(t, "the current runs of all sites", map[int64]models.Run{f.Site.ID: plain}, current)
	site, err := s.Site(ctx, f.Site.ID)
	if err != nil || site.CurrentRun != 4 || site.LastRun != 4 || site.Live != 3 || !site.NextDue.Equal(due) {
		t.Errorf("the site after its run: %+v, %v", site, err)
	}
	list, err := s.Runs(ctx, f.Site.ID, 4, 2)
	if err != nil || len(list) != 2 || list[0].ID != 3 || list[1].ID != 2 {
		t.Errorf("two runs before 4: %+v, %v", list, err)
	}
	for _, test := range []struct {
		at   time.Time
		want int64
	}{{f.At(1), 1}, {f.At(2).Add(-time.Microsecond), 1}, {f.At(3).Add(time.Minute), 2}, {f.At(4), 4}, {f.At(900), 4}} {
		if got, err := s.RunAt(ctx, f.Site.ID, test.at); err != nil || got != test.want {
			t.Errorf("RunAt(%v) = %d, %v; want %d", test.at, got, err, test.want)
		}
	}
	if _, err := s.RunAt(ctx, f.Site.ID, f.At(1).Add(-time.Microsecond)); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("before the first run: %v", err)
	}
	if got := f.States(models.AsOf{Time: f.At(0)}); len(got) != 0 {
		t.Errorf("the inventory before the first run: %q", got)
	}
	if _, err := s.Run(ctx, f.Site.ID, 99); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}

func finish(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin()
	f.Finish(run)
	if err := s.Finish(ctx, f.Lease, run, nil, nil); !errors.Is(err, models.ErrConflict) {
		t.Errorf("a run is finished twice: %v", err)
	}
	old := f.Begin()
	f.Begin() // sweeps the old one
	if err := s.Finish(ctx, f.Lease, old, nil, nil); !errors.Is(err, models.ErrConflict) {
		t.Errorf("a swept run is finished: %v", err)
	}
	if err := s.FailRun(ctx, f.Lease, f.Site.ID, 5, "over"); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveSite(ctx, f.Site.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeginRun(ctx, f.Lease, f.Site.ID, models.Run{StartedAt: time.Now()}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a removed site gets a run: %v", err)
	}
}
