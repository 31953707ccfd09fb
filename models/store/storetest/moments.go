package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// Diff compares two moments.
func (f *Fixture) Diff(filter models.DiffFilter) []models.Change {
	f.t.Helper()
	var out []models.Change
	f.must(f.Store.Diff(f.t.Context(), f.Site.ID, filter, func(c *models.Change) error {
		out = append(out, *c)
		return nil
	}))
	return out
}

func between(from, to int64) models.DiffFilter {
	return models.DiffFilter{From: models.AsOf{Run: from}, To: models.AsOf{Run: to}}
}

// diffs: what happened and was undone is not told, pages that moved on are told with where they are, a move of the whole
// site once.
func diffs(t *testing.T, open func() *store.Store) {
	f := settled(t, open()) // 1: a, b, c; 2: c is pending

	expect := func(what string, filter models.DiffFilter, want ...string) {
		t.Helper()
		got := told(f.Diff(filter))
		sortTexts(got)
		sortTexts(want)
		same(t, what, append([]string{}, want...), got)
	}
	expect("before the first run", models.DiffFilter{From: models.AsOf{Time: f.At(0)}, To: models.AsOf{Run: 1}}, "1 added "+pageA, "1 added "+pageB, "1 added "+pageC)
	expect("a case", between(1, 2), "2 pending "+pageC)
	expect("nothing", between(2, 2))

	run := f.Begin() // 3: a has other content, b another document, c is restored
	changed := since(Page(pageA, "2"), 1)
	changed.Lastmod = &models.Lastmod{Raw: "as it was", Instant: Page(pageA, "1").Lastmod.Instant}
	f.Stage(run, 1, []models.Key{KeyOf(pageA), KeyOf(pageB)}, []models.Declaration{changed})
	f.Stage(run, 2, nil, []models.Declaration{since(Page(pageB, "1"), 1)})
	back := Case(run, 2, pageC, models.StageRestored)
	back.FromRun, back.DecidedRun = 2, 3
	f.SaveRemovals(run, back)
	f.Finish(run)
	content := "3 changed " + pageA + fmt.Sprintf(` [lastmod %q>"as it was"] false [changefreq "1">"2"]`, Page(pageA, "1").Lastmod.Raw)
	expect("what was undone is not told", between(1, 3), content)
	expect("what is undone is", between(2, 3), content, "3 fresh "+pageC)
	shifts := between(1, 3)
	shifts.Shifts, shifts.Kinds = true, []string{models.KindMoved}
	expect("another document", shifts, "3 moved "+pageB+" [document 1>2]")

	run = f.Begin() // 4: b is renamed to d
	renamed := Case(run, 2, pageB, models.StageMoved)
	renamed.DecidedRun, renamed.MovedTo, renamed.MovedKey = 4, pageD, KeyOf(pageD)
	f.SaveRemovals(run, renamed)
	f.Stage(run, 2, []models.Key{KeyOf(pageB)}, []models.Declaration{Page(pageD, "1")})
	f.Finish(run)
	run = f.Begin() // 5: c and d move with the whole site
	for _, url := range []string{pageC, pageD} {
		moved := Case(run, 2, url, models.StageMigrated)
		to := "http://example.com/new/" + url[len("https://example.com/"):]
		moved.DecidedRun, moved.MovedTo, moved.MovedKey = 5, to, KeyOf(to)
		f.SaveRemovals(run, moved)
		f.Stage(run, 2, []models.Key{KeyOf(url)}, []models.Declaration{Page(to, "1")})
	}
	f.Finish(run)
	newC, newD := "http://example.com/new/"+pageC[len("https://example.com/"):], "http://example.com/new/"+pageD[len("https://example.com/"):]
	move := func(run int, from, to string) string {
		return fmt.Sprintf("%d moved %s [url %q>%q]", run, from, from, to)
	}
	expect("the site's move is no addition", between(4, 5), move(5, pageC, newC), move(5, pageD, newD))
	expect("twice moved", between(3, 5), move(5, pageB, newD), move(5, pageC, newC), "5 added "+newD)

	var invalid *models.InvalidError
	for _, bad := range []models.DiffFilter{{To: models.AsOf{Run: 1}}, between(3, 2), {From: models.AsOf{Run: 1}, After: "1.2.3"}} {
		if err := f.Store.Diff(t.Context(), f.Site.ID, bad, nil); !errors.As(err, &invalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// largeDiff: pages of several portions come once each, also when they are asked for bit by bit and the site goes on.
func largeDiff(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	var many []models.Declaration
	for i := range 1300 {
		many = append(many, Page(fmt.Sprintf("https://example.com/many/%d", i), "1"))
	}
	run := f.Begin() // 3
	f.SaveDocument(run, 4, models.VerdictComplete)
	f.Stage(run, 4, nil, many)
	f.Finish(run)
	run = f.Begin() // 4: every third page is held, every fourth changes, the document fails
	var changed []models.Declaration
	var keys []models.Key
	for i, row := range many {
		if i%3 == 0 {
			f.SaveRemovals(run, Case(run, 4, row.URL, models.StageHeld))
		}
		if i%4 == 0 {
			changed, keys = append(changed, since(Page(row.URL, "2"), 3)), append(keys, row.Key)
		}
	}
	f.SaveDocument(run, 1, models.VerdictUnavailable)
	f.Stage(run, 4, keys, changed)
	f.Finish(run)
	whole := f.Diff(models.DiffFilter{From: models.AsOf{Run: 3}})
	if want := 2 + 434 + 325; len(whole) != want {
		t.Fatalf("%d rows, want %d", len(whole), want)
	}
	for _, size := range []int{13, 500} {
		var all []models.Change
		filter := models.DiffFilter{From: models.AsOf{Run: 3}, Limit: size}
		for {
			part := f.Diff(filter)
			all = append(all, part...)
			if len(part) < size {
				break
			}
			if len(all) == size { // the answer goes on with the moments that it began with
				next := f.Begin()
				f.Stage(next, 4, []models.Key{many[1].Key}, []models.Declaration{since(Page(many[1].URL, fmt.Sprint("now ", size)), 3)})
				f.Finish(next)
			}
			filter = models.DiffFilter{After: part[len(part)-1].Cursor, Limit: size}
		}
		same(t, fmt.Sprint("by ", size), len(whole), len(all))
		if size == 13 {
			same(t, fmt.Sprint("by ", size), whole, all)
		}
		whole = f.Diff(models.DiffFilter{From: models.AsOf{Run: 3}})
	}
}

// fold follows the feed as a consumer does that keeps nothing but the last state of each page.
func fold(states map[string]models.State, feed []models.Change) {
	for _, c := range feed {
		switch c.Kind {
		case models.KindAdded, models.KindRestored, models.KindFresh:
			states[c.URL] = models.StateLive
		case models.KindStale:
			states[c.URL] = models.StateStale
		case models.KindPending:
			states[c.URL] = models.StatePending
		case models.KindHeld:
			states[c.URL] = models.StateHeld
		case models.KindRemoved:
			states[c.URL] = models.StateRemoved
		case models.KindMoved:
			for _, f := range c.Fields {
				if f.Field == "url" { // the page lives on under the new address, which is told apart
					states[c.URL] = models.StateRemoved
				}
			}
		}
	}
}

// followed holds the inventory, as it was when each run ended, against what a consumer of the feed has by then.
func (h *history) followed() {
	states := map[string]models.State{}
	for _, run := range h.runs {
		fold(states, h.Changes(models.ChangeFilter{Run: run}))
		for url, text := range h.ended[run].states() {
			var want models.State
			content := ""
			_, _ = fmt.Sscan(text, &content, &want)
			if got := states[url]; got != want {
				h.t.Fatalf("who follows the feed holds %s for %q at the end of run %d, and it is %q", url, got, run, want)
			}
		}
	}
}

// compare holds the comparison of any two runs against the model.
func (h *history) compare() {
	for i, a := range h.runs {
		for _, b := range h.runs[i+1:] {
			want := different(h.past[a], h.past[b])
			var got []string
			for _, c := range h.Diff(between(a, b)) {
				got = append(got, c.Kind+" "+c.URL)
			}
			slices.Sort(got)
			if !slices.Equal(want, got) {
				h.t.Fatalf("runs %d and %d differ in %q, and it says %q", a, b, want, got)
			}
		}
	}
}

// different gives "kind url" of what two models do not agree on.
func different(before, after model) []string {
	var out []string
	was, is := before.states(), after.states()
	kinds := map[models.State]string{models.StateLive: models.KindFresh, models.StateStale: models.KindStale,
		models.StatePending: models.KindPending, models.StateHeld: models.KindHeld}
	split := func(text string) (content string, state models.State) {
		_, _ = fmt.Sscan(text, &content, &state)
		if state == models.StateRemoved {
			return "", ""
		}
		return content, state
	}
	for url := range is {
		c1, s1 := split(was[url])
		c2, s2 := split(is[url])
		switch {
		case s1 == "" && s2 == "":
		case s1 == "":
			out = append(out, models.KindAdded+" "+url)
		case s2 == "":
			out = append(out, models.KindRemoved+" "+url)
		default:
			if c1 != c2 {
				out = append(out, models.KindChanged+" "+url)
			}
			if s1 != s2 {
				out = append(out, kinds[s2]+" "+url)
			}
		}
	}
	slices.Sort(out)
	return out
}

// prune forgets what was before one of the runs, and checks that the rest is what it was.
func (h *history) prune() {
	if len(h.runs) == 0 {
		return
	}
	at := rapid.IntRange(0, len(h.runs)-1).Draw(h.t, "kept")
	kept, ctx := h.runs[at], h.Fixture.t.Context()
	feed := h.Changes(models.ChangeFilter{})
	behind := slices.IndexFunc(feed, func(c models.Change) bool { return c.Run > kept })
	if behind < 0 {
		behind = len(feed)
	}
	if _, err := h.Store.Prune(ctx, h.Lease, h.Site.ID, kept); err != nil {
		h.t.Fatal(err)
	}
	var pruned *models.PrunedError
	for _, run := range h.runs[:at] {
		err := h.Store.Pages(ctx, h.Site.ID, models.PageFilter{AsOf: models.AsOf{Run: run}}, func(*models.Page) error { return nil })
		if !errors.As(err, &pruned) || pruned.KeptFrom != kept {
			h.t.Fatalf("as of run %d, which was pruned: %v", run, err)
		}
	}
	h.runs = h.runs[at:]
	delete(h.expected, kept) // its changes led away from what is gone
	h.check()
	if rest := h.Changes(models.ChangeFilter{}); !slices.Equal(told(rest), told(feed[behind:])) {
		h.t.Fatalf("the feed behind run %d is %q, and was %q", kept, told(rest), told(feed[behind:]))
	}
	for i := range feed {
		var rest []models.Change
		err := h.Store.Changes(ctx, h.Site.ID, models.ChangeFilter{After: feed[i].Cursor}, func(c *models.Change) error {
			rest = append(rest, *c)
			return nil
		})
		switch {
		case i+1 < behind && (!errors.As(err, &pruned) || pruned.KeptFrom != kept+1):
			h.t.Fatalf("who read the feed up to %s, which was pruned, is told %v and given %q", feed[i].Cursor, err, told(rest))
		case i+1 >= behind && (err != nil || !slices.Equal(told(rest), told(feed[i+1:]))):
			h.t.Fatalf("who read the feed up to %s gets %q, %v; want %q", feed[i].Cursor, told(rest), err, told(feed[i+1:]))
		}
	}
}
