package sitemap_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// hashes reads documents and gives their semantic hashes.
func hash(t *testing.T, body string) string {
	t.Helper()
	doc, _ := read(t, body)
	if !doc.Readable() {
		t.Fatalf("%v: %s", doc.Verdict, body)
	}
	return doc.SemanticHex()
}

func TestSemanticHash_SameMeaningSameHash(t *testing.T) {
	t.Parallel()
	const plain = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/a?x=1&amp;y=2</loc>` +
		`<lastmod>2024-05-08T10:00:00+02:00</lastmod><priority>0.5</priority></url><url><loc>https://example.org/caf%c3%a9</loc></url></urlset>`
	want := hash(t, plain)
	for name, body := range map[string]string{
		"order":                `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/caf%c3%a9</loc></url><url><priority>0.5</priority><lastmod>2024-05-08T10:00:00+02:00</lastmod><loc>https://example.org/a?x=1&amp;y=2</loc></url></urlset>`,
		"white space":          strings.NewReplacer("<loc>", "\n <loc>\n\t", "</url>", "\n</url>\n", "<lastmod>", "<lastmod> ").Replace(plain),
		"comments":             strings.ReplaceAll(plain, "<url>", "<!-- at 10:01 --><url>"),
		"declaration":          `<?xml version="1.0"?><?xml-stylesheet href="x"?>` + plain,
		"entity form":          strings.ReplaceAll(plain, "&amp;", "&#38;"),
		"CDATA":                strings.ReplaceAll(plain, "https://example.org/a?x=1&amp;y=2", "<![CDATA[https://example.org/a?x=1&y=2]]>"),
		"zone spelling":        strings.ReplaceAll(plain, "2024-05-08T10:00:00+02:00", "2024-05-08T08:00:00Z"),
		"fraction digits":      strings.ReplaceAll(plain, "10:00:00+02:00", "10:00:00.000+02:00"),
		"minutes":              strings.ReplaceAll(plain, "10:00:00+02:00", "10:00+02:00"),
		"percent case":         strings.ReplaceAll(plain, "%c3%a9", "%C3%A9"),
		"not encoded":          strings.ReplaceAll(plain, "%c3%a9", "é"),
		"zeros":                strings.ReplaceAll(plain, "0.5", "0.50"),
		"prefix":               `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>https://example.org/a?x=1&amp;y=2</s:loc><s:lastmod>2024-05-08T10:00:00+02:00</s:lastmod><s:priority>0.5</s:priority></s:url><s:url><s:loc>https://example.org/caf%c3%a9</s:loc></s:url></s:urlset>`,
		"junk":                 plain + "<script>x</script>",
		"invalid stays out":    strings.ReplaceAll(plain, "<priority>", "<changefreq>sometimes</changefreq><priority>"),
		"the same entry twice": strings.ReplaceAll(plain, "</urlset>", "<url><loc>https://example.org/caf%c3%a9</loc></url></urlset>"),
	} {
		if got := hash(t, body); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestSemanticHash_OtherMeaningOtherHash(t *testing.T) {
	t.Parallel()
	const ns = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1" xmlns:x="http://www.w3.org/1999/xhtml">`
	seen := map[string]string{}
	for _, body := range []string{
		ns + `</urlset>`,
		`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>`,
		ns + `<url><loc>https://example.org/a</loc></url></urlset>`,
		ns + `<url><loc>https://example.org/a/</loc></url></urlset>`,
		ns + `<url><loc>https://example.org/A</loc></url></urlset>`,
		ns + `<url><loc>http://example.org/a</loc></url></urlset>`,
		`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://example.org/a</loc></sitemap></sitemapindex>`,
		"https://example.org/a\n",
		ns + `<url><loc>https://example.org/a</loc><lastmod>2024</lastmod></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><lastmod>2024-01</lastmod></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><lastmod>2024-01-01</lastmod></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><lastmod>2024-01-01T00:00:00Z</lastmod></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><lastmod>2024-01-01T00:00:01Z</lastmod></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><priority>0</priority></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><priority>0.5</priority></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><changefreq>daily</changefreq></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><i:image><i:loc>https://example.org/i</i:loc></i:image></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><i:image><i:loc>https://example.org/j</i:loc></i:image></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><i:image><i:loc>https://example.org/i</i:loc></i:image><i:image><i:loc>https://example.org/j</i:loc></i:image></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><i:image><i:loc>https://example.org/i</i:loc><i:title>t</i:title></i:image></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><i:image><i:loc>https://example.org/i</i:loc><i:caption>t</i:caption></i:image></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><i:image><i:loc>https://example.org/i</i:loc></i:image></url><url><loc>https://example.org/b</loc></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc></url><url><loc>https://example.org/b</loc><i:image><i:loc>https://example.org/i</i:loc></i:image></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><x:link rel="alternate" hreflang="de" href="https://example.org/i"/></url></urlset>`,
		ns + `<url><loc>https://example.org/a</loc><x:link rel="alternate" hreflang="en" href="https://example.org/i"/></url></urlset>`,
	} {
		h := hash(t, body)
		if other, ok := seen[h]; ok {
			t.Errorf("one hash for\n%s\n%s", body, other)
		}
		seen[h] = body
	}
}

func TestSemanticHash_BlocksKeepTheirEntryButNotTheirOrder(t *testing.T) {
	t.Parallel()
	entry := func(blocks ...string) string {
		return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="http://www.w3.org/1999/xhtml"><url><loc>https://example.org/a</loc>` +
			strings.Join(blocks, " ") + `</url></urlset>`
	}
	const de, en = `<x:link rel="alternate" hreflang="DE" href="https://example.org/%7ede"/>`, `<x:link hreflang="en" href="https://example.org/en" rel="alternate"></x:link>`
	const de2 = `<x:link rel="alternate" hreflang="de" href="https://EXAMPLE.org/~de"/>`
	if hash(t, entry(de, en)) != hash(t, entry(en, de2)) {
		t.Error("order or spelling of alternates changes the hash")
	}
	if hash(t, entry(de, en)) == hash(t, entry(de)) {
		t.Error("a lost alternate goes unnoticed")
	}
}

func TestDuplicates_AreCountedAndPlaced(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head)
	const n = 30_000
	for i := range n {
		fmt.Fprintf(&b, "\n<url><loc>https://example.org/%d</loc></url>", i)
	}
	b.WriteString("\n<url><loc>https://example.org/17</loc></url>\n<url><loc>https://example.org/%31%37</loc></url></urlset>")
	doc, _ := read(t, b.String())
	if doc.Duplicates != 2 || doc.Entries != n+2 {
		t.Errorf("%d duplicates of %d", doc.Duplicates, doc.Entries)
	}
	var lines []int
	for _, f := range doc.Findings {
		if f.Code == "duplicate-loc" {
			lines = append(lines, f.Line)
		}
	}
	if diff := cmp.Diff([]int{n + 3, n + 4}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestDuplicates_ManyAreCounted(t *testing.T) {
	t.Parallel()
	body := head + strings.Repeat("<url><loc>https://example.org/a</loc></url>", 10_000) + "</urlset>"
	doc, _ := read(t, body)
	if doc.Duplicates != 9_999 {
		t.Errorf("%d", doc.Duplicates)
	}
	for _, f := range doc.Findings {
		if f.Code == "duplicate-loc" {
			if f.Count != 9_999 || f.Offset < int64(len(head))+43 {
				t.Errorf("%+v", f)
			}
			return
		}
	}
	t.Error("no finding")
}

func TestExtensions_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"video_full.xml", "news_full.xml", "image_full.xml", "alternate_full.xml", "pagemap.xml", "mobile.xml", "extensions_all.xml"} {
		body, f := load(t, "testdata/documents/"+name)
		seen := 0
		_, err := sitemap.NewReader(sitemap.Options{}).Read(bytes.NewReader(body), f.Request.base(), f.Request.meta(), sitemap.Visitor{
			Declaration: func(d *sitemap.Declaration) error {
				if d.HasExtensions() {
					seen++
				}
				return check(t, d)
			},
		})
		if err != nil || seen == 0 {
			t.Errorf("%s: %v, %d entries with extensions", name, err, seen)
		}
	}
}

func TestParseExtensions_TakesWhatADatabaseMadeOfIt(t *testing.T) {
	t.Parallel()
	e, err := sitemap.ParseExtensions([]byte(`{"videos": [{"live": false, "title": "t", "rating": 4.20, "duration": "600", "content_loc": "https://example.org/v"}], "mobile": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"videos":[{"title":"t","content_loc":"https://example.org/v","duration":600,"rating":4.2,"live":false}],"mobile":{}}`
	if got := string(e.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := sitemap.ParseExtensions([]byte(`{"videos": 3}`)); err == nil {
		t.Error("nonsense is taken")
	}
	if e, err := sitemap.ParseExtensions(nil); err != nil || e.Images != nil {
		t.Error("nothing is no error")
	}
}

func TestConfidence_KeepsToTheOntology(t *testing.T) {
	t.Parallel()
	complete, _ := read(t, head+"<url><loc>https://example.org/a</loc></url></urlset>")
	partial, _ := read(t, head+"<url><loc>https://example.org/a</loc></url>")
	none, _ := read(t, "<html>")
	want := sitemap.Confidence{Type: 1, Document: .99, Loc: .99, Extension: .98, Lastmod: .9, Membership: .85, Identity: .75}
	if diff := cmp.Diff(want, complete.Confidence()); diff != "" {
		t.Error(diff)
	}
	want.Document, want.Membership, want.Identity = .6, .6, .6
	if diff := cmp.Diff(want, partial.Confidence()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(sitemap.Confidence{}, none.Confidence()); diff != "" {
		t.Error(diff)
	}
}

// TestSemanticHash_WorkedExample reads the example of docs/semantic-hash.md and looks for its figures in the page.
func TestSemanticHash_WorkedExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/semantic-hash.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```xml\n")
	example, table, _ := strings.Cut(example, "```\n")
	var want []string
	doc, err := sitemap.NewReader(sitemap.Options{}).Read(strings.NewReader(example), base, sitemap.Meta{}, sitemap.Visitor{
		Declaration: func(d *sitemap.Declaration) error {
			want = append(want, fmt.Sprintf("%x", d.Fingerprint))
			return nil
		},
	})
	if err != nil || len(want) != 2 {
		t.Fatal(err, want)
	}
	instant, _ := sitemap.ParseDate([]byte("2024-05-08T10:00:00+02:00")), 0
	claims := fmt.Sprintf("75 4c 04 %04x %04x %04x %04x 50 0007a120 58", instant.Instant>>48, instant.Instant>>32&0xffff,
		instant.Instant>>16&0xffff, instant.Instant&0xffff)
	for _, figure := range append(want, doc.SemanticHex(), claims) {
		if !strings.Contains(table, "`"+figure+"`") {
			t.Errorf("the page does not say %s", figure)
		}
	}
}
