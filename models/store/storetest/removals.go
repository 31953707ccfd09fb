package storetest

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func listings(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin()
	duplicate, foreign := Page(pageA, "9"), Page("https://elsewhere.example/", "1")
	duplicate.Role, foreign.Role = models.RoleDuplicate, models.RoleForeign
	f.SaveDocument(run, 3, models.VerdictComplete)
	f.Stage(run, 3, nil, []models.Declaration{duplicate, foreign, Page(pageD, "1")})
	f.SaveDocument(run, 4, models.VerdictComplete)
	f.Stage(run, 4, nil, []models.Declaration{foreign})
	var shared []models.Key
	f.must(s.SharedKeys(ctx, f.Site.ID, func(k models.Key) error { shared = append(shared, k); return nil }))
	same(t, "shared pages, staged ones included and foreign ones not", []models.Key{KeyOf(pageA)}, shared)
	rows, err := s.Elsewhere(ctx, f.Site.ID, []models.Key{foreign.Key, KeyOf(pageD), KeyOf(pageA), KeyOf("unknown"), KeyOf(pageA)})
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[models.Key][]int32{}
	for i, row := range rows {
		byKey[row.Key] = append(byKey[row.Key], row.Document)
		if i > 0 && (string(rows[i-1].Key[:]) > string(row.Key[:]) || rows[i-1].Key == row.Key && rows[i-1].Document >= row.Document) {
			t.Errorf("rows do not ascend by page and document: %v", rows)
		}
	}
	same(t, "where pages are listed", map[models.Key][]int32{KeyOf(pageA): {1, 3}, KeyOf(pageD): {3}}, byKey)
	n, err := s.CountListed(ctx, f.Site.ID, []int32{1, 3, 4})
	if err != nil || n != 3 {
		t.Errorf("documents 1, 3 and 4 declare %d pages, %v; want 3", n, err)
	}
	f.Stage(run, 1, []models.Key{KeyOf(pageA)}, nil)
	if rows, err := s.Elsewhere(ctx, f.Site.ID, []models.Key{KeyOf(pageA)}); err != nil || len(rows) != 1 || rows[0].Document != 3 || rows[0].Role != models.RoleDuplicate {
		t.Errorf("after one listing ended: %+v, %v", rows, err)
	}
	f.Finish(run)
	same(t, "foreign pages are kept apart", 1, len(f.Pages(models.PageFilter{State: models.StateForeign, Document: 3})))
}

func removals(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin() // 3: held
	held := Case(run, 2, pageC, models.StageHeld)
	held.FromRun, held.HeldRun, held.Evidence = 2, 3, []byte(`{"documents":1}`)
	f.SaveRemovals(run, held)
	f.Finish(run)
	run = f.Begin() // 4: removed
	gone := held
	gone.Stage, gone.DecidedRun, gone.MovedTo, gone.MovedKey, gone.Reason = models.StageMoved, 4, pageD, KeyOf(pageD), "redirects"
	f.SaveRemovals(run, gone)
	f.Stage(run, 2, []models.Key{KeyOf(pageC)}, nil)
	if past, err := s.Removed(ctx, f.Site.ID, []models.Key{KeyOf(pageC), KeyOf(pageA)}); err != nil || len(past) != 1 || past[0].FirstRun != 1 {
		t.Errorf("removed pages, staged ones included: %+v, %v", past, err)
	}
	f.Finish(run)
	run = f.Begin() // 5: back, and missing once more
	again := Page(pageC, "2")
	again.FirstRun = 1
	f.Stage(run, 2, nil, []models.Declaration{again})
	f.Finish(run)
	run = f.Begin() // 6
	second := Case(run, 2, pageC, models.StagePending)
	f.SaveRemovals(run, second)
	f.Finish(run)
	for run, want := range map[int64]string{1: "live", 2: "pending", 3: "held", 4: "removed", 5: "live", 6: "pending"} {
		p := f.Pages(models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: run}, Key: new(KeyOf(pageC))})
		if len(p) != 1 || string(p[0].State) != want {
			t.Errorf("at run %d: %+v, want one page %s", run, p, want)
		}
	}
	history, err := s.PageHistory(ctx, f.Site.ID, KeyOf(pageC))
	if err != nil || len(history) != 6 || history[3].MovedTo != pageD || history[3].RemovedAt == nil || !history[3].RemovedAt.Equal(f.At(4)) {
		t.Errorf("six states: %+v, %v", history, err)
	}
	open2, err := s.Removals(ctx, f.Site.ID)
	if err != nil || len(open2) != 1 {
		t.Fatalf("undecided cases: %+v, %v", open2, err)
	}
	second.Evidence = open2[0].Evidence // nil and empty are one
	same(t, "the undecided case", second, open2[0])
	if past, err := s.Removed(ctx, f.Site.ID, nil); err != nil || len(past) != 1 || past[0].MovedKey != KeyOf(pageD) || string(past[0].Evidence) != `{"documents":1}` {
		t.Errorf("the case that ended: %+v, %v", past, err)
	}
}

func rulings(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin() // 3
	f.SaveRemovals(run, Case(run, 1, pageA, models.StageHeld), Case(run, 1, pageB, models.StageHeld))
	run.Counts.Live = 3
	f.Finish(run)
	decide := func(want int64, approve bool, urls ...string) {
		t.Helper()
		var keys []models.Key
		for _, url := range urls {
			keys = append(keys, KeyOf(url))
		}
		if n, err := open().DecideRemovals(ctx, f.Site.ID, keys, approve); err != nil || n != want {
			t.Errorf("DecideRemovals(%q) = %d, %v; want %d", urls, n, err, want)
		}
	}
	run = f.Begin() // 4, under way while a person decides
	stale := Case(run, 1, pageA, models.StageHeld)
	stale.FromRun, stale.HeldRun = 3, 3
	f.SaveRemovals(run, stale)
	decide(1, false, pageA)
	decide(0, false, pageA)
	decide(1, true, pageB)
	same(t, "at once", []string{"live " + pageA, "pending " + pageB, "pending " + pageC}, f.States(models.AsOf{}))
	stale.Reason = "the run knows nothing of the ruling"
	f.SaveRemovals(run, stale)
	f.Finish(run)
	same(t, "after the run", []string{"live " + pageA, "pending " + pageB, "pending " + pageC}, f.States(models.AsOf{}))
	run = f.Begin()
	if err := s.FailRun(ctx, f.Lease, f.Site.ID, run.ID, "no"); err != nil {
		t.Fatal(err)
	}
	cases, err := s.Removals(ctx, f.Site.ID)
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]string{}
	for _, c := range cases {
		stages[c.URL] = c.Stage
	}
	same(t, "the engine reads", map[string]string{pageA: models.StageRejected, pageB: models.StageApproved, pageC: models.StagePending}, stages)
	site, err := s.Site(ctx, f.Site.ID)
	if err != nil || site.Live != 1 { // the run under way counted without knowing
		t.Errorf("live after the run: %d, %v; want 1, the page whose removal was rejected meanwhile", site.Live, err)
	}
	decide(1, true) // all that waits: the pending one; b was approved before, and a was rejected by name
}
