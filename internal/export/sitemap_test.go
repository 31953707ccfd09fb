package export_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// everything is the fixture with every field; a test that changes it has to change what is counted here.
func everything(t testing.TB) reading {
	t.Helper()
	text, err := os.ReadFile("testdata/everything.xml")
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, bytes.NewReader(text))
	if got.Verdict != sitemap.Complete || len(got.pages) != 9 {
		t.Fatalf("the fixture is %s with %d pages", got.Verdict, len(got.pages))
	}
	return got
}

func TestSitemap_KeepsEveryField(t *testing.T) {
	t.Parallel()
	want := everything(t)
	text := encode(t, "sitemap", export.Options{}, want.pages)
	got := read(t, bytes.NewReader(text))
	if got.SemanticHash != want.SemanticHash || got.Verdict != sitemap.Complete {
		t.Errorf("%s, reads as %s; want the same as the fixture, %s", got.Verdict, got.SemanticHex(), want.SemanticHex())
	}
	if diff := cmp.Diff(want.pages, got.pages, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Lastmod" }, cmp.Ignore())); diff != "" {
		t.Errorf("pages (-published +exported):\n%s", diff)
	}
	wellFormed(t, text)
}

// Fields of the three specifications that the fixture must declare, so that the test above means what it says.
func TestSitemap_FixtureDeclaresEveryField(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/everything.xml")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, names := range map[string]string{
		"image": "loc title caption geo_location license",
		"video": "thumbnail_loc title description content_loc player_loc duration expiration_date rating content_segment_loc view_count " +
			"publication_date tag category family_friendly restriction gallery_loc price requires_subscription uploader tvshow show_title " +
			"video_type episode_title season_number episode_number premier_date platform live id",
		"news": "publication name language access genres publication_date title geo_locations keywords stock_tickers",
	} {
		for _, name := range strings.Fields(names) {
			if !bytes.Contains(text, []byte("<"+prefix+":"+name)) {
				t.Errorf("the fixture has no %s:%s", prefix, name)
			}
		}
	}
}

