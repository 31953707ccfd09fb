package models

import "time"

// Digest is what happened in a span of time, of one site or of all.
type Digest struct {
	From  time.Time    `json:"from"`
	To    time.Time    `json:"to"`
	Total SiteDigest   `json:"total"`
	Sites []SiteDigest `json:"sites"`
}

// SiteDigest is the part of a digest about one site.
type SiteDigest struct {
	ID            int64      `json:"id,omitempty"`
	Site          string     `json:"site"`
	New           bool       `json:"new,omitempty"` // its first run lies in the span: its pages are no additions
	Pages         int64      `json:"pages"`         // listed at the end
	PagesBefore   int64      `json:"pages_before"`  // listed at the beginning
	Runs          int64      `json:"runs"`
	Failed        int64      `json:"failed"` // runs that were not complete
	Added         int64      `json:"added"`
	Removed       int64      `json:"removed"`
	Changed       int64      `json:"changed"`
	Moved         int64      `json:"moved"`
	Restored      int64      `json:"restored"`
	Held          int64      `json:"held"`  // at the end
	Stale         int64      `json:"stale"` // at the end
	FindingsNew   []string   `json:"findings_new,omitempty"`
	FindingsFixed []string   `json:"findings_fixed,omitempty"`
	Alerts        int64      `json:"alerts"` // opened in the span
	LastComplete  *time.Time `json:"last_complete,omitempty"`
}
