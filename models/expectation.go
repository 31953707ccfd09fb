package models

import "time"

// Kinds of expectations.
const (
	ExpectListed  = "listed"
	ExpectGone    = "gone"
	ExpectChanged = "changed"
	ExpectMoved   = "moved"
)

// Outcomes of expectations.
const (
	OutcomeOpen    = "open"
	OutcomeMet     = "met"
	OutcomeExpired = "expired"
	// OutcomeSuperseded: a later message about the same page says something else.
	OutcomeSuperseded = "superseded"
)

// Expectation is what a trigger says should become true of one page. It is checked against what runs find, never
// taken for true.
type Expectation struct {
	SiteID      int64      `json:"-"`
	Trigger     int64      `json:"trigger"` // inbox id
	Key         Key        `json:"-"`
	URL         string     `json:"url"`
	Kind        string     `json:"kind"`
	PreviousKey Key        `json:"-"` // of a moved page, else zero
	PreviousURL string     `json:"previous_url,omitempty"`
	Modified    *time.Time `json:"modified,omitempty"` // what the message says, to the second
	OpenedAt    time.Time  `json:"opened_at"`          // when the message arrived
	OpenedRun   int64      `json:"opened_run"`         // run that first looked
	Checks      int        `json:"checks"`
	NextCheck   *time.Time `json:"next_check,omitempty"` // nil once decided
	Outcome     string     `json:"outcome"`
	DecidedRun  int64      `json:"decided_run,omitempty"`
	DecidedAt   *time.Time `json:"decided_at,omitempty"`
	Finding     string     `json:"finding,omitempty"` // published-not-declared, declared-but-gone, edge-stale
	Text        string     `json:"text,omitempty"`    // lag, layer at fault, advice
}

// Lag is the time from the message to the decision, 0 while open.
func (e *Expectation) Lag() time.Duration {
	if e.DecidedAt == nil {
		return 0
	}
	return e.DecidedAt.Sub(e.OpenedAt)
}
