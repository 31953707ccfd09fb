package sitemap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

const (
	base = "https://example.org/sitemap.xml"
	head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
)

func read(t testing.TB, body string) (*sitemap.Document, []string) {
	t.Helper()
	var locs []string
	doc, err := sitemap.NewReader(sitemap.Options{}).Read(strings.NewReader(body), base, sitemap.Meta{Status: 200},
		sitemap.Visitor{
			Declaration: func(d *sitemap.Declaration) error {
				locs = append(locs, string(d.Loc))
				return nil
			},
			Child: func(c *sitemap.Child) error {
				locs = append(locs, "child "+string(c.Loc))
				return nil
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	return doc, locs
}

func TestRead_ReturnsTheVisitorsErrorAndStops(t *testing.T) {
	t.Parallel()
	ours := errors.New("ours")
	calls := 0
	doc, err := sitemap.NewReader(sitemap.Options{}).Read(
		strings.NewReader(head+strings.Repeat("<url><loc>"+base+"</loc></url>", 10)+"</urlset>"), base,
		sitemap.Meta{}, sitemap.Visitor{Declaration: func(*sitemap.Declaration) error {
			calls++
			if calls == 3 {
				return ours
			}
			return nil
		}})
	if !errors.Is(err, ours) || calls != 3 || doc == nil || doc.Verdict == sitemap.Complete {
		t.Errorf("got %v after %d calls, %+v", err, calls, doc)
	}
}

func TestRead_AFaultOfTheSourceIsAFinding(t *testing.T) {
	t.Parallel()
	body := head + "<url><loc>https://example.org/a</loc></url></urlset>"
	for _, fault := range []error{io.ErrUnexpectedEOF, errors.New("connection reset")} {
		src := io.MultiReader(strings.NewReader(body), iotest.ErrReader(fault))
		doc, err := sitemap.NewReader(sitemap.Options{}).Read(src, base, sitemap.Meta{Status: 200}, sitemap.Visitor{})
		if err != nil || doc.Verdict != sitemap.Partial || doc.Entries != 1 || !has(doc, "body-truncated") {
			t.Errorf("%v: %v %v %d %v", fault, err, doc.Verdict, doc.Entries, doc.Findings)
		}
	}
}

// stuck gives its bytes, and then nothing for ever.
type stuck struct{ io.Reader }

func (s stuck) Read(p []byte) (int, error) {
	n, _ := s.Reader.Read(p)
	return n, nil
}

func TestRead_ASourceThatGivesNothingIsCut(t *testing.T) {
	t.Parallel()
	src := stuck{strings.NewReader(head + "<url><loc>https://example.org/a</loc></url></urlset>")}
	doc, err := sitemap.NewReader(sitemap.Options{}).Read(src, base, sitemap.Meta{Status: 200}, sitemap.Visitor{})
	if err != nil || doc.Verdict != sitemap.Partial || doc.Entries != 1 || !has(doc, "body-truncated") {
		t.Errorf("%v %v %d %v", err, doc.Verdict, doc.Entries, doc.Findings)
	}
}

func has(doc *sitemap.Document, code string) bool {
	for _, f := range doc.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

func TestRead_KeepsFewFindingsOfARottenDocument(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head)
	for i := range 50_000 {
		fmt.Fprintf(&b, "<url><loc>mailto:%d</loc><priority>9</priority><lastmod>never</lastmod></url>", i)
	}
	b.WriteString("</urlset>")
	doc, _ := read(t, b.String())
	if doc.Refused != 50_000 || len(doc.Findings) > 3*20+5 {
		t.Fatalf("refused %d, %d findings", doc.Refused, len(doc.Findings))
	}
	if f := doc.Findings[0]; f.Count != 50_000 {
		t.Errorf("the first finding of a code counts them all: %+v", f)
	}
	if doc.Validation.Errors != 100_000 || doc.Validation.Warnings != 50_000 {
		t.Errorf("%+v", doc.Validation)
	}
}

func TestRead_IsLinearInHostileInput(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for name, body := range map[string]string{
		"open quotes":      head + strings.Repeat(`<url a="`, n),
		"open quotes 2":    head + strings.Repeat(`<url a="<`, n),
		"mixed quotes":     head + strings.Repeat(`<a b='<a b="`, n),
		"ampersands":       head + "<url><loc>https://example.org/" + strings.Repeat("&", n) + "</loc></url></urlset>",
		"open comments":    head + strings.Repeat("<!--", n),
		"open CDATA":       head + "<url><loc>" + strings.Repeat("<![CDATA[", n),
		"CDATA pieces":     head + "<url><loc>" + strings.Repeat("<![CDATA[a]]>", n) + "</loc></url></urlset>",
		"less than":        head + strings.Repeat("<", n),
		"less than in loc": head + "<url><loc>" + strings.Repeat("<", n) + "</loc></url></urlset>",
		"open tags":        head + strings.Repeat("<url><loc>", n),
		"end tags":         head + strings.Repeat("</x>", n),
		"doctype":          "<!DOCTYPE x [" + strings.Repeat("<!ENTITY a 'b'>", n),
		"quotes":           "<urlset " + strings.Repeat(`"`, n),
		"attributes":       "<urlset " + strings.Repeat(`a="b" `, n),
		"namespaces":       head + strings.Repeat(`<url xmlns:a="b">`, n),
		"one long line":    strings.Repeat("https://example.org/", n),
		"duplicates":       head + strings.Repeat("<url><loc>https://example.org/a</loc></url>", n/2) + "</urlset>",
		"alternates":       head + "<url><loc>https://example.org/a</loc>" + strings.Repeat(`<xhtml:link rel="alternate" hreflang="de" href="https://example.org/d"/>`, n/10) + "</url></urlset>",
		"instructions":     head + strings.Repeat("<?a", n),
		"blanks":           strings.Repeat(" ", 4*n),
		"text":             head + strings.Repeat("x ", n),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, _ := read(t, body) // a quadratic reader would run into the test's time limit
			if doc == nil {
				t.Error("no document")
			}
		})
	}
}

func TestRead_TellsCutFromComplete(t *testing.T) {
	t.Parallel()
	whole := head + "<url><loc>https://example.org/a</loc><lastmod>2024-01-01</lastmod></url>\n<url><loc>https://example.org/b</loc></url></urlset>"
	for n := range len(whole) {
		doc, locs := read(t, whole[:n])
		if doc.Verdict == sitemap.Complete {
			t.Fatalf("%d bytes of %d taken for the whole: %q", n, len(whole), whole[:n])
		}
		for _, l := range locs {
			if l != "https://example.org/a" && l != "https://example.org/b" {
				t.Fatalf("%d bytes invent %q", n, l)
			}
		}
	}
}

func TestRead_AnswersAreNeverShared(t *testing.T) {
	t.Parallel()
	r := sitemap.NewReader(sitemap.Options{})
	one := head + "<url><loc>https://example.org/a</loc><priority>2</priority></url></urlset>"
	first, _ := r.Read(strings.NewReader(one), base, sitemap.Meta{}, sitemap.Visitor{})
	before := *first
	before.Findings = append([]sitemap.Finding(nil), first.Findings...)
	before.Namespaces = append([]string(nil), first.Namespaces...)
	second := `<sitemapindex xmlns="urn:x"><sitemap><loc>relative</loc></sitemap></sitemapindex>`
	if _, err := r.Read(strings.NewReader(second), base, sitemap.Meta{}, sitemap.Visitor{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, *first); diff != "" {
		t.Errorf("a later reading changed an earlier document:\n%s", diff)
	}
}

// entries makes a document of n plain entries.
func entries(n int, extra string) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, "\n<url><loc>https://example.org/2024/some-page-%d/</loc><lastmod>2024-05-08T08:53:%02d+02:00</lastmod>%s</url>", i, i%60, extra)
	}
	b.WriteString("</urlset>")
	return b.Bytes()
}