// Whatever the reader understands of the documents that it is tested with survives the way out and in again.
func TestSitemap_ReadsAsWhatItCameFrom(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../sync/sitemap/testdata/documents/*")
	if err != nil {
		t.Fatal(err)
	}
	documents := 0
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := read(t, bytes.NewReader(body))
		if len(want.pages) == 0 || want.Bytes > 1<<20 {
			continue
		}
		documents++
		text := encode(t, "sitemap", export.Options{}, want.pages)
		got := read(t, bytes.NewReader(text))
		for print, what := range want.prints {
			if _, found := got.prints[print]; !found {
				t.Errorf("%s: lost or changed: %s", filepath.Base(name), what)
			}
		}
		for print, what := range got.prints {
			if _, found := want.prints[print]; !found {
				t.Errorf("%s: was never published: %s", filepath.Base(name), what)
			}
		}
		if want.Type == sitemap.URLSet && want.Children == 0 && got.SemanticHash != want.SemanticHash {
			t.Errorf("%s: another semantic hash", filepath.Base(name))
		}
		if got.Verdict != sitemap.Complete || !got.Validation.XMLWellFormed || !got.Validation.NamespaceValid || !got.Validation.RootValid {
			t.Errorf("%s: exported as %s, %+v", filepath.Base(name), got.Verdict, got.Validation)
		}
		wellFormed(t, text)
	}
	if documents < 100 {
		t.Errorf("%d documents with pages found", documents)
	}
}

// wellFormed has a parser of others look, which refuses what XML forbids.
func wellFormed(t testing.TB, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("not well-formed: %v", err)
			return
		}
	}
}

func TestSitemap_HostileTextsStayTexts(t *testing.T) {
	t.Parallel()
	pages := hostilePages(t)
	text := encode(t, "sitemap", export.Options{}, pages)
	wellFormed(t, text)
	elements := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		if s, ok := token.(xml.StartElement); ok {
			elements[s.Name.Local]++
		}
	}
	if elements["url"] != len(pages) || elements["script"] != 0 {
		t.Errorf("elements %v of %d pages", elements, len(pages))
	}
}

func TestSitemap_LastmodAsPublishedWhenTheProtocolAllowsIt(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"2026": "2026", "2026-11": "2026-11", "2026-11-30": "2026-11-30",
		"2026-11-30T09:15Z": "2026-11-30T09:15Z", "2026-11-30T09:15:00+05:30": "2026-11-30T09:15:00+05:30",
		"2026-11-30T09:15:00.123456789-08:00": "2026-11-30T09:15:00.123456789-08:00",
		"2026-11-30T09:15:00":                 "2026-11-30T09:15:00Z", // no zone
		"2026-11-30T09:15":                    "2026-11-30T09:15Z",
		"2026-11-30T09:15:00,5Z":              "2026-11-30T09:15:00.5Z",
		"2026-11-30T09:15:00+0100":            "2026-11-30T08:15:00Z",
		"2026-11-30 09:15:00":                 "2026-11-30T09:15:00Z",
		"30.11.2026":                          "2026-11-30",
		"Mon, 30 Nov 2026 09:15:00 GMT":       "2026-11-30T09:15:00Z",
		"1796030100":                          "2026-11-30T09:15:00Z",
	} {
		read := sitemap.ParseDate([]byte(raw))
		if read.State != sitemap.Valid {
			t.Fatalf("%s is not read", raw)
		}
		page := models.Page{URL: "https://example.org/", Lastmod: &models.Lastmod{Raw: raw, Instant: read.Time(), Precision: models.Precision(read.Precision), Zone: read.Zone}}
		text := encode(t, "sitemap", export.Options{}, []models.Page{page})
		if !bytes.Contains(text, []byte("<lastmod>"+want+"</lastmod>")) {
			t.Errorf("%s is exported as %s, want %s", raw, text, want)
		}
	}
}

func TestSitemap_SplitsAtTheProtocolsLimits(t *testing.T) {
	t.Parallel()
	pages := numbered(120_000)
	var f folder
	e, err := export.NewSitemap(&f, export.Options{Base: "https://example.org/"})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, pages)
	if diff := cmp.Diff([]string{"sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap.xml"}, f.names); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	all := 0
	for i, want := range []int{50_000, 50_000, 20_000} {
		got := read(t, f.files[f.names[i]])
		if got.Verdict != sitemap.Complete || got.Type != sitemap.URLSet || got.Entries != want || !got.Validation.CapacityValid {
			t.Errorf("%s: %s %s with %d pages, want %d", f.names[i], got.Verdict, got.Type, got.Entries, want)
		}
		for j := range got.pages {
			if got.pages[j].URL != pages[all].URL {
				t.Fatalf("page %d is %s", all, got.pages[j].URL)
			}
			all++
		}
	}
	index := read(t, f.files["sitemap.xml"])
	if index.Type != sitemap.SitemapIndex || index.Children != 3 || index.Verdict != sitemap.Complete || index.Validation.Errors > 0 {
		t.Errorf("the index is %s %s with %d documents: %v", index.Verdict, index.Type, index.Children, index.Findings)
	}
}

func TestSitemap_SplitsByBytesAndNews(t *testing.T) {
	t.Parallel()
	var f folder
	e, err := export.NewSitemap(&f, export.Options{MaxBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, numbered(1000))
	pages := 0
	for _, name := range f.names[:len(f.names)-1] {
		if n := f.files[name].Len(); n > 10_000 {
			t.Errorf("%s has %d bytes", name, n)
		}
		pages += read(t, f.files[name]).Entries
	}
	if pages != 1000 || len(f.names) < 8 {
		t.Errorf("%d pages in %v", pages, f.names)
	}

	news := numbered(2100)
	for i := range news {
		news[i].News = []byte(`{"title":"t"}`)
	}
	f = folder{}
	if e, err = export.NewSitemap(&f, export.Options{}); err != nil {
		t.Fatal(err)
	}
	fill(t, e, news)
	if diff := cmp.Diff([]string{"sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap.xml"}, f.names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestSitemap_OneStreamHoldsOneDocument(t *testing.T) {
	t.Parallel()
	f, _ := export.Find("sitemap")
	e, err := f.New(io.Discard, export.Options{MaxEntries: 10})
	if err != nil {
		t.Fatal(err)
	}
	pages := numbered(11)
	for i := range pages[:10] {
		if err := e.Write(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Write(&pages[10]); !errors.Is(err, export.ErrTooLarge) {
		t.Errorf("the eleventh page: %v", err)
	}
}

func TestSitemap_Compressed(t *testing.T) {
	t.Parallel()
	want := everything(t)
	got := read(t, bytes.NewReader(encode(t, "sitemap", export.Options{Gzip: true}, want.pages)))
	if got.Compression != "gzip" || got.SemanticHash != want.SemanticHash {
		t.Errorf("%s, %s", got.Compression, got.SemanticHex())
	}
	var f folder
	e, err := export.NewSitemap(&f, export.Options{Gzip: true, MaxEntries: 5, Base: "https://example.org/s/"})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, want.pages)
	if diff := cmp.Diff([]string{"sitemap-1.xml.gz", "sitemap-2.xml.gz", "sitemap.xml.gz"}, f.names); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	for _, name := range f.names {
		if doc := read(t, f.files[name]); doc.Compression != "gzip" || doc.Verdict != sitemap.Complete {
			t.Errorf("%s: %s, %s", name, doc.Compression, doc.Verdict)
		}
	}
}

func TestSitemap_Archive(t *testing.T) {
	t.Parallel()
	b := encode(t, "sitemap-zip", export.Options{MaxEntries: 4, Gzip: true, Base: "https://example.org/"}, numbered(10))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"sitemap-1.xml.gz", "sitemap-2.xml.gz", "sitemap-3.xml.gz", "sitemap.xml.gz"}, names); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	r, err := z.Open("sitemap.xml.gz")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		if !bytes.Contains(text, fmt.Appendf(nil, "<loc>https://example.org/sitemap-%d.xml.gz</loc>", n)) {
			t.Errorf("the index lacks document %d:\n%s", n, text)
		}
	}
}

// FuzzText: whatever a text holds, a parser of others reads it back, but for what XML cannot hold.
func FuzzText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		page := models.Page{URL: text, Changefreq: text}
		out := encode(t, "sitemap", export.Options{}, []models.Page{page})
		var doc struct {
			URL []struct {
				Loc string `xml:"loc"`
			} `xml:"url"`
		}
		if err := xml.Unmarshal(out, &doc); err != nil || len(doc.URL) != 1 {
			t.Fatalf("%v, %d entries:\n%s", err, len(doc.URL), out)
		}
		want := strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
				return 0xfffd
			}
			return r
		}, strings.ToValidUTF8(text, "\ufffd"))
		if got := strings.ToValidUTF8(doc.URL[0].Loc, "\ufffd"); squeeze(got) != squeeze(want) {
			t.Errorf("%q came back as %q", want, got)
		}
	})
}

// squeeze makes one of the replacements that stand together: ToValidUTF8 writes one for a run of bytes.
func squeeze(s string) string {
	for strings.Contains(s, "\ufffd\ufffd") {
		s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
	}
	return s
}
