package hooks_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// TestBurst: an import of a thousand posts announces each. At most three runs serve them, one of them after the last,
// and then the inventory is what the site lists.
func TestBurst(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "sitemapd.db")
	s := open(t, dsn)
	o := newOrigins(t, s, 1, sitetest.Options{Posts: 500})[0]
	d := newDaemon(t, dsn)
	d.up()
	firstRuns(t, s, []*origin{o})
	first := len(runsOf(t, s, o.stored.ID))

	const hooks, senders = 1000, 20
	var wg sync.WaitGroup
	answers := make([]answer, hooks)
	began := time.Now()
	for sender := range senders {
		wg.Go(func() {
			for i := sender; i < hooks; i += senders {
				answers[i] = o.send(d.address, fmt.Sprintf("msg_%d", i), o.Publish(sitetest.Spec{}))
			}
		})
	}
	wg.Wait()
	last := time.Now()
	var took []time.Duration
	for _, a := range answers {
		took = append(took, a.took)
		if a.status != 200 || a.trigger == 0 {
			t.Fatalf("%s: status %d, trigger %d, %v", a.id, a.status, a.trigger, a.problem)
		}
	}
	servedAll(t, s, sites([]*origin{o}), 2*time.Minute)
	runs := runsOf(t, s, o.stored.ID)[first:]
	t.Logf("%d hooks within %s, answered in p50 %s, p99 %s; %d runs", hooks, last.Sub(began).Round(time.Millisecond), percentile(took, 50), percentile(took, 99), len(runs))
	for _, r := range runs {
		t.Logf("run %d, cause %s: %d triggers, began %s after the first hook, took %s, %d requests, %d added", r.ID, r.Cause, len(r.Triggers),
			r.StartedAt.Sub(began).Round(time.Millisecond), r.FinishedAt.Sub(r.StartedAt).Round(time.Millisecond), r.Requests, r.Counts.Added)
	}
	if len(runs) > 3 || !runs[len(runs)-1].StartedAt.After(last) {
		t.Errorf("%d runs, the last %s after the last hook; want at most three, and one after it", len(runs), runs[len(runs)-1].StartedAt.Sub(last))
	}
	inventory(t, s, o.stored, o.Inventory())
}
