package simulate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// compare checks a run that just ended, visible or not.
func (x *world) compare(request syncer.Request, record models.Run, failed error, waiting []models.Trigger) error {
	site, err := x.store.Site(x.ctx, x.site.ID)
	if err != nil {
		return err
	}
	x.site = site
	before := x.past.last()
	if site.CurrentRun == before.run {
		return x.unseen(before, record, failed, waiting)
	}
	stored, err := x.store.Run(x.ctx, x.site.ID, site.CurrentRun)
	if err != nil {
		return err
	}
	if failed == nil && (record.ID != stored.ID || record.Counts != stored.Counts || record.Verdict != stored.Verdict) {
		return fmt.Errorf("the run returned %+v and stored %+v", record.Counts, stored.Counts)
	}
	now, err := x.read(site.CurrentRun)
	if err != nil {
		return err
	}
	if err := x.watched(now, request, stored); err != nil {
		return err
	}
	feed, err := x.lines(models.ChangeFilter{Run: now.run})
	if err != nil {
		return err
	}
	x.tally.recorded(now, stored, feed)
	for name, check := range map[string]func() error{
		"inventory": func() error { return x.inventory(before, now, stored) },
		"proof":     func() error { return x.proof(before, now, stored) },
		"feed":      func() error { return x.changes(before, now, feed) },
		"counts":    func() error { return x.counts(now, stored, site, feed) },
		"triggers":  func() error { return x.served(waiting) },
		"as-of":     func() error { return x.someMoment(now) },
		"history":   func() error { return x.someHistories(now) },
	} {
		if err := check(); err != nil {
			x.explain(before, now, err)
			return fmt.Errorf("run %d (%s, %s): %s: %w", now.run, request.Cause, stored.Verdict, name, err)
		}
	}
	for _, c := range feed {
		x.past.feed = append(x.past.feed, text(c))
	}
	return nil
}

// watched adds to a picture what the oracle knows of its run, and makes it the newest.
func (x *world) watched(now *snapshot, request syncer.Request, record models.Run) error {
	if err := x.readCases(now); err != nil {
		return err
	}
	documents, err := x.store.DocumentsAt(x.ctx, x.site.ID, models.AsOf{Run: now.run})
	if err != nil {
		return err
	}
	for _, d := range documents {
		if d.FromRun == now.run && d.LastmodShift != 0 {
			now.shifted[d.URL] = d.LastmodShift
		}
	}
	now.walks = x.web.walks(x.owned)
	if len(now.walks) == 0 {
		return errors.New("a run became visible that asked for nothing")
	}
	now.complete = now.walks[len(now.walks)-1].complete && !record.Targeted
	now.twice = now.complete && request.Confirm && len(now.walks) > 1 && now.walks[len(now.walks)-2].complete
	x.trace("    %s", now.walks[len(now.walks)-1].faults())
	complete := record.Verdict == models.VerdictComplete
	if len(now.walks[len(now.walks)-1].aged) > 0 { // an old copy of what could not be read the last time is no reading
		now.complete, now.twice = now.complete && complete, now.twice && complete
	} else if complete != now.walks[len(now.walks)-1].complete {
		return fmt.Errorf("run %d: the verdict is %s (%s), but the oracle's walk is complete: %v: %s", now.run, record.Verdict, record.Reason,
			!complete, now.walks[len(now.walks)-1].faults())
	}
	x.past.moments = append(x.past.moments, now)
	return nil
}

// explain traces what everybody says of the page that a broken promise names.
func (x *world) explain(before, now *snapshot, broken error) {
	for url, p := range now.pages {
		if !strings.Contains(broken.Error(), url+" ") && !strings.Contains(broken.Error(), url+"\"") {
			continue
		}
		if old := before.pages[url]; old != nil {
			x.trace("    %s was %s in %s since %d: %v", url, old.State, old.Document, old.FromRun, said(old))
		}
		x.trace("    %s is %s in %s since %d: %v", url, p.State, p.Document, p.FromRun, said(p))
		for i, w := range now.walks {
			for _, l := range w.looks {
				if c, ok := l.pages[url]; ok {
					x.trace("      walk %d: %s (as %s) says %v, complete %v, aged %v", i+1, l.url, l.final, c, l.complete, l.aged)
				}
			}
		}
	}
}

func (w *walk) faults() string {
	out := ""
	for _, l := range w.looks {
		if !l.complete {
			out += fmt.Sprintf("%s: %d %s cut %v; ", l.url, l.status, l.outcome, l.cut)
		}
	}
	return out
}

