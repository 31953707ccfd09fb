package simulate_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// someMoment reads one past run again.
func (x *world) someMoment(now *snapshot) error {
	if !x.sometimes(2) {
		return nil
	}
	return x.remembered(x.past.moments[(int(now.run)*7)%len(x.past.moments)])
}

// someHistories checks the timelines of three pages.
func (x *world) someHistories(now *snapshot) error {
	urls := slices.Sorted(maps.Keys(now.pages))
	for i := range min(3, len(urls)) {
		if !x.sometimes(3) {
			continue
		}
		if err := x.timeline(urls[(int(now.run)*11+i*17)%len(urls)]); err != nil {
			return err
		}
	}
	return nil
}

// timeline checks one page's history: without gap or overlap, and at every run what was seen then.
func (x *world) timeline(url string) error {
	states, err := x.store.PageHistory(x.ctx, x.site.ID, keyOf(url))
	if err != nil {
		return err
	}
	for i, s := range states {
		switch {
		case i+1 < len(states) && (s.ToRun == nil || *s.ToRun != states[i+1].FromRun):
			return fmt.Errorf("the history of %s has a gap or an overlap behind run %d", url, s.FromRun)
		case i+1 == len(states) && s.ToRun != nil:
			return fmt.Errorf("the history of %s ends at run %d", url, *s.ToRun)
		case s.ToRun != nil && *s.ToRun <= s.FromRun:
			return fmt.Errorf("a state of %s lasts from run %d to %d", url, s.FromRun, *s.ToRun)
		}
	}
	for _, m := range x.past.moments {
		p := m.pages[url]
		at := slices.IndexFunc(states, func(s models.Page) bool { return s.FromRun <= m.run && (s.ToRun == nil || *s.ToRun > m.run) })
		switch {
		case p == nil && at >= 0:
			return fmt.Errorf("the history of %s knows it as %s at run %d, before it was listed", url, states[at].State, m.run)
		case p != nil && at < 0:
			return fmt.Errorf("the history of %s knows nothing of run %d, when it was %s", url, m.run, p.State)
		case p != nil && (states[at].State != p.State || said(&states[at]) != said(p)):
			return fmt.Errorf("the history of %s says %s %v at run %d, when it was %s %v", url, states[at].State, said(&states[at]), m.run, p.State, said(p))
		}
	}
	return nil
}

// finally checks the whole past, and that the inventory has become the site's.
func (x *world) finally() error {
	now := x.past.last()
	if err := x.converged(now); err != nil {
		return err
	}
	for _, s := range x.past.moments {
		if !x.sometimes(5) {
			continue
		}
		if err := x.remembered(s); err != nil {
			return err
		}
	}
	for _, run := range x.past.hidden {
		if !x.sometimes(2) {
			continue
		}
		if err := x.invisible(run); err != nil {
			return err
		}
	}
	for url := range now.pages {
		if !x.sometimes(8) {
			continue
		}
		if err := x.timeline(url); err != nil {
			return err
		}
	}
	if err := x.compared(); err != nil {
		return err
	}
	for _, size := range []int{2 + len(x.past.moments)%9, 1000} {
		if !x.sometimes(4) {
			continue
		}
		if err := x.resumed(size); err != nil {
			return fmt.Errorf("change feed read %d lines at a time: %w", size, err)
		}
	}
	if !x.sometimes(8) {
		return nil
	}
	return x.pruned()
}

