package store_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// Whatever happened to a site, and whatever a run is writing at the moment: the views say what the store says.
func TestViews_SayWhatTheStoreSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ string) {
		make := storetest.SQLite
		if strings.HasSuffix(t.Name(), store.MySQL) {
			make = storetest.MySQL
		}
		storetest.ExerciseViews(t, func(t testing.TB) (func() *store.Store, *storetest.Views) {
			dsn := make(t)
			open := handles(t, dsn)
			open() // migrates
			return open, storetest.NewViews(t, dsn)
		})
	})
}

// A site that is not followed any more is in no view.
func TestViews_LeaveRemovedSitesOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		views := storetest.NewViews(t, dsn)
		site := storetest.Disturbed(t, s).Site
		for _, name := range storetest.ViewNames {
			if name != "v1_canonical_heads" && len(views.Rows("site", name, "1 = 1")) == 0 {
				t.Errorf("%s is empty before", name)
			}
		}
		if err := s.RemoveSite(t.Context(), site.ID); err != nil {
			t.Fatal(err)
		}
		for _, name := range storetest.ViewNames {
			if rows := views.Rows("site", name, "1 = 1"); len(rows) != 0 {
				t.Errorf("%s: %v", name, rows)
			}
		}
	})
}

// A question about one site reads that site alone, by an index; SQLite says so of each step of its plan.
func TestViews_ReadOneSiteByIndex(t *testing.T) {
	t.Parallel()
	dsn := storetest.SQLite(t)
	s := handles(t, dsn)()
	storetest.Disturbed(t, s)
	views := storetest.NewViews(t, dsn)
	for _, name := range storetest.ViewNames {
		for _, where := range []string{"site_id = 1", "site_id = 1 AND page_id = x'00'", "site_id = 1 AND run > 7"} {
			if words := strings.Fields(where); len(words) > 4 && !slices.Contains(views.Columns(name), words[4]) {
				continue
			}
			for _, step := range views.Plan("SELECT * FROM " + name + " WHERE " + where) {
				if strings.HasPrefix(step, "SCAN ") && !strings.HasPrefix(step, "SCAN "+name) || strings.Contains(step, "AUTOMATIC") {
					t.Errorf("%s WHERE %s: %s", name, where, step)
				}
			}
		}
	}
}

// One page is looked up by its key, in the inventory, in its history and in what the feed's parts ask of other moments.
func TestViews_LookAPageUpByItsKey(t *testing.T) {
	t.Parallel()
	dsn := storetest.SQLite(t)
	storetest.Disturbed(t, handles(t, dsn)())
	views := storetest.NewViews(t, dsn)
	for _, query := range []string{"v1_pages WHERE site_id = 1 AND page_id = x'00'", "v1_page_history WHERE site_id = 1 AND page_id = x'00'"} {
		plan := views.Plan("SELECT * FROM " + query)
		if !slices.ContainsFunc(plan, func(step string) bool {
			return strings.HasPrefix(step, "SEARCH d USING PRIMARY KEY (site_id=? AND document=? AND url_key=?")
		}) {
			t.Errorf("%s:\n%s", query, strings.Join(plan, "\n"))
		}
	}
	looked := 0
	for _, step := range views.Plan("SELECT * FROM v1_changes WHERE site_id = 1 AND run > 7") {
		switch words := strings.Fields(step); {
		case words[0] != "SEARCH":
		case words[1] == "r" && !strings.Contains(step, "(site_id=? AND run"), words[1] == "p" && !strings.Contains(step, "(site_id=? AND url_key=?"),
			(words[1] == "e" || words[1] == "n") && !strings.Contains(step, "url_key=?"), words[1] == "t" && !strings.Contains(step, "(site_id=? AND run=?"):
			t.Errorf("v1_changes: %s", step)
		case words[1] == "p":
			looked++
		}
	}
	if looked == 0 {
		t.Error("v1_changes looks nothing up by page")
	}
}

// The reading user of the views may read nothing else.
func TestViews_AreAllThatTheirReaderMayRead(t *testing.T) {
	t.Parallel()
	dsn := storetest.MySQL(t)
	_ = handles(t, dsn)()
	views := storetest.NewViews(t, dsn)
	for _, table := range []string{"sites", "tokens", "declarations"} {
		if _, err := views.DB.Exec("SELECT 1 FROM " + table); err == nil {
			t.Errorf("%s can be read", table)
		}
	}
}

// docs/sql-views.md lists exactly the columns, in their order, and its grants and examples name views that exist.
func TestViews_AreDocumentedColumnByColumn(t *testing.T) {
	t.Parallel()
	dsn := storetest.SQLite(t)
	_ = handles(t, dsn)()
	views := storetest.NewViews(t, dsn)
	docs, err := os.ReadFile("../../docs/sql-views.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(docs), "\n### ")
	var named []string
	for _, section := range sections[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		named = append(named, name)
		var columns []string
		for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (integer|text|time|number|hash|flag|key|JSON) \\|").FindAllStringSubmatch(rest, -1) {
			columns = append(columns, row[1])
		}
		if diff := cmp.Diff(views.Columns(name), columns); diff != "" {
			t.Errorf("%s (-view +docs):\n%s", name, diff)
		}
		if !strings.Contains(sections[0], "GRANT SELECT ON sitemapd."+name+" ") {
			t.Errorf("no grant for %s", name)
		}
	}
	if diff := cmp.Diff(storetest.ViewNames, named); diff != "" {
		t.Errorf("views (-known +docs):\n%s", diff)
	}
	for _, name := range regexp.MustCompile(`\bv1_\w+`).FindAllString(string(docs), -1) {
		if !slices.Contains(storetest.ViewNames, name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// The examples of docs/sql-views.md run as they are on MySQL.
func TestViews_ExamplesRun(t *testing.T) {
	t.Parallel()
	dsn := storetest.MySQL(t)
	storetest.Disturbed(t, handles(t, dsn)())
	views := storetest.NewViews(t, dsn)
	docs, err := os.ReadFile("../../docs/sql-views.md")
	if err != nil {
		t.Fatal(err)
	}
	_, examples, _ := strings.Cut(string(docs), "## Examples\n\n```sql\n")
	examples, _, _ = strings.Cut(examples, "```")
	ran := 0
	for text := range strings.SplitSeq(examples, ";\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		rows, err := views.DB.QueryContext(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		_ = rows.Close()
		ran++
	}
	if ran < 5 {
		t.Errorf("%d examples ran", ran)
	}
}

func TestViews_ShowCanonicalHeads(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		site := storetest.Disturbed(t, s).Site
		key := make([]byte, 16)
		err := s.DB().Exec(`INSERT INTO canonical_heads (site_id, url_key, url, target, edge, edge_kind, own, status, reason, listed, resolution, depth)
			VALUES (?, ?, ?, ?, ?, 'redirect', 'none', 'validated', '', 1, 'chain', 2)`, site.ID, key, "https://example.com/a", "https://example.com/b", "").Error
		if err != nil {
			t.Fatal(err)
		}
		got := storetest.NewViews(t, dsn).Rows("site, page_hash, url, target, status, reason, resolution, depth, final_hash, edge, listed", "v1_canonical_heads", "site_id = ?", site.ID)
		want := []string{"example.com | 00000000000000000000000000000000 | https://example.com/a | https://example.com/b | validated | - | chain | 2 | - | - | 1"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
