package benchreader_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/muktihari/xmltokenizer"
	"github.com/orisano/gosax"

	benchreader "github.com/sitemapd/sitemapd/scripts/bench-reader"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

const base = "https://www.example-shop.org/sitemap.xml"

var corpus = sync.OnceValue(func() map[string][]byte {
	return map[string][]byte{"core": benchreader.Core(), "yoast": benchreader.Yoast(), "rich": benchreader.Rich()}
})

func pack(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, 6)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// processor reports the processor time of a benchmark beside its wall time, which other work on the machine stretches.
func processor(b *testing.B) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	return func() { b.ReportMetric(float64(used()-start)/float64(b.N)/1e6, "cpu-ms/op") }
}

// each runs one parser over every shape; parse returns how many entries it saw.
func each(b *testing.B, parse func(*testing.B, []byte) int) {
	for _, shape := range []string{"core", "yoast", "rich"} {
		b.Run(shape, func(b *testing.B) {
			doc := corpus()[shape]
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			defer processor(b)()
			for b.Loop() {
				if n := parse(b, doc); n != benchreader.Entries {
					b.Fatalf("saw %d entries", n)
				}
			}
		})
	}
}

func reader(b *testing.B, options sitemap.Options) func(io.Reader) int {
	r := sitemap.NewReader(options)
	entries := 0
	visit := sitemap.Visitor{Declaration: func(*sitemap.Declaration) error { entries++; return nil }}
	return func(src io.Reader) int {
		entries = 0
		doc, err := r.Read(src, base, sitemap.Meta{Status: 200, ContentType: "application/xml"}, visit)
		if err != nil || doc.Verdict != sitemap.Complete {
			b.Fatal(err, doc.Reason, doc.Findings)
		}
		return entries
	}
}

// BenchmarkSitemapd is all that the product does with a document's bytes: reading, validation, hashes, duplicates.
func BenchmarkSitemapd(b *testing.B) { readAll(b, sitemap.Options{}) }

// BenchmarkSitemapdParse is reading and validation alone, as the other parsers hash nothing.
func BenchmarkSitemapdParse(b *testing.B) { readAll(b, sitemap.Options{SkipHashes: true}) }

func readAll(b *testing.B, options sitemap.Options) {
	for _, shape := range []string{"core", "yoast", "rich"} {
		b.Run(shape, func(b *testing.B) {
			read := reader(b, options)
			doc := corpus()[shape]
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			defer processor(b)()
			for b.Loop() {
				if n := read(bytes.NewReader(doc)); n != benchreader.Entries {
					b.Fatalf("saw %d entries", n)
				}
			}
		})
	}
}

func BenchmarkSitemapdGzip(b *testing.B) {
	for _, shape := range []string{"core", "yoast", "rich"} {
		b.Run(shape, func(b *testing.B) {
			read := reader(b, sitemap.Options{})
			doc := pack(corpus()[shape])
			b.SetBytes(int64(len(corpus()[shape])))
			b.ReportAllocs()
			defer processor(b)()
			for b.Loop() {
				if n := read(bytes.NewReader(doc)); n != benchreader.Entries {
					b.Fatalf("saw %d entries", n)
				}
			}
		})
	}
}

// BenchmarkGunzip is the floor of BenchmarkSitemapdGzip.
func BenchmarkGunzip(b *testing.B) {
	for _, shape := range []string{"core", "yoast", "rich"} {
		b.Run(shape, func(b *testing.B) {
			doc := pack(corpus()[shape])
			b.SetBytes(int64(len(corpus()[shape])))
			z := new(gzip.Reader)
			buf := make([]byte, 64<<10)
			defer processor(b)()
			for b.Loop() {
				if err := z.Reset(bytes.NewReader(doc)); err != nil {
					b.Fatal(err)
				}
				for {
					if _, err := z.Read(buf); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

type xmlURL struct {
	Loc        string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
	Lastmod    string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 lastmod"`
	Alternates []struct {
		Rel      string `xml:"rel,attr"`
		Hreflang string `xml:"hreflang,attr"`
		Href     string `xml:"href,attr"`
	} `xml:"http://www.w3.org/1999/xhtml link"`
	Images []struct {
		Loc string `xml:"http://www.google.com/schemas/sitemap-image/1.1 loc"`
	} `xml:"http://www.google.com/schemas/sitemap-image/1.1 image"`
}

func BenchmarkEncodingXML(b *testing.B) {
	each(b, func(b *testing.B, doc []byte) int {
		d := xml.NewDecoder(bytes.NewReader(doc))
		n := 0
		for {
			t, err := d.Token()
			if errors.Is(err, io.EOF) {
				return n
			}
			if err != nil {
				b.Fatal(err)
			}
			if s, ok := t.(xml.StartElement); ok && s.Name.Local == "url" {
				var u xmlURL
				if err := d.DecodeElement(&u, &s); err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
	})
}

// BenchmarkGosax is gosax's bare event loop: it finds the tags, and nothing is done with them.
func BenchmarkGosax(b *testing.B) {
	each(b, func(b *testing.B, doc []byte) int {
		r := gosax.NewReader(bytes.NewReader(doc))
		n := 0
		for {
			e, err := r.Event()
			if err != nil {
				b.Fatal(err)
			}
			if e.Type() == gosax.EventEOF {
				return n
			}
			if e.Type() == gosax.EventStart && len(e.Bytes) >= 4 && string(e.Bytes[:4]) == "<url" && e.Bytes[4] == '>' {
				n++
			}
		}
	})
}

func BenchmarkXMLTokenizer(b *testing.B) {
	each(b, func(b *testing.B, doc []byte) int {
		t := xmltokenizer.New(bytes.NewReader(doc))
		n := 0
		for {
			token, err := t.Token()
			if err == io.EOF {
				return n
			}
			if err != nil {
				b.Fatal(err)
			}
			if !token.IsEndElement && string(token.Name.Local) == "url" {
				n++
			}
		}
	})
}
