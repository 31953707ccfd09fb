package store_test

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

var hub = flag.Bool("hub", false, "measure a hub of 20,000 declarers among a million pages")

func hubKey(i int) (k models.Key) {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	copy(k[:], sum[:])
	return k
}

// TestDeclarers_OfAHub measures what docs/benchmarks.md says: go test ./models/store -run Declarers_OfAHub -hub -v -timeout 30m
func TestDeclarers_OfAHub(t *testing.T) {
	if !*hub {
		t.Skip("needs -hub")
	}
	for name, dsn := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), dsn(t), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			const pages, declarers = 1_000_000, 20_000
			began := time.Now()
			plantHub(t, s, pages, declarers)
			t.Logf("%d heads stored in %s", pages, time.Since(began).Round(time.Second))
			for _, most := range []int{pages, 10_002} {
				took := make([]time.Duration, 300)
				for i := range took {
					began := time.Now()
					n, err := s.CountDeclarers(t.Context(), 7, hubKey(0), most)
					if err != nil || n != min(declarers, most) {
						t.Fatalf("%d declarers, %v", n, err)
					}
					took[i] = time.Since(began)
				}
				first := took[0]
				slices.Sort(took)
				t.Logf("up to %d of %d declarers counted: first %s, p50 %s, p99 %s, max %s", most, declarers, first, took[150], took[297], took[299])
			}
		})
	}
}

// plantHub writes heads of a site: every fiftieth page declares the first one, every tenth of the others declares another.
func plantHub(t *testing.T, s *store.Store, pages, declarers int) {
	t.Helper()
	const batch = 1000
	for start := 0; start < pages; start += batch {
		args := make([]any, 0, batch*16)
		for i := start; i < start+batch; i++ {
			k := hubKey(i)
			var target []byte
			var url string
			switch {
			case i > 0 && i%(pages/declarers) == 1:
				to := hubKey(0)
				target, url = to[:], "https://example.com/2024/05/a-post-title-of-usual-length-0/"
			case i%10 == 2:
				to := hubKey(i - 1)
				target, url = to[:], fmt.Sprintf("https://example.com/2024/05/a-post-title-of-usual-length-%d/", i-1)
			}
			args = append(args, 7, k[:], fmt.Sprintf("https://example.com/2024/05/a-post-title-of-usual-length-%d/", i), url, target, url, target, "html_link", "none",
				"validated", "", true, "none", nil, 0, nil)
		}
		text := "INSERT INTO canonical_heads (site_id, url_key, url, target, target_key, edge, edge_key, edge_kind, own, status, reason, listed, resolution, final_key, depth, loop_key) VALUES " +
			strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?), ", batch), ", ")
		if err := s.Write(t.Context(), func(tx *gorm.DB, _ int) error { return tx.Exec(text, args...).Error }); err != nil {
			t.Fatal(err)
		}
	}
}
