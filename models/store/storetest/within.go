package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// lists makes a site with pages in every state, in documents that can and cannot be read.
func lists(t *testing.T, s *store.Store) *Fixture {
	f := NewFixture(t, s)
	url := func(document, i int) string { return fmt.Sprintf("https://example.com/%d/%d", document, i) }
	run := f.Begin()
	for n := 1; n <= 4; n++ {
		f.SaveDocument(run, int32(n), models.VerdictComplete)
		var rows []models.Declaration
		for i := range 30 {
			d := Page(url(n, i), "1")
			if i%10 == 0 {
				d.Extensions = []byte(`{"alternates":[{"href":"https://example.com/x","hreflang":"de-AT"}],"images":[{"loc":"https://example.com/\"news\":.jpg","title":"Seen"}]}`)
			}
			rows = append(rows, d)
		}
		f.Stage(run, int32(n), nil, rows)
	}
	f.Finish(run)
	run = f.Begin()
	var gone []models.Key
	for i := range 3 {
		c := Case(run, 4, url(4, i), models.StageRemoved)
		c.DecidedRun = run.ID
		f.SaveRemovals(run, c)
		gone = append(gone, KeyOf(url(4, i)))
	}
	f.Stage(run, 4, gone, nil)
	f.SaveDocument(run, 2, models.VerdictUnavailable)
	for i := range 8 {
		f.SaveRemovals(run, Case(run, 1, url(1, i), models.StageHeld), Case(run, 3, url(3, i), models.StagePending), Case(run, 3, url(3, 20+i), models.StageLeftWindow))
	}
	f.SaveRemovals(run, Case(run, 2, url(2, 5), models.StageHeld))
	f.Finish(run)
	run = f.Begin()
	changed := Page(url(3, 29), "2")
	changed.FirstRun = 1
	f.Stage(run, 3, []models.Key{changed.Key}, []models.Declaration{changed, Page(url(3, 99), "1")})
	f.SaveDocument(run, 3, models.VerdictComplete)
	f.Finish(run)
	return f
}

// unhurried reads pages in as many turns as it takes.
func unhurried(t *testing.T, f *Fixture, filter models.PageFilter) (urls []string, turns int) {
	t.Helper()
	for {
		n := 0
		next, err := f.Store.PagesWithin(t.Context(), f.Site.ID, filter, time.Nanosecond, func(p *models.Page) error {
			urls = append(urls, string(p.State)+" "+p.URL)
			filter.After = p.Cursor
			n++
			return nil
		})
		f.must(err)
		if turns++; turns > 1000 {
			t.Fatalf("no end: %d pages", len(urls))
		}
		switch {
		case next != "":
			filter.After = next
		case n < filter.Limit:
			return urls, turns
		}
	}
}

func within(t *testing.T, open func() *store.Store) {
	f := lists(t, open())
	at := f.At(3)
	document2 := models.PageFilter{State: models.StateAll, Document: 2}
	for name, filter := range map[string]models.PageFilter{
		"live": {}, "stale": {State: models.StateStale}, "pending": {State: models.StatePending}, "held": {State: models.StateHeld},
		"removed": {State: models.StateRemoved}, "all": {State: models.StateAll}, "contains": {State: models.StateAll, Contains: "/3/2"},
		"extension": {State: models.StateAll, Extension: "alternates"}, "language": {State: models.StateAll, Language: "DE-at"}, "news": {Extension: "news"}, "title": {Title: "e"},
		"first": {State: models.StateAll, FirstFrom: &at}, "document": document2, "type": {State: models.StateAll, ObjectType: "category"}, "held of a type": {State: models.StateHeld, ObjectType: models.NoObjectType},
		"stale of a type": {State: models.StateStale, ObjectType: "post"}, "pending of a type": {State: models.StatePending, ObjectType: "category"},
		"held in one": {State: models.StateHeld, Document: 1},
		"before":      {State: models.StateAll, AsOf: models.AsOf{Run: 1}}, "held before": {State: models.StateHeld, AsOf: models.AsOf{Run: 2}},
		"stale before": {State: models.StateStale, AsOf: models.AsOf{Run: 2}},
	} {
		want := []string{}
		for _, p := range f.Pages(filter) { // without a limit: nothing is hurried, and cases are read at once
			want = append(want, string(p.State)+" "+p.URL)
		}
		filter.Limit = 7
		got, turns := unhurried(t, f, filter)
		if got == nil {
			got = []string{}
		}
		same(t, name, want, got)
		if name == "all" && turns < 6 {
			t.Errorf("%d turns: the budget ends no reading", turns)
		}
		if len(want) == 0 && name != "news" && name != "held before" || name == "first" && len(want) != 1 {
			t.Errorf("%s: %q", name, want)
		}
	}
}

