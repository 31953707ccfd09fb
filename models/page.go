package models

import (
	"encoding/json"
	"time"
)

// State of a page at one run.
type State string

// States of a page. Stale: the documents that list it could not be read completely since.
const (
	StateLive    State = "live"
	StateStale   State = "stale"
	StatePending State = "pending"
	StateHeld    State = "held"
	StateRemoved State = "removed"
	StateForeign State = "foreign"
	StateAll     State = "all" // as a filter: every state but foreign
)

// Page is one page as the inventory shows it, the contract's *Page*.
type Page struct {
	URL        string   `json:"url"`
	State      State    `json:"state"`
	Document   string   `json:"document"` // URL of the document that declares it
	Lastmod    *Lastmod `json:"lastmod,omitempty"`
	Changefreq string   `json:"changefreq,omitempty"`
	Priority   *float64 `json:"priority,omitempty"`
	// Extension blocks in the contract's shapes, as they were stored.
	Alternates json.RawMessage `json:"alternates,omitempty"`
	Images     json.RawMessage `json:"images,omitempty"`
	Videos     json.RawMessage `json:"videos,omitempty"`
	News       json.RawMessage `json:"news,omitempty"`
	Mobile     json.RawMessage `json:"mobile,omitempty"`
	PageMap    json.RawMessage `json:"pagemap,omitempty"`

	FirstSeen time.Time  `json:"first_seen"`
	LastSeen  time.Time  `json:"last_seen"`
	RemovedAt *time.Time `json:"removed_at,omitempty"`
	// FromRun and ToRun are the runs between which the page was so: in a history this state, in an inventory what is
	// declared (a page that was removed: from the run that removed it). ToRun is nil while it is.
	FromRun    int64      `json:"from_run"`
	ToRun      *int64     `json:"to_run"`
	Freshness  string     `json:"freshness"` // current_unknown, fresh, stale, changed, unavailable
	Confidence Confidence `json:"confidence"`
	Reason     string     `json:"reason,omitempty"` // why pending, held, stale or removed
	MovedTo    string     `json:"moved_to,omitempty"`
	// StaleSince is since when a stale page's document could not be read.
	StaleSince *time.Time `json:"stale_since,omitempty"`
	// Removal is what the absence of a page rests on that is pending, held or removed, or left a window, or that a person kept.
	Removal *PageRemoval `json:"removal,omitempty"`
	// Listings are the other documents that list the page too.
	Listings []string `json:"listings,omitempty"`
	Key      Key      `json:"-"`
	Cursor   string   `json:"-"`
}

// Confidence of the statements in a Page, by the sitemap ontology's table.
type Confidence struct {
	Listing    float64 `json:"listing"`           // 0.99 for a valid absolute loc, at most 0.60 when stale
	Lastmod    float64 `json:"lastmod,omitempty"` // 0.90 when declared, lowered by its track record
	Membership float64 `json:"membership"`        // at most 0.85
	Identity   float64 `json:"identity"`          // at most 0.75
}

// PageFilter selects pages of one site. The zero value selects every live page of the current run.
type PageFilter struct {
	State       State      // "" means live
	AsOf        AsOf       // zero means the current run
	URL         string     // exact URL in any spelling with the same identity (the caller computes Key)
	Key         *Key       // identity of URL
	Contains    string     // part of the URL, bytes
	Prefix      string     // start of the URL, bytes
	Document    int32      // number, 0 for any
	ObjectType  string     // what the page's document lists, see ObjectType
	Lastmod     string     // LastmodDeclared or LastmodNone
	LastmodFrom *time.Time // inclusive
	LastmodTo   *time.Time // exclusive
	Language    string     // an alternate's hreflang
	Title       string     // part of a title that is declared of the page's news, videos or images, in any case of letters
	Extension   string     // image, video, news, alternates
	Reason      string     // part of the reason, in any case of letters
	FirstFrom   *time.Time // first seen, inclusive
	Sort        PageSort   // zero: in the order of the documents
	After       string     // Page.Cursor of the last row that the caller has, of a list in the same order
	Limit       int        // 0: no limit (streams), else at most this many
}

// Lists reports whether pages of a document with this address pass the filter's object type.
func (f *PageFilter) Lists(document string) bool {
	if f.ObjectType == "" {
		return true
	}
	of := ObjectType(document)
	return of == f.ObjectType || of == "" && f.ObjectType == NoObjectType
}

// What a filter may say of a lastmod without a time. None: the page declares none, or none that can be read.
const (
	LastmodDeclared = "declared"
	LastmodNone     = "none"
)

// AsOf names a moment by run or by time; the zero value means now.
type AsOf struct {
	Run  int64
	Time time.Time
}

// IsZero reports whether the moment is now.
func (a AsOf) IsZero() bool { return a.Run == 0 && a.Time.IsZero() }
