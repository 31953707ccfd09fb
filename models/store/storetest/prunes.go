package storetest

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// prunedRulings: what a person ruled at the oldest run that is kept is told behind it as if nothing had been forgotten,
// also when that run failed, or when somebody had ruled otherwise before. Run 6 finished, run 7 failed.
func prunedRulings(kept int64) func(*testing.T, func() *store.Store) {
	return func(t *testing.T, open func() *store.Store) {
		f := settled(t, open())
		ctx, s := t.Context(), f.Store
		run := f.Begin() // 3
		f.SaveRemovals(run, Case(run, 1, pageA, models.StagePending), Case(run, 1, pageB, models.StageHeld))
		f.Finish(run)
		rule := func(approve bool, url string) {
			t.Helper()
			if n, err := s.DecideRemovals(ctx, f.Site.ID, []models.Key{KeyOf(url)}, approve); err != nil || n != 1 {
				t.Fatalf("%d cases of %s were ruled on, %v", n, url, err)
			}
		}
		rule(false, pageA)
		for range 3 { // 4, 5, 6
			f.Finish(f.Begin())
		}
		rule(true, pageA)
		rule(false, pageB)
		run = f.Begin() // 7
		if err := s.FailRun(ctx, f.Lease, f.Site.ID, run.ID, "no"); err != nil {
			t.Fatal(err)
		}
		f.Finish(f.Begin()) // 8
		all := f.Changes(models.ChangeFilter{})
		want := []models.Change{}
		for _, c := range all {
			if c.Run > 6 {
				want = append(want, c)
			}
		}
		states := f.States(models.AsOf{Run: 6})
		if len(want) != 2 {
			t.Fatalf("the rulings make two lines, not %q", told(want))
		}
		for range 2 { // once more forgets nothing that was to be kept
			pruned, err := s.Prune(ctx, f.Lease, f.Site.ID, kept)
			if err != nil || pruned.Run != 6 {
				t.Fatalf("pruned up to run %d, %v; want 6, the last that finished", pruned.Run, err)
			}
			same(t, "the feed behind it", told(want), told(f.Changes(models.ChangeFilter{After: all[len(all)-3].Cursor})))
			same(t, "its states", states, f.States(models.AsOf{Run: 6}))
			history, err := s.PageHistory(ctx, f.Site.ID, KeyOf(pageA))
			if err != nil || len(history) != 1 || history[0].FromRun > 6 && history[0].State != models.StatePending {
				t.Errorf("its history: %+v, %v", history, err)
			}
		}
		if pruned, err := s.Prune(ctx, f.Lease, f.Site.ID, 8); err != nil || pruned.Removals != 1 {
			t.Errorf("the first ruling goes with the next: %+v, %v", pruned, err)
		}
	}
}
