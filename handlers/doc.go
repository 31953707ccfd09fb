// Package handlers is the HTTP side of sitemapd: the REST API under /api/v1, the
// publish hooks, health and metrics, live progress, the API's own documentation and
// the routes of the dashboard (its templates are in handlers/web).
//
// It promises that a hook answered with 200 is stored or was authentic and needs no
// storing; that every error is application/problem+json without internal text; that
// the document at /api/v1/openapi.json lists exactly the operations that are served;
// and that nothing a site published is ever shown unescaped.
//
// It imports models, handlers/hook and handlers/web of ours and nothing else: storage
// and engine come in through the small interfaces of Deps, which cmd/sitemapd fills.
// echo and huma appear in this package alone, so that a later echo v5 touches only it.
package handlers
