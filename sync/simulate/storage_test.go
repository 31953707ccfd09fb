package simulate_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

var (
	errKilled = errors.New("simulated: the daemon is dead")
	errFailed = errors.New("simulated: the database failed")
)

// storage is the store as an engine sees it that may be killed at any moment.
type storage struct {
	*store.Store // methods that the engine learns later reach it as they are

	mu         sync.Mutex
	fail       failure
	calls      int
	statements int
	dead       bool
	lease      models.Lease // the last one taken
	leased     bool         // it was taken since the last failure was planned
	deadline   chan struct{}
	// What the last run that ended well needed: planned failures are spread over that.
	usedCalls, usedStatements int
	// Of a daemon that stands still, see takeover_test.go.
	gate, stands chan struct{} // opened when it may go on; closed when it stands
	standing     bool
	other        *sleeper // the daemon whose host this one took over
}

func newStorage(s *store.Store) *storage {
	return &storage{Store: s, deadline: make(chan struct{}), usedCalls: 20, usedStatements: 500}
}

// arm plans a failure; a kind of "" plans none.
func (d *storage) arm(f failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case f.At > 0 || f.Kind == "":
	case f.Kind == killStatement:
		f.At = 1 + d.usedStatements*f.Share/1000
	default:
		f.At = 1 + d.usedCalls*f.Share/1000
	}
	d.fail, d.calls, d.statements, d.leased = f, 0, 0, false
}

// ended notes what a run that ended well needed.
func (d *storage) ended() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usedCalls, d.usedStatements = d.calls, d.statements
}

func (d *storage) killed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

func (d *storage) kill() {
	if !d.dead {
		d.dead = true
		close(d.deadline)
	}
}

// mortal is a context that ends when the daemon is dead. database/sql asks it before every statement, which is where
// the planned one dies.
type mortal struct {
	context.Context
	d *storage
}

func (m mortal) Done() <-chan struct{} {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if m.d.statements++; m.d.fail.Kind == killStatement && m.d.statements >= m.d.fail.At {
		m.d.kill()
	}
	if m.d.fail.Kind != killStatement {
		return m.Context.Done()
	}
	return m.d.deadline
}

func (m mortal) Err() error {
	if m.d.killed() {
		return context.Canceled
	}
	return m.Context.Err()
}

// call runs one method of the store, or does not.
func (d *storage) call(ctx context.Context, fn func(context.Context) error) error {
	d.mu.Lock()
	if d.dead {
		d.mu.Unlock()
		return errKilled
	}
	d.calls++
	hit := d.calls == d.fail.At && d.gate == nil
	kind := d.fail.Kind
	if hit && kind == killBefore {
		d.kill()
		d.mu.Unlock()
		return errKilled
	}
	d.mu.Unlock()
	if hit && kind == failBefore {
		return errFailed
	}
	d.pause()
	d.wake()
	if d.killed() {
		return errKilled
	}
	err := fn(mortal{ctx, d})
	switch {
	case d.killed():
		return errKilled
	case hit && kind == killAfter:
		d.mu.Lock()
		d.kill()
		d.mu.Unlock()
		return errKilled
	case hit && kind == failAfter:
		return errors.Join(errFailed, err)
	}
	return err
}

func give[T any](d *storage, ctx context.Context, fn func(context.Context) (T, error)) (T, error) {
	var out T
	err := d.call(ctx, func(ctx context.Context) (err error) {
		out, err = fn(ctx)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}

func (d *storage) Site(ctx context.Context, id int64) (models.Site, error) {
	return give(d, ctx, func(ctx context.Context) (models.Site, error) { return d.Store.Site(ctx, id) })
}

func (d *storage) SaveSite(ctx context.Context, site models.Site) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SaveSite(ctx, site) })
}

func (d *storage) AcquireLease(ctx context.Context, host models.Key, owner string, ttl time.Duration) (models.Lease, error) {
	var lease models.Lease
	err := d.call(ctx, func(ctx context.Context) (err error) {
		if lease, err = d.Store.AcquireLease(ctx, host, owner, ttl); err == nil {
			d.mu.Lock()
			d.lease, d.leased = lease, true
			d.mu.Unlock()
		}
		return err
	})
	return lease, err
}

func (d *storage) TakeRun(ctx context.Context, host models.Key, owner string, ttl time.Duration, site models.Site, run models.Run) (models.Lease, models.Run, error) {
	var lease models.Lease
	err := d.call(ctx, func(ctx context.Context) (err error) {
		if lease, run, err = d.Store.TakeRun(ctx, host, owner, ttl, site, run); err == nil {
			d.mu.Lock()
			d.lease, d.leased = lease, true
			d.mu.Unlock()
		}
		return err
	})
	return lease, run, err
}

func (d *storage) RenewLease(ctx context.Context, lease *models.Lease, ttl time.Duration) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.RenewLease(ctx, lease, ttl) })
}

