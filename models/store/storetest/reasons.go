package storetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// reasons: a page says at every moment why it is pending, held or removed, and on what that rests; pages are found by it.
func reasons(t *testing.T, open func() *store.Store) {
	f := settled(t, open()) // 2: c is pending
	proof := models.RemovalEvidence{Status: 410, Hook: true, Missing: []models.Sighting{
		{Run: 2, Walks: 1, Document: f.DocumentURL(2), Verdict: "complete", ByteHash: "aa", Observed: f.At(2)}}}
	run := f.Begin() // 3: held, with evidence
	held := Case(run, 2, pageC, models.StageHeld)
	held.FromRun, held.HeldRun, held.Reason = 2, 3, "3 of the site's 3 pages would go at once"
	held.Evidence, _ = json.Marshal(proof)
	f.SaveRemovals(run, held)
	f.SaveDocument(run, 1, models.VerdictUnavailable)
	f.Finish(run)
	if n, err := f.Store.DecideRemovals(t.Context(), f.Site.ID, []models.Key{KeyOf(pageC)}, true); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	run = f.Begin() // 4: removed
	gone := held
	gone.Stage, gone.DecidedRun, gone.AgreedRun, gone.Reason = models.StageRemoved, 4, 4, "approved, and not listed since"
	proof.Missing = append(proof.Missing, models.Sighting{Run: 4, Walks: 2, Document: f.DocumentURL(2), Verdict: "complete", ByteHash: "bb", Observed: f.At(4)})
	gone.Evidence, _ = json.Marshal(proof)
	f.SaveRemovals(run, gone)
	f.Stage(run, 2, []models.Key{KeyOf(pageC)}, nil)
	f.Finish(run)

	pages, err := f.Store.PageHistory(t.Context(), f.Site.ID, KeyOf(pageC))
	if err != nil || len(pages) != 4 {
		t.Fatalf("%d states, %v", len(pages), err)
	}
	if pages[0].Removal != nil {
		t.Errorf("a live page has a removal: %+v", pages[0].Removal)
	}
	want := []struct {
		stage           string
		agreed, decided int64
		ruled           bool
		missing         int
	}{{stage: models.StagePending, agreed: 2}, {stage: models.StageApproved, agreed: 3, ruled: true, missing: 1}, {stage: models.StageRemoved, agreed: 4, decided: 4, ruled: true, missing: 2}}
	for i, w := range want {
		r := pages[i+1].Removal
		if r == nil || r.Stage != w.stage || r.FromRun != 2 || r.AgreedRun != w.agreed || (r.DecidedRun != nil) != (w.decided != 0) || w.decided != 0 && *r.DecidedRun != w.decided ||
			(r.RuledAt != nil) != w.ruled || w.ruled && r.RuledRun != 3 || len(r.Missing) != w.missing {
			t.Errorf("state %d: %s because of %+v, want %+v", i+1, pages[i+1].State, r, w)
		}
	}
	if diff := cmp.Diff(proof, pages[3].Removal.RemovalEvidence); diff != "" {
		t.Errorf("the evidence (-want +got):\n%s", diff)
	}
	for reason, want := range map[string][]string{"AT ONCE": {"pending " + pageC}, "unavailable": {"stale " + pageA, "stale " + pageB}, "nothing": nil} {
		var got []string
		filter := models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: 3}, Reason: reason}
		for _, p := range f.Pages(filter) {
			got = append(got, string(p.State)+" "+p.URL)
		}
		sortByURL(got)
		same(t, "pages because of "+reason, want, got)
		if n, err := f.Store.CountPages(t.Context(), f.Site.ID, filter); err != nil || int(n) != len(want) {
			t.Errorf("%d pages because of %q, %v", n, reason, err)
		}
	}
	if got := f.Pages(models.PageFilter{State: models.StateRemoved, Reason: "approved"}); len(got) != 1 || got[0].Removal == nil {
		t.Errorf("removed: %+v", got)
	}
}

