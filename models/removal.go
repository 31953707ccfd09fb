package models

import (
	"encoding/json"
	"time"
)

// Stages of a removal.
const (
	StagePending  = "pending"  // missing from one complete walk
	StageHeld     = "held"     // stopped by the mass guard until a person decides
	StageApproved = "approved" // a person agreed: the next complete walk that still misses it removes it
	// StageRejected: a person said that the page stays. It counts as listed, and its case stays undecided so that no new
	// one begins, until a walk sees the page again (StageRestored).
	StageRejected = "rejected"
	// Ends of a removal.
	StageRemoved  = "removed"
	StageRestored = "restored"
	StageMoved    = "moved"    // the page redirects to MovedTo, which is listed
	StageMigrated = "migrated" // the whole site moved; MovedTo is the same page there, and no addition
	// StageLeftWindow is no removal: a rolling window (news, newest N) went on. The page stays, stale.
	StageLeftWindow = "left_window"
)

// Removal is the case of one page that left its documents, from first absence to decision.
type Removal struct {
	Key        Key       `json:"-"`
	URL        string    `json:"url"`
	Document   int32     `json:"document"`
	FromRun    int64     `json:"from_run"` // first complete walk that missed the page
	FirstRun   int64     `json:"-"`        // first_run of the page's declaration, so that a return continues its history
	HeldRun    int64     `json:"held_run,omitempty"`
	DecidedRun int64     `json:"decided_run"` // Open while undecided
	Stage      string    `json:"stage"`
	Since      time.Time `json:"since"`
	AgreedRun  int64     `json:"agreed_run,omitempty"` // last complete walk that missed it too
	Reason     string    `json:"reason"`
	MovedTo    string    `json:"moved_to,omitempty"`
	MovedKey   Key       `json:"-"` // of MovedTo
	Evidence   []byte    `json:"-"` // JSON of RemovalEvidence
	Cursor     string    `json:"-"` // place in the list of held removals
}

// MarshalJSON leaves decided_run empty while nothing is decided, and adds the evidence.
func (r Removal) MarshalJSON() ([]byte, error) {
	type plain Removal
	out := struct {
		plain
		DecidedRun *int64          `json:"decided_run"`
		Evidence   json.RawMessage `json:"evidence,omitempty"`
	}{plain: plain(r)}
	if r.DecidedRun != Open {
		out.DecidedRun = &r.DecidedRun
	}
	if json.Valid(r.Evidence) {
		out.Evidence = r.Evidence
	}
	return json.Marshal(out)
}

// RemovalEvidence is what a removal rests on, for whoever asks why: each run whose walk missed the page when that mattered,
// with the document that should list it and the hash of the bytes in which it was looked for.
type RemovalEvidence struct {
	Missing []Sighting `json:"missing,omitempty"`
	Hook    bool       `json:"hook,omitempty"` // a hook said that it is gone
	Plugin  bool       `json:"plugin_inventory,omitempty" doc:"The site's own list of posts has it no more."`
	Status  int        `json:"page_status,omitempty"` // what the page itself answered
	// Control is a page that is listed, asked right after this one answered 404: where it is found, the 404 is believed.
	Control *PageAnswer `json:"control,omitempty" doc:"A page that is still listed and what it answered, asked right after this one answered 404."`
}

// PageAnswer is what a page answered when it was asked.
type PageAnswer struct {
	URL    string `json:"url"`
	Status int    `json:"status,omitempty"` // HTTP; 0: no answer, or a redirect
}

// Sighting is one complete walk without the page. A document that the index does not list any more is proved by the index.
type Sighting struct {
	Run      int64     `json:"run"`
	Walks    int       `json:"walks"` // of this run that agree
	Document string    `json:"document"`
	Verdict  string    `json:"verdict"`
	ByteHash string    `json:"byte_hash,omitempty"` // XXH3-128 of the body as it was read, in hex
	Observed time.Time `json:"observed_at"`         // when the origin said it
}

// PageRemoval is the case of a page that left its documents, as far as a Page shows it: why it is pending, held or removed.
type PageRemoval struct {
	Stage      string     `json:"stage"`    // pending, held, approved, rejected, left_window, removed, moved, migrated
	FromRun    int64      `json:"from_run"` // first complete walk that missed it
	Since      *time.Time `json:"since,omitempty"`
	HeldRun    int64      `json:"held_run,omitempty"`
	AgreedRun  int64      `json:"agreed_run,omitempty"` // the walk that confirmed it
	DecidedRun *int64     `json:"decided_run"`          // null while undecided
	RuledRun   int64      `json:"ruled_run,omitempty"`  // current when a person approved or rejected it
	RuledAt    *time.Time `json:"ruled_at,omitempty"`
	RemovalEvidence
}
