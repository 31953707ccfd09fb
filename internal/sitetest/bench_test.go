package sitetest_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// BenchmarkWarm renders a million URLs once: what an origin costs beside the
// client that is measured.
func BenchmarkWarm(b *testing.B) {
	for name, gzip := range map[string]bool{"plain": false, "gzip": true} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				s := sitetest.New(sitetest.Options{Posts: 1_000_000, Gzip: gzip, BaseURL: "http://127.0.0.1:40000", Permalinks: sitetest.DayName})
				b.ReportMetric(float64(s.Warm())/(1<<20), "MiB")
			}
		})
	}
}
