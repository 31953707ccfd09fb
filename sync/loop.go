package syncer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// dueStorage is what the loop needs of the database beside what runs need.
type dueStorage interface {
	DueSites(ctx context.Context, now time.Time) ([]models.Site, error)
	PendingTriggers(ctx context.Context, site int64) ([]models.Trigger, error)
	SaveTrigger(ctx context.Context, t models.Trigger) (id int64, duplicate bool, err error)
}

// LoopOptions wire a Loop.
type LoopOptions struct {
	Store   dueStorage
	Logger  *slog.Logger
	Now     func() time.Time
	Tick    time.Duration // how often the database is asked what is due: 1 s
	Quiet   time.Duration // silence to wait for after a hook, 10 s; a site may choose its own; negative: none
	MaxWait time.Duration // longest wait since the first unserved hook, 60 s
	Sites   int           // sites walked at a time: 4
}

// Loop starts runs when rows say that they are due: nothing else does, so a lost message loses nothing, and what was
// due while no daemon ran is due once.
type Loop struct {
	e    *Engine
	o    LoopOptions
	wake chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	retry   map[int64]pause // sites whose last run failed by our fault
	faults  map[int64]int
	running map[int64]bool // sites whose run was started here and has not ended
}

// pause puts a site off.
type pause struct {
	since, until time.Time
}

// settleTime is the least time between two looks: at hundreds of hooks a second each would wake the loop, and each look
// reads every trigger that waits.
const settleTime = 100 * time.Millisecond

// busyWait is how soon a site is looked at again whose host somebody else is at. It is asked anew whether anything is
// left to do then: a run that waited for another daemon's would serve what that one has served.
const busyWait = 250 * time.Millisecond

// NewLoop completes the options.
func NewLoop(e *Engine, o LoopOptions) *Loop {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Tick = orElse(o.Tick, time.Second)
	o.Quiet = orElse(o.Quiet, 10*time.Second)
	o.MaxWait = orElse(o.MaxWait, time.Minute)
	o.Sites = orElse(o.Sites, 4)
	return &Loop{e: e, o: o, wake: make(chan struct{}, 1), retry: map[int64]pause{}, faults: map[int64]int{}, running: map[int64]bool{}}
}

// Wake makes the loop look at once. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Trigger asks for a run of a site as soon as possible; it is kept until a run served it.
func (l *Loop) Trigger(ctx context.Context, site int64, cause string) (int64, error) {
	id, _, err := l.o.Store.SaveTrigger(ctx, models.Trigger{SiteID: site, Kind: cause, Dialect: "none", ReceivedAt: micros(l.o.Now())})
	if err != nil {
		return 0, fmt.Errorf("store the trigger: %w", err)
	}
	l.Wake()
	return id, nil
}

// Run starts what is due until ctx ends, then waits for the runs under way, which end with ctx too.
func (l *Loop) Run(ctx context.Context) error {
	defer l.wg.Wait()
	for {
		if err := l.look(ctx); err != nil && ctx.Err() == nil {
			l.o.Logger.Error("ask what is due", "component", "loop", "error", err)
		}
		// Jitter keeps several daemons on one database from asking, and claiming, in step.
		timer := time.NewTimer(l.o.Tick/2 + rand.N(l.o.Tick))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-l.wake:
			timer.Stop()
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(min(settleTime, l.o.Tick)):
			}
		}
	}
}

func (l *Loop) look(ctx context.Context) error {
	now := l.o.Now()
	// Whose run ends between the two reads must not be taken for due still.
	busy := l.busy()
	sites, err := l.o.Store.DueSites(ctx, now)
	if err != nil {
		return err
	}
	rand.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	var problems []error
	for _, site := range sites {
		if busy[site.ID] || !l.free(site.ID) {
			continue
		}
		// What is wrong with one site's triggers must not keep the others waiting.
		cause, err := l.cause(ctx, site, now)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if cause != "" {
			l.start(ctx, site, cause)
		}
	}
	return errors.Join(problems...)
}

