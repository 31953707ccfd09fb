package models

import (
	"encoding/json"
	"time"
)

// Canonical is one line of what is known of a page's preferred URL, the contract's *Canonical*: one relationship with
// all that speaks for and against it, or, for a page without one, its status and why. Nested parts have the shapes of
// docs/verify.md.
type Canonical struct {
	SourceURL    string          `json:"source_url"`
	CanonicalURL string          `json:"canonical_url,omitempty"`
	Identifier   string          `json:"canonical_identifier,omitempty" doc:"Names source, target and method, whatever their state."`
	Method       string          `json:"declaration_method,omitempty" doc:"html_link_element, http_link_header, structured_system_configuration or inferred_from_consistent_signals; absent where nothing is declared or inferred."`
	Scope        string          `json:"relationship_scope,omitempty"`
	Status       string          `json:"status" enum:"unknown,declared,validated,conflicting,stale,superseded,invalid"`
	Reason       string          `json:"reason,omitempty"`
	Confidence   float64         `json:"confidence"`
	Rule         string          `json:"rule" doc:"Of docs/canonical-rules.md: which evidence gave the score."`
	Ruleset      string          `json:"ruleset"`
	Resolution   string          `json:"resolution" enum:"self,none,chain,loop,into_loop,conflict,too_long"`
	FinalURL     string          `json:"final_url,omitempty"`
	Depth        int             `json:"depth,omitempty"`
	LoopID       string          `json:"loop_id,omitempty"`
	Hints        []string        `json:"hints,omitempty"`
	Signals      json.RawMessage `json:"signals" doc:"Every statement found, by kind; no kind speaks for another."`
	Validation   json.RawMessage `json:"validation" doc:"What was found out about the target."`
	Conflict     json.RawMessage `json:"conflict,omitempty"`
	Candidates   json.RawMessage `json:"candidates,omitempty" doc:"What weak or single signals name; never relationships."`
	Head         json.RawMessage `json:"document_head,omitempty"`
	Robots       json.RawMessage `json:"robots,omitempty"`
	Remarks      json.RawMessage `json:"remarks,omitempty"`
	Reading      string          `json:"reading" doc:"What kind of look the last one was."`
	SourceStatus int             `json:"source_status,omitempty"`
	ValidFrom    *time.Time      `json:"valid_from" doc:"Of a page without a relationship: since when its looks told this; null before the first."`
	ValidUntil   *time.Time      `json:"valid_until" doc:"null while current."`
	ObservedAt   *time.Time      `json:"observed_at" doc:"Last look that found it, or that found none."`
	Provenance   json.RawMessage `json:"provenance"`
	Cursor       string          `json:"-"`
}

// CanonicalFilter selects lines of one site. Its fields are the inputs of the ontology's query model; empty ones match
// everything.
type CanonicalFilter struct {
	Source         string
	Target         string
	Method         string
	TargetStatus   int
	RedirectTarget string
	Sitemap        string // a loc
	OpenGraph      string
	Schema         string
	At             time.Time // what was on record then: relationships, and pages that looks had found without any
	Status         string
	Resolution     string
	Unlisted       bool   // also pages that no sitemap lists: targets, and those that left
	After          string // Cursor of the last line that the caller has
	Limit          int    // of lines, 0 for all
}

// Classes of looks, in the order of work.
const (
	LookHook   = 0 // a hook named the page
	LookMoved  = 1 // its lastmod moved, or it is new in the sitemap
	LookTarget = 2 // a target to be validated, trouble to be seen again, a page that left
	LookFirst  = 3 // never looked at
	LookClock  = 4
)

// CanonicalHead is the row that lists and joins read for a URL. Zero keys mean none.
type CanonicalHead struct {
	Key       Key
	URL       string
	Target    string // the single accepted target that is not the URL itself
	TargetKey Key
	Edge      string // where the URL leads: its permanent redirect, else Target
	EdgeKey   Key
	EdgeKind  string
	Own       string // resolution without the graph: self, none or conflict
	Status    string
	Reason    string
	Listed    bool
	EdgeState
	FinalURL string // read only
}

// EdgeState is where a URL's edge leads.
type EdgeState struct {
	Resolution string // none, chain, loop, into_loop, too_long
	Final      Key    // of a chain
	Depth      int
	Loop       Key // smallest member of a loop
}

// DirtyEdge is one entry of the graph's queue. Seq changes whenever it is queued again.
type DirtyEdge struct {
	Key    Key
	Hop    int
	Paging bool
	After  Key
	Seq    int64
}

// CanonicalWatch is what is remembered of a URL between looks. Record and Evidence are the verifier's own.
type CanonicalWatch struct {
	Key          Key
	URL          string
	Revision     int64 // 0: not stored yet
	Listed       bool
	Class        int
	Next         *time.Time // nil: never by itself
	Due          string     // why
	LastLook     time.Time
	LastRead     time.Time
	Confirmed    time.Time // the look that saw every current relationship
	Looks        int64     // that were understood
	Interval     time.Duration
	Reading      string
	Status       int
	ETag         string
	LastModified string
	ValidatedURL string
	Record       []byte
	Evidence     []byte
	Sketch       []byte
}

// CanonicalRelationship is one version of a relationship. Body holds all of it.
type CanonicalRelationship struct {
	Source, Target Key
	Method         string
	ValidFrom      time.Time
	ValidUntil     *time.Time
	Status, Reason string
	Score          float64
	Rule, Ruleset  string
	ObservedAt     time.Time
	EndReason      string
	Cause          string // of the judgement: look, target, graph
	JudgedAt       time.Time
	Validation     []byte
	Body           []byte
}

