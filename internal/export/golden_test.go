package export_test

import (
	"archive/zip"
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenPages are the fixture's and one that has everything that only our own records say.
func goldenPages(t testing.TB) []models.Page {
	t.Helper()
	removed, to := seen.Add(time.Hour), int64(9)
	return append(everything(t).pages, models.Page{
		URL: "https://example.org/gone", State: models.StateRemoved, Document: "https://example.org/old.xml", FirstSeen: seen.Add(-time.Hour),
		LastSeen: seen, RemovedAt: &removed, FromRun: 2, ToRun: &to, Freshness: "unavailable", Reason: "answered 410",
		MovedTo: "https://example.org/new.xml", Listings: []string{"https://example.org/a.xml", "https://example.org/b.xml"},
		Confidence: models.Confidence{Listing: 0.6, Membership: 0.6, Identity: 0.6},
	})
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, format string
		options      export.Options
	}{
		{"pages.csv", "csv", export.Options{}},
		{"semicolon.csv", "csv", export.Options{Comma: ';', BOM: true}},
		{"pages.ndjson", "ndjson", export.Options{}},
		{"sitemap.xml", "sitemap", export.Options{}},
	} {
		golden(t, test.file, encode(t, test.format, test.options, goldenPages(t)))
	}
	// Of a workbook the parts are compared: how well they are compressed is not ours to promise.
	b := encode(t, "xlsx", export.Options{SheetRows: 8}, goldenPages(t))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var parts bytes.Buffer
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, text)
		parts.WriteString("--- " + f.Name + "\n" + string(bytes.ReplaceAll(text, []byte("<row"), []byte("\n<row"))) + "\n")
	}
	golden(t, "workbook.txt", parts.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestFormats_SamePagesSameBytes(t *testing.T) {
	t.Parallel()
	pages := append(goldenPages(t), numbered(3000)...)
	for _, f := range export.Formats() {
		o := export.Options{Gzip: !f.Packed, SheetRows: 500, MaxEntries: 5000}
		if first, second := encode(t, f.Name, o, pages), encode(t, f.Name, o, pages); !bytes.Equal(first, second) {
			t.Errorf("%s differs from one time to the next", f.Name)
		}
	}
}
