package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// spans are the questions about changes that people ask, with and without a site: each names runs, a time or a page.
var spans = []string{"site_id = 1 AND run > 57", "site_id = 1 AND run = 58", "site_id = 1 AND time > '2026-01-03 09:00:00'", "site = 'example.com' AND run > 57",
	"run > 57", "time > '2026-01-03 09:00:00'", "site_id = 1 AND page_id = x'00'"}

// The feed begins with the runs and the documents that they touched, whatever it is asked for: neither the declarations nor
// the removals of a site are read for the sake of a span, and what belongs to a page is looked up by the page. On SQLite each
// step of the plan says so.
func TestViews_ReadWhatRunsTouched(t *testing.T) {
	t.Parallel()
	dsn := storetest.SQLite(t)
	storetest.Disturbed(t, handles(t, dsn)())
	views := storetest.NewViews(t, dsn)
	for _, where := range spans {
		plan := views.Plan("SELECT * FROM v1_changes WHERE " + where)
		for _, step := range plan {
			words := strings.Fields(step)
			switch {
			case words[0] == "SCAN" && words[1] != "s", strings.Contains(step, "AUTOMATIC"), strings.Contains(step, "(site_id=?)"):
				t.Errorf("%s: %s", where, step)
			case words[0] != "SEARCH":
			case (words[1] == "x" || words[1] == "y" || words[1] == "o") && !strings.Contains(step, "PRIMARY KEY (site_id=? AND url_key=?"):
				t.Errorf("%s: %s", where, step)
			}
		}
		if len(plan) < 20 {
			t.Errorf("%s: %q", where, plan)
		}
	}
}

// A question about one page reads that page, in every view that knows pages; it may ask each document of the site (o) for it.
func TestViews_ReadOnePage(t *testing.T) {
	t.Parallel()
	dsn := storetest.SQLite(t)
	storetest.Disturbed(t, handles(t, dsn)())
	views := storetest.NewViews(t, dsn)
	for _, name := range storetest.ViewNames {
		if !slices.Contains(views.Columns(name), "page_id") {
			continue
		}
		for _, step := range views.Plan("SELECT * FROM " + name + " WHERE site_id = 1 AND page_id = x'00'") {
			if strings.HasPrefix(step, "SCAN ") && !strings.HasPrefix(step, "SCAN "+name) || strings.Contains(step, "(site_id=?)") && !strings.HasPrefix(step, "SEARCH o ") {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

// explained is one table of a plan as MySQL and MariaDB tell it.
type explained struct{ part, table, kind, key, length string }

func explain(t *testing.T, db *sql.DB, query string) []explained {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN FORMAT=TRADITIONAL "+query) // MySQL 9 draws a tree unless told otherwise
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []explained
	for rows.Next() {
		values, to := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		of := func(name string) string { return values[slices.Index(names, name)].String }
		out = append(out, explained{of("id"), of("table"), of("type"), of("key"), of("key_len")})
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// filled makes sites so large, with a history, that a plan by an index pays.
func filled(t *testing.T, s *store.Store) {
	t.Helper()
	for _, host := range []string{"example.com", "example.net", "example.org"} {
		f := storetest.NewSite(t, s, host)
		page := func(document, i int) string { return fmt.Sprintf("https://%s/%d/%d", host, document, i) }
		run := f.Begin()
		for document := 1; document <= 6; document++ {
			f.SaveDocument(run, int32(document), models.VerdictComplete)
			var rows []models.Declaration
			for i := range 250 {
				rows = append(rows, storetest.Page(page(document, i), "1"))
			}
			f.Stage(run, int32(document), nil, rows)
		}
		f.Finish(run)
		for range 59 {
			run := f.Begin()
			document := 1 + int(run.ID)%6
			f.SaveDocument(run, int32(document), models.VerdictComplete)
			row := storetest.Page(page(document, int(run.ID)), "2")
			row.FirstRun = 1
			f.Stage(run, int32(document), []models.Key{row.Key}, []models.Declaration{row})
			var cases []models.Removal
			for i := range 10 {
				cases = append(cases, storetest.Case(run, int32(document), page(document, 100+10*(int(run.ID)/6)+i), models.StagePending))
			}
			f.SaveRemovals(run, cases...)
			f.Finish(run)
		}
	}
}

// On MySQL and MariaDB no question reads a table whole, and none about a page, or a span of changes of one site, reads all
// declarations or removals of the site: save for a run that follows a ruling, which looks for what was ruled on.
func TestViews_ReadByIndexOnMySQL(t *testing.T) {
	t.Parallel()
	dsn := storetest.MySQL(t)
	s := handles(t, dsn)()
	filled(t, s)
	db, err := s.DB().DB()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sites", "runs", "touched", "documents", "document_versions", "declarations", "removals", "findings", "rulings", "retention"} {
		if err := s.DB().Exec("ANALYZE TABLE " + table).Error; err != nil {
			t.Fatal(err)
		}
	}
	views := storetest.NewViews(t, dsn)
	const site = "8" // bytes of a key that are used: the site alone
	check := func(name, where string, narrow bool) {
		plan := explain(t, db, "SELECT * FROM "+name+" WHERE "+where)
		for _, step := range plan {
			small := slices.Contains([]string{"s", "k", "g"}, step.table) // sites, retention, rulings: a handful of rows
			ruled := step.table == "c" && slices.ContainsFunc(plan, func(other explained) bool { return other.part == step.part && other.table == "g" })
			runs := name == "v1_changes" && (step.table == "r" || step.table == "q") || step.table == "o" // and documents
			switch {
			case strings.HasPrefix(step.table, "<") || small || step.kind == "":
			case step.kind == "ALL" || step.kind == "index", narrow && step.length == site && !ruled && !runs:
				t.Errorf("%s WHERE %s: %+v", name, where, step)
			}
		}
	}
	for _, name := range storetest.ViewNames {
		check(name, "site_id = 1", false)
		if slices.Contains(views.Columns(name), "page_id") {
			check(name, "site_id = 1 AND page_id = x'00112233445566778899aabbccddeeff'", true)
		}
	}
	for _, where := range spans {
		check("v1_changes", where, strings.Contains(where, "site_id"))
	}
}
