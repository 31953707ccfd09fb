package syncer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// classes give each reason to look its place in the order of work.
var classes = map[string]int{"published": models.LookHook, "listed": models.LookMoved, "target": models.LookTarget, "removed": models.LookTarget,
	"trouble": models.LookTarget, "first": models.LookFirst, "failure": models.LookClock, "clock": models.LookClock}

// plan sets when and why a URL is looked at next.
func plan(w *models.CanonicalWatch, m *memory, now time.Time) {
	due := canonical.NextLook(canonical.Watch{Key: canonical.Key(w.Key), LastLook: w.LastLook, Interval: w.Interval, Failures: m.Record.Failures,
		RetryAfter: m.RetryAfter, Published: m.Published, Listed: m.Listed, Removed: m.Removed, TargetChanged: m.TargetChanged,
		TroubleSince: m.TroubleSince, CrossDomain: m.CrossDomain}, now)
	w.Due, w.Class, w.Next = due.Reason, classes[due.Reason], nil
	if due.Reason == "" {
		return
	}
	if due.Reason == "first" {
		switch {
		case !m.Published.IsZero():
			w.Class = models.LookHook
		case !w.Listed:
			w.Class = models.LookTarget
		}
	}
	next := micros(due.At.UTC())
	w.Next = &next
}

// planTargets makes sure that what the page names is looked at too: URLs of the inventory have their own looks, others
// one for this page's sake. Addresses that leaked from an internal network are never asked.
func (v *visit) planTargets(ctx context.Context, j *judging) error {
	var watches []models.CanonicalWatch
	add := func(url string, key canonical.Key, scope canonical.Scope, hints []canonical.Hint) error {
		if key.IsZero() || key == j.ev.Key || slices.Contains(hints, canonical.HintLeakedHost) || canonical.Leaks(j.ev.Source, url, j.hosts) {
			return nil
		}
		w := models.CanonicalWatch{Key: models.Key(key), URL: url}
		m := memory{TargetChanged: j.at, CrossDomain: scope == canonical.ScopeCrossDomain}
		plan(&w, &m, j.at)
		record, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("write the record of a target: %w", err)
		}
		w.Record = record
		watches = append(watches, w)
		return nil
	}
	for _, r := range j.step.Opened {
		if err := add(r.Target, r.TargetKey, r.Scope, r.Hints); err != nil {
			return err
		}
	}
	for _, c := range j.verdict.Candidates {
		if err := add(c.Target, c.TargetKey, c.Scope, nil); err != nil {
			return err
		}
	}
	if len(watches) == 0 {
		return nil
	}
	return v.o.Store.AddWatches(ctx, v.lease, v.site.ID, watches)
}

// event is what happened to a listed page, or what was said of it.
type event struct {
	url       string
	listed    *bool
	published time.Time
	changed   time.Time // listed anew, or its lastmod moved
	removed   time.Time
}

// notice takes over what runs found and hooks said since the last time.
func (v *visit) notice(ctx context.Context) error {
	run, trigger, err := v.o.Store.WatchedUpTo(ctx, v.site.ID)
	if err != nil {
		return err
	}
	before := [2]int64{run, trigger}
	switch {
	case v.site.CurrentRun == 0:
		return nil
	case run == 0:
		if err := v.watchAll(ctx); err != nil {
			return err
		}
		run = v.site.CurrentRun
	}
	for run < v.site.CurrentRun {
		run++
		if err := v.watchRun(ctx, run); err != nil {
			return err
		}
	}
	for {
		list, err := v.o.Store.TriggersAfter(ctx, v.site.ID, trigger, 100)
		if err != nil {
			return err
		}
		if err := v.watchTriggers(ctx, list); err != nil {
			return err
		}
		if len(list) > 0 {
			trigger = list[len(list)-1].ID
		}
		if len(list) < 100 {
			break
		}
	}
	if before == [2]int64{run, trigger} {
		return nil
	}
	return v.o.Store.SaveWatchedUpTo(ctx, v.lease, v.site.ID, run, trigger)
}

// watchBatch watches are planned at a time.
const watchBatch = 500

// watchAll begins to watch a site: every listed page.
func (v *visit) watchAll(ctx context.Context) error {
	events := map[models.Key]event{}
	listed := true
	err := v.o.Store.Pages(ctx, v.site.ID, models.PageFilter{State: models.StateAll}, func(p *models.Page) error {
		if p.State == models.StateRemoved {
			return nil
		}
		events[p.Key] = event{url: p.URL, listed: &listed}
		return v.flush(ctx, events, watchBatch)
	})
	if err != nil {
		return fmt.Errorf("begin to watch a site: %w", err)
	}
	return v.flush(ctx, events, 1)
}

