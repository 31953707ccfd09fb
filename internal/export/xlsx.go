package export

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/models"
)

// Limits of the format (support.microsoft.com, "Excel specifications and limits").
const (
	sheetRows = 1_048_576 // with the heading
	cellChars = 32_767    // in UTF-16
	// A part of 4 GiB needs ZIP64, over which Excel is particular: a sheet ends before that.
	sheetBytes = 4<<30 - 64<<20
)

// xlsxEncoder writes a workbook as it goes, sheet after sheet, part by part. The usual libraries keep the whole archive
// in memory until its end; a workbook of text and numbers needs no more than what stands here.
//
// Texts are inline strings in cells of the format "text": no spreadsheet calculates those, not even when somebody edits
// one.
type xlsxEncoder struct {
	zip    *zip.Writer
	w      *bufio.Writer // of the open sheet
	sheets int
	max    int   // rows of a sheet
	rows   int   // of the open sheet, its heading included
	size   int64 // of the open sheet
	names  []string
	row    row
	line   []byte
	cell   []byte
}

func newXLSX(w io.Writer, o Options) (Encoder, error) {
	e := &xlsxEncoder{zip: newZip(w), max: sheetRows, w: bufio.NewWriterSize(nil, 64<<10)}
	if o.SheetRows > 0 {
		e.max = o.SheetRows
	}
	for i := range columns {
		e.names = append(e.names, columnName(i))
	}
	if err := e.part("_rels/.rels", workbookRelation); err != nil {
		return nil, err
	}
	if err := e.part("xl/styles.xml", workbookStyles); err != nil {
		return nil, err
	}
	return e, e.openSheet()
}

func (e *xlsxEncoder) Write(p *models.Page) error {
	if err := e.row.read(p); err != nil {
		return err
	}
	if e.rows >= e.max || e.size > sheetBytes {
		if err := e.closeSheet(); err != nil {
			return err
		}
		if err := e.openSheet(); err != nil {
			return err
		}
	}
	e.beginRow()
	for i := range columns {
		c := &columns[i]
		e.cell = c.value(e.cell[:0], &e.row)
		e.addCell(i, c.kind, 2)
	}
	return e.endRow()
}

// Close ends the sheet and writes the parts that name all sheets.
func (e *xlsxEncoder) Close() error {
	if err := e.closeSheet(); err != nil {
		return err
	}
	var book, relations, types strings.Builder
	for n := 1; n <= e.sheets; n++ {
		fmt.Fprintf(&book, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, sheetName(n), n, n)
		fmt.Fprintf(&relations, `<Relationship Id="rId%d" Type="%s/worksheet" Target="worksheets/sheet%d.xml"/>`, n, officeRelations, n)
		fmt.Fprintf(&types, `<Override PartName="/xl/worksheets/sheet%d.xml" ContentType="%s.worksheet+xml"/>`, n, officeTypes)
	}
	for _, part := range []struct{ name, text string }{
		{"xl/workbook.xml", fmt.Sprintf(workbookPart, book.String())},
		{"xl/_rels/workbook.xml.rels", fmt.Sprintf(workbookRelations, relations.String(), e.sheets+1)},
		{"[Content_Types].xml", fmt.Sprintf(workbookTypes, types.String())},
	} {
		if err := e.part(part.name, part.text); err != nil {
			return err
		}
	}
	return e.zip.Close()
}

// create begins a part. Without a time of change the same pages give the same bytes.
func (e *xlsxEncoder) create(name string) (io.Writer, error) {
	return e.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
}

func (e *xlsxEncoder) part(name, text string) error {
	w, err := e.create(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

func (e *xlsxEncoder) openSheet() error {
	e.sheets++
	w, err := e.create("xl/worksheets/sheet" + strconv.Itoa(e.sheets) + ".xml")
	if err != nil {
		return err
	}
	e.w.Reset(w)
	e.rows, e.size = 0, 0
	e.line = append(e.line[:0], sheetHead...)
	for i := range columns {
		e.line = fmt.Appendf(e.line, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, columns[i].width)
	}
	e.line = append(e.line, `</cols><sheetData>`...)
	if err := e.flush(); err != nil {
		return err
	}
	e.beginRow()
	for i := range columns {
		e.cell = append(e.cell[:0], columns[i].name...)
		e.addCell(i, text, 1)
	}
	return e.endRow()
}

func (e *xlsxEncoder) closeSheet() error {
	e.line = fmt.Appendf(e.line[:0], `</sheetData><autoFilter ref="A1:%s%d"/></worksheet>`, e.names[len(e.names)-1], e.rows)
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Flush()
}

func (e *xlsxEncoder) beginRow() {
	e.rows++
	e.line = append(e.line[:0], `<row r="`...)
	e.line = append(strconv.AppendInt(e.line, int64(e.rows), 10), `">`...)
}

func (e *xlsxEncoder) endRow() error {
	e.line = append(e.line, `</row>`...)
	return e.flush()
}

func (e *xlsxEncoder) flush() error {
	n, err := e.w.Write(e.line)
	e.size += int64(n)
	return err
}

// addCell writes e.cell in a style of workbookStyles: 1 a heading, 2 text. An empty cell is left out.
func (e *xlsxEncoder) addCell(i int, k kind, style int64) {
	if len(e.cell) == 0 {
		return
	}
	e.line = append(append(e.line, `<c r="`...), e.names[i]...)
	e.line = strconv.AppendInt(e.line, int64(e.rows), 10)
	if k == number {
		e.line = append(append(append(e.line, `"><v>`...), e.cell...), `</v></c>`...)
		return
	}
	if n := utf16Length(e.cell); n > cellChars {
		e.cell = fmt.Appendf(e.cell[:0], "%d characters, more than a cell holds: see another format", n)
	}
	e.line = strconv.AppendInt(append(e.line, `" s="`...), style, 10)
	e.line = append(e.line, `" t="inlineStr"><is><t xml:space="preserve">`...)
	e.line = appendSheetText(e.line, e.cell)
	e.line = append(e.line, `</t></is></c>`...)
}

// appendSheetText writes a text so that Excel, which reads _x000D_ as the character of that number, gives it back.
func appendSheetText(dst, s []byte) []byte {
	start := 0
	for i := range s {
		switch {
		case s[i] == '_' && i+6 < len(s) && s[i+1] == 'x' && s[i+6] == '_' && isHex(s[i+2:i+6]):
			dst = append(appendText(dst, s[start:i]), `_x005F_`...)
			start = i + 1
		case s[i] == '\r':
			dst = append(appendText(dst, s[start:i]), `_x000D_`...)
			start = i + 1
		}
	}
	return appendText(dst, s[start:])
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

func utf16Length(b []byte) int {
	if len(b) <= cellChars {
		return 0 // short enough in any case
	}
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if b = b[size:]; r > 0xffff {
			n++
		}
		n++
	}
	return n
}

// columnName is A, B, ... Z, AA, ...
func columnName(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return columnName(i/26-1) + string(rune('A'+i%26))
}

func sheetName(n int) string {
	if n == 1 {
		return "Pages"
	}
	return "Pages " + strconv.Itoa(n)
}