// unseen checks that a run that failed left no trace.
func (x *world) unseen(before *snapshot, record models.Run, failed error, waiting []models.Trigger) error {
	if failed == nil {
		return fmt.Errorf("run %d ended well and is not visible", record.ID)
	}
	if record.ID > before.run {
		x.past.hidden = append(x.past.hidden, record.ID)
	}
	if err := x.remembered(before); err != nil {
		return fmt.Errorf("a run that failed left a trace: %w", err)
	}
	open, err := x.store.PendingTriggers(x.ctx, x.site.ID)
	if err != nil {
		return err
	}
	if len(open) != len(waiting) {
		return fmt.Errorf("%d triggers waited before a run that failed, %d do now", len(waiting), len(open))
	}
	return nil
}

func (x *world) served(waiting []models.Trigger) error {
	open, err := x.store.PendingTriggers(x.ctx, x.site.ID)
	if err != nil {
		return err
	}
	for _, t := range open {
		if slices.ContainsFunc(waiting, func(w models.Trigger) bool { return w.ID == t.ID }) {
			return fmt.Errorf("trigger %d waited before the run and still waits", t.ID)
		}
	}
	return nil
}

func listed(s models.State) bool { return s == models.StateLive || s == models.StateStale }

func undecided(s models.State) bool { return s == models.StatePending || s == models.StateHeld }

// inventory holds the run's picture against what the oracle read.
func (x *world) inventory(before, now *snapshot, record models.Run) error {
	w := &now.walks[len(now.walks)-1]
	for url := range before.pages {
		if now.pages[url] == nil {
			return fmt.Errorf("%s was %s and is lost", url, before.pages[url].State)
		}
	}
	for url, p := range now.pages {
		if before.pages[url] == nil && !w.listed(url) {
			return fmt.Errorf("%s is %s, but was never listed", url, p.State)
		}
	}
	for url, contents := range w.sure {
		p := now.pages[url]
		if p == nil || !listed(p.State) {
			return fmt.Errorf("%s is listed, but its state is %s", url, stateOf(p))
		}
		if now.complete && p.State != models.StateLive {
			return fmt.Errorf("%s is listed by a complete walk, but its state is %s: %s", url, p.State, p.Reason)
		}
		if p.State == models.StateStale && len(w.aged) == 0 && !record.Targeted && !w.part(p.Document, url) {
			return fmt.Errorf("%s is listed by a document that was read, but it is stale: %s", url, p.Reason)
		}
		allowed := append(slices.Clone(contents), w.some[url]...)
		if old := before.pages[url]; old != nil && (!now.complete || len(w.aged) > 0) {
			allowed = append(allowed, said(old))
		}
		if !slices.Contains(allowed, said(p)) {
			return fmt.Errorf("%s says %v, but the documents say %v", url, said(p), contents)
		}
	}
	if now.complete {
		return x.absent(before, now, w)
	}
	for url, old := range before.pages {
		p := now.pages[url]
		if old.State == p.State || w.listed(url) || listed(old.State) && listed(p.State) {
			continue
		}
		if record.Targeted && x.past.named[url] && p.State != models.StateLive {
			continue // a hook named it, and the document that listed it does not any more
		}
		return fmt.Errorf("%s was %s and is %s after a walk that was not complete", url, old.State, p.State)
	}
	return nil
}

// part tells whether what was read of a document lists a page.
func (w *walk) part(document, url string) bool {
	return slices.ContainsFunc(w.looks, func(l look) bool {
		_, listed := l.pages[url]
		return listed && (l.url == document || l.final == document)
	})
}

func stateOf(p *models.Page) models.State {
	if p == nil {
		return "unknown"
	}
	return p.State
}

// absent checks the pages that a complete walk did not see.
func (x *world) absent(before, now *snapshot, w *walk) error {
	for url, old := range before.pages {
		p := now.pages[url]
		if w.listed(url) || w.aged[p.Document] { // an old copy proves no absence: what was read last holds
			continue
		}
		rejected := now.cases[url].Stage == models.StageRejected
		window := now.cases[url].Stage == models.StageLeftWindow
		if window {
			if err := x.rolledOn(now.cases[url], now.run); err != nil {
				return err
			}
		}
		switch {
		case old.State == models.StateRemoved && p.State == models.StateRemoved:
		case old.State == models.StateRemoved:
			return fmt.Errorf("%s was removed, is not listed, and is %s", url, p.State)
		case rejected && listed(p.State), window && p.State == models.StateStale:
		case listed(p.State):
			return fmt.Errorf("%s is not listed by a complete walk, but its state is %s (%s)", url, p.State, p.Reason)
		}
	}
	return nil
}

func said(p *models.Page) content {
	var c content
	if p.Lastmod != nil {
		c.Lastmod = p.Lastmod.Instant.UTC().Format("2006-01-02T15:04:05Z")
	}
	c.Images = imagesOf(p)
	return c
}
