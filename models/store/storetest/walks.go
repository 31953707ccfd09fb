package storetest

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// lastWalks are complete runs that readers see, that read every document, and that no cache answered.
func lastWalks(t *testing.T, open func() *store.Store) {
	f := shelf(t, open())
	want := func(what string, run int64, at time.Time) {
		t.Helper()
		number, started, err := f.Store.LastWalk(t.Context(), f.Site.ID)
		if err != nil || number != run || !started.Equal(at) {
			t.Errorf("%s: run %d from %s, %v; want %d from %s", what, number, started, err, run, at)
		}
	}
	first, at, err := f.Store.LastWalk(t.Context(), f.Site.ID)
	if err != nil || first != f.Last() || at.IsZero() {
		t.Fatalf("at first: run %d from %s, %v", first, at, err)
	}
	run := f.Begin()
	want("a run under way does not count", first, at)
	f.Finish(run)
	want("it is finished", run.ID, run.StartedAt)
	for what, change := range map[string]func(*models.Run){
		"a cache answered": func(r *models.Run) { r.Cached = 2 },
		"a targeted run":   func(r *models.Run) { r.Targeted = true },
	} {
		other := f.Begin()
		change(&other)
		f.Finish(other)
		want(what, run.ID, run.StartedAt)
	}
	f.must(f.Store.FailRun(t.Context(), f.Lease, f.Site.ID, f.Begin().ID, "a fault of our own"))
	want("a run that failed", run.ID, run.StartedAt)
	last := f.Begin()
	f.Finish(last)
	want("the next one", last.ID, last.StartedAt)
}
