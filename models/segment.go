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

// PageFilter reads the segment's filter; relative days count from now.
func (s *Segment) PageFilter(now time.Time) (PageFilter, error) {
	query, err := url.ParseQuery(s.Filter)
	if err != nil {
		return PageFilter{}, Invalid("filter", "the query of an inventory's address, such as contains=/blog/", "the segment %s has no readable filter", s.Name)
	}
	return ParsePageFilter(query, now)
}

// segmentParameters are what a segment may hold: what it selects must not hang on a moment.
var segmentParameters = []string{"state", "contains", "prefix", "document", "lastmod_from", "lastmod_to", "language", "title", "extension", "first_from"}

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
			return f, Invalid(bound.name, "for example 2026-11-30, 2026-11-30T12:00:00Z or -90d for 90 days ago", "not a time")
		}
		*bound.into = &at
	}
	return f, nil
}

// ParseMoment reads RFC 3339, a day, which begins at midnight UTC, or -90d: midnight UTC of the day so many days before now.
func ParseMoment(text string, now time.Time) (time.Time, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok && strings.HasPrefix(days, "-") {
		n, err := strconv.Atoi(days[1:])
		if err != nil || n < 0 || n > 36500 {
			return time.Time{}, false
		}
		return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -n), true
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UTC(), true
	}
	at, err := time.Parse(time.DateOnly, text)
	return at, err == nil
}
