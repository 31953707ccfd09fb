package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

var seen = time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)

// pageOf is what the store makes of a declaration.
func pageOf(t testing.TB, d *sitemap.Declaration) models.Page {
	t.Helper()
	p := models.Page{
		URL: string(d.Loc), State: models.StateLive, Document: "https://example.org/sitemap.xml", Changefreq: d.Changefreq.String(),
		FirstSeen: seen.Add(-time.Hour), LastSeen: seen, FromRun: 3, Freshness: "fresh",
		Confidence: models.Confidence{Listing: 0.99, Membership: 0.85, Identity: 0.75},
	}
	if l := &d.Lastmod; l.State == sitemap.Valid {
		p.Lastmod = &models.Lastmod{Raw: string(l.Raw), Instant: l.Time(), Precision: models.Precision(l.Precision), Zone: l.Zone}
		p.Confidence.Lastmod = 0.9
	}
	if d.Priority.Set {
		f := d.Priority.Float()
		p.Priority = &f
	}
	if text := sitemap.AppendExtensions(nil, d); len(text) > 0 {
		var blocks map[string]json.RawMessage
		if err := json.Unmarshal(text, &blocks); err != nil {
			t.Fatal(err)
		}
		p.Alternates, p.Images, p.Videos = blocks["alternates"], blocks["images"], blocks["videos"]
		p.News, p.Mobile, p.PageMap = blocks["news"], blocks["mobile"], blocks["pagemap"]
	}
	return p
}

// reading is what a document says: its pages, their fingerprints, its semantic hash.
type reading struct {
	*sitemap.Document
	pages  []models.Page
	prints map[[16]byte]string // to the line that it came from
}

func read(t testing.TB, src io.Reader) reading {
	t.Helper()
	got := reading{prints: map[[16]byte]string{}}
	var err error
	got.Document, err = sitemap.NewReader(sitemap.Options{}).Read(src, "https://example.org/sitemap.xml", sitemap.Meta{Status: 200},
		sitemap.Visitor{Declaration: func(d *sitemap.Declaration) error {
			got.pages = append(got.pages, pageOf(t, d))
			got.prints[d.Fingerprint] = fmt.Sprintf("%s %s %s", d.Loc, d.Lastmod.Raw, sitemap.AppendExtensions(nil, d))
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// encode writes pages in a format.
func encode(t testing.TB, name string, o export.Options, pages []models.Page) []byte {
	t.Helper()
	var out bytes.Buffer
	f, found := export.Find(name)
	if !found {
		t.Fatalf("no format %s", name)
	}
	e, err := f.New(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, pages)
	return out.Bytes()
}

func fill(t testing.TB, e export.Encoder, pages []models.Page) {
	t.Helper()
	for i := range pages {
		if err := e.Write(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// folder keeps files in memory.
type folder struct {
	names []string
	files map[string]*bytes.Buffer
}

func (f *folder) Create(name string) (io.WriteCloser, error) {
	if f.files == nil {
		f.files = map[string]*bytes.Buffer{}
	}
	f.names = append(f.names, name)
	f.files[name] = &bytes.Buffer{}
	return closer{f.files[name]}, nil
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

// numbered makes plain pages.
func numbered(n int) []models.Page {
	pages := make([]models.Page, n)
	for i := range pages {
		pages[i] = models.Page{URL: fmt.Sprintf("https://example.org/page/%07d/", i), State: models.StateLive,
			Document: "https://example.org/sitemap.xml", FirstSeen: seen, LastSeen: seen, FromRun: 1,
			Lastmod: &models.Lastmod{Raw: "2026-11-30", Instant: seen.Truncate(24 * time.Hour), Precision: models.PrecisionDay}}
	}
	return pages
}

// hostile are texts that a spreadsheet, a parser or a browser might take for more than a text.
var hostile = []string{
	"=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1:A9)", "\t=1+1", "\r=1+1", "\n=1+1", "|calc", "%0A", "＝1+1", "＋1", "－1", "＠x",
	"=HYPERLINK(\"https://evil.example\",\"x\")", "a\";=1+1;\"", "a,=1+1", "<script>alert(1)</script>", "]]>", "&amp;&lt;", "\x00=1",
	"\x1b[31m", "\u2028", "\ufffe", "\uffff", "\xff\xfe", "_x003D_1", "\x7f", "a\"b", "'=1",
}

// hostilePages carry them wherever a text of a site may stand.
func hostilePages(t testing.TB) []models.Page {
	t.Helper()
	var pages []models.Page
	for _, text := range hostile {
		x := sitemap.Extensions{
			Alternates: []sitemap.Alternate{{Hreflang: sitemap.Text(text), Href: sitemap.Text(text), Media: sitemap.Text(text)}},
			Images:     []sitemap.Image{{Loc: sitemap.Text(text), Title: sitemap.Text(text), Caption: sitemap.Text("x;" + text)}},
			Videos:     []sitemap.Video{{Title: sitemap.Text(text), PlayerAutoplay: sitemap.Text(text), Tags: []sitemap.Text{sitemap.Text(text)}}},
			News:       &sitemap.News{Title: sitemap.Text(text), PublicationDate: sitemap.Text(text)},
			Mobile:     &sitemap.Mobile{Type: sitemap.Text(text)},
			PageMap:    []sitemap.DataObject{{Type: sitemap.Text(text), Attributes: []sitemap.Attribute{{Name: sitemap.Text(text), Value: sitemap.Text(text)}}}},
		}
		var blocks map[string]json.RawMessage
		if err := json.Unmarshal(x.AppendJSON(nil), &blocks); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, models.Page{
			URL: text, State: models.State(text), Document: text, Changefreq: text, Freshness: text, Reason: text, MovedTo: text,
			Listings: []string{text}, Lastmod: &models.Lastmod{Raw: text, Instant: seen, Precision: models.PrecisionSecond},
			Alternates: blocks["alternates"], Images: blocks["images"], Videos: blocks["videos"], News: blocks["news"],
			Mobile: blocks["mobile"], PageMap: blocks["pagemap"],
		})
	}
	return pages
}
