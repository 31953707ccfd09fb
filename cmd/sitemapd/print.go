package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// printer writes rows in the chosen format as they come, so that a site of a million pages is never in memory.
type printer struct {
	w       io.Writer
	format  string
	columns []string
	table   *tabwriter.Writer
	csv     *csv.Writer
	json    *json.Encoder
	rows    int
}

func (a *app) printer(columns ...string) *printer {
	p := &printer{w: a.out, format: a.format, columns: columns}
	switch p.format {
	case "table":
		p.table = tabwriter.NewWriter(a.out, 2, 4, 2, ' ', 0)
		fmt.Fprintln(p.table, strings.ToUpper(strings.Join(columns, "\t")))
	case "csv":
		p.csv = csv.NewWriter(a.out)
		_ = p.csv.Write(columns)
	default:
		p.json = json.NewEncoder(a.out)
		p.json.SetEscapeHTML(false)
	}
	return p
}

// row writes one value: as JSON, or by its cells in the order of the columns.
func (p *printer) row(value any, cells ...string) error {
	p.rows++
	switch p.format {
	case "ndjson":
		return p.json.Encode(value)
	case "json":
		lead := ",\n "
		if p.rows == 1 {
			lead = "["
		}
		if _, err := io.WriteString(p.w, lead); err != nil {
			return err
		}
		text, err := marshal(value)
		if err != nil {
			return err
		}
		_, err = p.w.Write(text)
		return err
	case "csv":
		for i, cell := range cells {
			cells[i] = inert(cell)
		}
		return p.csv.Write(cells)
	}
	for i, cell := range cells {
		cells[i] = plain(cell)
	}
	_, err := fmt.Fprintln(p.table, strings.Join(cells, "\t"))
	return err
}

// close ends the output.
func (p *printer) close() error {
	switch p.format {
	case "table":
		return p.table.Flush()
	case "csv":
		p.csv.Flush()
		return p.csv.Error()
	case "json":
		if p.rows == 0 {
			_, _ = io.WriteString(p.w, "[")
		}
		_, err := io.WriteString(p.w, "]\n")
		return err
	}
	return nil
}

func marshal(value any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return []byte(strings.TrimRight(b.String(), "\n")), nil
}

// object writes one value: indented JSON for json, one line for ndjson, else lines made by table.
func (a *app) object(value any, table func(w io.Writer)) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	switch a.format {
	case "json":
		e.SetIndent("", " ")
		return e.Encode(value)
	case "ndjson":
		return e.Encode(value)
	}
	table(a.out)
	return nil
}

// inert keeps a spreadsheet from taking a cell for a formula (OWASP: CSV injection).
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// plain keeps control characters of remote texts from reaching a terminal.
func plain(cell string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return '�'
		}
		return r
	}, cell)
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func lastmodText(l *models.Lastmod) string {
	if l == nil {
		return ""
	}
	return l.Raw
}
