package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sitemapd/sitemapd/models/store"
)

// statements are those that the tests of this package let SQLite compile, each once, whatever its numbers.
var statements noted

type noted struct{ texts sync.Map }

var numbers = regexp.MustCompile(`([^?\w])\d+\b`)

func (n *noted) note(text string) {
	if strings.Contains(text, "declarations") && !strings.Contains(text, "VIEW") {
		n.texts.Store(numbers.ReplaceAllString(text, "${1}7"), true)
	}
}

// wholly are parts of statements that read all declarations of a site because that is what they are asked for.
var wholly = []string{
	"SELECT d.document, CASE WHEN d.lastmod IS NULL ",                                         // how old what a site declares is
	"SELECT d.document, d.url, CASE WHEN d.lastmod IS NULL ",                                  // its directories
	"SELECT d.document, d.extensions FROM declarations d",                                     // its languages
	"SELECT d.document, SUM(CASE WHEN ",                                                       // its extensions
	"SELECT * FROM `declarations` LIMIT",                                                      // a test of the schema
	"SELECT d.document, COUNT(*) FROM declarations d",                                         // counts of an inventory
	"SELECT COUNT(*) FROM declarations WHERE site_id = ? AND to_run",                          // what is listed after a person ruled in the midst of a run
	" AS value FROM declarations d WHERE d.site_id = ",                                        // an inventory is sorted, once for all who ask
	"DELETE FROM declarations WHERE site_id = ? AND (document, url_key, from_run) IN (SELECT", // a site is purged
}

// aliases finds the names that a statement has for declarations.
var aliases = regexp.MustCompile(`\bdeclarations(?: AS)?(?: (\w+))?`)

// wide gives the statements whose plan looks declarations up by their site alone, or by nothing.
func (n *noted) wide() []string {
	dir, err := os.MkdirTemp("", "plans")
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, ctx := filepath.Join(dir, "plans.db"), context.Background()
	s, err := store.Open(ctx, "sqlite:"+path, store.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = s.Close() }()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = db.Close() }()
	var out []string
	n.texts.Range(func(key, _ any) bool {
		text := key.(string)
		if slices.ContainsFunc(wholly, func(part string) bool { return strings.Contains(text, part) }) {
			return true
		}
		names := map[string]bool{"declarations": true}
		for _, m := range aliases.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
		for _, step := range plan(ctx, db, text) {
			words := strings.Fields(step)
			if len(words) > 1 && names[words[1]] && (words[0] == "SCAN" || strings.Contains(step, "(site_id=?)")) {
				out = append(out, step+": "+text)
			}
		}
		return true
	})
	slices.Sort(out)
	return out
}

func plan(ctx context.Context, db *sql.DB, text string) []string {
	rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...) // a plan needs no values
	if err != nil {
		return []string{"SCAN declarations (" + err.Error() + ")"}
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return []string{"SCAN declarations (" + err.Error() + ")"}
		}
		out = append(out, step)
	}
	return out
}
