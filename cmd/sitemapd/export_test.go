package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models/store/storetest"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// exported is a database with one site that was read, and where the site is.
type exported struct {
	database, home string
	published      []byte // its sitemap
}

// publish serves a sitemap as a site of its own, in which %s stands for the site, and reads it into a database.
func publish(t *testing.T, text string) exported {
	t.Helper()
	return publishInto(t, text, storetest.SQLite(t))
}

func publishInto(t *testing.T, text, database string) exported {
	t.Helper()
	var x exported
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sitemap.xml" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write(x.published)
	}))
	t.Cleanup(server.Close)
	x.home = server.URL
	x.published = []byte(strings.ReplaceAll(text, "https://example.org", server.URL))
	x.database = database
	if code, _, errs := x.run(t, "sync", server.URL+"/sitemap.xml"); code != exitDone {
		t.Fatalf("sync: exit %d\n%s", code, errs)
	}
	return x
}

func (x exported) run(t *testing.T, args ...string) (code int, out []byte, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append(args, "--database", x.database, "--allow-private", "127.0.0.0/8,::1/128", "--log-level", "error")
	code = execute(t.Context(), args, &stdout, &stderr)
	return code, stdout.Bytes(), stderr.String()
}

// meaning of a document: its fingerprints, with what they stand for, and its semantic hash.
func (x exported) meaning(t *testing.T, src io.Reader) (*sitemap.Document, map[[16]byte]string) {
	t.Helper()
	prints := map[[16]byte]string{}
	doc, err := sitemap.NewReader(sitemap.Options{}).Read(src, x.home+"/sitemap.xml", sitemap.Meta{Status: 200},
		sitemap.Visitor{Declaration: func(d *sitemap.Declaration) error {
			prints[d.Fingerprint] = fmt.Sprintf("%s %s %s", d.Loc, d.Lastmod.Raw, sitemap.AppendExtensions(nil, d))
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return doc, prints
}

func everything(t *testing.T) exported {
	t.Helper()
	return publish(t, everyField(t))
}

func everyField(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../internal/export/testdata/everything.xml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestExport_SitemapThroughTheDatabaseMeansTheSame(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, publishInto(t, everyField(t), database(t)))
		})
	}
}

