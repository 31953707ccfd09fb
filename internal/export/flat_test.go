package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
)

func records(t testing.TB, text []byte, comma rune) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.Comma = comma
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// at is the place of a column.
func at(t testing.TB, name string) int {
	t.Helper()
	for i, have := range export.Columns() {
		if have == name {
			return i
		}
	}
	t.Fatalf("no column %s", name)
	return 0
}

func TestCSV_HoldsWhatPagesSay(t *testing.T) {
	t.Parallel()
	pages := goldenPages(t)
	rows := records(t, encode(t, "csv", export.Options{}, pages), ',')
	if diff := cmp.Diff(export.Columns(), rows[0]); diff != "" {
		t.Errorf("heading (-want +got):\n%s", diff)
	}
	if len(rows) != len(pages)+1 {
		t.Fatalf("%d rows of %d pages", len(rows), len(pages))
	}
	for i := range pages {
		row := rows[i+1]
		if row[0] != pages[i].URL || row[1] != string(pages[i].State) {
			t.Errorf("row %d is %v", i, row[:2])
		}
		for name, want := range map[string]json.RawMessage{"alternates": pages[i].Alternates, "images": pages[i].Images,
			"videos": pages[i].Videos, "news": pages[i].News, "mobile": pages[i].Mobile, "pagemap": pages[i].PageMap} {
			if got := row[at(t, name)]; !sameJSON(got, string(want)) {
				t.Errorf("%s of %s is %s, want %s", name, pages[i].URL, got, want)
			}
		}
	}
	for name, want := range map[string]string{"images_count": "3", "videos_count": "0", "priority": "0.123457", "first_image": "https://example.org/i/1.jpg?w=1&h=2",
		"lastmod_raw": "2026-11-30T09:15:00+01:00", "lastmod_instant": "2026-11-30T08:15:00Z", "lastmod_precision": "second", "lastmod_zone": "true"} {
		if got := rows[1][at(t, name)]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := rows[2][at(t, "priority")]; got != "0" {
		t.Errorf("a declared priority of 0 is %q", got)
	}
	if got := rows[3][at(t, "priority")]; got != "" {
		t.Errorf("a priority that was not declared is %q", got)
	}
}

func sameJSON(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

// A cell never begins with what a spreadsheet calculates, and what follows the apostrophe is what was there.
func TestCSV_HostileCellsAreHarmless(t *testing.T) {
	t.Parallel()
	pages := hostilePages(t)
	for _, comma := range []byte{',', ';', '\t'} {
		text := encode(t, "csv", export.Options{Comma: comma}, pages)
		rows := records(t, text, rune(comma))
		if len(rows) != len(pages)+1 {
			t.Fatalf("separator %q: %d rows of %d pages", comma, len(rows), len(pages))
		}
		for i, row := range rows[1:] {
			for j, cell := range row {
				if dangerous(cell) {
					t.Errorf("separator %q: %s is %q", comma, rows[0][j], cell)
				}
			}
			want := strings.ReplaceAll(hostile[i], "\r\n", "\n") // encoding/csv folds them
			if got := row[0]; got != want && got != "'"+want {
				t.Errorf("separator %q: %q became %q", comma, want, got)
			}
			// In another country's spreadsheet other characters separate. JSON survives that.
			for _, name := range []string{"images", "videos", "news", "pagemap"} {
				cell := row[at(t, name)]
				if strings.Contains(cell, ";") {
					t.Errorf("separator %q: a semicolon in %s: %s", comma, name, cell)
				}
				for _, part := range strings.Split(cell, ",") {
					if comma != ',' && dangerous(part) {
						t.Errorf("separator %q: %s falls apart into %s", comma, name, part)
					}
				}
			}
		}
	}
}

func dangerous(cell string) bool {
	return regexp.MustCompile(`^[=+\-@\t\r\n|%\x00＝＋－＠]`).MatchString(cell)
}

func TestNDJSON_IsTheContractsPage(t *testing.T) {
	t.Parallel()
	pages := append(goldenPages(t), hostilePages(t)...)
	lines := bytes.Split(bytes.TrimSuffix(encode(t, "ndjson", export.Options{}, pages), []byte("\n")), []byte("\n"))
	if len(lines) != len(pages) {
		t.Fatalf("%d lines of %d pages", len(lines), len(pages))
	}
	for i, line := range lines[:10] {
		var got models.Page
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pages[i], got); diff != "" {
			t.Errorf("line %d (-page +line):\n%s", i, diff)
		}
	}
}

func workbook(t testing.TB, b []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestXLSX_HoldsWhatCSVHolds(t *testing.T) {
	t.Parallel()
	pages := goldenPages(t)
	want := records(t, encode(t, "csv", export.Options{}, pages), ',')
	got, err := workbook(t, encode(t, "xlsx", export.Options{}, pages)).GetRows("Pages", excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			cell := ""
			if j < len(got[i]) {
				cell = got[i][j]
			}
			if cell != strings.TrimPrefix(want[i][j], "'") && !sameJSON(cell, want[i][j]) {
				t.Errorf("row %d, %s: %q, want %q", i, want[0][j], cell, want[i][j])
			}
		}
	}
}

func TestXLSX_HostileTextsAreTextCells(t *testing.T) {
	t.Parallel()
	b := encode(t, "xlsx", export.Options{}, hostilePages(t))
	book := workbook(t, b)
	for i, text := range hostile {
		cell := "A" + strconv.Itoa(i+2)
		if formula, err := book.GetCellFormula("Pages", cell); err != nil || formula != "" {
			t.Errorf("%q is the formula %q, %v", text, formula, err)
		}
		if kind, err := book.GetCellType("Pages", cell); err != nil || kind != excelize.CellTypeInlineString {
			t.Errorf("%q is of type %v, %v", text, kind, err)
		}
		want := strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
				return 0xfffd
			}
			return r
		}, text)
		if got, err := book.GetCellValue("Pages", cell); err != nil || got != want && text != "\xff\xfe" {
			t.Errorf("%q became %q, %v", want, got, err)
		}
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := z.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, sheet)
	if bytes.Contains(sheet, []byte("<f>")) {
		t.Error("there is a formula")
	}
}

