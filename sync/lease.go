package syncer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// busyPoll is how often a busy lease is asked for again.
const busyPoll = 250 * time.Millisecond

// take takes the host and, unless something stands in the way, begins the run with it. Else execute begins it.
func (r *run) take(ctx context.Context) (models.Lease, time.Time, error) {
	draft, err := r.draft(ctx)
	if err != nil {
		return models.Lease{}, time.Time{}, err
	}
	host, waited := HostKey(r.site.Root), false
	return r.acquire(ctx, host, r.request.Busy, func() (models.Lease, error) {
		if waited { // what was read of the site is old by now
			return r.o.Store.AcquireLease(ctx, host, r.o.Owner, r.o.LeaseTTL)
		}
		lease, begun, err := r.o.Store.TakeRun(ctx, host, r.o.Owner, r.o.LeaseTTL, r.site, draft)
		switch {
		case errors.Is(err, models.ErrConflict): // somebody's run moved the site on, or left rows to sweep
			return r.o.Store.AcquireLease(ctx, host, r.o.Owner, r.o.LeaseTTL)
		case err == nil:
			r.record = begun
		}
		waited = true
		return lease, err
	})
}

func (e *Engine) acquireLease(ctx context.Context, host models.Key, wait time.Duration) (models.Lease, time.Time, error) {
	return e.acquire(ctx, host, wait, func() (models.Lease, error) {
		return e.o.Store.AcquireLease(ctx, host, e.o.Owner, e.o.LeaseTTL)
	})
}

// acquire asks for a host until it has it or the time to wait is over, and tells when it was asked for: from then on the
// lease's time runs.
func (e *Engine) acquire(ctx context.Context, host models.Key, wait time.Duration, ask func() (models.Lease, error)) (models.Lease, time.Time, error) {
	deadline := time.Now().Add(wait)
	for {
		asked := time.Now()
		lease, err := ask()
		if errors.Is(err, models.ErrBusy) && e.bury(ctx, host) {
			asked = time.Now()
			lease, err = ask()
		}
		if !errors.Is(err, models.ErrBusy) || !time.Now().Add(busyPoll).Before(deadline) {
			return lease, asked, err
		}
		select {
		case <-ctx.Done():
			return models.Lease{}, asked, ctx.Err()
		case <-time.After(busyPoll):
		}
	}
}

// bury ends the lease of an owner that is known to be dead.
func (e *Engine) bury(ctx context.Context, host models.Key) bool {
	if e.o.Dead == nil {
		return false
	}
	holder, err := e.o.Store.LeaseHolder(ctx, host)
	if err != nil || holder.Owner == e.o.Owner || !e.o.Dead(holder.Owner) {
		return false
	}
	e.o.Logger.Info("the last owner of the host was killed; its lease ends now", "component", "sync", "owner", holder.Owner)
	return e.o.Store.ReleaseLease(ctx, holder) == nil
}

// keep renews the lease until stop is called, which also gives it back unless that happened already. The context ends with
// models.ErrLeaseLost when the lease was lost, or could not be renewed for two thirds of its time: from then on another
// daemon may own the host, and the fence in every transaction refuses our writes anyway. What is fetched with the context
// proves the lease first.
func (e *Engine) keep(ctx context.Context, lease models.Lease, asked time.Time) (held context.Context, stop func(givenBack bool)) {
	cancelled, lose := context.WithCancelCause(ctx)
	k := &keeper{Engine: e, lease: lease, renewed: asked, lose: lose}
	held = fetch.Gated(cancelled, k.prove)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(e.o.LeaseTTL / 4)
		defer ticker.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-ticker.C:
			}
			if k.renew(held) != nil {
				return
			}
		}
	}()
	return held, func(givenBack bool) {
		lose(nil)
		<-done
		if givenBack {
			return
		}
		// The caller's context may be over; the lease is given back all the same, so that the next owner need not wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := e.o.Store.ReleaseLease(ctx, lease); err != nil && !errors.Is(err, models.ErrLeaseLost) {
			e.o.Logger.Warn("give back the lease", "component", "sync", "error", err)
		}
	}
}

// keeper knows when a lease was last proved.
type keeper struct {
	*Engine
	lease models.Lease
	lose  context.CancelCauseFunc

	mu      sync.Mutex
	renewed time.Time // when the last renewal that succeeded was asked for
}

// old tells whether so much of the lease's time is over that another daemon may own the host soon, or already. The
// monotonic clock stands still while a machine sleeps and the other one may be set, so the longer time counts.
func (k *keeper) old() bool {
	now := time.Now()
	return max(now.Sub(k.renewed), now.Round(0).Sub(k.renewed.Round(0))) > k.o.LeaseTTL*2/3
}

// renew prolongs the lease. An error means that it is lost, and so is the context; a database that does not answer for a
// while is no loss yet.
func (k *keeper) renew(ctx context.Context) error {
	asked := time.Now()
	current := k.lease
	err := k.o.Store.RenewLease(ctx, &current, k.o.LeaseTTL)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.renewed = asked
	case errors.Is(err, models.ErrLeaseLost):
		k.lose(models.ErrLeaseLost)
		return models.ErrLeaseLost
	case k.old():
		err = fmt.Errorf("%w: renew: %w", models.ErrLeaseLost, err)
		k.lose(err)
		return err
	}
	return nil
}

// prove stands before every request to the host. A process that was stopped and goes on (SIGSTOP, a laptop that slept, a
// virtual machine that was moved) finds its lease old and asks the database before it says another word to the site.
func (k *keeper) prove(ctx context.Context) error {
	k.mu.Lock()
	old := k.old()
	k.mu.Unlock()
	if !old {
		return nil
	}
	return k.renew(ctx)
}
