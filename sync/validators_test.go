package syncer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// A cache that is filled anew gives every file other validators and says what it said: they are kept, with one call.
func TestRun_KeepsNewValidatorsOfManyDocumentsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 200, PerFile: 20, Conditional: true})
	l.run(false)
	c := &counted{Store: l.store}
	l.restart(func(o *syncer.Options) { o.Store = c })
	run := func() models.Run {
		t.Helper()
		l.clock.advance(time.Minute)
		c.calls = nil
		run, err := l.engine.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	before, err := l.store.Documents(t.Context(), l.site.ID)
	if err != nil {
		t.Fatal(err)
	}
	l.origin.Reorder()
	record := run()
	saved := len(slices.DeleteFunc(slices.Clone(c.calls), func(call string) bool { return call != "SaveValidators" }))
	if saved != 1 || slices.Contains(c.calls, "SaveDocument") || record.Counts.Changed+record.Counts.Added+record.Counts.Removed > 0 {
		t.Errorf("validators were saved %d times in %q, with %+v", saved, c.calls, record.Counts)
	}
	after, err := l.store.Documents(t.Context(), l.site.ID)
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d documents instead of %d, %v", len(after), len(before), err)
	}
	renewed := 0
	for i := range after {
		if after[i].FromRun != before[i].FromRun {
			t.Errorf("%s has another version", after[i].URL)
		}
		if after[i].ETag != before[i].ETag {
			renewed++
		}
	}
	if renewed < 10 {
		t.Errorf("%d of %d documents have new validators: the test needs more", renewed, len(after))
	}
	l.origin.ResetLog()
	run()
	for _, request := range l.origin.Requests() {
		if request.Status != 304 {
			t.Errorf("%s was answered with %d in the run after", request.Path, request.Status)
		}
	}
	if slices.Contains(c.calls, "SaveValidators") {
		t.Errorf("a run of nothing but 304 called %q", c.calls)
	}
}
