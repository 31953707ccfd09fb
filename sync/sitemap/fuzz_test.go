package sitemap_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/sitemap"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// limits keep one execution short.
var limits = sitemap.Options{MaxInflated: 1 << 20, MaxToken: 64 << 10, MaxProlog: 16 << 10}

func seeds(f *testing.F) {
	for _, name := range documents(f) {
		if body, err := os.ReadFile(name); err == nil && len(body) < 20_000 {
			f.Add(body)
		}
	}
}

var (
	quickReaders = sync.Pool{New: func() any { return sitemap.NewReader(limits) }}
	longReaders  = sync.Pool{New: func() any {
		r := sitemap.NewReader(limits)
		r.TakeTheLongWay()
		return r
	}}
)

// FuzzRead: whatever comes, the reader ends without a panic, says the same however the bytes arrive and whichever way
// it takes, and delivers only what the rest of the program can rely on.
func FuzzRead(f *testing.F) {
	seeds(f)
	meta := sitemap.Meta{Status: 200}
	f.Fuzz(func(t *testing.T, body []byte) {
		quick, long := quickReaders.Get().(*sitemap.Reader), longReaders.Get().(*sitemap.Reader)
		defer quickReaders.Put(quick)
		defer longReaders.Put(long)
		first := quick.ReadReport(bytes.NewReader(body), base, meta)
		if (first.Verdict == "complete") != (first.Reason == "") {
			t.Errorf("%v with reason %q", first.Verdict, first.Reason)
		}
		pieces := quick.ReadReport(iotest.HalfReader(bytes.NewReader(body)), base, meta)
		if diff := differ(t, first, pieces); diff != "" {
			t.Errorf("in pieces it reads differently:\n%s", diff)
		}
		if diff := differ(t, first, long.ReadReport(bytes.NewReader(body), base, meta)); diff != "" {
			t.Errorf("the long way (+) reads differently:\n%s", diff)
		}
		_, err := quick.Read(bytes.NewReader(body), base, meta, sitemap.Visitor{
			Declaration: func(d *sitemap.Declaration) error { return check(t, d) },
			Child: func(c *sitemap.Child) error {
				if got := sitemap.ChildFingerprint(c.Identity, c.Lastmod); got != c.Fingerprint {
					t.Errorf("fingerprint of child %q cannot be recomputed", c.Loc)
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// differ is cmp.Diff, but quick where there is no difference.
func differ(t testing.TB, a, b *sitemap.Report) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b)
}

// check holds a declaration against what is promised of it.
func check(t *testing.T, d *sitemap.Declaration) error {
	u, problem := weburl.Parse(nil, d.Loc)
	if problem != weburl.None || !bytes.Equal(u.Identity, d.Identity) {
		t.Errorf("loc %q has identity %q, not %q: %v", d.Loc, u.Identity, d.Identity, problem)
	}
	written := sitemap.AppendExtensions(nil, d)
	if d.HasExtensions() != (len(written) > 0) {
		t.Errorf("extensions %v, written %q", d.HasExtensions(), written)
	}
	back, err := sitemap.ParseExtensions(written)
	if err != nil {
		t.Errorf("%v: %s", err, written)
	}
	if again := back.AppendJSON(nil); !bytes.Equal(again, written) {
		t.Errorf("extensions come back as\n%s\nnot\n%s", again, written)
	}
	if got := sitemap.Fingerprint(d.Identity, d.Lastmod, d.Changefreq, d.Priority, &back); got != d.Fingerprint {
		t.Errorf("fingerprint of %q cannot be recomputed from %s", d.Loc, written)
	}
	return nil
}

// FuzzAgainstEncodingXML: a well-formed urlset or index that keeps to the protocol's structure is read as encoding/xml
// reads it.
func FuzzAgainstEncodingXML(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		want, ok := reference(body)
		if !ok {
			return
		}
		var got []string
		doc, err := sitemap.NewReader(limits).Read(bytes.NewReader(body), base, sitemap.Meta{}, sitemap.Visitor{
			Declaration: func(d *sitemap.Declaration) error {
				got = append(got, string(d.Loc)+" "+string(d.Lastmod.Raw))
				return nil
			},
			Child: func(c *sitemap.Child) error {
				got = append(got, string(c.Loc)+" "+string(c.Lastmod.Raw))
				return nil
			},
		})
		if err != nil || doc.Verdict != sitemap.Complete {
			t.Fatalf("%v %v %s %v", err, doc.Verdict, doc.Reason, doc.Findings)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("encoding/xml (-) and we (+) differ:\n%s", diff)
		}
	})
}

// quoted is an absolute address between quotes or angle brackets, of which the reader takes the address alone.
var quoted = regexp.MustCompile(`(?s)^(?:"(.*)"|'(.*)'|<(.*)>|\x{201c}(.*)\x{201d}|\x{2018}(.*)\x{2019}|\x{ab}(.*)\x{bb})$`)

// address is what a loc says, as the reference takes it.
func address(text string) string {
	found := quoted.FindStringSubmatch(strings.TrimFunc(text, xmlSpace))
	if found == nil {
		return text
	}
	inner := strings.TrimFunc(strings.Join(found[1:], ""), xmlSpace)
	if scheme := strings.ToLower(inner[:min(len(inner), 8)]); !strings.HasPrefix(scheme, "http://") && scheme != "https://" {
		return text
	}
	return inner
}

const core = "http://www.sitemaps.org/schemas/sitemap/0.9"

// reference reads a document with encoding/xml; false for one that is not well-formed, or that leaves the protocol's
// structure, where judgement begins.
func reference(body []byte) (locs []string, ok bool) {
	d := xml.NewDecoder(bytes.NewReader(body))
	var path []string
	var loc, lastmod *strings.Builder
	base, _ := weburl.ParseString(nil, base)
	rooted := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return locs, rooted && len(path) == 0
		}
		if err != nil {
			return nil, false
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if token.Name.Space != core || len(token.Attr) > 8 || len(path) == 0 && rooted {
				return nil, false
			}
			where := strings.Join(path, "/")
			switch {
			case where == "" && (name == "urlset" || name == "sitemapindex"):
				rooted = true
			case where == "urlset" && name == "url", where == "sitemapindex" && name == "sitemap":
				loc, lastmod = nil, nil
			case strings.HasSuffix(where, "url") || strings.HasSuffix(where, "sitemap"):
				switch {
				case name == "loc" && loc == nil:
					loc = &strings.Builder{}
				case name == "lastmod" && lastmod == nil:
					lastmod = &strings.Builder{}
				case name == "changefreq", name == "priority":
				default:
					return nil, false
				}
			default:
				return nil, false
			}
			path = append(path, name)
		case xml.EndElement:
			path = path[:len(path)-1]
			if token.Name.Local == "url" || token.Name.Local == "sitemap" {
				if loc == nil {
					return nil, false
				}
				u, problem := weburl.ParseString(&base, address(loc.String()))
				if problem == weburl.None {
					text := ""
					if lastmod != nil {
						text = strings.Join(strings.FieldsFunc(lastmod.String(), xmlSpace), " ")
					}
					locs = append(locs, string(u.Wire)+" "+text)
				}
			}
		case xml.CharData:
			in := ""
			if len(path) > 0 {
				in = path[len(path)-1]
			}
			switch {
			case in == "loc":
				loc.Write(token)
			case in == "lastmod":
				lastmod.Write(token)
			case in == "changefreq", in == "priority":
			case len(bytes.TrimSpace(token)) > 0:
				return nil, false
			}
		case xml.Directive:
			return nil, false
		case xml.ProcInst:
			if token.Target == "xml" && bytes.IndexByte(token.Inst, '>') >= 0 { // taken for a declaration that lacks its "?"
				return nil, false
			}
		}
	}
}

func xmlSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

// TestLongWay_ReadsTheSame holds the shortcuts against the long way on every fixture and on large documents.
func TestLongWay_ReadsTheSame(t *testing.T) {
	t.Parallel()
	both := func(name string, body []byte, q request) {
		quick := sitemap.NewReader(q.options())
		long := sitemap.NewReader(q.options())
		long.TakeTheLongWay()
		want := long.ReadReport(bytes.NewReader(body), q.base(), q.meta())
		got := quick.ReadReport(bytes.NewReader(body), q.base(), q.meta())
		if diff := differ(t, want, got); diff != "" {
			t.Errorf("%s (-long way +shortcuts):\n%s", name, diff)
		}
	}
	for _, name := range documents(t) {
		body, f := load(t, name)
		if f.Request.MaxTokens == 0 { // the ways count tokens differently
			both(name, body, f.Request)
		}
	}
	for name, extra := range map[string]string{
		"plain": "", "hints": "<priority>0.5</priority>", "invalid": "<priority>9</priority>",
		"late": "<expires>x</expires><priority>0.5</priority>", "again": "<lastmod>2024-01-01</lastmod>",
	} {
		both(name, entries(3000, extra), request{})
	}
}

// TestShortcuts_AreTaken: what nearly all documents consist of is read the quick way.
func TestShortcuts_AreTaken(t *testing.T) {
	t.Parallel()
	const blocks = ` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml"`
	for _, entry := range []string{
		"<url><loc>https://example.org/2024/05/a-page_1.html</loc></url>",
		"<url><loc>https://example.org/?p=1</loc><lastmod>2024-05-08</lastmod></url>",
		"\n\t<url>\n\t\t<loc>https://example.org/a/</loc>\n\t\t<lastmod>2024-02-29T23:59:59+05:30</lastmod>\n\t</url>",
		"<url><loc>https://example.org/a/</loc><lastmod>1969-12-30T23:59:59-11:00</lastmod></url>",
		"<url><loc>https://example.org/a/</loc><lastmod>2024-05-08T08:53:11Z</lastmod><changefreq>weekly</changefreq><priority>0.64</priority></url>",
		`<url><loc>https://example.org/a/</loc><image:image> <image:loc>https://cdn.example.net/wp-content/a-1.jpg</image:loc> </image:image></url>`,
		`<url><loc>https://example.org/a/</loc><xhtml:link rel="alternate" hreflang="de-CH" href="https://example.org/de/"/><xhtml:link href="https://example.org/fr/" hreflang="x-default" rel="alternate" /></url>`,
	} {
		body := strings.Replace(head, ">", blocks+">", 2)
		body = strings.Replace(body, blocks+">", ">", 1) // of the XML declaration
		body += strings.Repeat(entry, 1000) + "</urlset>"
		r := sitemap.NewReader(sitemap.Options{})
		doc, err := r.Read(strings.NewReader(body), base, sitemap.Meta{}, sitemap.Visitor{})
		if err != nil || doc.Entries != 1000 || r.LongRead() > 1 { // the last one does not lie in full before the end
			t.Errorf("%d of %d entries took the long way: %s", r.LongRead(), doc.Entries, entry)
		}
	}
}

// FuzzDiscovery: no robots.txt, page or date makes a reader of it fail, and what they name can be fetched.
func FuzzDiscovery(f *testing.F) {
	f.Add([]byte("Sitemap: https://example.org/s.xml\nsitemap: x.org/s"))
	f.Add([]byte("<link rel=sitemap href=/s.xml><a rel='sitemap' href=\"x"))
	f.Add([]byte("2024-05-08 08:53:11 PM"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, line := range append(sitemap.ParseRobots(body, base), sitemap.LinkedSitemaps(body, base)...) {
			if _, problem := weburl.ParseString(nil, line.URL); (problem == weburl.None) != (line.URL != "") {
				t.Errorf("%+v: %v", line, problem)
			}
		}
		if l := sitemap.ParseDate(body); (l.State == sitemap.Valid) != (l.Precision != sitemap.UnknownPrecision) {
			t.Errorf("%q: %v %v", body, l.State, l.Precision)
		}
	})
}
