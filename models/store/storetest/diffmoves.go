package storetest

import (
	"fmt"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// relocate ends pages of document 2 in a run and puts others in their place, at a stage.
func (f *Fixture) relocate(run models.Run, stage string, pairs ...[2]string) {
	f.t.Helper()
	var ended []models.Removal
	var close []models.Key
	var add []models.Declaration
	for _, p := range pairs {
		c := Case(run, 2, p[0], stage)
		c.DecidedRun, c.MovedTo, c.MovedKey = run.ID, p[1], KeyOf(p[1])
		ended, close, add = append(ended, c), append(close, c.Key), append(add, Page(p[1], "1"))
	}
	f.SaveRemovals(run, ended...)
	f.Stage(run, 2, close, add)
}

// diffsOfMoves: a page that took another's place is an addition when the other one does not tell of it: because it
// came back and was removed for another reason, or because it is listed.
func diffsOfMoves(t *testing.T, open func() *store.Store) {
	const first, second, third = "https://example.com/here/", "http://example.com/there/", "https://example.com/elsewhere/"
	f := settled(t, open())
	run := f.Begin() // 3
	f.Stage(run, 2, nil, []models.Declaration{Page(first, "1")})
	f.Finish(run)
	run = f.Begin() // 4: the site moves
	f.relocate(run, models.StageMigrated, [2]string{first, second})
	f.Finish(run)
	run = f.Begin() // 5: and back, but the other place is still listed
	f.Stage(run, 2, nil, []models.Declaration{since(Page(first, "1"), 3)})
	f.Finish(run)
	run = f.Begin() // 6: the page is removed from where it was at first
	gone := Case(run, 2, first, models.StageRemoved)
	gone.DecidedRun = 6
	f.SaveRemovals(run, gone)
	f.Stage(run, 2, []models.Key{KeyOf(first)}, nil)
	f.Finish(run)
	run = f.Begin() // 7: the other one is renamed
	f.relocate(run, models.StageMoved, [2]string{second, third})
	f.Finish(run)
	run = f.Begin() // 8: and is there again
	f.Stage(run, 2, nil, []models.Declaration{since(Page(second, "1"), 4)})
	f.Finish(run)

	expect := func(what string, from, to int64, want ...string) {
		t.Helper()
		got := told(f.Diff(between(from, to)))
		sortTexts(got)
		sortTexts(want)
		same(t, fmt.Sprintf("%s, between %d and %d", what, from, to), want, got)
	}
	moved := func(run int, from, to string) string {
		return fmt.Sprintf("%d moved %s [url %q>%q]", run, from, from, to)
	}
	expect("the site's move is told once", 3, 4, moved(4, first, second))
	expect("its old place is listed again", 3, 5, "5 added "+second)
	expect("it was removed there", 3, 6, "6 removed "+first, "6 added "+second)
	expect("whoever came with the move was renamed", 3, 7, "7 removed "+first, "7 added "+third)
	expect("renamed, with what it became", 6, 7, moved(7, second, third), "7 added "+third)
	expect("followed no further than to where it is", 4, 8, "8 added "+third)

	const old, middle, final = "https://example.com/old/", "https://example.com/middle/", "https://example.com/final/"
	run = f.Begin() // 9
	f.Stage(run, 2, nil, []models.Declaration{Page(old, "1")})
	f.Finish(run)
	for _, step := range [][2]string{{old, middle}, {middle, final}} { // 10, 11
		run = f.Begin()
		f.relocate(run, models.StageMigrated, step)
		f.Finish(run)
	}
	expect("from place to place", 9, 11, moved(11, old, final))
	run = f.Begin() // 12
	f.Stage(run, 2, nil, []models.Declaration{since(Page(middle, "1"), 10)})
	f.Finish(run)
	expect("it is where it moved first, and what came later is new", 9, 12, moved(12, old, middle), "12 added "+final)

	run = f.Begin() // 13: two pages become one
	f.Stage(run, 2, nil, []models.Declaration{Page("https://example.com/one/", "1"), Page("https://example.com/two/", "1")})
	f.Finish(run)
	for _, one := range []string{"https://example.com/one/", "https://example.com/two/"} { // 14, 15
		run = f.Begin()
		c := Case(run, 2, one, models.StageMigrated)
		c.DecidedRun, c.MovedTo, c.MovedKey = run.ID, "https://example.com/both/", KeyOf("https://example.com/both/")
		f.SaveRemovals(run, c)
		var add []models.Declaration
		if run.ID == 14 {
			add = append(add, Page(c.MovedTo, "1"))
		}
		f.Stage(run, 2, []models.Key{c.Key}, add)
		f.Finish(run)
	}
	expect("both tell of it", 13, 15, moved(15, "https://example.com/one/", "https://example.com/both/"), moved(15, "https://example.com/two/", "https://example.com/both/"))
}
