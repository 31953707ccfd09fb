package export

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/models"
)

// csvEncoder writes RFC 4180 with line feeds. Every cell is quoted and one that a spreadsheet would take for a formula
// gets an apostrophe before it, as OWASP's page on CSV injection asks.
type csvEncoder struct {
	w     *bufio.Writer
	comma byte
	row   row
	line  []byte
	cell  []byte
	safe  []byte // memory of guardJSON
}

func newCSV(w io.Writer, o Options) (Encoder, error) {
	e := &csvEncoder{w: bufio.NewWriterSize(w, 64<<10), comma: ','}
	if o.Comma != 0 {
		e.comma = o.Comma
	}
	if o.BOM {
		e.line = append(e.line, "\ufeff"...)
	}
	for i := range columns {
		e.add(i, []byte(columns[i].name))
	}
	return e, e.flush()
}

func (e *csvEncoder) Write(p *models.Page) error {
	if err := e.row.read(p); err != nil {
		return err
	}
	for i := range columns {
		c := &columns[i]
		e.cell = c.value(e.cell[:0], &e.row)
		if c.kind == document {
			e.add(i, e.guardJSON(e.cell))
			continue
		}
		e.add(i, e.cell)
	}
	return e.flush()
}

func (e *csvEncoder) Close() error { return e.w.Flush() }

func (e *csvEncoder) flush() error {
	e.line = append(e.line, '\n')
	_, err := e.w.Write(e.line)
	e.line = e.line[:0]
	return err
}

// add quotes a cell; an empty one stays empty.
func (e *csvEncoder) add(i int, cell []byte) {
	if i > 0 {
		e.line = append(e.line, e.comma)
	}
	if len(cell) == 0 {
		return
	}
	e.line = append(e.line, '"')
	if formula(cell) {
		e.line = append(e.line, '\'')
	}
	for _, c := range cell {
		if c == '"' {
			e.line = append(e.line, '"')
		}
		e.line = append(e.line, c)
	}
	e.line = append(e.line, '"')
}

// formula tells whether a spreadsheet might calculate a cell that begins so: OWASP's list with its full-width forms, and
// what DDE and macro sheets of old begin with.
func formula(cell []byte) bool {
	first, _ := utf8.DecodeRune(cell)
	return strings.ContainsRune("=+-@\t\r\n\x00|%＝＋－＠", first)
}

// guardJSON writes separators inside JSON strings as escapes, which mean the same. A spreadsheet of a country where the
// semicolon separates would otherwise cut a hostile title in two, and calculate its second half.
func (e *csvEncoder) guardJSON(cell []byte) []byte {
	e.safe = e.safe[:0]
	inside, escaped := false, false
	for _, c := range cell {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = inside
		case c == '"':
			inside = !inside
		case inside && c == ';':
			e.safe = append(e.safe, `\u003b`...)
			continue
		case inside && c == ',' && e.comma != ',':
			e.safe = append(e.safe, `\u002c`...)
			continue
		}
		e.safe = append(e.safe, c)
	}
	return e.safe
}
