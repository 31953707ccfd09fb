package handlers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
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
	Channels     channelStore     // optional: without it, nobody is told of anything
	AlertRules   alertStore       // optional
	Desk         desk             // optional: with it, channels and rules are made and changed
	Published    publishedStore   // optional
	Canonical    canonicalReader  // optional
	Audits       auditKeeper      // optional: state of verification, incidents, mutes
	Tokens       tokenStore       // optional: without it, no bearer token is valid
	Accounts     accountStore     // optional: without it, nobody can log in

	Segments  segmentStore  // optional: without it there are the presets alone
	Languages languageStore // optional: without it, the report on language versions is empty
	Reports   reportStore   // optional: without it, charts and grouped findings are left out
	Export    exporter      // optional: without it, the dashboard links to the API's CSV and NDJSON alone

	Engine engine

	// KeyFor gives the identity of a URL (sync/weburl) and the canonical spelling it stands for.
	KeyFor func(url string) (models.Key, error)
	// Discover makes a site of any URL that a user names: a sitemap is taken as it is, a home page is probed, with
	// every try (all) or until one is found. Its errors are about the URL and may be shown. Optional: without it a
	// site's roots are found by its first run.
	Discover func(ctx context.Context, url string, all bool) (models.Site, Probe, error)
	// Preview gives the first pages that a sitemap lists, or the first documents of an index; optional.
	Preview func(ctx context.Context, url string, limit int) ([]string, error)
	// Rules gives the catalogues of findings, RuleOf what they say of a code (about: models.AboutDocuments or AboutPages); optional.
	Rules  func() []models.FindingRule
	RuleOf func(about, code string) (models.FindingRule, bool)
	// Evidence gives what is known of a page's canonical URL; optional.
	Evidence func(ctx context.Context, siteID int64, key models.Key) ([]models.Canonical, error)
	// CheckSchedule says why a cron specification with its time zone is refused, and when it fires next; optional.
	CheckSchedule func(spec, zone string) (next []time.Time, err error)
	// Defaults is what holds where a site's schedule, time zone or settings are empty.
	Defaults models.Site
	// Ready reports whether the database answers and its schema is the one expected.
	Ready func(ctx context.Context) error

	// Trace begins the span of a request; what it returns ends it with the route and the status. Optional.
	Trace func(r *http.Request) (context.Context, func(route string, status int))
	// TraceParent names the span of a request, for the run that serves what it asked for. Optional.
	TraceParent func(ctx context.Context) string

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

// reportStore answers the dashboard's reports.
type reportStore interface {
	// RunPoints gives the newest finished runs of a site, newest first.
	RunPoints(ctx context.Context, siteID int64, limit int) ([]models.RunPoint, error)
	// FindingGroups counts the findings at one run by code, errors first.
	FindingGroups(ctx context.Context, siteID, run int64) ([]models.FindingGroup, error)
	// ExtensionCounts counts the live pages that declare each extension. It may take seconds.
	ExtensionCounts(ctx context.Context, siteID int64) (models.ExtensionCounts, error)
	// SectionCounts counts the live pages of each directory of the first two levels, as LastmodCounts does those of documents.
	SectionCounts(ctx context.Context, siteID int64, bounds []time.Time, keyOf func(url string) (models.Key, error)) (models.SectionCounts, error)
	// LastmodCounts counts the live pages of each document between bounds that go back in time. It may take seconds.
	LastmodCounts(ctx context.Context, siteID int64, bounds []time.Time) ([]models.LastmodCounts, error)
}

// exporter writes pages in the formats of package export.
type exporter interface {
	// Formats lists name, media type and file extension (with its dot) of each format.
	Formats() []ExportFormat
	// Export writes what pages emits. base is the absolute URL at which documents of a sitemap will be served. Nothing
	// is written before the first error that the pages themselves cause.
	Export(ctx context.Context, w io.Writer, format, base string, pages func(emit func(*models.Page) error) error) error
}

// ExportFormat is one way to write an inventory to a file.
type ExportFormat struct{ Name, ContentType, Extension string }

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
