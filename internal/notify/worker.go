package notify

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// queueStore is what delivering needs of the database.
type queueStore interface {
	Channels(ctx context.Context) ([]models.Channel, error)
	DueChannels(ctx context.Context, at time.Time) ([]models.Channel, error)
	ClaimChannel(ctx context.Context, id int64, owner string, ttl time.Duration) (models.Channel, error)
	ReleaseChannel(ctx context.Context, c models.Channel) error
	ReleaseChannels(ctx context.Context, owner string) error
	Events(ctx context.Context, after int64, limit int) ([]models.Event, error)
	SkipEvents(ctx context.Context, c *models.Channel, position int64, ttl time.Duration) error
	Settle(ctx context.Context, c *models.Channel, o models.Settlement, ttl time.Duration, notice []models.Event) error
	SettleResend(ctx context.Context, c *models.Channel, o models.Settlement, ttl time.Duration) error
	Resends(ctx context.Context, channel int64, at time.Time, limit int) ([]models.Event, []int, error)
	Queues(ctx context.Context) ([]models.Queue, error)
	ForgetEvents(ctx context.Context, before time.Time) (int64, error)
	DigestSent(ctx context.Context, c models.Channel, next *time.Time, digest []models.Event) (bool, error)
}

// sender brings one event to one channel.
type sender interface {
	Send(ctx context.Context, c *models.Channel, e *models.Event) (Result, error)
}

// Options wire a Worker.
type Options struct {
	Store  queueStore
	Sender sender
	Teller *Teller // makes events of runs, and alerts; nil: the worker delivers alone
	Logger *slog.Logger
	Now    func() time.Time
	Owner  string                  // unique among daemons
	Dead   func(owner string) bool // an owner is known to run no more; nil: never

	Tick         time.Duration   // how often the database is asked what is due: 2 s
	Claim        time.Duration   // a silent daemon's channels are free after this time: 60 s, longer than an attempt
	Parallel     int             // channels delivered to at a time: 8
	Grace        time.Duration   // for a request under way when the daemon stops: 5 s
	Waits        []time.Duration // before the second and further tries: Waits
	DisableAfter time.Duration   // without a success: 5 days
	Keep         time.Duration   // events and attempts: 90 days

	Observe func(c models.Channel, a models.Attempt)               // called once an attempt is recorded
	Queued  func(channels []models.Channel, queues []models.Queue) // called now and then
}

// Waits is how long an event waits before its further tries, three days in all. Nothing overtakes it, so the waits end
// at two hours: one request then is all that a receiver which is down costs, and it is behind by two hours at most.
var Waits = slices.Concat([]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour},
	slices.Repeat([]time.Duration{2 * time.Hour}, 35))

// Worker delivers what is due until it is stopped.
type Worker struct {
	o     Options
	wake  chan struct{}
	slots chan struct{}
	wg    sync.WaitGroup

	mu      sync.Mutex
	running map[int64]bool

	forgot, counted time.Time
}

// NewWorker completes the options.
func NewWorker(o Options) (*Worker, error) {
	if o.Store == nil || o.Sender == nil || o.Owner == "" {
		return nil, errors.New("notify: Store, Sender and Owner are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "notify")
	if o.Now == nil {
		o.Now = time.Now
	}
	orElse(&o.Tick, 2*time.Second)
	orElse(&o.Claim, time.Minute)
	orElse(&o.Parallel, 8)
	orElse(&o.Grace, 5*time.Second)
	orElse(&o.DisableAfter, 5*24*time.Hour)
	orElse(&o.Keep, 90*24*time.Hour)
	if o.Waits == nil {
		o.Waits = Waits
	}
	return &Worker{o: o, wake: make(chan struct{}, 1), slots: make(chan struct{}, o.Parallel), running: map[int64]bool{}}, nil
}

func orElse[T int | time.Duration](field *T, otherwise T) {
	if *field == 0 {
		*field = otherwise
	}
}

// Wake makes the worker look at once. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run makes events and delivers them until ctx ends; requests under way then have Options.Grace to end.
func (w *Worker) Run(ctx context.Context) error {
	defer w.wg.Wait()
	w.releaseDead(ctx)
	for {
		w.round(ctx)
		timer := time.NewTimer(w.o.Tick/2 + rand.N(w.o.Tick)) // several daemons on one database need not ask in step
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-w.wake:
			timer.Stop()
		}
	}
}

// releaseDead frees what a killed process of this machine had claimed: nobody need wait for the claim to end.
func (w *Worker) releaseDead(ctx context.Context) {
	channels, err := w.o.Store.Channels(ctx)
	w.complain(ctx, "read the channels", err)
	for _, c := range channels {
		if c.Owner != "" && w.o.Dead != nil && w.o.Dead(c.Owner) {
			w.complain(ctx, "take over a channel", w.o.Store.ReleaseChannels(ctx, c.Owner))
		}
	}
}

// round does everything that is due once. What fails is tried in the next round.
func (w *Worker) round(ctx context.Context) {
	now := w.o.Now()
	if w.o.Teller != nil {
		w.complain(ctx, "make events of runs", w.o.Teller.Runs(ctx))
		w.complain(ctx, "look at alerts that time opens", w.o.Teller.Clock(ctx))
		w.complain(ctx, "write digests", w.digests(ctx, now))
	}
	due, err := w.o.Store.DueChannels(ctx, now)
	w.complain(ctx, "ask what is due", err)
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	for i := range due {
		w.start(ctx, due[i].ID)
	}
	if now.Sub(w.counted) > 15*time.Second && w.o.Queued != nil {
		w.counted = now
		channels, err := w.o.Store.Channels(ctx)
		if err == nil {
			var queues []models.Queue
			if queues, err = w.o.Store.Queues(ctx); err == nil {
				w.o.Queued(channels, queues)
			}
		}
		w.complain(ctx, "count what waits", err)
	}
	if now.Sub(w.forgot) > time.Hour {
		w.forgot = now
		_, err := w.o.Store.ForgetEvents(ctx, now.Add(-w.o.Keep))
		w.complain(ctx, "forget old events", err)
	}
}

func (w *Worker) complain(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		w.o.Logger.Error(what, "error", err)
	}
}

// start delivers to a channel unless that is under way or enough are.
func (w *Worker) start(ctx context.Context, id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[id] {
		return
	}
	select {
	case w.slots <- struct{}{}:
	default:
		return // the next round finds it due still
	}
	w.running[id] = true
	w.wg.Add(1)
	go func() {
		defer w.wg.Done()
		more := w.deliver(ctx, id)
		w.mu.Lock()
		delete(w.running, id)
		w.mu.Unlock()
		<-w.slots
		if more {
			w.Wake()
		}
	}()
}
