package canonical

import (
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
)

// PathTemplate reduces a URL to the template that made it, as far as its path
// shows: dates, numbers and slugs become words in braces. Faults are grouped
// by it, because they are mended in templates, not in pages.
func PathTemplate(page string) string {
	u, err := url.Parse(page)
	if err != nil || u.Path == "" {
		return "/"
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) == 1 && parts[0] == "" {
		return "/"
	}
	const most = 8
	if len(parts) > most {
		parts = append(parts[:most], "...")
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		switch {
		case err == nil && len(p) == 4 && n >= 1990 && n < 2100:
			parts[i] = "{year}"
		case err == nil && i > 0 && parts[i-1] == "{year}" && n >= 1 && n <= 12:
			parts[i] = "{month}"
		case err == nil && i > 0 && parts[i-1] == "{month}" && n >= 1 && n <= 31:
			parts[i] = "{day}"
		case err == nil:
			parts[i] = "{n}"
		case i == len(parts)-1 && p != "...":
			parts[i] = "{slug}"
		}
	}
	template := "/" + strings.Join(parts, "/")
	if strings.HasSuffix(u.Path, "/") {
		template += "/"
	}
	if u.RawQuery != "" {
		var names []string
		for name := range u.Query() {
			names = append(names, name)
		}
		sort.Strings(names)
		template += "?" + strings.Join(names[:min(len(names), most)], "&")
	}
	return template
}

// FindingColumns are the columns of the report, in CSV and NDJSON alike.
var FindingColumns = []string{"id", "code", "report", "severity", "weight", "page", "template", "target", "text", "evidence", "place", "line", "offset", "rule",
	"first_seen", "last_seen", "confirmed", "state", "do"}

// Tracked is a finding over time.
type Tracked struct {
	Finding   Finding
	FirstSeen time.Time
	LastSeen  time.Time
	Confirmed int    // looks that found it
	State     string // new, open, fixed, reopened
}

// Row gives the values of FindingColumns.
func (t *Tracked) Row() []string {
	f := &t.Finding
	k, _ := FindingKindOf(f.Code)
	return []string{f.ID(), f.Code, k.Report, string(f.Severity), k.Weight, f.Page, PathTemplate(f.Page), f.Target, f.Text, f.Evidence, string(f.Place),
		strconv.Itoa(f.Line), strconv.Itoa(f.Offset), f.Rule, t.FirstSeen.UTC().Format(time.RFC3339), t.LastSeen.UTC().Format(time.RFC3339),
		strconv.Itoa(t.Confirmed), t.State, k.Do}
}

// OfListing says whether a finding is about a page's place in a sitemap: one that left it cannot have the fault, whatever
// the page answers.
func OfListing(code string) bool {
	return strings.HasPrefix(code, "sitemap-lists-") || code == FindingListedUndeclared
}

// Follow puts the findings of one look at a page on the page's track record.
// A look that proves nothing (Reading.Clean is false) fixes nothing: call it
// with looked false, and only what it found is noted.
func Follow(before []Tracked, found []Finding, looked bool, at time.Time) []Tracked {
	now := map[string]Finding{}
	var order []string
	for _, f := range found {
		id := f.ID()
		if _, ok := now[id]; !ok {
			order = append(order, id)
		}
		now[id] = f
	}
	var out []Tracked
	for _, t := range before {
		f, ok := now[t.Finding.ID()]
		switch {
		case ok:
			delete(now, f.ID())
			if t.Confirmed++; t.State == "fixed" {
				t.State = "reopened"
			} else {
				t.State = "open"
			}
			t.Finding, t.LastSeen = f, at
		case looked:
			t.State = "fixed"
		}
		out = append(out, t)
	}
	for _, id := range order {
		if f, ok := now[id]; ok {
			out = append(out, Tracked{Finding: f, FirstSeen: at, LastSeen: at, Confirmed: 1, State: "new"})
		}
	}
	return out
}
