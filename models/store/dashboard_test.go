package store_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// panel is the part of a Grafana panel that asks the database.
type panel struct {
	Title       string
	Description string
	Targets     []struct{ RawSQL, Format string }
}

// grafana replaces Grafana's macros and variables as its MySQL data source does, for the span of the fixtures' runs.
func grafana(text string, site int64) string {
	text = regexp.MustCompile(`\$__timeFilter\((\w+)\)`).ReplaceAllString(text, "$1 BETWEEN FROM_UNIXTIME(1735689600) AND FROM_UNIXTIME(1798761600)")
	text = regexp.MustCompile(`\$__timeGroupAlias\((\w+), ?\$__interval\)`).ReplaceAllString(text, "UNIX_TIMESTAMP($1) DIV 3600 * 3600 AS \"time\"")
	return strings.ReplaceAll(text, "$site", "'"+strconv.FormatInt(site, 10)+"'")
}

// Every query of the Grafana dashboard runs as the user that the compose file makes before any view exists, and finds
// something on a site that has something of everything.
func TestDashboard_QueriesRunAsTheReader(t *testing.T) {
	t.Parallel()
	dsn := storetest.MySQL(t)
	db := storetest.GrafanaReader(t, dsn, func(database, password string, run func(statement string)) {
		cmd := exec.Command("sh", "../../deploy/grafana/reader.sh")
		cmd.Env = append(os.Environ(), "MARIADB_DATABASE="+database, "SITEMAPD_GRAFANA_PASSWORD="+password, "MARIADB_CLIENT=cat")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for statement := range strings.SplitSeq(strings.TrimSpace(string(out)), ";\n") {
			run(strings.TrimSuffix(statement, ";"))
		}
	})
	site := storetest.Disturbed(t, handles(t, dsn)()).Site
	text, err := os.ReadFile("../../deploy/grafana/dashboards/content.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels     []panel
		Templating struct {
			List []struct{ Name, Query string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	queries := map[string]string{}
	for _, v := range board.Templating.List {
		if strings.HasPrefix(v.Query, "SELECT") {
			queries["variable "+v.Name] = v.Query
		}
	}
	for _, p := range board.Panels {
		if p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("%s has no description or no query", p.Title)
		}
		for _, target := range p.Targets {
			queries[p.Title] = target.RawSQL
		}
	}
	if len(queries) < 15 {
		t.Fatalf("%d queries", len(queries))
	}
	for title, query := range queries {
		rows, err := db.QueryContext(t.Context(), grafana(query, site.ID))
		if err != nil {
			t.Errorf("%s: %v", title, err)
			continue
		}
		found := rows.Next()
		if err := rows.Err(); err != nil || !found {
			t.Errorf("%s: finds nothing, %v", title, err)
		}
		_ = rows.Close()
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE x (y INT)"); err == nil {
		t.Error("the reader may make tables")
	}
	if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM tokens"); err == nil {
		t.Error("the reader may read tables")
	}
}
