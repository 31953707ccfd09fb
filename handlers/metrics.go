package handlers

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics of the HTTP side. Labels are routes, classes and fixed words, never URLs or names from outside.
type metrics struct {
	requests   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	streams    prometheus.Gauge
	deliveries *prometheus.CounterVec
	keys       *prometheus.CounterVec
	handler    http.Handler
}

func newMetrics(registry *prometheus.Registry, version string) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_http_requests_total", Help: "HTTP requests by route and class of status.",
		}, []string{"method", "route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sitemapd_http_request_duration_seconds", Help: "Time to answer HTTP requests by route; streams count their whole life.",
			Buckets: []float64{.005, .01, .025, .05, .1, .2, .5, 1, 2.5, 10, 60},
		}, []string{"method", "route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sitemapd_http_streams", Help: "Event streams that are open.",
		}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_webhook_deliveries_total", Help: "Requests at publish hooks by dialect and what was done with them.",
		}, []string{"direction", "dialect", "result", "cause"}),
		keys: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_webhook_key_uses_total", Help: "Authentic deliveries by site and secret, to see when an old secret is out of use.",
		}, []string{"site", "key"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "sitemapd_build_info", Help: "Always 1; its label says which version runs.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	registry.MustRegister(m.requests, m.seconds, m.streams, m.deliveries, m.keys, build)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return m
}
