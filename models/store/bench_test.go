package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

const (
	benchDocuments = 500
	benchRows      = 2000
)

// benchPages makes the declarations of one document, ascending by key.
func benchPages(document int32) []models.Declaration {
	rng := rand.New(rand.NewPCG(uint64(document), 7))
	rows := make([]models.Declaration, benchRows)
	for i := range rows {
		d := &rows[i]
		binary.BigEndian.PutUint64(d.Key[:], rng.Uint64())
		binary.BigEndian.PutUint64(d.Key[8:], rng.Uint64())
		d.Fingerprint = models.Fingerprint(d.Key)
		d.URL = fmt.Sprintf("https://example.com/2024/05/a-post-title-of-usual-length-%d-%d/", document, i)
		at := time.Unix(1_700_000_000+rng.Int64N(30_000_000), 0).UTC()
		d.Lastmod = &models.Lastmod{Raw: at.Format(time.RFC3339), Instant: at, Precision: models.PrecisionSecond, Zone: true}
	}
	slices.SortFunc(rows, func(a, b models.Declaration) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return rows
}

// million fills a site with 1,000,000 declarations by two workers, as the engine does.
func million(b *testing.B, s *store.Store, f *storetest.Fixture) {
	run := f.Begin()
	numbers := make(chan int32)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for n := range numbers {
				f.SaveDocument(run, n, models.VerdictComplete)
				f.Stage(run, n, nil, benchPages(n))
			}
		})
	}
	for n := range int32(benchDocuments) {
		numbers <- n + 1
	}
	close(numbers)
	wg.Wait()
	if err := s.SharedKeys(b.Context(), f.Site.ID, func(models.Key) error { return fmt.Errorf("nothing is shared") }); err != nil {
		b.Fatal(err)
	}
	f.Finish(run)
}

// BenchmarkMillion measures 1,000,000 declarations in 500 documents: first staging, the diff's read, the scan for shared
// keys, 1 % changed, and reads for people.
func BenchmarkMillion(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchmarkMillion(b, handles(b, storetest.SQLite(b))()) })
	b.Run("mysql", func(b *testing.B) { benchmarkMillion(b, handles(b, storetest.MySQL(b))()) })
}

func benchmarkMillion(b *testing.B, s *store.Store) {
	f := storetest.NewFixture(b, s)
	began := time.Now()
	million(b, s, f)
	b.Logf("%-28s %v", "first staging", time.Since(began).Round(time.Millisecond))
	measure := func(name string, fn func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fn(b)
			}
		})
	}
	measure("diff-read", func(b *testing.B) {
		rows := 0
		for n := range int32(benchDocuments) {
			if err := s.Listings(b.Context(), f.Site.ID, n+1, func(models.Listing) error { rows++; return nil }); err != nil {
				b.Fatal(err)
			}
		}
		if rows != benchDocuments*benchRows {
			b.Fatalf("%d rows", rows)
		}
	})
	measure("shared-keys", func(b *testing.B) {
		if err := s.SharedKeys(b.Context(), f.Site.ID, func(models.Key) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
	measure("change-1-percent", func(b *testing.B) {
		run := f.Begin()
		for n := range int32(benchDocuments) {
			var keys []models.Key
			var rows []models.Declaration
			for i, d := range benchPages(n + 1) {
				if i%100 == 50 {
					d.Fingerprint[0]++
					keys, rows = append(keys, d.Key), append(rows, d)
				}
			}
			f.Stage(run, n+1, keys, rows)
		}
		f.Finish(run)
	})
	page := func(filter models.PageFilter) func(b *testing.B) {
		return func(b *testing.B) {
			if err := s.Pages(b.Context(), f.Site.ID, filter, func(*models.Page) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
	measure("page-of-100", page(models.PageFilter{Limit: 100}))
	measure("search-of-100", page(models.PageFilter{Limit: 100, Contains: "length-499-19"}))
	measure("whole-inventory", page(models.PageFilter{State: models.StateAll}))
	measure("count", func(b *testing.B) {
		if _, err := s.CountPages(b.Context(), f.Site.ID, models.PageFilter{}); err != nil {
			b.Fatal(err)
		}
	})
	measure("look-up", func(b *testing.B) {
		key := benchPages(300)[77].Key
		page(models.PageFilter{State: models.StateAll, Key: &key})(b)
	})
	measure("changes-of-last-run", func(b *testing.B) {
		if err := s.Changes(b.Context(), f.Site.ID, models.ChangeFilter{Run: f.Last()}, func(*models.Change) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
}
