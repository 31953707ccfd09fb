package syncer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// busyPoll is how often a busy lease is asked for again.
const busyPoll = 250 * time.Millisecond

func (e *Engine) acquire(ctx context.Context, host models.Key, wait time.Duration) (models.Lease, error) {
	deadline := time.Now().Add(wait)
	for {
		lease, err := e.o.Store.AcquireLease(ctx, host, e.o.Owner, e.o.LeaseTTL)
		if errors.Is(err, models.ErrBusy) && e.bury(ctx, host) {
			lease, err = e.o.Store.AcquireLease(ctx, host, e.o.Owner, e.o.LeaseTTL)
		}
		if !errors.Is(err, models.ErrBusy) || !time.Now().Add(busyPoll).Before(deadline) {
			return lease, err
		}
		select {
		case <-ctx.Done():
			return models.Lease{}, ctx.Err()
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

// keep renews the lease until stop is called, which also gives it back. The context ends with models.ErrLeaseLost when
// the lease was lost, or could not be renewed for two thirds of its time by our monotonic clock: from then on another
// daemon may own the host, and the fence in every transaction refuses our writes anyway.
func (e *Engine) keep(ctx context.Context, lease models.Lease) (held context.Context, stop func()) {
	held, lose := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		renewed := time.Now()
		ticker := time.NewTicker(e.o.LeaseTTL / 4)
		defer ticker.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-ticker.C:
			}
			current := lease
			err := e.o.Store.RenewLease(held, &current, e.o.LeaseTTL)
			switch {
			case err == nil:
				renewed = time.Now()
			case errors.Is(err, models.ErrLeaseLost):
				lose(models.ErrLeaseLost)
				return
			case time.Since(renewed) > e.o.LeaseTTL*2/3:
				lose(fmt.Errorf("%w: renew: %w", models.ErrLeaseLost, err))
				return
			}
		}
	}()
	return held, func() {
		lose(nil)
		<-done
		// The caller's context may be over; the lease is given back all the same, so that the next owner need not wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := e.o.Store.ReleaseLease(ctx, lease); err != nil && !errors.Is(err, models.ErrLeaseLost) {
			e.o.Logger.Warn("give back the lease", "component", "sync", "error", err)
		}
	}
}
