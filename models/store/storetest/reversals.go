package storetest

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// reversals: people change their minds before and after a run, pages whose removal was approved are listed anew, pages are
// removed and come back in the same document, in another one and in other words, and go again. Whoever watches the store
// compares at each step; what the feed says is checked here.
func reversals(t *testing.T, open func() *store.Store) {
	s := open()
	f := NewFixture(t, s)
	rule := func(approve bool, want int64, urls ...string) {
		t.Helper()
		var keys []models.Key
		for _, url := range urls {
			keys = append(keys, KeyOf(url))
		}
		if n, err := s.DecideRemovals(t.Context(), f.Site.ID, keys, approve); err != nil || n != want {
			t.Errorf("DecideRemovals(%v, %q) = %d, %v; want %d", approve, urls, n, err, want)
		}
		f.looked()
	}
	// ended is a case that began at a run and ends in another one.
	ended := func(run models.Run, document int32, url, stage string, from int64) models.Removal {
		c := Case(run, document, url, stage)
		c.FromRun, c.DecidedRun = from, run.ID
		return c
	}
	feed := func(run models.Run, want ...string) {
		t.Helper()
		same(t, "feed", want, told(f.Changes(models.ChangeFilter{Run: run.ID})))
	}
	run := f.Begin() // 1
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, []models.Declaration{Page(pageA, "1"), Page(pageB, "1"), Page(pageC, "1"), Page(pageD, "1")})
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Finish(run)

	run = f.Begin() // 2
	f.SaveRemovals(run, Case(run, 1, pageA, models.StageHeld), Case(run, 1, pageB, models.StageHeld), Case(run, 1, pageC, models.StageHeld), Case(run, 1, pageD, models.StagePending))
	f.Finish(run)
	rule(true, 1, pageA)
	rule(false, 1, pageB)
	rule(true, 1, pageC)
	rule(false, 1, pageC) // and back again
	rule(true, 1, pageC)
	same(t, "ruled", []string{"pending " + pageA, "live " + pageB, "pending " + pageC, "pending " + pageD}, f.States(models.AsOf{}))

	run = f.Begin() // 3: a is listed anew although its removal was approved, c goes, b stays missing
	f.SaveRemovals(run, ended(run, 1, pageA, models.StageRestored, 2), ended(run, 1, pageC, models.StageRemoved, 2))
	f.Stage(run, 1, []models.Key{KeyOf(pageC)}, nil)
	f.Finish(run)
	same(t, "after the rulings", []string{"live " + pageA, "live " + pageB, "removed " + pageC, "pending " + pageD}, f.States(models.AsOf{}))
	rule(true, 1, pageB) // what was rejected is approved after all

	run = f.Begin() // 4: b goes, c comes back where it was, d is ruled on while the run is under way
	f.SaveRemovals(run, ended(run, 1, pageB, models.StageRemoved, 2))
	f.Stage(run, 1, []models.Key{KeyOf(pageB)}, []models.Declaration{since(Page(pageC, "1"), 1)})
	rule(true, 1, pageD)
	f.Finish(run)

	run = f.Begin() // 5: d is back, too late for the approval; b is listed by another document, c is missing again
	f.SaveRemovals(run, ended(run, 1, pageD, models.StageRestored, 2), Case(run, 1, pageC, models.StagePending))
	f.Stage(run, 2, nil, []models.Declaration{since(Page(pageB, "1"), 1)})
	f.Finish(run)
	feed(run, "5 restored "+pageB, "5 pending "+pageC, "5 restored "+pageD)

	run = f.Begin() // 6: c goes a second time, a is held a second time
	f.SaveRemovals(run, ended(run, 1, pageC, models.StageRemoved, 5), Case(run, 1, pageA, models.StageHeld))
	f.Stage(run, 1, []models.Key{KeyOf(pageC)}, nil)
	f.Finish(run)
	rule(false, 1, pageA)

	run = f.Begin() // 7: a is listed again after the rejection, c comes back in other words
	f.SaveRemovals(run, ended(run, 1, pageA, models.StageRestored, 6))
	f.Stage(run, 1, nil, []models.Declaration{since(Page(pageC, "2"), 1)})
	f.Finish(run)

	run = f.Begin() // 8: the document of a rejected page cannot be read
	f.SaveRemovals(run, Case(run, 1, pageA, models.StageHeld))
	f.Finish(run)
	rule(false, 1, pageA)
	run = f.Begin() // 9
	f.SaveDocument(run, 1, models.VerdictUnavailable)
	f.Finish(run)
	rule(true, 1, pageA)
	run = f.Begin() // 10: it can be read again, and lists the page
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.SaveRemovals(run, ended(run, 1, pageA, models.StageRestored, 8))
	f.Finish(run)
	same(t, "in the end", []string{"live " + pageA, "live " + pageB, "live " + pageC, "live " + pageD}, f.States(models.AsOf{}))
	for _, p := range f.Pages(models.PageFilter{State: models.StateAll}) {
		if first := f.At(1); !p.FirstSeen.Equal(first) {
			t.Errorf("%s is known since %s, want %s", p.URL, p.FirstSeen, first)
		}
	}
}