func (l *Loop) busy() map[int64]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.running)
}

// free tells whether a run of the site can start here. What the loop started counts from its start: the engine knows of
// a run only once it has read the site.
func (l *Loop) free(site int64) bool {
	if l.e.Running(site) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running) < l.o.Sites && !l.running[site]
}

// cause tells why a site is to be walked now; "" when its hooks are still to be waited for.
func (l *Loop) cause(ctx context.Context, site models.Site, now time.Time) (string, error) {
	var triggers []models.Trigger
	if site.Agenda.Triggers || !site.Agenda.Known {
		var err error
		if triggers, err = l.o.Store.PendingTriggers(ctx, site.ID); err != nil {
			return "", fmt.Errorf("read triggers of %s: %w", site.Name, err)
		}
	}
	if l.putOff(site.ID, triggers, now) {
		return "", nil
	}
	if kind := l.ripe(site, triggers, now); kind != "" {
		return kind, nil
	}
	if site.NextDue == nil || now.Before(*site.NextDue) || site.Paused {
		return "", nil
	}
	return models.CauseCron, nil
}

// putOff tells whether a site waits after a failure of ours. A person who asks after the failure need not wait.
func (l *Loop) putOff(site int64, triggers []models.Trigger, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.retry[site]
	if !ok || !now.Before(p.until) {
		return false
	}
	return !slices.ContainsFunc(triggers, func(t models.Trigger) bool {
		return t.Kind == models.CauseManual && t.ReceivedAt.After(p.since)
	})
}

// ripe tells whether unserved triggers have waited long enough: quiet since the last, or longest wait since the first.
func (l *Loop) ripe(site models.Site, triggers []models.Trigger, now time.Time) string {
	if len(triggers) == 0 {
		return ""
	}
	quiet := orElse(site.Settings.Quiet, l.o.Quiet)
	wait := orElse(site.Settings.MaxWait, l.o.MaxWait)
	first, last := triggers[0], triggers[0]
	for _, t := range triggers {
		if t.Kind == models.CauseManual || t.Kind == models.CauseRecheck {
			return t.Kind
		}
		if t.ReceivedAt.Before(first.ReceivedAt) {
			first = t
		}
		if t.ReceivedAt.After(last.ReceivedAt) {
			last = t
		}
	}
	if quiet <= 0 || now.Sub(last.ReceivedAt) >= quiet || now.Sub(first.ReceivedAt) >= wait {
		return first.Kind
	}
	return ""
}

func (l *Loop) start(ctx context.Context, site models.Site, cause string) {
	l.mu.Lock()
	l.running[site.ID] = true
	l.mu.Unlock()
	l.wg.Add(1)
	go func() {
		defer l.wg.Done()
		defer l.end(site.ID)
		_, err := l.e.Run(ctx, Request{SiteID: site.ID, Site: &site, Cause: cause})
		l.settled(site, err, ctx.Err() != nil)
	}()
}

func (l *Loop) end(site int64) {
	l.mu.Lock()
	delete(l.running, site)
	l.mu.Unlock()
	l.Wake()
}

// settled puts a site off after a failure of ours: a minute, doubled up to an hour. Whoever holds the host, or took it
// from us, is walking it: that is no failure.
func (l *Loop) settled(site models.Site, err error, stopping bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.o.Now()
	switch {
	case err == nil:
		delete(l.retry, site.ID)
		delete(l.faults, site.ID)
	case stopping:
	case errors.Is(err, models.ErrBusy), errors.Is(err, models.ErrLeaseLost):
		l.retry[site.ID] = pause{now, now.Add(busyWait)}
		time.AfterFunc(busyWait, l.Wake)
	default:
		n := min(l.faults[site.ID], 6)
		l.faults[site.ID] = n + 1
		next := now.Add(min(time.Hour, time.Minute<<n))
		l.retry[site.ID] = pause{now, next}
		l.o.Logger.Error("run", "component", "loop", "site", site.Name, "error", err, "next_try", next)
	}
}