// found: a run says what it found as a whole and in the documents that it wrote, not what was known.
func found(t *testing.T, open func() *store.Store) {
	f := settled(t, open()) // 1: document 1 has a finding
	run := f.Begin()        // 3
	disturb(f, run)
	f.Finish(run)
	runs, err := f.Store.Runs(t.Context(), f.Site.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[int64][]string{}
	for i := range runs {
		codes[runs[i].ID] = []string{}
		for _, x := range runs[i].Findings {
			codes[runs[i].ID] = append(codes[runs[i].ID], x.Code)
		}
		one, err := f.Store.Run(t.Context(), f.Site.ID, runs[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "one run and the list", runs[i].Findings, one.Findings)
	}
	same(t, "findings by run", map[int64][]string{1: {"first"}, 2: {}, 3: {"whole", "second", "third"}}, codes)
	if text, err := json.Marshal(models.Removal{DecidedRun: models.Open, Evidence: []byte(`{"hook":true}`)}); err != nil ||
		!strings.Contains(string(text), `"decided_run":null`) || !strings.Contains(string(text), `"evidence":{"hook":true}`) {
		t.Errorf("an undecided removal is %s, %v", text, err)
	}
}

// lastSeen: a run that could not read a page's document, that could not place what left it, or that did not look at it, has
// not seen the page.
func lastSeen(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	finish := func(do func(run models.Run)) {
		run := f.Begin()
		do(run)
		f.Finish(run)
	}
	at := func(what string, url string, run, want int64) {
		t.Helper()
		key := KeyOf(url)
		pages := f.Pages(models.PageFilter{State: models.StateAll, Key: &key, AsOf: models.AsOf{Run: run}})
		if len(pages) != 1 || !pages[0].LastSeen.Equal(f.At(want)) {
			t.Errorf("%s: as of run %d, last seen at %v, want the end of run %d, %s", what, run, pages, want, f.At(want))
		}
		states, err := f.Store.PageHistory(t.Context(), f.Site.ID, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range states {
			if p.ToRun != nil && *p.ToRun == run+1 || p.ToRun == nil && run == f.Last() {
				same(t, what+", in its history", f.At(want), p.LastSeen)
			}
		}
	}
	pending := models.Removal{}
	finish(func(run models.Run) { // 1
		f.SaveDocument(run, 1, models.VerdictComplete)
		f.Stage(run, 1, nil, []models.Declaration{Page(pageA, "1"), Page(pageB, "1")})
	})
	finish(func(models.Run) {})                                                        // 2: unchanged
	finish(func(run models.Run) { f.SaveDocument(run, 1, models.VerdictUnavailable) }) // 3
	finish(func(models.Run) {})                                                        // 4: as before
	finish(func(run models.Run) {                                                      // 5: read, but another document was not
		d := f.SaveDocument(run, 1, models.VerdictComplete)
		d.SemanticHash = nil
		f.must(f.Store.SaveDocument(t.Context(), f.Lease, f.Site.ID, run.ID, &d, nil))
	})
	finish(func(run models.Run) { // 6: a is missing
		f.SaveDocument(run, 1, models.VerdictComplete)
		pending = Case(run, 1, pageA, models.StagePending)
		f.SaveRemovals(run, pending)
	})
	finish(func(run models.Run) { // 7
		pending.Stage, pending.DecidedRun = models.StageRemoved, 7
		f.SaveRemovals(run, pending)
		f.Stage(run, 1, []models.Key{pending.Key}, nil)
	})
	at("live", pageA, 2, 2)
	at("while it could not be read", pageA, 4, 2)
	at("missing", pageA, 6, 2)
	at("removed", pageA, 7, 2)
	at("listed all the time", pageB, 7, 7)
	if _, err := f.Store.Prune(t.Context(), f.Lease, f.Site.ID, 7); err != nil {
		t.Fatal(err)
	}
	at("removed, and its past forgotten", pageA, 7, 2)
}
