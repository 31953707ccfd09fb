package canonical

import "time"

// Query is the ontology's query model: every input is a filter, empty ones
// match everything. URLs match by identity key.
type Query struct {
	SourceURL      string
	CanonicalURL   string
	Method         Method
	TargetStatus   int
	RedirectTarget string
	SitemapSignal  string // a loc
	OpenGraph      string
	Schema         string
	At             time.Time // observation time: relationships valid then
}

// Match says whether a line answers the query.
func (q *Query) Match(l *Line) bool {
	return matchURL(q.SourceURL, l.SourceURL) && matchURL(q.CanonicalURL, l.CanonicalURL) && (q.Method == "" || q.Method == l.Method) &&
		(q.TargetStatus == 0 || q.TargetStatus == l.Validation.Status) && matchItem(q.RedirectTarget, l.Signals.Redirect) &&
		matchItem(q.SitemapSignal, l.Signals.Sitemap) && matchItem(q.OpenGraph, l.Signals.OpenGraph) && matchItem(q.Schema, l.Signals.Schema) && q.valid(l)
}

// valid says whether the line's relationship held at the time asked for.
func (q *Query) valid(l *Line) bool {
	if q.At.IsZero() {
		return true
	}
	return l.ValidFrom != nil && !l.ValidFrom.After(q.At) && (l.ValidUntil == nil || l.ValidUntil.After(q.At))
}

func matchURL(want, got string) bool {
	return want == "" || want == got || got != "" && !KeyOf(want).IsZero() && KeyOf(want) == KeyOf(got)
}

func matchItem(want string, items []Item) bool {
	if want == "" {
		return true
	}
	for _, it := range items {
		if it.Accepted && matchURL(want, it.URL) {
			return true
		}
	}
	return false
}

// Answer is the query model's output, its ten parts by their names.
type Answer struct {
	Relationship  map[string]any `json:"canonical_relationship"` // as linked data
	SourceURL     string         `json:"source_url"`
	CanonicalURL  string         `json:"canonical_url,omitempty"`
	Method        Method         `json:"declaration_method,omitempty"`
	Validation    Validation     `json:"validation_state"`
	RedirectState []Item         `json:"redirect_state"`
	ConflictState *Conflict      `json:"conflict_state"`
	Validity      Validity       `json:"temporal_validity"`
	Provenance    Provenance     `json:"provenance"`
	Confidence    Confidence     `json:"confidence"`
}

// Validity says when a relationship held.
type Validity struct {
	ValidFrom  *time.Time `json:"valid_from"`
	ValidUntil *time.Time `json:"valid_until"`
	ObservedAt *time.Time `json:"observed_at"`
	Status     Status     `json:"status"`
	Reason     Reason     `json:"reason,omitempty"`
}

// Confidence is a score with what it rests on.
type Confidence struct {
	Score   float64 `json:"score"`
	Rule    string  `json:"rule"`
	Ruleset string  `json:"ruleset"`
}

// AnswerOf gives the ten outputs for a line.
func AnswerOf(l *Line) Answer {
	return Answer{Relationship: l.JSONLD(), SourceURL: l.SourceURL, CanonicalURL: l.CanonicalURL, Method: l.Method, Validation: l.Validation,
		RedirectState: l.Signals.Redirect, ConflictState: l.Conflict, Validity: Validity{l.ValidFrom, l.ValidUntil, l.ObservedAt, l.Status, l.Reason},
		Provenance: l.Provenance, Confidence: Confidence{l.Confidence, l.Rule, l.Ruleset}}
}
