package canonical

import "time"

// Signals keeps every kind of statement in its own list, as the contract names
// them. Nothing in one list speaks for another.
type Signals struct {
	HTMLLink  []Item `json:"html_link"`
	HTTPLink  []Item `json:"http_link"`
	Config    []Item `json:"config,omitempty"`
	Redirect  []Item `json:"redirect"`
	Refresh   []Item `json:"refresh,omitempty"`
	OpenGraph []Item `json:"og_url"`
	Schema    []Item `json:"schema_url"`
	Sitemap   []Item `json:"sitemap"`
	Hreflang  []Item `json:"hreflang,omitempty"`
	AMP       []Item `json:"amphtml,omitempty"`
	Shortlink []Item `json:"shortlink,omitempty"`
	REST      []Item `json:"wp_rest_id,omitempty"`
	Robots    []Item `json:"robots,omitempty"`
	Lookalike []Item `json:"lookalike,omitempty"`
}

// SignalsOf sorts evidence into the contract's lists.
func SignalsOf(e *Evidence) Signals {
	of := func(kinds ...Kind) []Item {
		if items := e.Of(kinds...); items != nil {
			return items
		}
		return []Item{}
	}
	return Signals{HTMLLink: of(KindHTMLLink), HTTPLink: of(KindHTTPLink), Config: e.Of(KindConfig),
		Redirect: of(KindRedirectPermanent, KindRedirectTemporary), Refresh: e.Of(KindRefresh, KindRefreshHeader), OpenGraph: of(KindOpenGraph),
		Schema: of(KindSchema), Sitemap: of(KindSitemap), Hreflang: e.Of(KindHreflang), AMP: e.Of(KindAMP), Shortlink: e.Of(KindShortlink),
		REST: e.Of(KindREST), Robots: e.Of(KindRobots), Lookalike: e.Of(KindLookalike)}
}

// Line is the contract's Canonical shape: one relationship of a page with all
// that is known about it, or, for a page without one, its status and why.
type Line struct {
	SourceURL    string       `json:"source_url"`
	CanonicalURL string       `json:"canonical_url,omitempty"`
	Identifier   string       `json:"canonical_identifier,omitempty"`
	Method       Method       `json:"declaration_method,omitempty"`
	Scope        Scope        `json:"relationship_scope,omitempty"`
	Status       Status       `json:"status"`
	Reason       Reason       `json:"reason,omitempty"`
	Confidence   float64      `json:"confidence"`
	Rule         string       `json:"rule"`
	Ruleset      string       `json:"ruleset"`
	Resolution   Resolution   `json:"resolution"`
	FinalURL     string       `json:"final_url,omitempty"`
	Depth        int          `json:"depth,omitempty"`
	LoopID       string       `json:"loop_id,omitempty"`
	Hints        []Hint       `json:"hints,omitempty"`
	Signals      Signals      `json:"signals"`
	Validation   Validation   `json:"validation"`
	Conflict     *Conflict    `json:"conflict,omitempty"`
	Candidates   []Candidate  `json:"candidates,omitempty"`
	Head         DocumentHead `json:"document_head,omitzero"`
	Robots       Robots       `json:"robots,omitzero"`
	Remarks      []Remark     `json:"remarks,omitempty"`
	Reading      Reading      `json:"reading"`
	SourceStatus int          `json:"source_status,omitempty"`
	ValidFrom    *time.Time   `json:"valid_from"`
	ValidUntil   *time.Time   `json:"valid_until"`
	ObservedAt   *time.Time   `json:"observed_at"`
	Provenance   Provenance   `json:"provenance"`
}

// Lines gives one line a relationship, the page's effective one first; a page
// without any gets one line all the same.
func Lines(e *Evidence, v Verdict) []Line {
	base := Line{SourceURL: e.Source, Status: v.Status, Reason: v.Reason, Rule: "N0", Ruleset: Ruleset, Resolution: v.Head.Resolution,
		FinalURL: v.Head.Final, Depth: v.Head.Depth, LoopID: v.Head.LoopID, Signals: SignalsOf(e), Conflict: v.Conflict, Candidates: v.Candidates,
		Head: e.Head, Robots: e.Robots, Remarks: e.Remarks, Reading: e.Reading, SourceStatus: e.Status, Validation: Validation{Method: "none"},
		Provenance: Provenance{SourceDocument: e.Source, SourceURL: e.Source, Parser: e.Parser, Status: e.Status, ContentType: e.ContentType,
			Ruleset: Ruleset}}
	var out []Line
	for i := range v.Relationships {
		r := &v.Relationships[i]
		l := base
		l.CanonicalURL, l.Identifier, l.Method, l.Scope = r.Target, r.ID(), r.Method, r.Scope
		l.Status, l.Reason, l.Confidence, l.Rule, l.Ruleset = r.Status, r.Reason, r.Score, r.Rule, r.Ruleset
		l.Hints, l.Validation, l.Provenance = r.Hints, r.Validation, r.Provenance
		l.ValidFrom, l.ValidUntil, l.ObservedAt = pointer(r.ValidFrom), pointer(r.ValidUntil), pointer(r.ObservedAt)
		out = append(out, l)
	}
	if len(out) == 0 {
		out = append(out, base)
	}
	return out
}

func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// JSONLD is a line as linked data in the ontology's own words. The canonical
// URL is a preferred locator: no owl:sameAs is ever stated.
func (l *Line) JSONLD() map[string]any {
	const vocabulary = "https://kirethresearch.org/booksai-core/ontologies/metadata-ontologies/web-metadata/canonical-url-ontology.html#"
	relationship := map[string]any{"@type": "CanonicalRelationship", "HAS_SOURCE_URL": map[string]any{"@id": l.SourceURL},
		"relationship_scope": l.Scope, "status": l.Status, "reason": l.Reason}
	if l.Identifier != "" {
		relationship["@id"] = "urn:sitemapd:" + l.Identifier
	}
	if l.CanonicalURL != "" {
		relationship["DECLARES_PREFERRED"] = map[string]any{"@id": l.CanonicalURL, "@type": "CanonicalURL"}
	}
	doc := map[string]any{
		"@context": map[string]any{"@vocab": vocabulary}, "@type": "CanonicalURLMetadata", "DESCRIBES": relationship,
		"declaration_method": l.Method, "confidence": map[string]any{"@type": "CanonicalConfidence", "score": l.Confidence, "rule": l.Rule, "ruleset": l.Ruleset},
		"validation": l.Validation, "redirect_state": l.Signals.Redirect, "conflict_state": l.Conflict, "provenance": l.Provenance,
		"temporal_validity":  map[string]any{"@type": "CanonicalValidity", "valid_from": l.ValidFrom, "valid_until": l.ValidUntil, "observed_at": l.ObservedAt, "status": l.Status},
		"supporting_signals": map[string]any{"sitemap_signal": l.Signals.Sitemap, "og_url": l.Signals.OpenGraph, "SchemaOrg_url": l.Signals.Schema},
	}
	return doc
}
