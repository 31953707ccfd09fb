package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// freezeBefore stops a daemon before its n-th call of the store, as a suspended machine or a long pause does: the lease
// runs out, another daemon takes the host over, and in the midst of a run of that one the first goes on where it stood.
const freezeBefore = "freeze-before"

var errFrozen = errors.New("simulated: the daemon stands still")

// sleeper is a daemon that stands still in the midst of a run, with everything that is its own.
type sleeper struct {
	at    int // call of the other daemon's run at which this one goes on
	store *store.Store
	db    *storage
	web   *recorder

	midst atomic.Bool // it went on in the midst of the other one's run, not behind it
	once  sync.Once
	ended chan struct{} // closed when its run has ended
	run   models.Run
	err   error
}

// pause holds a call of the store from the planned one on, once the run has its lease.
func (d *storage) pause() {
	d.mu.Lock()
	if d.gate == nil || !d.leased || d.calls < d.fail.At {
		d.mu.Unlock()
		return
	}
	gate := d.gate
	if !d.standing {
		d.standing = true
		close(d.stands)
	}
	d.mu.Unlock()
	<-gate
}

// wake lets a daemon that stands still go on when the run that took its host over is well under way, and waits for the
// end of its run.
func (d *storage) wake() {
	d.mu.Lock()
	s := d.other
	due := s != nil && d.leased && d.calls >= s.at
	d.mu.Unlock()
	if due {
		s.midst.Store(true)
		s.wake()
	}
}

func (s *sleeper) wake() {
	s.once.Do(func() { close(s.db.gate) })
	<-s.ended
}

// sleeping makes a run that may come to stand still. If it does, another daemon opens the database, and for the oracle the
// run is one whose daemon died.
func (x *world) sleeping(o op, request syncer.Request) (record models.Run, failed error, err error) {
	db := x.db
	db.mu.Lock()
	db.gate, db.stands, db.standing = make(chan struct{}), make(chan struct{}), false
	db.mu.Unlock()
	s := &sleeper{at: 1 + o.A%25, store: x.store, db: db, web: x.web, ended: make(chan struct{})}
	engine, ctx := x.engine, x.ctx
	go func() {
		defer close(s.ended)
		s.run, s.err = engine.Run(ctx, request)
	}()
	select {
	case <-s.ended: // it ended before it came so far
		db.mu.Lock()
		db.gate = nil
		db.mu.Unlock()
		return s.run, s.err, nil
	case <-db.stands:
	}
	x.tally.add("daemon: stood still", 1)
	s.web.cut()
	x.sleeper = s
	return models.Run{}, errFrozen, x.open()
}

// awoken ends what a daemon that stood still had begun, now that another one has taken its host: whatever it still writes
// is refused.
func (x *world) awoken() error {
	s := x.sleeper
	if s == nil || x.db.lease.Owner == "" { // that one may have died before it took the host
		return nil
	}
	s.wake()
	x.sleeper = nil
	x.db.mu.Lock()
	x.db.other = nil
	x.db.mu.Unlock()
	s.web.client.Close()
	if err := s.store.Close(); err != nil {
		return err
	}
	x.trace("  the daemon that stood still: run %d, %v", s.run.ID, s.err)
	if s.midst.Load() {
		x.tally.add("daemon: went on in the midst of another's run", 1)
	}
	visible := false
	for _, m := range x.past.moments {
		visible = visible || m.run == s.run.ID && s.run.ID != 0
	}
	switch {
	case visible: // it had only to give its lease back
		x.tally.add("daemon: had finished when it stood still", 1)
	case s.err == nil:
		return fmt.Errorf("a daemon whose lease was taken over finished run %d", s.run.ID)
	case !errors.Is(s.err, models.ErrLeaseLost) && !errors.Is(s.err, models.ErrConflict): // its lease, or its run, is not its own any more
		return fmt.Errorf("a daemon whose lease was taken over ended run %d with: %w", s.run.ID, s.err)
	default:
		x.tally.add("daemon: refused after a takeover", 1)
	}
	return nil
}

// abandon ends a daemon that nobody waits for any more.
func (x *world) abandon() {
	if s := x.sleeper; s != nil {
		s.db.mu.Lock()
		s.db.kill()
		s.db.mu.Unlock()
		s.wake()
		s.web.client.Close()
		_ = s.store.Close()
		x.sleeper = nil
	}
}

// cut ends a daemon's connection to the world: what it asks for from now on is answered by nobody and counts for nothing.
func (r *recorder) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apart = true
}

// unanswered is the answer of a daemon's network that was cut; nil while it was not.
func (r *recorder) unanswered(_ context.Context, req fetch.Request) *fetch.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.apart {
		return nil
	}
	return &fetch.Result{URL: req.URL, FinalURL: req.URL, Outcome: fetch.Timeout, Reason: simulated, Header: http.Header{}, Body: http.NoBody,
		ContentLength: -1, FetchedAt: r.now(), ObservedAt: r.now(), Attempts: 1}
}
