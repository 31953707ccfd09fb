package syncer_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// counted is a database that notes what a run asks of it.
type counted struct {
	*store.Store
	mu    sync.Mutex
	calls []string
}

func (c *counted) note(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

func (c *counted) Site(ctx context.Context, id int64) (models.Site, error) {
	c.note("Site")
	return c.Store.Site(ctx, id)
}

func (c *counted) AcquireLease(ctx context.Context, host models.Key, owner string, ttl time.Duration) (models.Lease, error) {
	c.note("AcquireLease")
	return c.Store.AcquireLease(ctx, host, owner, ttl)
}

func (c *counted) ReleaseLease(ctx context.Context, lease models.Lease) error {
	c.note("ReleaseLease")
	return c.Store.ReleaseLease(ctx, lease)
}

func (c *counted) TakeRun(ctx context.Context, host models.Key, owner string, ttl time.Duration, site models.Site, run models.Run) (models.Lease, models.Run, error) {
	c.note("TakeRun")
	return c.Store.TakeRun(ctx, host, owner, ttl, site, run)
}

func (c *counted) BeginRun(ctx context.Context, lease models.Lease, site int64, run models.Run) (models.Run, error) {
	c.note("BeginRun")
	return c.Store.BeginRun(ctx, lease, site, run)
}

func (c *counted) Documents(ctx context.Context, site int64) ([]models.Document, error) {
	c.note("Documents")
	return c.Store.Documents(ctx, site)
}

func (c *counted) Listings(ctx context.Context, site int64, document int32, fn func(models.Listing) error) error {
	c.note("Listings")
	return c.Store.Listings(ctx, site, document, fn)
}

func (c *counted) SaveDocument(ctx context.Context, lease models.Lease, site, run int64, d *models.Document, findings []models.Finding) error {
	c.note("SaveDocument")
	return c.Store.SaveDocument(ctx, lease, site, run, d, findings)
}

func (c *counted) SaveValidators(ctx context.Context, lease models.Lease, site int64, all []models.Validators) error {
	c.note("SaveValidators")
	return c.Store.SaveValidators(ctx, lease, site, all)
}

func (c *counted) Elsewhere(ctx context.Context, site int64, keys []models.Key) ([]models.Listing, error) {
	if len(keys) > 0 {
		c.note("Elsewhere")
	}
	return c.Store.Elsewhere(ctx, site, keys)
}

func (c *counted) Removals(ctx context.Context, site int64) ([]models.Removal, error) {
	c.note("Removals")
	return c.Store.Removals(ctx, site)
}

func (c *counted) Expectations(ctx context.Context, site int64) ([]models.Expectation, error) {
	c.note("Expectations")
	return c.Store.Expectations(ctx, site)
}

func (c *counted) PendingTriggers(ctx context.Context, site int64) ([]models.Trigger, error) {
	c.note("PendingTriggers")
	return c.Store.PendingTriggers(ctx, site)
}

func (c *counted) SaveRunFindings(ctx context.Context, lease models.Lease, site, run int64, findings []models.Finding) error {
	c.note("SaveRunFindings")
	return c.Store.SaveRunFindings(ctx, lease, site, run, findings)
}

func (c *counted) Finish(ctx context.Context, lease models.Lease, run models.Run, served []int64, next *time.Time) error {
	c.note("Finish")
	return c.Store.Finish(ctx, lease, run, served, next)
}

// Thousands of small sites that do not change are mostly calls of the database: a run asks for what is there to be asked.
func TestRun_OfAQuietSiteAsksForNothingMore(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 30})
	l.run(false)
	l.run(false) // the first one reads the discovered documents anew
	c := &counted{Store: l.store}
	l.restart(func(o *syncer.Options) { o.Store = c })
	quiet := []string{"TakeRun", "Documents", "Finish"}
	site, err := l.store.Site(t.Context(), l.site.ID)
	if err != nil {
		t.Fatal(err)
	}
	run := func(cause string) {
		t.Helper()
		l.clock.advance(time.Minute)
		c.calls = nil
		if _, err := l.engine.Run(t.Context(), syncer.Request{SiteID: site.ID, Site: &site, Cause: cause}); err != nil {
			t.Fatal(err)
		}
	}
	if run(models.CauseCron); !slices.Equal(c.calls, quiet) {
		t.Errorf("a quiet run called %q, want %q", c.calls, quiet)
	}
	// What was read of the site is old now: it is looked at again, and nothing waits.
	again := []string{"TakeRun", "AcquireLease", "Site", "BeginRun", "Documents", "Finish"}
	if run(models.CauseCron); !slices.Equal(c.calls, again) {
		t.Errorf("a run of a site that moved on called %q, want %q", c.calls, again)
	}
	if _, err := l.store.LeaseHolder(t.Context(), syncer.HostKey(l.site.Root)); err == nil {
		t.Error("the host is held after the run")
	}
	// A hook waits: its triggers, and what they say, are read, and checked while the host is held.
	trigger := models.Trigger{SiteID: site.ID, Kind: models.CauseHook, Dialect: "standard", ReceivedAt: l.clock.now(),
		Hints: []models.Hint{{Event: "post.published", URL: l.origin.URL() + "/never-published/", Expect: models.ExpectListed}}}
	if _, _, err := l.store.SaveTrigger(t.Context(), trigger); err != nil {
		t.Fatal(err)
	}
	if site, err = l.store.Site(t.Context(), l.site.ID); err != nil {
		t.Fatal(err)
	}
	run(models.CauseHook)
	for _, call := range []string{"PendingTriggers", "Expectations", "ReleaseLease"} {
		if !slices.Contains(c.calls, call) {
			t.Errorf("a run after a hook called %q, want %s among them", c.calls, call)
		}
	}
}
