package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Bounds of what one event names: with its envelope it stays below the 20 kB that Standard Webhooks advise.
const (
	eventChanges = 100
	eventBytes   = 14 << 10
	eventURLs    = 50
)

// shownRun is a run in events.
type shownRun struct {
	ID         int64               `json:"id"`
	Cause      string              `json:"cause"`
	Targeted   bool                `json:"targeted,omitempty"`
	Verdict    models.Verdict      `json:"verdict"`
	Reason     string              `json:"reason,omitempty"`
	Error      string              `json:"error,omitempty"`
	Baseline   bool                `json:"baseline,omitempty"`
	StartedAt  time.Time           `json:"started_at"`
	FinishedAt *time.Time          `json:"finished_at"`
	Documents  models.RunDocuments `json:"documents"`
	Counts     models.Counts       `json:"counts"`
}

func shown(r *models.Run) shownRun {
	return shownRun{r.ID, r.Cause, r.Targeted, r.Verdict, shortened(r.Reason, maxLine), shortened(r.Error, maxLine), r.Baseline, r.StartedAt, r.FinishedAt, r.Documents, r.Counts}
}

// events are what the run means for those who subscribed. A site's first run is a beginning: of it only its end is told.
func (v *view) events(ctx context.Context, w *wanted) ([]models.Event, error) {
	var out []models.Event
	for _, part := range []struct {
		types []string
		fn    func(context.Context) ([]models.Event, error)
		first bool // also of a first run
	}{
		{[]string{models.EventRunFinished}, v.finished, true},
		{[]string{models.EventPagesChanged}, v.changed, false},
		{[]string{models.EventHeldCreated, models.EventHeldResolved}, v.held, false},
		{[]string{models.EventFindingOpened, models.EventFindingClosed}, v.findings, false},
		{[]string{models.EventSiteUnavailable, models.EventSiteRecovered}, v.reachable, false},
	} {
		own := v.run.Error == "" || part.first // a run that failed by our fault changed nothing
		if !w.of(v.site.ID, part.types...) || v.run.Baseline && !part.first || !own {
			continue
		}
		events, err := part.fn(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, events...)
	}
	return out, nil
}

func (v *view) one(kind string, data map[string]any) ([]models.Event, error) {
	e, err := v.event(kind, data)
	return []models.Event{e}, err
}

func (v *view) finished(context.Context) ([]models.Event, error) {
	said := fmt.Sprintf("%s: run %d %s", v.site.Name, v.run.ID, v.run.Verdict)
	if v.run.Error != "" {
		said = fmt.Sprintf("%s: run %d failed", v.site.Name, v.run.ID)
	}
	if c := counted(v.run.Counts); c != "" && !v.run.Baseline {
		said += ": " + c
	}
	return v.one(models.EventRunFinished, map[string]any{"summary": said, "run": shown(&v.run)})
}

