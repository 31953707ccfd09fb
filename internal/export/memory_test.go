package export_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
)

// TestMemory_DoesNotFollowTheSite looks at what is held in the middle of an output: after 100,000 pages it may be no more
// than after 50,000, which is also where Parquet has completed a row group. It runs alone, as the heap is everybody's.
func TestMemory_DoesNotFollowTheSite(t *testing.T) { //nolint:paralleltest // see above
	pages := append(everything(t).pages, numbered(91)...)
	for _, f := range export.Formats() {
		o := export.Options{SheetRows: 5000}
		if f.Name == "sitemap-zip" {
			o.MaxEntries = 5000
		}
		if f.Name == "sitemap" {
			continue // one document of 50,000 pages; the archive shows what many hold
		}
		e, err := f.New(io.Discard, o)
		if err != nil {
			t.Fatal(err)
		}
		few := held(t, e, pages, 50_000)
		many := held(t, e, pages, 50_000)
		if grown := many - few; grown > 4<<20 {
			t.Errorf("%s holds %d KiB after 50,000 pages and %d KiB more after 100,000", f.Name, few>>10, grown>>10)
		}
		t.Logf("%s: %d KiB, then %+d KiB", f.Name, few>>10, (many-few)>>10)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// held writes n pages and tells how much of the heap is in use then.
func held(t *testing.T, e export.Encoder, pages []models.Page, n int) int64 {
	t.Helper()
	for i := range n {
		if err := e.Write(&pages[i%len(pages)]); err != nil {
			t.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what lies in a sync.Pool goes with the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A page without blocks costs next to nothing to write.
func TestMemory_PlainPagesAreNotAllocated(t *testing.T) { //nolint:paralleltest // AllocsPerRun must be alone
	pages := numbered(1)
	for name, most := range map[string]float64{"csv": 1, "xlsx": 1, "sitemap": 2} {
		f, _ := export.Find(name)
		e, err := f.New(io.Discard, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(1000, func() {
			if err := e.Write(&pages[0]); err != nil {
				t.Fatal(err)
			}
		}); n > most {
			t.Errorf("%s allocates %v times a page, want %v at most", name, n, most)
		}
	}
}
