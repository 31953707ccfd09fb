package canonical

import "time"

// Method is how a canonical URL was declared.
type Method string

// The four methods. Only MethodInferred is not the publisher's own word.
const (
	MethodHTML     Method = "html_link_element"
	MethodHTTP     Method = "http_link_header"
	MethodConfig   Method = "structured_system_configuration"
	MethodInferred Method = "inferred_from_consistent_signals"
)

// methodOf gives the method of an accepted declaration.
func methodOf(k Kind) Method {
	switch k {
	case KindHTTPLink:
		return MethodHTTP
	case KindConfig:
		return MethodConfig
	}
	return MethodHTML
}

// Explicit says whether the publisher declared it.
func (m Method) Explicit() bool { return m != MethodInferred }

// ofPage says whether the page itself declares, in its document or its header.
func (m Method) ofPage() bool { return m == MethodHTML || m == MethodHTTP }

// Why a relationship has its status.
const (
	ReasonNeverFetched      Reason = "never_fetched"
	ReasonNoDeclaration     Reason = "no_declaration"
	ReasonNoindex           Reason = "suppressed_by_noindex"
	ReasonBlocked           Reason = "blocked_by_robots"
	ReasonFetchBlocked      Reason = "fetch_blocked"
	ReasonNonHTML           Reason = "non_html"
	ReasonUndecodable       Reason = "undecodable"
	ReasonTruncated         Reason = "truncated"
	ReasonEmpty             Reason = "empty"
	ReasonUnvalidated       Reason = "unvalidated"
	ReasonTargetTempFail    Reason = "target_tempfail"
	ReasonTargetNotFound    Reason = "target_not_found"
	ReasonTargetError       Reason = "target_error"
	ReasonTargetRedirects   Reason = "target_redirects"
	ReasonTargetNoindex     Reason = "target_noindex"
	ReasonTargetBlocked     Reason = "target_blocked"
	ReasonTargetSoft404     Reason = "target_soft404"
	ReasonChain             Reason = "chain"
	ReasonIntoLoop          Reason = "into_loop"
	ReasonContentMismatch   Reason = "content_mismatch"
	ReasonDisqualified      Reason = "attr_disqualified"
	ReasonUnverifiable      Reason = "unverifiable_scheme"
	ReasonHTMLHTML          Reason = "html_vs_html"
	ReasonHTMLHTTP          Reason = "html_vs_http"
	ReasonHTTPHTTP          Reason = "http_vs_http"
	ReasonConfigPage        Reason = "config_vs_page"
	ReasonExplicitRedirect  Reason = "explicit_vs_redirect"
	ReasonFlapping          Reason = "flapping"
	ReasonTTL               Reason = "ttl_expired"
	ReasonLastmod           Reason = "lastmod_newer_than_observation"
	ReasonSourceUnreachable Reason = "source_unreachable"
	ReasonSourceGone        Reason = "source_gone"
	ReasonRemoved           Reason = "declaration_removed"
	ReasonReplaced          Reason = "replaced"
	ReasonLoop              Reason = "canonical_loop"
)

// Validation is what was found out about a target.
type Validation struct {
	URLValid        bool      `json:"url_valid"`
	Retrievable     *bool     `json:"target_retrievable,omitempty"` // absent: not known
	Status          int       `json:"target_status,omitempty"`
	TargetCanonical string    `json:"target_canonical,omitempty"` // what the target itself declares
	RedirectState   string    `json:"redirect_state,omitempty"`   // none, permanent, temporary
	RedirectTarget  string    `json:"redirect_target,omitempty"`
	Content         string    `json:"content_compatibility,omitempty"` // match, near, mismatch, unknown
	Identifier      string    `json:"identifier,omitempty"`
	Protocol        string    `json:"protocol_consistency,omitempty"` // same, upgrade, downgrade
	Noindex         bool      `json:"target_noindex,omitempty"`
	State           Reason    `json:"state,omitempty"` // "" is valid
	At              time.Time `json:"validation_time,omitzero"`
	Method          string    `json:"validation_method,omitempty"` // self, fetch, none
}

// Provenance says where a statement comes from.
type Provenance struct {
	SourceDocument string    `json:"source_document"`
	SourceURL      string    `json:"source_url"`
	Method         Method    `json:"declaration_method"`
	RetrievedAt    time.Time `json:"retrieval_time,omitzero"`
	Parser         string    `json:"parser"`
	Status         int       `json:"http_status,omitempty"`
	ContentType    string    `json:"content_type,omitempty"`
	Place          Place     `json:"place,omitempty"`
	Line           int       `json:"line,omitempty"`
	Offset         int       `json:"offset,omitempty"`
	Excerpt        string    `json:"excerpt,omitempty"` // the tag or header line
	Validation     string    `json:"validation_method,omitempty"`
	Ruleset        string    `json:"ruleset"`
}