func TestRead_AllocatesNothingForAnEntry(t *testing.T) {
	for name, extra := range map[string]string{
		"plain": "",
		"hints": "<changefreq>daily</changefreq><priority>0.5</priority>",
		"odd":   "<changefreq>Daily </changefreq><priority> .5</priority><expires>x</expires>",
		"blocks": `<xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="de" href="https://example.org/de"/>` +
			`<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>https://example.org/i.jpg</image:loc></image:image>`,
	} {
		small, large := entries(1000, extra), entries(4000, extra)
		r := sitemap.NewReader(sitemap.Options{})
		cost := func(body []byte) float64 {
			src := bytes.NewReader(nil)
			return testing.AllocsPerRun(5, func() {
				src.Reset(body)
				if _, err := r.Read(src, base, sitemap.Meta{}, sitemap.Visitor{}); err != nil {
					t.Fatal(err)
				}
			})
		}
		cost(large) // grows the buffers
		if a, b := cost(small), cost(large); b > a+1 {
			t.Errorf("%s: %v allocations for 1,000 entries, %v for 4,000", name, a, b)
		}
	}
}

func TestRead_WithoutHashesSaysTheRest(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		body, f := load(t, name)
		options := f.Request.options()
		want := sitemap.NewReader(options).ReadReport(bytes.NewReader(body), f.Request.base(), f.Request.meta())
		options.SkipHashes = true
		got := sitemap.NewReader(options).ReadReport(bytes.NewReader(body), f.Request.base(), f.Request.meta())
		if want.Counts.Duplicates > 0 {
			continue
		}
		got.ByteHash, got.SemanticHash = want.ByteHash, want.SemanticHash
		if diff := differ(t, want, got); diff != "" {
			t.Errorf("%s (-with +without hashes):\n%s", name, diff)
		}
	}
}

func TestAppendExtensions_AllocatesNothing(t *testing.T) {
	body, f := load(t, "testdata/documents/extensions_all.xml")
	dst := make([]byte, 0, 4096)
	_, err := sitemap.NewReader(sitemap.Options{}).Read(bytes.NewReader(body), f.Request.base(), f.Request.meta(), sitemap.Visitor{
		Declaration: func(d *sitemap.Declaration) error {
			if n := testing.AllocsPerRun(100, func() { dst = sitemap.AppendExtensions(dst[:0], d) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			return nil
		},
	})
	if err != nil || len(dst) == 0 {
		t.Error(err)
	}
}

// TestReader_ForgetsTheDocumentBefore: a damaged stream is judged by its own bytes. Its header declares code trees that
// are empty, for which an inflater that was used before still has the tables of that document.
func TestReader_ForgetsTheDocumentBefore(t *testing.T) {
	t.Parallel()
	empty := []byte("\x1f\x8b\b\x00\x00\x00\x00\x02\xff\x8c\x8c\x00\x00\x00")
	want := sitemap.NewReader(sitemap.Options{}).ReadReport(bytes.NewReader(empty), base, sitemap.Meta{Status: 200})
	names, err := filepath.Glob("testdata/documents/*.gz")
	if err != nil || len(names) < 5 {
		t.Fatal(len(names), err)
	}
	r := sitemap.NewReader(sitemap.Options{})
	for _, name := range names {
		body, _ := load(t, name)
		r.ReadReport(bytes.NewReader(body), base, sitemap.Meta{Status: 200})
		got := r.ReadReport(bytes.NewReader(empty), base, sitemap.Meta{Status: 200})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", name, diff)
		}
	}
}
