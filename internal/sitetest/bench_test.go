package sitetest_test

import (
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/sync/fetch"
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

// BenchmarkWalk reads every document of a million URLs with the fetch client,
// four at a time, and throws the bytes away: the floor of any walk on this
// machine.
func BenchmarkWalk(b *testing.B) {
	for name, gzip := range map[string]bool{"plain": false, "gzip": true} {
		b.Run(name, func(b *testing.B) {
			s := sitetest.New(sitetest.Options{Posts: 1_000_000, Gzip: gzip, Permalinks: sitetest.DayName})
			if err := s.Listen("127.0.0.1:0"); err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			s.Warm()
			c := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
			defer c.Close()
			for b.Loop() {
				var bytes atomic.Int64
				urls := make(chan string)
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for url := range urls {
							r := c.Do(b.Context(), fetch.Request{URL: url})
							n, err := io.Copy(io.Discard, r.Body)
							if err != nil || r.Outcome != fetch.OK {
								b.Errorf("%s: %q %v", url, r.Outcome, err)
							}
							bytes.Add(n)
						}
					})
				}
				for _, url := range s.Documents() {
					urls <- url
				}
				close(urls)
				wg.Wait()
				b.SetBytes(bytes.Load())
			}
		})
	}
}