// Relationship says that source prefers target, by one method. Its meaning
// never changes: it is closed and another one opened.
type Relationship struct {
	Source       string     `json:"source_url"`
	SourceKey    Key        `json:"source_key"`
	Target       string     `json:"canonical_url"`
	TargetKey    Key        `json:"canonical_key,omitzero"`
	Raw          string     `json:"raw,omitempty"`
	Method       Method     `json:"declaration_method"`
	Scope        Scope      `json:"relationship_scope,omitempty"`
	Status       Status     `json:"status"`
	Reason       Reason     `json:"reason,omitempty"`
	Score        float64    `json:"confidence"`
	Rule         string     `json:"rule"`
	Ruleset      string     `json:"ruleset"`
	Signals      []Kind     `json:"signals,omitempty"` // the kinds of evidence that speak for it
	Hints        []Hint     `json:"hints,omitempty"`
	Validation   Validation `json:"validation,omitzero"`
	ValidFrom    time.Time  `json:"valid_from,omitzero"`
	ValidUntil   time.Time  `json:"valid_until,omitzero"` // zero: current
	ObservedAt   time.Time  `json:"observed_at,omitzero"`
	EndReason    Reason     `json:"end_reason,omitempty"`
	SupersededBy string     `json:"superseded_by,omitempty"` // identifier of the relationship that replaced it
	Provenance   Provenance `json:"provenance"`
}

// ID is the canonical identifier: it names the source, target and method, and
// so a relationship whatever its state and however often it comes back.
func (r *Relationship) ID() string {
	return "cr:" + r.SourceKey.String()[:16] + ":" + r.TargetKey.String()[:16] + ":" + string(r.Method)
}

// Current says that the relationship is not closed.
func (r *Relationship) Current() bool { return r.ValidUntil.IsZero() }

// Candidate is a possible duplicate of which weak or single signals speak. It
// is no relationship and is never kept among them.
type Candidate struct {
	Source      string   `json:"source_url"`
	SourceKey   Key      `json:"source_key"`
	Target      string   `json:"url"`
	TargetKey   Key      `json:"url_key"`
	Scope       Scope    `json:"scope,omitempty"`
	Signals     []Kind   `json:"signals"`
	Content     string   `json:"content_similarity,omitempty"`
	Identifier  string   `json:"identifier_signal,omitempty"`
	Conflicting bool     `json:"conflicting,omitempty"`
	Score       float64  `json:"confidence"`
	Rule        string   `json:"rule"`
	Ruleset     string   `json:"ruleset"`
	Path        []string `json:"path,omitempty"` // of a chain
}

// Member is one side of a conflict.
type Member struct {
	Target string `json:"declared_target"`
	Key    Key    `json:"key,omitzero"`
	Signal Kind   `json:"signal_source"`
	Place  Place  `json:"place,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// Conflict keeps explicit targets that contradict each other until they agree again.
type Conflict struct {
	Source    string    `json:"source_url"`
	SourceKey Key       `json:"source_key"`
	Kinds     []Reason  `json:"kinds"`
	Members   []Member  `json:"declared_targets"`
	State     string    `json:"resolution_state"` // open, resolved
	OpenedAt  time.Time `json:"opened_at,omitzero"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
}

// Resolution says where a URL's out-edge leads.
type Resolution string

// The resolutions. A URL whose single edge leads to a final page is a chain of depth 1.
const (
	ResolutionNone     Resolution = "none" // no out-edge, and no declaration of itself
	ResolutionSelf     Resolution = "self"
	ResolutionChain    Resolution = "chain"
	ResolutionLoop     Resolution = "loop"
	ResolutionIntoLoop Resolution = "into_loop"
	ResolutionTooLong  Resolution = "too_long"
	ResolutionConflict Resolution = "conflict"
)

// Head is the one row that lists and joins read for a URL.
type Head struct {
	URL        string     `json:"url"`
	Key        Key        `json:"key"`
	Target     string     `json:"target,omitempty"` // the single accepted target that is not the URL itself
	TargetKey  Key        `json:"target_key,omitzero"`
	Edge       string     `json:"edge,omitempty"` // where the URL leads: its permanent redirect, else Target
	EdgeKey    Key        `json:"edge_key,omitzero"`
	EdgeKind   Kind       `json:"edge_kind,omitempty"`
	Resolution Resolution `json:"resolution"`
	Final      string     `json:"final_url,omitempty"`
	Depth      int        `json:"depth,omitempty"`
	LoopID     string     `json:"loop_id,omitempty"`
	Status     Status     `json:"status"`
	Reason     Reason     `json:"reason,omitempty"`
}
