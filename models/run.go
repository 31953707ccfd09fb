package models

import "time"

// Causes of a run.
const (
	CauseManual  = "manual"
	CauseCron    = "cron"
	CauseHook    = "hook"
	CausePing    = "ping"
	CauseConfirm = "confirm"
	CauseRecheck = "recheck"
)

// Run is one walk and apply of one site, the contract's *Run*. Its number counts up from 1 within the site.
type Run struct {
	ID         int64      `json:"id"`
	SiteID     int64      `json:"-"`
	Site       string     `json:"site"` // the site's name
	Cause      string     `json:"cause"`
	Targeted   bool       `json:"targeted,omitempty"`
	Verdict    Verdict    `json:"verdict"`
	Reason     string     `json:"reason,omitempty"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Current    bool       `json:"current"` // readers see this run

	Documents RunDocuments `json:"documents"`
	Counts    Counts       `json:"counts"`
	// Findings of the run as a whole and of its documents: all that hold when the run itself answers; of a stored run those
	// that are new in it, at most 100.
	Findings []Finding `json:"findings"`

	Requests     int64   `json:"requests"`
	Bytes        int64   `json:"bytes"` // received on the wire
	Cached       int64   `json:"-"`     // documents that a cache on the way answered for; of stored runs not known
	SemanticHash string  `json:"semantic_hash,omitempty"`
	Triggers     []int64 `json:"triggers,omitempty"` // inbox ids that this run serves
	Error        string  `json:"error,omitempty"`    // our own failure, if that ended the run
	Baseline     bool    `json:"baseline,omitempty"` // first run of the site: everything is an addition
	LiveBefore   int64   `json:"-"`                  // the site's live count when the run began; BeginRun fills it in
}

// RunDocuments counts the documents of a run by what was done with them.
type RunDocuments struct {
	Read      int64 `json:"read"`      // body read and parsed
	Unchanged int64 `json:"unchanged"` // 304, identical bytes or equal semantic hash; part of neither Read nor Failed
	Failed    int64 `json:"failed"`    // partial, unavailable or not a sitemap
}

// Counts of pages in a run. Live, pending, held and stale are totals after the run; the others happened in it.
type Counts struct {
	Live      int64 `json:"live"` // listed pages: live in the narrow sense plus stale ones
	Added     int64 `json:"added"`
	Removed   int64 `json:"removed"`
	Changed   int64 `json:"changed"`
	Moved     int64 `json:"moved"`
	Unchanged int64 `json:"unchanged"`
	Pending   int64 `json:"pending"`
	Held      int64 `json:"held"`
	Stale     int64 `json:"stale"`
	Restored  int64 `json:"restored"`
}

// Finding is something wrong, or worth knowing, in a document, page or site.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // error, warning, info
	Document string `json:"document,omitempty"`
	Page     string `json:"page,omitempty"`
	Line     int    `json:"line,omitempty"`
	Offset   int64  `json:"offset,omitempty"`
	Text     string `json:"text"`
	Rule     string `json:"rule,omitempty"`
	FromRun  int64  `json:"from_run,omitempty"`
}

// Severities of findings.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
	SeverityInfo    = "info"
)
