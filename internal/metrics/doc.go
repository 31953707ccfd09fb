// Package metrics turns finished runs into Prometheus metrics.
//
// The engine knows no Prometheus and the HTTP side sees no run end, so cmd/sitemapd puts
// Sync.Observe between them. It promises labels of a bounded number of values: a site's
// number and name and fixed words, never URLs or anything that a site publishes. What
// deploy/prometheus/sitemapd.rules.yml watches is made here and in handlers, and a test
// compares the two. Of ours it imports models alone.
package metrics
