package storetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// windows: a page that leaves a rolling window is stale, not pending, and the feed says so, as it says that the page is back.
func windows(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	run := f.Begin() // 3
	old := Case(run, 1, pageA, models.StageLeftWindow)
	f.SaveRemovals(run, old)
	f.Finish(run)
	same(t, "out of the window", []string{"stale " + pageA, "live " + pageB, "pending " + pageC}, f.States(models.AsOf{}))
	for state, want := range map[models.State]int64{models.StateLive: 1, models.StateStale: 1, models.StatePending: 1, models.StateAll: 3} {
		if n, err := f.Store.CountPages(t.Context(), f.Site.ID, models.PageFilter{State: state}); err != nil || n != want {
			t.Errorf("%d pages are %s, %v; want %d", n, state, err, want)
		}
	}
	run = f.Begin() // 4
	back := old
	back.DecidedRun = 4
	f.SaveRemovals(run, back)
	f.Finish(run)
	run = f.Begin() // 5
	again := Case(run, 1, pageA, models.StageLeftWindow)
	f.SaveRemovals(run, again)
	f.Finish(run)
	same(t, "what was told", []string{"2 pending " + pageC, "3 stale " + pageA, "4 fresh " + pageA, "5 stale " + pageA},
		told(f.Changes(models.ChangeFilter{After: "1.3.0.ffffffffffffffffffffffffffffffff"})))
	same(t, "what was told of freshness alone", []string{"4 fresh " + pageA}, told(f.Changes(models.ChangeFilter{Kinds: []string{models.KindFresh}})))
	run = f.Begin() // 6: a hook says that it is gone
	again.Stage = models.StagePending
	f.SaveRemovals(run, again)
	f.Finish(run)
	same(t, "now it is pending", []string{"6 pending " + pageA}, told(f.Changes(models.ChangeFilter{Run: 6})))
}

// reentries: the document of a rolling window cannot be read while pages of it are out of it. What the feed said last of each
// is what the inventory shows, whichever way its document turns in the run that lists it again.
func reentries(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	step := func(verdict models.Verdict, change func(run models.Run)) {
		t.Helper()
		run := f.Begin()
		if verdict != "" {
			f.SaveDocument(run, 1, verdict)
		}
		if change != nil {
			change(run)
		}
		f.Finish(run)
		f.followed()
	}
	out := func(url string) func(run models.Run) {
		return func(run models.Run) { f.SaveRemovals(run, Case(run, 1, url, models.StageLeftWindow)) }
	}
	in := func(url string, from int64) func(run models.Run) {
		return func(run models.Run) {
			c := Case(run, 1, url, models.StageLeftWindow)
			c.FromRun, c.DecidedRun = from, run.ID
			f.SaveRemovals(run, c)
		}
	}
	anew := func(url string, from int64) func(run models.Run) {
		return func(run models.Run) {
			f.Stage(run, 1, []models.Key{KeyOf(url)}, []models.Declaration{since(Page(url, "another"), 1)})
			in(url, from)(run)
		}
	}
	step(models.VerdictUnavailable, nil)          // 3
	step(models.VerdictComplete, out(pageA))      // 4: told to be stale, and then out of its window
	step("", in(pageA, 4))                        // 5: and live
	step("", out(pageA))                          // 6
	step(models.VerdictUnavailable, nil)          // 7
	step("", in(pageA, 6))                        // 8: listed again by a document that is not read whole
	step(models.VerdictComplete, out(pageB))      // 9
	step(models.VerdictPartial, in(pageB, 9))     // 10
	step(models.VerdictComplete, nil)             // 11
	step("", out(pageB))                          // 12
	step(models.VerdictPartial, anew(pageB, 12))  // 13
	step("", out(pageB))                          // 14
	step(models.VerdictComplete, anew(pageB, 14)) // 15
	step("", out(pageB))                          // 16
	step("", anew(pageB, 16))                     // 17
	want := []string{"3 stale ", "4 stale ", "5 fresh ", "6 stale ", "9 fresh ", "10 stale ", "11 fresh ", "13 stale ", "15 fresh "}
	var got []string
	for _, line := range told(f.Changes(models.ChangeFilter{Kinds: []string{models.KindStale, models.KindFresh}})) {
		if words, ok := strings.CutSuffix(line, pageA); ok {
			got = append(got, words)
		}
	}
	same(t, "what was told of a page", want, got)
}

// followed holds what somebody has who knows the feed alone against the inventory.
func (f *Fixture) followed() {
	f.t.Helper()
	states := map[string]models.State{models.KindAdded: models.StateLive, models.KindRestored: models.StateLive, models.KindFresh: models.StateLive,
		models.KindStale: models.StateStale, models.KindPending: models.StatePending, models.KindHeld: models.StateHeld, models.KindRemoved: models.StateRemoved}
	has, is := map[string]models.State{}, map[string]models.State{}
	for _, c := range f.Changes(models.ChangeFilter{}) {
		if state, ok := states[c.Kind]; ok {
			has[c.URL] = state
		}
	}
	for _, p := range f.Pages(models.PageFilter{State: models.StateAll}) {
		is[p.URL] = p.State
	}
	if diff := cmp.Diff(is, has); diff != "" {
		f.t.Fatalf("who follows the feed (-inventory +feed):\n%s", diff)
	}
}
