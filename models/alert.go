package models

import "time"

// Triggers of alert rules: what is measured. docs/alerts.md says how.
const (
	AlertRemovalsHeld       = "removals_held"       // pages whose removal waits for a person
	AlertPagesRemoved       = "pages_removed"       // in one run
	AlertPagesAdded         = "pages_added"         // in one run
	AlertPagesChanged       = "pages_changed"       // in one run
	AlertPagesStale         = "pages_stale"         // listed, but their document cannot be read
	AlertFinding            = "finding"             // findings of a code or severity
	AlertRunFailed          = "run_failed"          // runs in a row that were not complete
	AlertNotFresh           = "not_fresh"           // time since the last complete run
	AlertLastmodTrust       = "lastmod_trust"       // the lowest trust in a document's lastmod
	AlertExpectationExpired = "expectation_expired" // pages that were published and never declared
	AlertCanonicalConflict  = "canonical_conflict"  // pages that contradict themselves, open now
	AlertIncident           = "incident"            // pages that share one sudden change
)

// AlertTriggers are all of them.
var AlertTriggers = []string{AlertRemovalsHeld, AlertPagesRemoved, AlertPagesAdded, AlertPagesChanged, AlertPagesStale, AlertFinding, AlertRunFailed,
	AlertNotFresh, AlertLastmodTrust, AlertExpectationExpired, AlertCanonicalConflict, AlertIncident}

// AlertRule says what is worth a message, of which pages, from how much on, and who gets it.
type AlertRule struct {
	ID        int64         `json:"id"`
	Name      string        `json:"name"`
	Trigger   string        `json:"trigger"`
	Threshold float64       `json:"threshold"`          // reached or passed; of lastmod_trust: fallen below
	Severity  string        `json:"severity,omitempty"` // of findings: this one or worse
	Code      string        `json:"code,omitempty"`     // of findings
	Within    time.Duration `json:"-"`                  // how far back not_fresh, expectation_expired and incident look
	SiteID    int64         `json:"site_id,omitempty"`  // 0: every site
	Filter    string        `json:"filter,omitempty"`   // the inventory's query, such as prefix=…; "" for all pages
	Channels  []int64       `json:"channels"`           // that are told
	Paused    bool          `json:"paused,omitempty"`   // not looked at
	Origin    string        `json:"origin,omitempty"`   // "config" when the configuration file says what it is
	CreatedAt time.Time     `json:"created_at"`

	SilencedUntil *time.Time `json:"silenced_until,omitempty"` // nobody is told before
	SilenceReason string     `json:"silence_reason,omitempty"`
}

// Silent tells whether the rule keeps quiet at a moment.
func (r *AlertRule) Silent(at time.Time) bool {
	return r.SilencedUntil != nil && at.Before(*r.SilencedUntil)
}

// Alert is one time that a rule held for a site, from the run or moment that opened it until it held no more.
type Alert struct {
	ID          int64      `json:"id"`
	RuleID      int64      `json:"rule_id"`
	Rule        string     `json:"rule"` // its name
	Trigger     string     `json:"trigger"`
	SiteID      int64      `json:"site_id"`
	OpenedAt    time.Time  `json:"opened_at"`
	OpenedRun   int64      `json:"opened_run,omitempty"`
	ResolvedAt  *time.Time `json:"resolved_at,omitempty"`
	ResolvedRun int64      `json:"resolved_run,omitempty"`
	Value       float64    `json:"value"` // when it was opened
	Text        string     `json:"text"`
	Told        bool       `json:"told"` // somebody was sent a message of it
}

// AlertChange opens, resolves or tells one alert. Version is the state that it was decided on: another daemon's change
// in between makes it void.
type AlertChange struct {
	Rule    AlertRule
	SiteID  int64
	Version int64
	Open    bool
	Tell    bool // send a message
	Alert   Alert
}

// AlertState is whether a rule holds for a site.
type AlertState struct {
	RuleID  int64
	SiteID  int64
	Version int64
	Alert   *Alert // open now, nil for none
}

// ConflictSpan is the time during which a page contradicted itself about its canonical URL.
type ConflictSpan struct {
	URL      string
	OpenedAt time.Time
	ClosedAt *time.Time // nil while open
}

// AlertRuleSpec is what a person says of a rule; nil leaves as it is, or to what is usual for the trigger.
type AlertRuleSpec struct {
	Name      *string
	Trigger   *string
	Threshold *float64
	Severity  *string
	Code      *string
	Within    *time.Duration
	SiteID    *int64
	Filter    *string
	Channels  *[]int64
	Paused    *bool
	Origin    string
}

// AlertPreview is one message that a rule would have sent.
type AlertPreview struct {
	At     time.Time `json:"at"`
	SiteID int64     `json:"site_id"`
	Site   string    `json:"site"`
	Run    int64     `json:"run,omitempty"`
	Open   bool      `json:"open"` // false: it would have said that all is well again
	Value  float64   `json:"value"`
	Text   string    `json:"text"`
}