func changesWithin(t *testing.T, open func() *store.Store) {
	f := lists(t, open())
	nowhere := models.PageFilter{Contains: "nowhere"}
	for name, filter := range map[string]models.ChangeFilter{
		"all": {}, "one run": {Run: 2}, "kinds": {Kinds: []string{models.KindHeld, models.KindStale}}, "nothing": {Pages: &nowhere},
	} {
		want := told(f.Changes(filter))
		got, turns := []models.Change{}, 0
		filter.Limit = 5
		for {
			n := 0
			next, err := f.Store.ChangesWithin(t.Context(), f.Site.ID, filter, time.Nanosecond, func(c *models.Change) error {
				got = append(got, *c)
				filter.After = c.Cursor
				n++
				return nil
			})
			f.must(err)
			if turns++; turns > 1000 {
				t.Fatalf("%s: no end", name)
			}
			if next == "" && n < filter.Limit {
				break
			}
			if next != "" {
				filter.After = next
			}
		}
		same(t, name, want, told(got))
		if turns < 2 {
			t.Errorf("%s: the budget ends no reading", name)
		}
	}
}

func diffWithin(t *testing.T, open func() *store.Store) {
	f := lists(t, open())
	for name, filter := range map[string]models.DiffFilter{
		"all": {From: models.AsOf{Run: 1}}, "between": {From: models.AsOf{Run: 2}}, "kind": {From: models.AsOf{Run: 1}, Kinds: []string{models.KindHeld}},
		"nothing": {From: models.AsOf{Run: 1}, Kinds: []string{models.KindMoved}},
	} {
		want, got, turns := []models.Change{}, []models.Change{}, 0
		f.must(f.Store.Diff(t.Context(), f.Site.ID, filter, func(c *models.Change) error {
			want = append(want, *c)
			return nil
		}))
		if len(want) == 0 && name != "nothing" {
			t.Errorf("%s: nothing is different", name)
		}
		filter.Limit = 5
		for {
			n := 0
			next, err := f.Store.DiffWithin(t.Context(), f.Site.ID, filter, time.Nanosecond, func(c *models.Change) error {
				got = append(got, *c)
				filter.After = c.Cursor
				n++
				return nil
			})
			f.must(err)
			if turns++; turns > 1000 {
				t.Fatalf("%s: no end", name)
			}
			if next == "" && n < filter.Limit {
				break
			}
			if next != "" {
				filter.After = next
			}
		}
		same(t, name, told(want), told(got))
		if turns < 3 {
			t.Errorf("%s: the budget ends no reading", name)
		}
	}
}

func heldInParts(t *testing.T, open func() *store.Store) {
	f := lists(t, open())
	ctx := t.Context()
	var got []models.Removal
	for after := ""; ; {
		part, err := f.Store.HeldRemovals(ctx, f.Site.ID, after, 4)
		f.must(err)
		got = append(got, part...)
		if len(part) < 4 {
			break
		}
		after = part[3].Cursor
	}
	all, err := f.Store.Removals(ctx, f.Site.ID)
	f.must(err)
	want := map[string]bool{}
	for _, r := range all {
		if r.Stage == models.StageHeld {
			want[r.URL] = true
		}
	}
	if len(want) != 9 {
		t.Fatalf("%d removals are held", len(want))
	}
	for i := range got {
		if !want[got[i].URL] || i > 0 && got[i-1].Document > got[i].Document {
			t.Errorf("held %d: %+v", i, got[i])
		}
		delete(want, got[i].URL)
	}
	same(t, "not given", map[string]bool{}, want)
	for limit, count := range map[int]int64{100: 9, 5: 5} {
		n, err := f.Store.CountHeld(ctx, f.Site.ID, limit)
		f.must(err)
		same(t, "counted", count, n)
	}
	_, err = f.Store.DecideRemovals(ctx, f.Site.ID, []models.Key{got[0].Key, got[1].Key}, false)
	f.must(err)
	n, err := f.Store.CountHeld(ctx, f.Site.ID, 100)
	f.must(err)
	same(t, "left after two rulings", int64(7), n)
}
