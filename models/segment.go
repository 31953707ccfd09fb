package models

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Segment is a named filter of the inventory: the same one word in lists, changes, exports, feeds and alerts.
type Segment struct {
	ID     int64  `json:"id"`
	SiteID int64  `json:"site_id" doc:"The site that it belongs to; 0 for a segment that every site has."`
	Name   string `json:"name"`
	// Filter is the inventory's query without as_of, url and page tokens, parameters sorted by name, such as
	// "contains=%2Fblog%2F&lastmod_to=-365d".
	Filter    string    `json:"filter"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// presets are segments that every site has without anybody making them. A stored one of the same name stands before it.
var presets = []Segment{
	{Name: "new this week", Filter: "first_from=-7d"},
	{Name: "not changed for a year", Filter: "lastmod_to=-365d"},
	{Name: "with images", Filter: "extension=image"},
	{Name: "with videos", Filter: "extension=video"},
	{Name: "in the news", Filter: "extension=news"},
}

// WithPresets gives the stored segments that a site has, then those that every site has by itself.
func WithPresets(stored []Segment) []Segment {
	all := append([]Segment{}, stored...)
	for _, preset := range presets {
		if !slices.ContainsFunc(all, func(g Segment) bool { return g.Name == preset.Name }) {
			all = append(all, preset)
		}
	}
	return all
}

// FindSegment finds one by its name, or by its number where no name says so. A site's own goes before one of every site.
func FindSegment(all []Segment, name string) (Segment, bool) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Segment) int { return int(min(b.SiteID, 1) - min(a.SiteID, 1)) })
	if i := slices.IndexFunc(all, func(g Segment) bool { return g.Name == name }); i >= 0 {
		return all[i], true
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if i := slices.IndexFunc(all, func(g Segment) bool { return g.ID == id }); err == nil && id > 0 && i >= 0 {
		return all[i], true
	}
	return Segment{}, false
}

// PageFilter reads the segment's filter; relative days count from now.
func (s *Segment) PageFilter(now time.Time) (PageFilter, error) {
	query, err := url.ParseQuery(s.Filter)
	if err != nil {
		return PageFilter{}, Invalid("filter", "the query of an inventory's address, such as contains=/blog/", "the segment %s has no readable filter", s.Name)
	}
	return ParsePageFilter(query, now)
}

// segmentParameters are what a segment may hold: what it selects must not hang on a moment.
var segmentParameters = []string{"state", "contains", "prefix", "document", "object_type", "lastmod", "lastmod_from", "lastmod_to", "language", "title", "extension", "first_from"}

// CleanFilter gives a filter in the one spelling that is stored, or says which part of it no segment can have.
func CleanFilter(filter string, now time.Time) (string, error) {
	query, err := url.ParseQuery(strings.TrimPrefix(filter, "?"))
	if err != nil {
		return "", Invalid("filter", "the query of an inventory's address, such as contains=/blog/", "not a query")
	}
	kept := url.Values{}
	for name, values := range query {
		value := values[0]
		switch {
		case value == "":
		case !slices.Contains(segmentParameters, name):
			return "", Invalid("filter", "any of "+strings.Join(segmentParameters, ", "), "a segment cannot hold %q", name)
		case len(values) > 1:
			return "", Invalid("filter", "each of them once", "%q is there more than once", name)
		default:
			kept.Set(name, value)
		}
	}
	if len(kept) == 0 {
		return "", Invalid("filter", "filter the inventory first, then save what you see", "a segment without a filter would be the whole site")
	}
	if _, err := ParsePageFilter(kept, now); err != nil {
		return "", err
	}
	return kept.Encode(), nil
}

// ParsePageFilter reads the inventory's query parameters; those that are none of the filter's are passed over. Key and
// AsOf are the caller's to fill: identity and runs are not known here.
func ParsePageFilter(query url.Values, now time.Time) (PageFilter, error) {
	f := PageFilter{
		State: State(query.Get("state")), URL: query.Get("url"), Contains: query.Get("contains"), Prefix: query.Get("prefix"),
		Language: query.Get("language"), Title: query.Get("title"), Extension: query.Get("extension"),
		ObjectType: query.Get("object_type"), Lastmod: query.Get("lastmod"),
	}
	var err error
	if f.Sort, err = ParsePageSort(query.Get("sort")); err != nil {
		return f, err
	}
	switch f.State {
	case "", StateLive, StateStale, StatePending, StateHeld, StateRemoved, StateForeign, StateAll:
	default:
		return f, Invalid("state", "live, stale, pending, held, removed, foreign or all", "unknown state %q", string(f.State))
	}
	switch f.Extension {
	case "", "image", "video", "news", "alternates":
	default:
		return f, Invalid("extension", "image, video, news or alternates", "unknown extension %q", f.Extension)
	}
	switch f.Lastmod {
	case "", LastmodDeclared, LastmodNone:
	default:
		return f, Invalid("lastmod", "declared or none", "unknown lastmod %q", f.Lastmod)
	}
	if text := query.Get("document"); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return f, Invalid("document", "the number of a document", "not a number")
		}
		f.Document = int32(n)
	}
	for _, bound := range []struct {
		name string
		into **time.Time
	}{{"lastmod_from", &f.LastmodFrom}, {"lastmod_to", &f.LastmodTo}, {"first_from", &f.FirstFrom}} {
		text := query.Get(bound.name)
		if text == "" {
			continue
		}
		at, ok := ParseMoment(text, now)
		if !ok {
			return f, Invalid(bound.name, "for example 2026-11-30, 2026-11-30T12:00:00Z, -90d for 90 days ago or -6m for six months ago", "not a time")
		}
		*bound.into = &at
	}
	return f, nil
}

// ParseMoment reads RFC 3339, a day, which begins at midnight UTC, or how long before today: -90d is midnight UTC of the
// day 90 days before, -6m of the same day six months before, or of that month's last one, -2y two years before.
func ParseMoment(text string, now time.Time) (time.Time, bool) {
	if at, ok := ago(text, now); ok {
		return at, true
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UTC(), true
	}
	at, err := time.Parse(time.DateOnly, text)
	return at, err == nil
}

// longestAgo bounds what lies before today, by unit: 100 years.
var longestAgo = map[byte]int{'d': 36500, 'm': 1200, 'y': 100}

func ago(text string, now time.Time) (time.Time, bool) {
	if len(text) < 3 || text[0] != '-' {
		return time.Time{}, false
	}
	unit := text[len(text)-1]
	n, err := strconv.ParseUint(text[1:len(text)-1], 10, 16)
	if err != nil || int(n) > longestAgo[unit] {
		return time.Time{}, false
	}
	today := now.UTC().Truncate(24 * time.Hour)
	switch unit {
	case 'm':
		return monthsBefore(today, int(n)), true
	case 'y':
		return monthsBefore(today, 12*int(n)), true
	}
	return today.AddDate(0, 0, -int(n)), true
}

// monthsBefore gives the same day of an earlier month, or that month's last one.
func monthsBefore(day time.Time, n int) time.Time {
	first := time.Date(day.Year(), day.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day.Day(), last)-1)
}
