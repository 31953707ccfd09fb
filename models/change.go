package models

import "time"

// Kinds of changes in the feed.
const (
	KindAdded    = "added"
	KindChanged  = "changed"
	KindMoved    = "moved" // other document, or old URL -> new URL (field "url")
	KindRemoved  = "removed"
	KindRestored = "restored"
	KindPending  = "pending"
	KindHeld     = "held"
	KindStale    = "stale"
	KindFresh    = "fresh"
)

// Change is one line of the change feed, the contract's *Change*.
type Change struct {
	Cursor string        `json:"cursor"`
	Run    int64         `json:"run"`
	At     time.Time     `json:"at"`
	Kind   string        `json:"kind"`
	URL    string        `json:"url"`
	Reason string        `json:"reason,omitempty"`
	Fields []FieldChange `json:"fields,omitempty"`
}

// FieldChange is one field of a changed declaration. InstantChanged is set for lastmod alone:
// false means that another text names the same moment.
type FieldChange struct {
	Field          string `json:"field"`
	Old            any    `json:"old"`
	New            any    `json:"new"`
	InstantChanged *bool  `json:"instant_changed,omitempty"`
}

// ChangeFilter selects part of a site's feed: one run, or everything after a cursor.
type ChangeFilter struct {
	Run   int64
	After string
	Kinds []string
	// Shifts includes pages that only moved to another document, which are no changes otherwise.
	Shifts bool
	// Pages, when given, keeps the changes of pages that this filter selects: address, document, lastmod, language, extension
	// and first sight count, by what was declared after the run or, of a page that left, before it.
	Pages *PageFilter
	Limit int
}
