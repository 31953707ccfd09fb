package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// told gives "run kind url [field old>new]..." of changes.
func told(changes []models.Change) []string {
	out := []string{}
	for _, c := range changes {
		text := fmt.Sprint(c.Run, " ", c.Kind, " ", c.URL)
		for _, f := range c.Fields {
			old, _ := json.Marshal(f.Old)
			current, _ := json.Marshal(f.New)
			text += fmt.Sprintf(" [%s %s>%s]", f.Field, old, current)
			if f.InstantChanged != nil {
				text += fmt.Sprint(" ", *f.InstantChanged)
			}
		}
		out = append(out, text)
	}
	return out
}

// since gives a declaration that began in an earlier run.
func since(d models.Declaration, first int64) models.Declaration {
	d.FirstRun = first
	return d
}

func changes(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	expect := func(what string, want ...string) {
		t.Helper()
		if want == nil {
			want = []string{}
		}
		same(t, what, want, told(f.Changes(models.ChangeFilter{Run: f.Last()})))
	}
	same(t, "the first two runs", []string{"2 pending " + pageC}, told(f.Changes(models.ChangeFilter{Run: 2})))
	if got := f.Changes(models.ChangeFilter{Run: 1}); len(got) != 3 {
		t.Errorf("the first run adds: %q", told(got))
	}

	run := f.Begin() // 3: content and case
	old, changed := Page(pageA, "1"), since(Page(pageA, "2"), 1)
	priority := 0.5
	changed.Priority, changed.Extensions = &priority, []byte(`{"images":[{"loc":"i"}]}`)
	f.Stage(run, 1, []models.Key{old.Key}, []models.Declaration{changed})
	held := Case(run, 2, pageC, models.StageHeld)
	held.FromRun = 2
	f.SaveRemovals(run, held)
	f.Finish(run)
	moment := ""
	if !old.Lastmod.Instant.Equal(changed.Lastmod.Instant) {
		moment = fmt.Sprintf(" [lastmod %q>%q] true", old.Lastmod.Raw, changed.Lastmod.Raw)
	}
	expect("run 3", `3 changed `+pageA+moment+` [changefreq "1">"2"] [priority null>0.5] [images null>[{"loc":"i"}]]`, "3 held "+pageC)

	run = f.Begin() // 4: another spelling of the same, another beginning: nothing
	same4 := changed
	same4.Lastmod = &models.Lastmod{Raw: "spelled otherwise", Instant: changed.Lastmod.Instant, Precision: models.PrecisionSecond}
	f.Stage(run, 1, []models.Key{old.Key}, []models.Declaration{same4})
	f.Finish(run)
	expect("run 4")

	run = f.Begin() // 5: a moves to document 2 unchanged, b with another content, c is back
	f.Stage(run, 1, []models.Key{KeyOf(pageA), KeyOf(pageB)}, nil)
	f.Stage(run, 2, nil, []models.Declaration{same4, since(Page(pageB, "2"), 1)})
	back := held
	back.Stage, back.DecidedRun = models.StageRestored, 5
	f.SaveRemovals(run, back)
	f.Finish(run)
	var kinds []string
	for _, c := range f.Changes(models.ChangeFilter{Run: 5, Shifts: true}) {
		kinds = append(kinds, c.Kind+" "+c.URL)
	}
	sortByURL(kinds)
	same(t, "run 5 with shifts", []string{"moved " + pageA, "changed " + pageB, "restored " + pageC}, kinds)
	if got := f.Changes(models.ChangeFilter{Run: 5}); len(got) != 2 {
		t.Errorf("run 5 without shifts: %q", told(got))
	}

	run = f.Begin() // 6: a is removed, b is renamed to d, which is new
	gone, renamed := Case(run, 2, pageA, models.StageRemoved), Case(run, 2, pageB, models.StageMoved)
	gone.DecidedRun, renamed.DecidedRun, renamed.MovedTo, renamed.MovedKey = 6, 6, pageD, KeyOf(pageD)
	f.SaveRemovals(run, gone, renamed)
	f.Stage(run, 2, []models.Key{gone.Key, renamed.Key}, []models.Declaration{Page(pageD, "1")})
	f.Finish(run)
	got := told(f.Changes(models.ChangeFilter{Run: 6}))
	sortTexts(got)
	same(t, "run 6", []string{"6 added " + pageD, "6 moved " + pageB + fmt.Sprintf(" [url %q>%q]", pageB, pageD), "6 removed " + pageA}, got)

	run = f.Begin() // 7: a is back, d migrates to e: the new address is no addition
	migrated := Case(run, 2, pageD, models.StageMigrated)
	migrated.DecidedRun, migrated.MovedTo, migrated.MovedKey = 7, "http://example.com/d", KeyOf("http://example.com/d")
	f.SaveRemovals(run, migrated)
	f.Stage(run, 2, []models.Key{migrated.Key}, []models.Declaration{since(Page(pageA, "5"), 1), Page("http://example.com/d", "1")})
	f.Finish(run)
	got = told(f.Changes(models.ChangeFilter{Run: 7}))
	sortTexts(got)
	same(t, "run 7", []string{"7 moved " + pageD + fmt.Sprintf(" [url %q>%q]", pageD, "http://example.com/d"), "7 restored " + pageA}, got)

	run = f.Begin() // 8: document 2 fails while a changed in it before; a's sibling is pending
	f.SaveRemovals(run, Case(run, 2, pageC, models.StagePending))
	f.SaveDocument(run, 2, models.VerdictUnavailable)
	f.Finish(run)
	got = told(f.Changes(models.ChangeFilter{Run: 8}))
	sortTexts(got)
	same(t, "run 8", []string{"8 pending " + pageC, "8 stale http://example.com/d", "8 stale " + pageA}, got)
	same(t, "run 8, kinds", []string{"8 pending " + pageC}, told(f.Changes(models.ChangeFilter{Run: 8, Kinds: []string{models.KindPending}})))

	run = f.Begin() // 9
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Finish(run)
	got = told(f.Changes(models.ChangeFilter{Run: 9}))
	sortTexts(got)
	same(t, "run 9", []string{"9 fresh http://example.com/d", "9 fresh " + pageA}, got)
}