// CanonicalNegative is a time in which looks at a URL left no relationship on record, and what they told instead.
type CanonicalNegative struct {
	From           time.Time // first of these looks, or when the last relationship ended
	Until          *time.Time
	Seen           time.Time // last of these looks
	Status, Reason string
	Reading        string
	HTTPStatus     int
}

// CanonicalObservation is one statement over the looks that found it unchanged. LastSeen and Times are as they are now.
type CanonicalObservation struct {
	ID        Key
	Kind      string
	Accepted  bool
	Current   bool
	FirstSeen time.Time
	LastSeen  time.Time
	Times     int64
	Parser    string
	Item      []byte
}

// CanonicalConflict keeps explicit targets that contradict each other.
type CanonicalConflict struct {
	OpenedAt time.Time
	ClosedAt *time.Time
	Kinds    string // comma separated
	Body     []byte
}

// CanonicalCandidate is what weak or single signals name.
type CanonicalCandidate struct {
	Target     Key
	ValidFrom  time.Time
	ValidUntil *time.Time
	Score      float64
	Rule       string
	Body       []byte
}

// PageFinding is a fault of one page over time. Body holds the finding itself.
type PageFinding struct {
	ID        string
	Key       Key
	Code      string
	Report    string
	Severity  string
	State     string // new, open, fixed, reopened
	Page      string
	Template  string
	FirstSeen time.Time
	LastSeen  time.Time
	ChangedAt time.Time // when the state became what it is
	Confirmed int64
	Body      []byte
}

// Dossier is everything kept of one URL. As of an earlier moment it holds what was valid then.
type Dossier struct {
	Watch         CanonicalWatch
	Head          *CanonicalHead
	Relationships []CanonicalRelationship
	Observations  []CanonicalObservation
	Conflict      *CanonicalConflict
	Candidates    []CanonicalCandidate
	Negative      *CanonicalNegative // as of an earlier moment alone
	Findings      []PageFinding
}

// Look is what one look, or one new judgement, writes. Nil and empty parts stay as they are.
type Look struct {
	Watch         CanonicalWatch // with the Revision that was read; zero fields are written as they are
	Head          *CanonicalHead
	EdgeMoved     bool  // the edge changed, or what dependents rest on: they are to be judged anew
	Stirred       []Key // targets whose dependents are to be judged anew, although nothing of the targets changed
	Opened        []CanonicalRelationship
	Changed       []CanonicalRelationship // of judgement
	Seen          []CanonicalRelationship // observed again, and nothing else
	Closed        []CanonicalRelationship
	Observations  []CanonicalObservation
	Conflict      *CanonicalConflict // opened, changed, or closed by its ClosedAt
	Negative      *CanonicalNegative // that begins
	Ended         *CanonicalNegative // that is over, by its Until
	SetCandidates bool               // Candidates replaces what was open
	Candidates    []CanonicalCandidate
	Findings      []PageFinding // new, changed or seen again
}

// Audited is a page finding as reports show it.
type Audited struct {
	ID        string    `json:"id" doc:"Stable: the same fault of the same page has the same id."`
	Code      string    `json:"code"`
	Report    string    `json:"report"`
	Severity  string    `json:"severity" enum:"error,warning,info"`
	Weight    string    `json:"weight"`
	Page      string    `json:"page"`
	Template  string    `json:"template"`
	Target    string    `json:"target"`
	Text      string    `json:"text"`
	Evidence  string    `json:"evidence"`
	Place     string    `json:"place"`
	Line      int       `json:"line"`
	Offset    int       `json:"offset"`
	Rule      string    `json:"rule"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Confirmed int64     `json:"confirmed" doc:"Looks that found it."`
	State     string    `json:"state" enum:"new,open,fixed,reopened"`
	Do        string    `json:"do"`
	ChangedAt time.Time `json:"-"`
	Cursor    string    `json:"-"`
}

// AuditGroup counts findings of one code on one path template.
type AuditGroup struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Template string `json:"template"`
	Pages    int64  `json:"pages"`
	Example  string `json:"example"`
}

// AuditFilter selects findings of pages. The zero value selects every one that is open and not muted.
type AuditFilter struct {
	Codes    []string
	Severity string
	State    string // new, open, reopened, fixed, all; "" is all but fixed
	Since    time.Time
	Template string
	Key      *Key // of one page
	Muted    bool // muted ones as well
	After    string
	Limit    int
}

// Mute keeps a finding out of reports until a time. An empty place is the whole site, one that begins with "/" a path
// template, anything else a page.
type Mute struct {
	Code      string     `json:"code"`
	Place     string     `json:"place,omitempty"`
	Key       Key        `json:"-"`
	Until     *time.Time `json:"until"`
	Note      string     `json:"note,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
}

// Incident is one change that many pages of a site share.
type Incident struct {
	Key       Key             `json:"-"`
	StartedAt time.Time       `json:"started_at"`
	LastSeen  time.Time       `json:"last_seen"`
	What      string          `json:"what"`
	Pages     int64           `json:"pages"`
	Looked    int64           `json:"looked"`
	Examples  json.RawMessage `json:"examples"`
}

// HostProbe is what a host answered to an address that does not exist.
type HostProbe struct {
	At     time.Time
	Status int
	Sketch []byte
}