func roundTrip(t *testing.T, x exported) {
	t.Helper()
	want, prints := x.meaning(t, bytes.NewReader(x.published))
	code, out, errs := x.run(t, "export", x.home, "--format", "sitemap")
	if code != exitDone {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	got, exportedPrints := x.meaning(t, bytes.NewReader(out))
	for print, what := range prints {
		if _, found := exportedPrints[print]; !found {
			t.Errorf("lost or changed: %s", what)
		}
	}
	if got.Verdict != sitemap.Complete || got.Entries != want.Entries || got.SemanticHash != want.SemanticHash {
		t.Errorf("%s with %d pages, %s; published were %d, %s", got.Verdict, got.Entries, got.SemanticHex(), want.Entries, want.SemanticHex())
	}
}

func TestExport_ToFilesAndStandardOutput(t *testing.T) {
	t.Parallel()
	x := everything(t)
	dir := t.TempDir()
	want, _ := x.meaning(t, bytes.NewReader(x.published))
	for _, args := range [][]string{
		{"--out", filepath.Join(dir, "pages.csv")},
		{"--out", filepath.Join(dir, "pages.ndjson.gz")},
		{"--out", filepath.Join(dir, "pages.xlsx")},
		{"--out", filepath.Join(dir, "pages.parquet"), "--state", "all"},
		{"--out", filepath.Join(dir, "archive.zip")},
		{"--out", filepath.Join(dir, "one.xml")},
		{"--out", filepath.Join(dir, "new/folder"), "--format", "sitemap", "--gzip"},
		{"--out", dir, "--format", "csv", "--gzip", "--delimiter", "tab", "--bom"},
	} {
		if code, out, errs := x.run(t, append([]string{"export", x.home}, args...)...); code != exitDone || len(out) > 0 || !strings.Contains(errs, "9 pages in ") {
			t.Errorf("%v: exit %d, %d bytes on standard output\n%s", args, code, len(out), errs)
		}
	}
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.ReplaceAll(strings.TrimPrefix(x.home, "http://"), ":", "-")
	if diff := cmp.Diff([]string{host + ".csv.gz", "archive.zip", "new/folder/sitemap.xml.gz", "one.xml", "pages.csv", "pages.ndjson.gz", "pages.parquet",
		"pages.xlsx"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"one.xml", "new/folder/sitemap.xml.gz"} {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if doc, _ := x.meaning(t, file); doc.SemanticHash != want.SemanticHash {
			t.Errorf("%s means something else", name)
		}
	}
	// The same lines as the inventory gives.
	_, listed, _ := x.run(t, "urls", x.home, "-o", "ndjson")
	_, lines, _ := x.run(t, "export", x.home, "--format", "ndjson")
	if diff := cmp.Diff(string(listed), string(lines)); diff != "" {
		t.Errorf("NDJSON (-urls +export):\n%s", diff)
	}
	_, listed, _ = x.run(t, "urls", x.home, "-o", "ndjson", "--sort=-url")
	_, sorted, _ := x.run(t, "export", x.home, "--format", "ndjson", "--sort", "-url")
	addresses := regexp.MustCompile(`(?m)^\{"url":"([^"]*)"`).FindAllStringSubmatch(string(listed), -1)
	descending := slices.IsSortedFunc(addresses, func(a, b []string) int { return strings.Compare(b[1], a[1]) })
	if len(addresses) != 9 || !descending || string(sorted) != string(listed) || string(sorted) == string(lines) {
		t.Errorf("sorted by address, descending:\n%s\nexport:\n%s", listed, sorted)
	}
	_, packed, _ := x.run(t, "export", x.home, "--format", "ndjson", "--gzip")
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(plain); err != nil || !bytes.Equal(text, lines) {
		t.Errorf("compressed: %d bytes, %v; want %d", len(text), err, len(lines))
	}
}

func TestExport_Filters(t *testing.T) {
	t.Parallel()
	x := everything(t)
	for _, test := range []struct {
		args string
		want int
	}{
		{"", 9}, {"--state all", 9}, {"--state removed", 0}, {"--contains mobile", 2}, {"--prefix HOME/mobile-", 1}, {"--url HOME/plain#x", 1},
		{"--document HOME/sitemap.xml", 9}, {"--document 1", 9}, {"--extension video", 1}, {"--language de-AT", 1}, {"--limit 4", 4}, {"--as-of 1", 9},
		{"--lastmod-from 2026-11-30T08:00:00Z --lastmod-to 2026-11-30T08:30:00Z", 2}, {"--first-from 2100-01-01", 0},
		{"--object-type none", 9}, {"--object-type post", 0}, {"--lastmod none --state all", 1}, {"--lastmod declared", 8}, {"--first-from -1d", 9}, {"--segment with-images", 1},
		{"--segment with-images --contains nothing", 0}, {"--lastmod-from -1200m --lastmod-to 2026-11-30T08:30:00", 6},
	} {
		args := strings.Fields(strings.ReplaceAll(test.args, "HOME", x.home))
		if at := slices.Index(args, "with-images"); at >= 0 {
			args[at] = "with images"
		}
		code, out, errs := x.run(t, append([]string{"export", x.home, "--format", "ndjson"}, args...)...)
		if got := bytes.Count(out, []byte("\n")); code != exitDone || got != test.want {
			t.Errorf("%s: exit %d, %d pages, want %d %s", test.args, code, got, test.want, errs)
		}
		for line := range bytes.Lines(out) {
			if !json.Valid(line) {
				t.Errorf("%s: %s", test.args, line)
			}
		}
	}
}

func TestExport_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	x := everything(t)
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.csv")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                           "--format is missing: csv, ndjson, xlsx, parquet, sitemap, sitemap-zip",
		"--format pdf":                               `--format "pdf": want csv,`,
		"--format csv --delimiter x":                 "--delimiter",
		"--format xlsx --gzip":                       "xlsx is compressed by itself",
		"--format csv --state gone":                  `--state "gone"`,
		"--format csv --extension audio":             `--extension "audio"`,
		"--format csv --as-of yesterday":             "--as-of",
		"--format csv --lastmod-from 3":              "--lastmod-from",
		"--format csv --lastmod-to -3w":              `--lastmod-to "-3w": not a time`,
		"--format csv --lastmod never":               `--lastmod "never": want declared or none`,
		"--format csv --segment 7":                   "has new this week, not changed for a year,",
		"--format csv --document 99":                 "has no such document",
		"--format csv --url ftp://x/":                "--url",
		"--format sitemap --base-url example.org":    "--base-url",
		"--out " + taken:                             taken + " exists (choose another name, or replace it with --force)",
		"--out " + dir + "/nowhere/pages.csv":        "there is no folder " + dir + "/nowhere",
		"--format csv --out " + dir + "/nowhere/":    "there is no folder",
		"--format csv --out " + taken + "/pages.csv": "is no folder",
	} {
		code, out, errs := x.run(t, append([]string{"export", x.home}, strings.Fields(args)...)...)
		if code != exitUsage || len(out) > 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %d bytes, %s; want %s", args, code, len(out), errs, want)
		}
	}
	if code, _, errs := x.run(t, "export", x.home, "--out", taken, "--force"); code != exitDone {
		t.Errorf("--force: exit %d, %s", code, errs)
	}
	if text, err := os.ReadFile(taken); err != nil || !bytes.HasPrefix(text, []byte(`"url"`)) {
		t.Errorf("not replaced: %.20s, %v", text, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// Beyond 50,000 pages one document is not enough: a folder takes several, a stream and a file take none.
func TestExport_ManyPages(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range 50_001 {
		fmt.Fprintf(&text, "<url><loc>https://example.org/%d</loc></url>", i)
	}
	text.WriteString("</urlset>")
	x := publish(t, text.String())
	dir := t.TempDir()
	for _, args := range [][]string{{"--format", "sitemap"}, {"--out", filepath.Join(dir, "one.xml")}} {
		code, out, errs := x.run(t, append([]string{"export", x.home}, args...)...)
		if code != exitUsage || len(out) > 0 || !strings.Contains(errs, "--out DIR") {
			t.Errorf("%v: exit %d, %d bytes, %s", args, code, len(out), errs)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if code, _, errs := x.run(t, "export", x.home, "--format", "sitemap", "--out", dir); code != exitDone {
		t.Fatalf("exit %d, %s", code, errs)
	}
	pages := 0
	for _, name := range []string{"sitemap-1.xml", "sitemap-2.xml"} {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		doc, _ := x.meaning(t, file)
		pages += doc.Entries
	}
	index, err := os.ReadFile(filepath.Join(dir, "sitemap.xml"))
	if err != nil || pages != 50_001 || !bytes.Contains(index, []byte("<loc>"+x.home+"/sitemap-2.xml</loc>")) {
		t.Errorf("%d pages, %v, index:\n%s", pages, err, index)
	}
}
