package models

import "time"

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
	Evidence   []byte    `json:"-"` // JSON: runs, documents and their byte hashes
	Cursor     string    `json:"-"` // place in the list of held removals
}