func cursors(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	for range 2 {
		run := f.Begin()
		disturb(f, run)
		f.Finish(run)
	}
	f.Finish(f.Begin()) // changes nothing
	run := f.Begin()
	f.SaveDocument(run, 4, models.VerdictComplete)
	var many []models.Declaration
	for i := range 2500 { // more than two portions of a document's rows
		many = append(many, Page(fmt.Sprintf("https://example.com/many/%d", i), "1"))
	}
	f.Stage(run, 4, nil, many)
	f.Finish(run)
	whole := f.Changes(models.ChangeFilter{})
	if len(whole) < 2510 {
		t.Fatalf("%d changes", len(whole))
	}
	for _, size := range []int{1, 7, 999, 1000, 1001} {
		var all []models.Change
		filter := models.ChangeFilter{Limit: size}
		for i := 0; ; i++ {
			part := f.Changes(filter)
			all = append(all, part...)
			if len(part) < size || size == 1 && i == 20 {
				break
			}
			filter.After = part[len(part)-1].Cursor
		}
		same(t, fmt.Sprintf("the feed by %d", size), whole[:len(all)], all)
		if size > 1 && len(all) != len(whole) {
			t.Errorf("the feed by %d has %d changes, want %d", size, len(all), len(whole))
		}
	}
	last := whole[len(whole)-1].Cursor
	if rest := f.Changes(models.ChangeFilter{After: last}); len(rest) != 0 {
		t.Errorf("after the last one: %q", told(rest))
	}
	run = f.Begin()
	f.Stage(run, 4, []models.Key{many[0].Key}, []models.Declaration{since(Page(many[0].URL, "2"), run.ID-1)})
	if rest := f.Changes(models.ChangeFilter{After: last}); len(rest) != 0 {
		t.Errorf("a run under way is in the feed: %q", told(rest))
	}
	f.Finish(run)
	if rest := f.Changes(models.ChangeFilter{After: last}); len(rest) != 1 || rest[0].Kind != models.KindChanged || !rest[0].At.Equal(f.At(run.ID)) {
		t.Errorf("after the next run: %q", told(rest))
	}
	var invalid *models.InvalidError
	if err := f.Store.Changes(t.Context(), f.Site.ID, models.ChangeFilter{After: "1.2"}, nil); !errors.As(err, &invalid) {
		t.Errorf("a bad cursor: %v", err)
	}
	if err := f.Store.Changes(t.Context(), f.Site.ID, models.ChangeFilter{Run: 99}, nil); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a run that never was: %v", err)
	}
}

// returned: a page whose removal was pending comes back in a document that was unreadable before and still is. It was said
// to be restored, so it is said to be stale, whether the run touched that document or not; one in a readable document is not.
func returned(t *testing.T, open func() *store.Store) {
	f := settled(t, open()) // run 2: c is missing from document 2
	run := f.Begin()        // 3: document 2 cannot be read
	f.SaveDocument(run, 2, models.VerdictUnavailable)
	f.Finish(run)
	run = f.Begin() // 4: c is back all the same, as where a person or a hook said so
	back := Case(run, 2, pageC, models.StageRestored)
	back.FromRun, back.DecidedRun = 2, 4
	f.SaveRemovals(run, back)
	f.Finish(run)
	same(t, "untouched", []string{"4 restored " + pageC, "4 stale " + pageC}, told(f.Changes(models.ChangeFilter{Run: 4})))
	states := f.States(models.AsOf{})
	if !slices.ContainsFunc(states, func(s string) bool { return strings.Contains(s, pageC) && strings.Contains(s, "stale") }) {
		t.Errorf("states %q", states)
	}
	all := f.Changes(models.ChangeFilter{})
	if rest := f.Changes(models.ChangeFilter{After: all[len(all)-2].Cursor}); len(rest) != 1 || rest[0].Cursor != all[len(all)-1].Cursor {
		t.Errorf("behind the restored page the feed goes on with %q", told(rest))
	}
	if rest := f.Changes(models.ChangeFilter{After: all[len(all)-1].Cursor}); len(rest) != 0 {
		t.Errorf("behind its last line the feed has %q", told(rest))
	}
}
