package export_test

import (
	"io"
	"testing"

	"github.com/sitemapd/sitemapd/internal/export"
)

// BenchmarkFormats writes pages of which a tenth has extension blocks; one operation is one page.
func BenchmarkFormats(b *testing.B) {
	pages := append(everything(b).pages, numbered(91)...)
	for _, f := range export.Formats() {
		b.Run(f.Name, func(b *testing.B) {
			b.ReportAllocs()
			e, err := f.New(io.Discard, export.Options{})
			if err != nil {
				b.Fatal(err)
			}
			for n := 0; b.Loop(); n++ {
				if f.Name == "sitemap" && n%50_000 == 49_999 { // a document is full
					if e, err = f.New(io.Discard, export.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				if err := e.Write(&pages[n%len(pages)]); err != nil {
					b.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