func TestXLSX_SplitsIntoSheets(t *testing.T) {
	t.Parallel()
	book := workbook(t, encode(t, "xlsx", export.Options{SheetRows: 1001}, numbered(2500)))
	if diff := cmp.Diff([]string{"Pages", "Pages 2", "Pages 3"}, book.GetSheetList()); diff != "" {
		t.Fatalf("sheets (-want +got):\n%s", diff)
	}
	for i, want := range []int{1001, 1001, 501} {
		rows, err := book.GetRows(book.GetSheetList()[i])
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != want || rows[0][0] != "url" {
			t.Errorf("sheet %d has %d rows, want %d, the first %v", i+1, len(rows), want, rows[0])
		}
	}
}

func TestXLSX_SaysWhatACellCannotHold(t *testing.T) {
	t.Parallel()
	pages := numbered(1)
	pages[0].Images = []byte(`[{"loc":"https://example.org/` + strings.Repeat("a", 40_000) + `"}]`)
	rows, err := workbook(t, encode(t, "xlsx", export.Options{}, pages)).GetRows("Pages")
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[1][at(t, "images")]; got != "40032 characters, more than a cell holds: see another format" {
		t.Errorf("the cell says %.100q", got)
	}
}

// parquetPage reads a few columns by name, as another program would.
type parquetPage struct {
	URL      string          `parquet:"url"`
	Instant  *time.Time      `parquet:"lastmod_instant,optional,timestamp(microsecond)"`
	Priority *float64        `parquet:"priority,optional"`
	Images   int32           `parquet:"images_count"`
	Videos   json.RawMessage `parquet:"videos,optional,json"`
	ToRun    *int64          `parquet:"to_run,optional"`
	Listings []string        `parquet:"listings,list"`
}

func TestParquet_HoldsWhatPagesSay(t *testing.T) {
	t.Parallel()
	pages := append(goldenPages(t), numbered(500)...)
	b := encode(t, "parquet", export.Options{}, pages)
	file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range file.Schema().Fields() {
		names = append(names, field.Name())
	}
	if diff := cmp.Diff(export.Columns(), names); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	rows, err := parquet.Read[parquetPage](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(pages) {
		t.Fatalf("%d rows of %d pages", len(rows), len(pages))
	}
	for i := range pages {
		p, r := &pages[i], &rows[i]
		same := r.URL == p.URL && (r.Instant == nil) == (p.Lastmod == nil) && cmp.Equal(r.Priority, p.Priority) &&
			cmp.Equal(r.ToRun, p.ToRun) && len(r.Videos) == len(p.Videos) && len(r.Listings) == len(p.Listings)
		if same && p.Lastmod != nil {
			same = r.Instant.Equal(p.Lastmod.Instant)
		}
		if !same {
			t.Fatalf("row %d is %+v of %s", i, r, p.URL)
		}
	}
	if rows[0].Images != 3 || !sameJSON(string(rows[1].Videos), string(pages[1].Videos)) {
		t.Errorf("%d images, videos %s", rows[0].Images, rows[1].Videos)
	}
}

func TestFormats_RefuseWhatTheyCannotDo(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]export.Options{
		"xlsx": {Gzip: true}, "parquet": {Gzip: true}, "csv": {Comma: 'x'}, "sitemap": {MaxEntries: 50_001}, "sitemap-zip": {MaxBytes: 50<<20 + 1},
		"ndjson": {SheetRows: 1},
	} {
		f, _ := export.Find(name)
		var invalid *models.InvalidError
		if _, err := f.New(io.Discard, o); !errors.As(err, &invalid) {
			t.Errorf("%s with %+v: %v", name, o, err)
		}
	}
	if _, found := export.Find("pdf"); found {
		t.Error("pdf is found")
	}
	for file, want := range map[string]string{"a.csv": "csv", "A.CSV.gz": "csv", "a.xml": "sitemap", "a.xml.gz": "sitemap", "a.xlsx": "xlsx", "a.zip": "sitemap-zip",
		"a.xlsx.gz": "", "a.txt": "", "csv": ""} {
		if f, _, _ := export.ForFile(file); f.Name != want {
			t.Errorf("%s is for %q, want %q", file, f.Name, want)
		}
	}
}

// A block that is not JSON is damage in the database: it is said, not passed on.
func TestFormats_SayWhichPageCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		e, err := f.New(io.Discard, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		page := numbered(1)[0]
		page.Images = []byte(`[{"loc":`)
		if err := e.Write(&page); err == nil || f.Name != "ndjson" && !strings.Contains(err.Error(), page.URL) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
