package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// documentsNamed is how many documents a statement names at most; with more it reads all and the reader sorts them out.
const documentsNamed = 1000

// sortColumns are the columns of declarations d and of ended cases c, one row a page, by which lists are sorted.
var sortColumns = map[string]struct{ listed, removed string }{
	models.SortURL:       {"1", "1"},
	models.SortLastmod:   {"d.lastmod", "lastmod"}, // of the last declaration
	models.SortFirstSeen: {"d.first_run", "MAX(c.first_run)"},
	models.SortChanged:   {"d.from_run", "MAX(c.decided_run)"},
	models.SortPriority:  {"d.priority", "priority"},
}

// orderText is the statement that sorts what the filter selects: document (-1 for removed pages), key, and whether the column
// has no value. It may select pages that the reader leaves out, and none less. Both databases put NULL first.
func (r *pageReader) orderText() (string, []any) {
	var parts []string
	var args []any
	if r.state != models.StateRemoved {
		text, more := r.orderListed()
		parts, args = append(parts, text), append(args, more...)
	}
	if r.state == models.StateRemoved || r.state == models.StateAll {
		text, more := r.orderRemoved()
		parts, args = append(parts, text), append(args, more...)
	}
	return "SELECT x.document, x.url_key, x.value IS NULL FROM (" + strings.Join(parts, " UNION ALL ") + ") x ORDER BY x.value, x.url, x.url_key, x.document", args
}

func (r *pageReader) orderListed() (string, []any) {
	where, args := r.where()
	if r.filter.Document != 0 {
		where += fmt.Sprintf(" AND d.document = %d", r.filter.Document)
	} else if r.filter.ObjectType != "" {
		where += r.among("", r.typed())
	}
	var unread []string
	for _, number := range slices.Sorted(slices.Values(r.order)) {
		if !r.views[number].good {
			unread = append(unread, strconv.Itoa(int(number)))
		}
	}
	switch {
	case r.state == models.StatePending || r.state == models.StateHeld:
		return r.orderCases(where), args
	case r.state == models.StateLive:
		where += r.among("NOT ", unread)
	case r.state == models.StateStale && len(unread) == 0:
		return r.orderCases(where), args
	case r.state == models.StateStale && len(unread) <= documentsNamed: // those of such documents, and those that left a window
		return r.orderRows("", where+r.among("", unread)) + " UNION ALL " + r.orderCases(where+r.among("NOT ", unread)), append(slices.Clone(args), args...)
	}
	return r.orderRows("", where), args
}

// among narrows a statement to documents, or to all but them, where that is worth while.
func (r *pageReader) among(not string, documents []string) string {
	if len(documents) == 0 || len(documents) > documentsNamed {
		return ""
	}
	return " AND d.document " + not + "IN (" + strings.Join(documents, ",") + ")"
}

// typed gives the documents that list what the filter's object type says, or an impossible one.
func (r *pageReader) typed() []string {
	var out []string
	for _, number := range slices.Sorted(slices.Values(r.order)) {
		if !r.passes(number) {
			out = append(out, strconv.Itoa(int(number)))
		}
	}
	if out == nil {
		return []string{"0"}
	}
	return out
}

// orderCases selects the listed pages with an undecided case: from the cases to the pages, because they are few.
func (r *pageReader) orderCases(where string) string {
	join := "CROSS JOIN"
	if r.store.mysql() {
		join = "STRAIGHT_JOIN"
	}
	return r.orderRows("removals c "+join+" ", fmt.Sprintf(" AND c.site_id = d.site_id AND c.site_id = %d AND c.document = d.document AND c.url_key = d.url_key"+
		" AND c.decided_run = %d AND c.valid_from <= %d AND c.valid_to > %d%s", r.site.ID, models.Open, r.run, r.run, where))
}

func (r *pageReader) orderRows(from, where string) string {
	from += "declarations d"
	if r.store.mysql() {
		from += " FORCE INDEX (PRIMARY)"
	}
	return fmt.Sprintf("SELECT d.document AS document, d.url_key AS url_key, d.url AS url, %s AS value FROM %s WHERE d.site_id = %d%s",
		sortColumns[r.filter.Sort.By].listed, from, r.site.ID, where)
}

// orderRemoved selects the pages with ended cases, each once.
func (r *pageReader) orderRemoved() (string, []any) {
	value := sortColumns[r.filter.Sort.By].removed
	if r.filter.Sort.By == models.SortLastmod || r.filter.Sort.By == models.SortPriority {
		value = fmt.Sprintf("(SELECT d.%s FROM %s WHERE %s = %d AND %s = c.url_key AND d.from_run <= %d AND d.role < 2 ORDER BY d.to_run DESC, d.role LIMIT 1)",
			value, r.store.byPage(), r.store.pageColumn("site_id"), r.site.ID, r.store.pageColumn("url_key"), r.run)
	}
	address, args := r.address("c.url")
	return fmt.Sprintf("SELECT -1 AS document, c.url_key AS url_key, MAX(c.url) AS url, %s AS value FROM removals c WHERE c.site_id = %d AND c.valid_from <= %d AND c.valid_to > %d"+
		" AND c.decided_run <= %d AND c.stage IN ('%s')%s GROUP BY c.url_key", value, r.site.ID, r.run, r.run, r.run, strings.Join(removedStages, "','"), address), args
}
