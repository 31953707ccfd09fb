package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// runStore is what making events of runs needs of the database.
type runStore interface {
	Site(ctx context.Context, id int64) (models.Site, error)
	Sites(ctx context.Context) ([]models.Site, error)
	Channels(ctx context.Context) ([]models.Channel, error)
	UnreadRuns(ctx context.Context) ([]models.Unread, error)
	RunsAfter(ctx context.Context, siteID, run int64, limit int) ([]models.Run, error)
	Runs(ctx context.Context, siteID, before int64, limit int) ([]models.Run, error)
	Changes(ctx context.Context, siteID int64, filter models.ChangeFilter, fn func(*models.Change) error) error
	FindingGroups(ctx context.Context, siteID, run int64) ([]models.FindingGroup, error)
	AppendRun(ctx context.Context, siteID, before, run int64, events []models.Event, alerts []models.AlertChange) (bool, error)
}

// Teller makes events of what the database knows: of runs, of alerts, of time that passes. It is safe for concurrent
// use, also by several daemons: what one of them stored, the others do not.
type Teller struct {
	o TellerOptions

	mu    sync.Mutex
	clock time.Time // of the last look at alerts that time opens
}

// TellerOptions wire a Teller.
type TellerOptions struct {
	Store  runStore
	Alerts alertStore // nil: there are no alerts

	Digests digestStore // nil: there are no digests
	Logger  *slog.Logger
	Now     func() time.Time
	Zone    func(spec, zone string, after time.Time) *time.Time // when a digest's schedule fires next; nil: never
}

// NewTeller completes the options.
func NewTeller(o TellerOptions) *Teller {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "notify")
	return &Teller{o: o}
}

// runBatch runs of a site are looked at in one round.
const runBatch = 50

// Runs makes events of every run that ended since the last time. A site whose events cannot be made keeps no other
// waiting.
func (t *Teller) Runs(ctx context.Context) error {
	unread, err := t.o.Store.UnreadRuns(ctx)
	if err != nil || len(unread) == 0 {
		return err
	}
	wanted, err := t.wanted(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, u := range unread {
		if err := t.site(ctx, u, wanted); err != nil {
			problems = append(problems, fmt.Errorf("site %d: %w", u.SiteID, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(problems...)
}

// wanted tells which types somebody subscribed to, and the rules to look at.
type wanted struct {
	channels []models.Channel
	rules    []models.AlertRule
}

func (t *Teller) wanted(ctx context.Context) (wanted, error) {
	var w wanted
	var err error
	if w.channels, err = t.o.Store.Channels(ctx); err != nil {
		return w, err
	}
	if t.o.Alerts != nil {
		w.rules, err = t.o.Alerts.AlertRules(ctx)
	}
	return w, err
}

func (w *wanted) of(site int64, types ...string) bool {
	return slices.ContainsFunc(w.channels, func(c models.Channel) bool {
		return (c.SiteID == 0 || c.SiteID == site) && slices.ContainsFunc(types, c.Subscribed)
	})
}

func (w *wanted) rulesOf(site int64) []models.AlertRule {
	var out []models.AlertRule
	for _, r := range w.rules {
		if !r.Paused && (r.SiteID == 0 || r.SiteID == site) {
			out = append(out, r)
		}
	}
	return out
}

func (t *Teller) site(ctx context.Context, u models.Unread, w wanted) error {
	site, err := t.o.Store.Site(ctx, u.SiteID)
	if errors.Is(err, models.ErrNotFound) {
		return nil // removed just now
	}
	if err != nil {
		return err
	}
	runs, err := t.o.Store.RunsAfter(ctx, u.SiteID, u.Run, runBatch)
	if err != nil {
		return err
	}
	for i, run := range runs {
		// A run that has not ended is followed by none that has: a site's runs do not overlap.
		if run.FinishedAt == nil {
			return nil
		}
		before := u.Run
		if i > 0 {
			before = runs[i-1].ID
		}
		v := &view{t: t, site: site, run: run}
		events, err := v.events(ctx, &w)
		if err != nil {
			return fmt.Errorf("run %d: %w", run.ID, err)
		}
		changes, messages, err := t.judgeRun(ctx, v, w.rulesOf(site.ID), w.channels)
		if err != nil {
			return fmt.Errorf("alerts of run %d: %w", run.ID, err)
		}
		won, err := t.o.Store.AppendRun(ctx, site.ID, before, run.ID, append(events, messages...), changes)
		if err != nil || !won { // not won: another daemon tells of this site, or an alert was changed; the next round sees
			return err
		}
	}
	return nil
}

// view is one run of one site with what is read of it when it is needed.
type view struct {
	t    *Teller
	site models.Site
	run  models.Run
	last *models.Run // the visible run before, once read
	read bool
}

// before gives the visible run before this one, nil for none.
func (v *view) before(ctx context.Context) (*models.Run, error) {
	for at := v.run.ID; !v.read; {
		runs, err := v.t.o.Store.Runs(ctx, v.site.ID, at, 20)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			if runs[i].FinishedAt != nil && runs[i].Error == "" {
				v.last, v.read = &runs[i], true
				break
			}
			at = runs[i].ID
		}
		v.read = v.read || len(runs) == 0
	}
	return v.last, nil
}

func (v *view) event(kind string, data map[string]any) (models.Event, error) {
	data["site"] = siteOf(&v.site)
	encoded, err := json.Marshal(data)
	if err != nil {
		return models.Event{}, fmt.Errorf("encode event %s: %w", kind, err)
	}
	return models.Event{SiteID: v.site.ID, Run: v.run.ID, Type: kind, At: v.run.FinishedAt.UTC(), Data: encoded}, nil
}
