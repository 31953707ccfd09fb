// Package syncer is the engine: one run takes the host's lease, notes the triggers it will serve, walks the site's
// sitemaps, plans what changed and applies it, and ends in exactly one place that records the outcome.
//
// The folder is called sync because users say so; the package is not, so that a bare sync. is always the standard
// library's. Importers write the name: syncer "github.com/sitemapd/sitemapd/sync".
//
// It promises that only a completely read scope removes a page, that a run which fails leaves nothing visible, and
// that a run without changes writes a constant number of rows. Planning (plan_*.go) is pure: stored and observed
// state in, changes out.
//
// It sees the database and the web through the interfaces in engine.go. It imports models, sync/sitemap, sync/weburl
// and sync/fetch; never GORM, echo, viper, models/store, handlers or config.
package syncer
