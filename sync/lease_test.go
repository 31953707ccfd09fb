package syncer_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

func TestRun_NeedNotWaitForAnOwnerKnownToBeDead(t *testing.T) {
	t.Parallel()
	for _, dead := range []bool{true, false} {
		l := newLab(t, sitetest.Options{Posts: 3})
		if _, err := l.store.AcquireLease(t.Context(), syncer.HostKey(l.site.Root), "killed", time.Hour); err != nil {
			t.Fatal(err)
		}
		l.restart(func(o *syncer.Options) {
			o.Dead = func(owner string) bool { return dead && owner == "killed" }
		})
		_, err := l.engine.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual})
		if dead && err != nil {
			t.Errorf("the owner is dead: %v", err)
		}
		if !dead && !errors.Is(err, models.ErrBusy) {
			t.Errorf("the owner may live: %v, want busy", err)
		}
	}
}

// frozenStore is a database as a stopped process sees it: while it is frozen nothing is renewed.
type frozenStore struct {
	*store.Store
	frozen chan struct{} // closed when the process goes on
	taken  atomic.Bool
}

func (f *frozenStore) RenewLease(ctx context.Context, lease *models.Lease, ttl time.Duration) error {
	if f.taken.Load() {
		<-f.frozen
	}
	return f.Store.RenewLease(ctx, lease, ttl)
}

// frozenWeb stops the process once the index was read, until another owner has its lease.
type frozenWeb struct {
	*fetch.Client
	freeze func()
}

func (w frozenWeb) Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error) {
	result, err := w.Client.Read(ctx, req, consume)
	w.freeze()
	return result, err
}

// A process that was stopped while another one took its host says no word more to the site, although it renewed its lease
// in time as far as it knows: every page is unchanged, so no write would have told it.
func TestRun_OfAFrozenDaemonSendsNothingMore(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 60, PerFile: 5})
	l.run(false)
	frozen := &frozenStore{Store: l.store, frozen: make(chan struct{})}
	before := 0
	freeze := sync.OnceFunc(func() {
		frozen.taken.Store(true)
		for {
			_, err := l.store.AcquireLease(t.Context(), syncer.HostKey(l.site.Root), "successor", time.Hour)
			if err == nil {
				break
			}
			if !errors.Is(err, models.ErrBusy) {
				t.Error(err)
				return
			}
		}
		before = len(l.origin.Requests())
		time.AfterFunc(200*time.Millisecond, func() { close(frozen.frozen) }) // the renewing goroutine comes late
	})
	l.restart(func(o *syncer.Options) {
		o.Store, o.Web, o.LeaseTTL = frozen, frozenWeb{o.Web.(*fetch.Client), freeze}, 60*time.Millisecond
	})
	_, err := l.engine.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual})
	if !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("the run ended with %v, want a lost lease", err)
	}
	if after := len(l.origin.Requests()); before == 0 || after != before {
		t.Errorf("%d requests before the lease was lost, %d after: want none after", before, after-before)
	}
}