// watchRun takes over one run's changes.
func (v *visit) watchRun(ctx context.Context, run int64) error {
	events := map[models.Key]event{}
	yes, no := true, false
	err := v.o.Store.Changes(ctx, v.site.ID, models.ChangeFilter{Run: run}, func(c *models.Change) error {
		key, ok := keyOf(c.URL)
		if !ok {
			return nil
		}
		e := event{url: c.URL}
		switch c.Kind {
		case models.KindAdded, models.KindRestored:
			e.listed, e.changed = &yes, c.At
		case models.KindRemoved:
			e.listed, e.removed = &no, c.At
		case models.KindChanged:
			if !lastmodMoved(c) {
				return nil
			}
			e.changed = c.At
		case models.KindMoved:
			from, to, ok := movedURLs(c)
			if !ok {
				return nil
			}
			if old, ok := keyOf(from); ok {
				events[old] = event{url: from, listed: &no, removed: c.At}
			}
			if key, ok = keyOf(to); !ok {
				return nil
			}
			e = event{url: to, listed: &yes, changed: c.At}
		default:
			return nil
		}
		events[key] = e
		return v.flush(ctx, events, watchBatch)
	})
	if err != nil {
		return fmt.Errorf("take over the changes of run %d: %w", run, err)
	}
	return v.flush(ctx, events, 1)
}

func keyOf(raw string) (models.Key, bool) {
	u, problem := weburl.Parse(nil, []byte(raw))
	return models.Key(u.Key()), problem == weburl.None
}

func lastmodMoved(c *models.Change) bool {
	for _, f := range c.Fields {
		if f.Field == "lastmod" && (f.InstantChanged == nil || *f.InstantChanged) {
			return true
		}
	}
	return false
}

func movedURLs(c *models.Change) (from, to string, ok bool) {
	for _, f := range c.Fields {
		if f.Field == "url" {
			from, _ = f.Old.(string)
			to, _ = f.New.(string)
		}
	}
	return from, to, from != "" && to != ""
}

// watchTriggers puts pages first that hooks name.
func (v *visit) watchTriggers(ctx context.Context, list []models.Trigger) error {
	events := map[models.Key]event{}
	hosts := ownHosts(v.site)
	for _, t := range list {
		for _, h := range t.Hints {
			for _, raw := range []string{h.URL, h.PreviousURL} {
				u, problem := weburl.Parse(nil, []byte(raw))
				if raw == "" || problem != weburl.None || !hosts[authorityOf(u.Identity)] {
					continue
				}
				events[models.Key(u.Key())] = event{url: string(u.Wire), published: t.ReceivedAt}
			}
		}
	}
	return v.flush(ctx, events, 1)
}

// flush writes events once there are least of them.
func (v *visit) flush(ctx context.Context, events map[models.Key]event, least int) error {
	if len(events) < least {
		return nil
	}
	defer clear(events)
	keys := make([]models.Key, 0, len(events))
	for k := range events {
		keys = append(keys, k)
	}
	known, err := v.o.Store.Watches(ctx, v.site.ID, sortKeys(keys))
	if err != nil {
		return err
	}
	var added, planned []models.CanonicalWatch
	for _, k := range keys {
		w, exists := known[k]
		if e := events[k]; exists && w.Listed && e.listed != nil && *e.listed && e.changed.IsZero() && e.published.IsZero() {
			continue // watched already: the beginning was broken off
		}
		if !exists {
			w = models.CanonicalWatch{Key: k, URL: events[k].url}
		}
		if err := v.happened(&w, events[k]); err != nil {
			return err
		}
		if exists {
			planned = append(planned, w)
		} else {
			added = append(added, w)
		}
	}
	if err := v.o.Store.AddWatches(ctx, v.lease, v.site.ID, added); err != nil {
		return err
	}
	missed, err := v.o.Store.PlanWatches(ctx, v.lease, v.site.ID, planned)
	if err == nil && len(missed) > 0 {
		v.o.Logger.Warn("pages were written by somebody else while they were planned", "pages", len(missed))
	}
	if err != nil || least == 1 {
		return err
	}
	// A million pages take minutes; no run waits for them.
	wanted, err := v.wanted(ctx)
	if err == nil && wanted {
		return errWanted
	}
	return err
}

func (v *visit) happened(w *models.CanonicalWatch, e event) error {
	var m memory
	if len(w.Record) > 0 {
		if err := json.Unmarshal(w.Record, &m); err != nil {
			return fmt.Errorf("read the record of %s: %w", w.URL, err)
		}
	}
	if e.listed != nil {
		w.Listed = *e.listed
		m.Removed = e.removed
	}
	if !e.published.IsZero() {
		m.Published = e.published
	}
	if !e.changed.IsZero() {
		m.Listed = e.changed
		m.Record.LastmodNewer = !w.LastRead.IsZero() && e.changed.After(w.LastRead)
	}
	plan(w, &m, v.now())
	var err error
	if w.Record, err = json.Marshal(m); err != nil {
		return fmt.Errorf("write the record of %s: %w", w.URL, err)
	}
	return nil
}
