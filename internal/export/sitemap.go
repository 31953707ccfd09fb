package export

import (
	"archive/zip"
	"bufio"

	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/sitemapd/sitemapd/models"
)

// Limits of one document: the protocol's (sitemaps.org/protocol.html) and, for news, Google's.
const (
	maxEntries = 50_000
	maxBytes   = 50 << 20
	maxNews    = 1000
)

// Files takes the documents of a sitemap, one after the other: each is closed before the next is created.
type Files interface {
	Create(name string) (io.WriteCloser, error)
}

// renamer is what Files may offer so that a sitemap of one document goes without an index.
type renamer interface {
	Rename(from, to string) error
}

// sitemapEncoder writes urlsets of bounded size, and an index over them.
type sitemapEncoder struct {
	files      Files
	o          Options
	entries    int // of the open document
	news       int
	size       int64
	documents  int
	file       io.WriteCloser
	compressed *gzip.Writer
	w          *bufio.Writer
	row        row
	markup     markup
}

// NewSitemap writes sitemap-1.xml, sitemap-2.xml, ... and at last sitemap.xml, their index. If files have a method
// Rename(from, to string) error and one document is enough, that one becomes sitemap.xml. With Options.Gzip every name
// ends in .gz as well.
func NewSitemap(files Files, o Options) (Encoder, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	e := &sitemapEncoder{files: files, o: o, w: bufio.NewWriterSize(nil, 64<<10)}
	if e.o.MaxEntries == 0 {
		e.o.MaxEntries = maxEntries
	}
	if e.o.MaxBytes == 0 {
		e.o.MaxBytes = maxBytes
	}
	return e, e.begin()
}

func (e *sitemapEncoder) Write(p *models.Page) error {
	if err := e.row.read(p); err != nil {
		return err
	}
	e.markup.b = e.markup.b[:0]
	e.markup.page(p, &e.row.ext)
	news := 0
	if e.row.ext.News != nil {
		news = 1
	}
	if e.entries >= e.o.MaxEntries || e.news+news > maxNews ||
		e.entries > 0 && e.size+int64(len(e.markup.b)+len(urlsetTail)) > e.o.MaxBytes {
		if err := e.end(urlsetTail); err != nil {
			return err
		}
		if err := e.begin(); err != nil {
			return err
		}
	}
	e.entries, e.news, e.size = e.entries+1, e.news+news, e.size+int64(len(e.markup.b))
	_, err := e.w.Write(e.markup.b)
	return err
}

func (e *sitemapEncoder) Close() error {
	if err := e.end(urlsetTail); err != nil {
		return err
	}
	if r, ok := e.files.(renamer); ok && e.documents == 1 {
		return r.Rename(e.name(1), e.name(0))
	}
	return e.index()
}

// name of a document by its number; 0 is the whole.
func (e *sitemapEncoder) name(n int) string {
	name := "sitemap"
	if n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	if e.o.Gzip {
		return name + ".xml.gz"
	}
	return name + ".xml"
}

func (e *sitemapEncoder) begin() error {
	e.documents++
	if err := e.create(e.name(e.documents)); err != nil {
		return err
	}
	e.entries, e.news, e.size = 0, 0, int64(len(urlsetHead))
	_, err := e.w.WriteString(urlsetHead)
	return err
}

func (e *sitemapEncoder) create(name string) error {
	file, err := e.files.Create(name)
	if err != nil {
		return err
	}
	e.file = file
	if !e.o.Gzip {
		e.w.Reset(file)
		return nil
	}
	if e.compressed == nil {
		e.compressed = newGzip(file)
	} else {
		e.compressed.Reset(file)
	}
	e.w.Reset(e.compressed)
	return nil
}

// end completes the open document.
func (e *sitemapEncoder) end(tail string) error {
	if _, err := e.w.WriteString(tail); err != nil {
		return err
	}
	if err := e.w.Flush(); err != nil {
		return err
	}
	if e.o.Gzip {
		if err := e.compressed.Close(); err != nil {
			return err
		}
	}
	return e.file.Close()
}

func (e *sitemapEncoder) index() error {
	if e.documents > maxEntries {
		return fmt.Errorf("index %d sitemap documents: the protocol allows %d", e.documents, maxEntries)
	}
	if err := e.create(e.name(0)); err != nil {
		return err
	}
	e.markup.b = append(e.markup.b[:0], indexHead...)
	for n := 1; n <= e.documents; n++ {
		e.markup.raw("<sitemap><loc>")
		e.markup.b = appendText(e.markup.b, e.o.Base+e.name(n))
		e.markup.raw("</loc></sitemap>\n")
	}
	if _, err := e.w.Write(e.markup.b); err != nil {
		return err
	}
	return e.end(indexTail)
}

// newDocument writes one urlset to a stream. Compression is Format.New's.
func newDocument(w io.Writer, o Options) (Encoder, error) {
	o.Gzip = false
	return NewSitemap(&single{w: w}, o)
}

// single takes one document.
type single struct {
	w    io.Writer
	used bool
}

func (s *single) Create(string) (io.WriteCloser, error) {
	if s.used {
		return nil, ErrTooLarge
	}
	s.used = true
	return open{s.w}, nil
}

func (s *single) Rename(string, string) error { return nil }

// open keeps a writer open that something else closes.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// archive takes documents into a ZIP stream.
type archive struct{ zip *zip.Writer }

func (a *archive) Create(name string) (io.WriteCloser, error) {
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	return open{w}, err
}

// archiveEncoder ends the archive around a sitemap.
type archiveEncoder struct {
	Encoder
	zip *zip.Writer
}

func newArchive(w io.Writer, o Options) (Encoder, error) {
	z := newZip(w)
	inner, err := NewSitemap(&archive{z}, o)
	if err != nil {
		return nil, err
	}
	return &archiveEncoder{inner, z}, nil
}

func (a *archiveEncoder) Close() error {
	if err := a.Encoder.Close(); err != nil {
		return err
	}
	return a.zip.Close()
}