func (d *storage) ReleaseLease(ctx context.Context, lease models.Lease) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.ReleaseLease(ctx, lease) })
}

func (d *storage) BeginRun(ctx context.Context, lease models.Lease, site int64, run models.Run) (models.Run, error) {
	return give(d, ctx, func(ctx context.Context) (models.Run, error) { return d.Store.BeginRun(ctx, lease, site, run) })
}

func (d *storage) Documents(ctx context.Context, site int64) ([]models.Document, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Document, error) { return d.Store.Documents(ctx, site) })
}

func (d *storage) Listings(ctx context.Context, site int64, document int32, fn func(models.Listing) error) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.Listings(ctx, site, document, fn) })
}

func (d *storage) StageDocument(ctx context.Context, lease models.Lease, site, run int64, document int32, ending []models.Key, add []models.Declaration) error {
	return d.call(ctx, func(ctx context.Context) error {
		return d.Store.StageDocument(ctx, lease, site, run, document, ending, add)
	})
}

func (d *storage) SaveSums(ctx context.Context, lease models.Lease, site, run int64, all []models.DocumentSums) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SaveSums(ctx, lease, site, run, all) })
}

func (d *storage) StageDocuments(ctx context.Context, lease models.Lease, site, run int64, all []models.Staging) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.StageDocuments(ctx, lease, site, run, all) })
}

func (d *storage) Unstage(ctx context.Context, lease models.Lease, site, run int64, document int32) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.Unstage(ctx, lease, site, run, document) })
}

func (d *storage) SaveDocument(ctx context.Context, lease models.Lease, site, run int64, doc *models.Document, findings []models.Finding) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SaveDocument(ctx, lease, site, run, doc, findings) })
}

func (d *storage) SaveValidators(ctx context.Context, lease models.Lease, site int64, all []models.Validators) error {
	return d.call(ctx, func(ctx context.Context) error {
		return d.Store.SaveValidators(ctx, lease, site, all)
	})
}

func (d *storage) Elsewhere(ctx context.Context, site int64, keys []models.Key) ([]models.Listing, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Listing, error) { return d.Store.Elsewhere(ctx, site, keys) })
}

func (d *storage) SharedKeys(ctx context.Context, site int64, fn func(models.Key) error) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SharedKeys(ctx, site, fn) })
}

func (d *storage) Rows(ctx context.Context, site int64, document int32, keys []models.Key) ([]models.Declaration, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Declaration, error) {
		return d.Store.Rows(ctx, site, document, keys)
	})
}

func (d *storage) CountListed(ctx context.Context, site int64, documents []int32) (int64, error) {
	return give(d, ctx, func(ctx context.Context) (int64, error) { return d.Store.CountListed(ctx, site, documents) })
}

func (d *storage) Removals(ctx context.Context, site int64) ([]models.Removal, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Removal, error) { return d.Store.Removals(ctx, site) })
}

func (d *storage) Removed(ctx context.Context, site int64, keys []models.Key) ([]models.Removal, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Removal, error) { return d.Store.Removed(ctx, site, keys) })
}

func (d *storage) SaveRemovals(ctx context.Context, lease models.Lease, site, run int64, removals []models.Removal) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SaveRemovals(ctx, lease, site, run, removals) })
}

func (d *storage) SaveRunFindings(ctx context.Context, lease models.Lease, site, run int64, findings []models.Finding) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SaveRunFindings(ctx, lease, site, run, findings) })
}

func (d *storage) Finish(ctx context.Context, lease models.Lease, run models.Run, served []int64, next *time.Time) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.Finish(ctx, lease, run, served, next) })
}

func (d *storage) FailRun(ctx context.Context, lease models.Lease, site, run int64, message string) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.FailRun(ctx, lease, site, run, message) })
}

func (d *storage) PendingTriggers(ctx context.Context, site int64) ([]models.Trigger, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Trigger, error) { return d.Store.PendingTriggers(ctx, site) })
}

func (d *storage) OpenExpectations(ctx context.Context, lease models.Lease, expectations []models.Expectation) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.OpenExpectations(ctx, lease, expectations) })
}

func (d *storage) Expectations(ctx context.Context, site int64) ([]models.Expectation, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Expectation, error) { return d.Store.Expectations(ctx, site) })
}

func (d *storage) SaveExpectations(ctx context.Context, lease models.Lease, expectations []models.Expectation) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.SaveExpectations(ctx, lease, expectations) })
}

func (d *storage) PageHistory(ctx context.Context, site int64, key models.Key) ([]models.Page, error) {
	return give(d, ctx, func(ctx context.Context) ([]models.Page, error) { return d.Store.PageHistory(ctx, site, key) })
}

func (d *storage) PlanSite(ctx context.Context, lease models.Lease, site int64, next *time.Time) error {
	return d.call(ctx, func(ctx context.Context) error { return d.Store.PlanSite(ctx, lease, site, next) })
}
