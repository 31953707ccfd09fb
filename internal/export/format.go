package export

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/sitemapd/sitemapd/models"
)

// Encoder takes pages one by one. After an error it is of no more use.
type Encoder interface {
	// Write adds a page, which the encoder does not keep.
	Write(p *models.Page) error
	// Close completes the output. It does not close the writer below.
	Close() error
}

// Options of all formats; the zero value is usable.
type Options struct {
	Gzip  bool // compress; refused for formats that already are
	BOM   bool // CSV: begin with a byte order mark, without which Excel takes the text for its local character set
	Comma byte // CSV: the separator, ',' when zero; also ';' and tab

	SheetRows int // XLSX: rows of a sheet with its heading, at most and by default 1,048,576

	// Base is where the documents of a split sitemap will be served: an absolute URL that ends in a slash, "" for the
	// names alone, which the protocol does not allow but a person can correct.
	Base       string
	MaxEntries int   // sitemap: pages of a document, at most and by default 50,000
	MaxBytes   int64 // sitemap: bytes of a document before compression, at most and by default 50 MiB
}

// ErrTooLarge says that the pages do not fit into one sitemap document, when only one could be written.
var ErrTooLarge = errors.New("more than one sitemap document may hold")

// Format is one way to write pages to one stream.
type Format struct {
	Name        string // as people write it: csv, ndjson, xlsx, parquet, sitemap, sitemap-zip
	ContentType string
	Extension   string // of a file's name, with its dot
	Text        bool   // may be shown on a terminal
	Packed      bool   // is compressed by itself, so that gzip is refused

	open func(w io.Writer, o Options) (Encoder, error)
}

// formats in the order in which they are shown.
var formats = []Format{
	{Name: "csv", ContentType: "text/csv; charset=utf-8; header=present", Extension: ".csv", Text: true, open: newCSV},
	{Name: "ndjson", ContentType: "application/x-ndjson", Extension: ".ndjson", Text: true, open: newNDJSON},
	{Name: "xlsx", ContentType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Extension: ".xlsx", Packed: true, open: newXLSX},
	{Name: "parquet", ContentType: "application/vnd.apache.parquet", Extension: ".parquet", Packed: true, open: newParquet},
	{Name: "sitemap", ContentType: "application/xml; charset=utf-8", Extension: ".xml", Text: true, open: newDocument},
	{Name: "sitemap-zip", ContentType: "application/zip", Extension: ".zip", Packed: true, open: newArchive},
}

// Formats lists every format.
func Formats() []Format { return append([]Format(nil), formats...) }

// Names lists the formats' names as one text, for messages.
func Names() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// Find gives the format of a name.
func Find(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// ForFile gives the format that a file's name asks for, and whether it is to be compressed.
func ForFile(name string) (f Format, compressed, found bool) {
	name, compressed = strings.CutSuffix(strings.ToLower(name), ".gz")
	for _, f := range formats {
		if strings.HasSuffix(name, f.Extension) && !(f.Packed && compressed) {
			return f, compressed, true
		}
	}
	return Format{}, false, false
}

// New starts an output on w. Options that the format cannot follow are a *models.InvalidError.
func (f Format) New(w io.Writer, o Options) (Encoder, error) {
	if f.open == nil {
		return nil, models.Invalid("format", Names(), "unknown format %q", f.Name)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if !o.Gzip || f.Name == "sitemap-zip" { // whose documents are compressed one by one
		return f.open(w, o)
	}
	if f.Packed {
		return nil, models.Invalid("gzip", "leave it out", "%s is compressed by itself", f.Name)
	}
	z := newGzip(w)
	inner, err := f.open(z, o)
	if err != nil {
		return nil, err
	}
	return &compressed{inner, z}, nil
}

func (o Options) check() error {
	switch o.Comma {
	case 0, ',', ';', '\t':
	default:
		return models.Invalid("delimiter", "a comma, a semicolon or a tab", "separator %q", string(rune(o.Comma)))
	}
	if o.SheetRows < 0 || o.SheetRows == 1 || o.SheetRows > sheetRows {
		return models.Invalid("sheet_rows", fmt.Sprintf("2 to %d", sheetRows), "%d rows of a sheet", o.SheetRows)
	}
	if o.MaxEntries < 0 || o.MaxEntries > maxEntries {
		return models.Invalid("max_entries", fmt.Sprintf("1 to %d", maxEntries), "%d pages of a document", o.MaxEntries)
	}
	if o.MaxBytes < 0 || o.MaxBytes > maxBytes {
		return models.Invalid("max_bytes", fmt.Sprintf("1 to %d", maxBytes), "%d bytes of a document", o.MaxBytes)
	}
	return nil
}

// compressed ends the gzip stream around an output.
type compressed struct {
	Encoder
	z *gzip.Writer
}

func (c *compressed) Close() error {
	if err := c.Encoder.Close(); err != nil {
		return err
	}
	return c.z.Close()
}