// counted says what a run changed, "" for nothing.
func counted(c models.Counts) string {
	var parts []string
	for _, part := range []struct {
		n    int64
		word string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Moved, "moved"}, {c.Removed, "removed"}, {c.Restored, "restored"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

var errEnough = errors.New("enough")

// changed tells the first changes of the run and where the feed goes on.
func (v *view) changed(ctx context.Context) ([]models.Event, error) {
	list, size, more, cursor := []json.RawMessage{}, 0, false, ""
	err := v.t.o.Store.Changes(ctx, v.site.ID, models.ChangeFilter{Run: v.run.ID, Limit: eventChanges + 1}, func(c *models.Change) error {
		encoded, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("encode change: %w", err)
		}
		if len(list) == eventChanges || size+len(encoded) > eventBytes && len(list) > 0 {
			more = true
			return errEnough
		}
		if len(encoded) > eventBytes { // images of a page may fill megabytes: its fields are in the feed
			if encoded, err = json.Marshal(models.Change{Cursor: c.Cursor, Run: c.Run, At: c.At, Kind: c.Kind, URL: shortened(c.URL, eventBytes/2), Reason: shortened(c.Reason, maxLine)}); err != nil {
				return err
			}
		}
		list, size, cursor = append(list, encoded), size+len(encoded), c.Cursor
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if len(list) == 0 {
		return nil, nil
	}
	said := fmt.Sprintf("%s: run %d", v.site.Name, v.run.ID)
	if c := counted(v.run.Counts); c != "" {
		said = fmt.Sprintf("%s: %s", v.site.Name, c)
	}
	return v.one(models.EventPagesChanged, map[string]any{"summary": said, "run": v.run.ID, "counts": v.run.Counts, "changes": list, "more": more, "cursor": cursor})
}

// urls gives the first pages with a kind of change in the run.
func (v *view) urls(ctx context.Context, kind string) ([]string, error) {
	list, size := []string{}, 0
	err := v.t.o.Store.Changes(ctx, v.site.ID, models.ChangeFilter{Run: v.run.ID, Kinds: []string{kind}, Limit: eventURLs}, func(c *models.Change) error {
		if size += len(c.URL); size > eventBytes {
			return errEnough
		}
		list = append(list, c.URL)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, err
}

func (v *view) held(ctx context.Context) ([]models.Event, error) {
	before, err := v.before(ctx)
	if err != nil || before == nil {
		return nil, err
	}
	switch now, was := v.run.Counts.Held, before.Counts.Held; {
	case now > was:
		urls, err := v.urls(ctx, models.KindHeld)
		if err != nil {
			return nil, err
		}
		return v.one(models.EventHeldCreated, map[string]any{"summary": fmt.Sprintf("%s: the removal of %s waits for a person", v.site.Name, pages(now-was)),
			"pages": now - was, "held": now, "urls": urls, "more": now-was > int64(len(urls))})
	case now == 0 && was > 0:
		return v.one(models.EventHeldResolved, map[string]any{"summary": fmt.Sprintf("%s: no removal waits for a person any more", v.site.Name),
			"decision": "settled", "by": "run", "pages": was})
	}
	return nil, nil
}

// findings tells which kinds of findings are new at the run and which are over.
func (v *view) findings(ctx context.Context) ([]models.Event, error) {
	before, err := v.before(ctx)
	if err != nil || before == nil {
		return nil, err
	}
	now, err := v.t.o.Store.FindingGroups(ctx, v.site.ID, v.run.ID)
	if err != nil {
		return nil, err
	}
	was, err := v.t.o.Store.FindingGroups(ctx, v.site.ID, before.ID)
	if err != nil {
		return nil, err
	}
	var out []models.Event
	for _, side := range []struct {
		kind, word string
		groups     []shownGroup
	}{{models.EventFindingOpened, "new", lacking(now, was)}, {models.EventFindingClosed, "over", lacking(was, now)}} {
		if len(side.groups) == 0 {
			continue
		}
		var codes []string
		for _, g := range side.groups {
			codes = append(codes, g.Code)
		}
		e, err := v.event(side.kind, map[string]any{"summary": fmt.Sprintf("%s: findings %s: %s", v.site.Name, side.word, strings.Join(codes, ", ")), "findings": side.groups})
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

type shownGroup struct {
	Code      string `json:"code"`
	Severity  string `json:"severity"`
	Count     int64  `json:"count"`
	Documents int64  `json:"documents"`
	Text      string `json:"text"`
}

// lacking gives those of a whose code is not in b.
func lacking(a, b []models.FindingGroup) []shownGroup {
	known := map[string]bool{}
	for _, g := range b {
		known[g.Code] = true
	}
	var out []shownGroup
	for _, g := range a {
		if !known[g.Code] && len(out) < eventURLs {
			out = append(out, shownGroup{g.Code, g.Severity, g.Count, g.Documents, oneLine(shortened(g.Text, 200))})
		}
	}
	return out
}

func (v *view) reachable(ctx context.Context) ([]models.Event, error) {
	before, err := v.before(ctx)
	if err != nil || before == nil {
		return nil, err
	}
	now, was := v.run.Verdict == models.VerdictUnavailable, before.Verdict == models.VerdictUnavailable
	switch {
	case now && !was:
		return v.one(models.EventSiteUnavailable, map[string]any{"summary": v.site.Name + ": unavailable", "lines": []string{oneLine(v.run.Reason)}, "run": shown(&v.run)})
	case was && !now:
		return v.one(models.EventSiteRecovered, map[string]any{"summary": v.site.Name + ": available again", "run": shown(&v.run)})
	}
	return nil, nil
}