// pruned forgets the first half of the runs: the second half must be what it was.
func (x *world) pruned() error {
	kept := x.past.moments[(1+len(x.past.moments))/2:]
	if len(kept) == 0 || kept[0].run < 2 {
		return nil
	}
	from := kept[0].run
	lease, err := x.store.AcquireLease(x.ctx, keyOf(x.site.Root), "pruner", time.Minute)
	if err != nil {
		return err
	}
	var before []models.Change
	if before, err = x.lines(models.ChangeFilter{}); err != nil {
		return err
	}
	if _, err := x.store.Prune(x.ctx, lease, x.site.ID, from); err != nil {
		return err
	}
	for _, s := range kept {
		if err := x.remembered(s); err != nil {
			return fmt.Errorf("after pruning up to run %d: %w", from, err)
		}
	}
	if _, err := x.read(from - 1); err == nil && x.past.moments[len(x.past.moments)-len(kept)-1].run > 0 {
		return fmt.Errorf("run %d can still be asked for after pruning up to run %d", from-1, from)
	}
	if known := slices.IndexFunc(before, func(c models.Change) bool { return c.Run > from }); known != 0 && len(before) > 0 {
		if known < 0 {
			known = len(before)
		}
		rest, err := x.lines(models.ChangeFilter{After: before[known-1].Cursor})
		if err != nil || len(rest) != len(before)-known {
			return fmt.Errorf("who had read the feed up to run %d gets %d lines and %w, want %d", from, len(rest), err, len(before)-known)
		}
		before = before[known:]
	}
	for run := from + 1; run <= kept[len(kept)-1].run; run++ {
		feed, err := x.lines(models.ChangeFilter{Run: run})
		if err != nil {
			return err
		}
		for _, c := range feed {
			if len(before) == 0 || text(before[0]) != text(c) {
				return fmt.Errorf("after pruning up to run %d the feed says %s", from, text(c))
			}
			before = before[1:]
		}
	}
	if len(before) > 0 {
		return fmt.Errorf("after pruning up to run %d the feed does not say %s any more", from, text(before[0]))
	}
	x.past.moments = kept
	for url := range kept[len(kept)-1].pages {
		if err := x.timeline(url); err != nil {
			return fmt.Errorf("after pruning up to run %d: %w", from, err)
		}
	}
	return nil
}

// converged: after two confirmed runs and an operator who approves, the inventory is the site's.
func (x *world) converged(now *snapshot) error {
	truth := x.origin.Inventory()
	if x.window.kind != 0 {
		x.window.inventory(truth, x.origin.URL())
	}
	for url, lastmod := range truth {
		p := now.pages[url]
		if p == nil || p.State != models.StateLive {
			return fmt.Errorf("%s is published, and its state is %s", url, stateOf(p))
		}
		if want := instant(lastmod); said(p).Lastmod != want {
			return fmt.Errorf("%s was changed at %s, and the inventory says %s", url, want, said(p).Lastmod)
		}
	}
	for url, p := range now.pages {
		rolledOn := now.cases[url].Stage == models.StageLeftWindow && p.State == models.StateStale && x.window.find(url) != nil
		if _, published := truth[url]; !published && p.State != models.StateRemoved && !rolledOn {
			return fmt.Errorf("%s is not published, and its state in %s is %s (%s)", url, p.Document, p.State, p.Reason)
		}
	}
	feed, err := x.lines(models.ChangeFilter{Run: now.run})
	for _, c := range feed { // time alone goes on, and with it the news
		rolledOn := x.window.kind == newsWindow && c.Kind == models.KindStale && now.cases[c.URL].Stage == models.StageLeftWindow && now.cases[c.URL].FromRun == now.run
		if !rolledOn {
			return fmt.Errorf("nothing happens any more, and the feed says %s", text(c))
		}
	}
	return err
}

// invisible: as of a run that failed, the site is what it was at the run before.
func (x *world) invisible(run int64) error {
	var was *snapshot
	for _, m := range x.past.moments {
		if m.run < run {
			was = m
		}
	}
	if was == nil || was.run == 0 {
		return nil
	}
	now, err := x.read(run)
	if err != nil {
		return err
	}
	if len(now.pages) != len(was.pages) {
		return fmt.Errorf("as of run %d, which failed, there are %d pages, at the run before %d", run, len(now.pages), len(was.pages))
	}
	for url, p := range was.pages {
		if q := now.pages[url]; q == nil || q.State != p.State || said(q) != said(p) {
			return fmt.Errorf("as of run %d, which failed, %s is %s; at the run before it was %s", run, url, stateOf(q), p.State)
		}
	}
	return nil
}

// resumed reads the feed from its beginning, a portion at a time: it gives what the runs gave.
func (x *world) resumed(size int) error {
	after := ""
	n := 0
	for {
		portion, err := x.lines(models.ChangeFilter{After: after, Limit: size})
		if err != nil {
			return err
		}
		for _, c := range portion {
			if n >= len(x.past.feed) || x.past.feed[n] != text(c) {
				want := "nothing"
				if n < len(x.past.feed) {
					want = x.past.feed[n]
				}
				return fmt.Errorf("line %d is %s, and was %s", n, text(c), want)
			}
			n, after = n+1, c.Cursor
		}
		if len(portion) < size {
			break
		}
	}
	if n != len(x.past.feed) {
		return fmt.Errorf("it ends after %d lines of %d", n, len(x.past.feed))
	}
	return nil
}
