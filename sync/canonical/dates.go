package canonical

import (
	"strings"
	"time"
)

// PageDate is a date that the page itself gives, to be held against lastmod.
type PageDate struct {
	From string    `json:"from"` // article:modified_time, dateModified, last-modified ...
	Raw  string    `json:"raw"`
	At   time.Time `json:"at,omitzero"` // zero if Raw is no instant
}

// dateProperties are the meta properties that hold a date of the page.
var dateProperties = map[string]bool{"article:modified_time": true, "article:published_time": true, "og:updated_time": true}

// maxDates bounds the dates kept of a page.
const maxDates = 16

func (x *extraction) date(from, raw string) {
	if len(x.ev.Dates) >= maxDates || raw == "" {
		return
	}
	d := PageDate{From: from, Raw: clip(raw, 80)}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.TrimSpace(raw)); err == nil {
			d.At = t.UTC()
			break
		}
	}
	x.ev.Dates = append(x.ev.Dates, d)
}

// Modified is when the page says it was last modified: the latest of the dates
// that speak of modification, else of publication; zero if it gives none. The
// Last-Modified field is left out, for caches and servers set it at will.
func (e *Evidence) Modified() time.Time {
	var modified, published time.Time
	for _, d := range e.Dates {
		switch d.From {
		case "article:modified_time", "og:updated_time", "dateModified":
			if d.At.After(modified) {
				modified = d.At
			}
		case "article:published_time", "datePublished":
			if d.At.After(published) {
				published = d.At
			}
		}
	}
	if modified.IsZero() {
		return published
	}
	return modified
}
