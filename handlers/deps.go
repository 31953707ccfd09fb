package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/models"
)

// Deps is everything the HTTP side needs from outside. Fields marked optional may be
// left nil: what depends on them then answers 501 or is left out of the pages.
type Deps struct {
	Sites     siteStore
	Pages     pageStore
	Changes   changeStore
	Runs      runStore
	Documents documentStore
	Findings  findingStore
	Removals  removalStore
	Triggers  triggerStore
	HookKeys  hookKeyStore

	Deliveries   deliveryStore    // optional: without it, rejected deliveries are kept in memory only
	Expectations expectationStore // optional
	Tokens       tokenStore       // optional: without it, no bearer token is valid
	Accounts     accountStore     // optional: without it, nobody can log in

	Engine engine

	// KeyFor gives the identity of a URL (sync/weburl) and the canonical spelling it stands for.
	KeyFor func(url string) (models.Key, error)
	// Discover makes a site of any URL that a user names: a sitemap is taken as it is, a home page is probed, with
	// every try (all) or until one is found. Its errors are about the URL and may be shown. Optional: without it a
	// site's roots are found by its first run.
	Discover func(ctx context.Context, url string, all bool) (models.Site, Probe, error)
	// CheckSchedule says why a cron specification with its time zone is refused, and when it fires next; optional.
	CheckSchedule func(spec, zone string) (next []time.Time, err error)
	// Ready reports whether the database answers and its schema is the one expected.
	Ready func(ctx context.Context) error

	Now      func() time.Time // optional: time.Now
	Log      *slog.Logger     // optional: discards
	Registry *prometheus.Registry

	// OpenLocal opens the API and the dashboard without a token to clients on this machine,
	// as long as they come over a loopback listener, name a loopback host and no proxy is between.
	OpenLocal bool
	// PublicURL is how the daemon is reached from outside, for links in answers; "" to use the request's.
	PublicURL string
	// TrustedProxies may say who the client is (X-Forwarded-For) and over which scheme it came.
	TrustedProxies []netip.Prefix
	// UserHeader is the header in which a trusted proxy names the logged-in user; "" to ignore such headers.
	UserHeader string

	Version string
	// RatePerMinute bounds API requests of one token, user or address; 0 means 600.
	RatePerMinute int
}

// engine is what the HTTP side needs of the daemon's engine.
type engine interface {
	// Trigger wakes the engine: a trigger of this cause was stored for the site.
	Trigger(siteID int64, cause string)
	// Progress gives the running walk of a site, or false when none runs.
	Progress(siteID int64) (models.Progress, bool)
	// Watch sends each progress of a site until ctx ends, then closes; slow readers miss some, never the last.
	Watch(ctx context.Context, siteID int64) <-chan models.Progress
	// Stop asks the running walk of a site to end; false when none runs.
	Stop(siteID int64) bool
}

var errDeps = errors.New("handlers: a dependency is missing")

func (d *Deps) validate() error {
	switch {
	case d.Sites == nil, d.Pages == nil, d.Changes == nil, d.Runs == nil, d.Documents == nil, d.Findings == nil,
		d.Removals == nil, d.Triggers == nil, d.HookKeys == nil, d.Engine == nil, d.KeyFor == nil, d.Ready == nil, d.Registry == nil:
		return errDeps
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	d.Log = d.Log.With("component", "http")
	if d.RatePerMinute == 0 {
		d.RatePerMinute = 600
	}
	return nil
}
