package canonical

import (
	"fmt"
	"slices"
)

// Rejection is a line of the ontology's reject list that a relationship offends against.
type Rejection string

// The reject list.
const (
	RejectMalformed     Rejection = "malformed_canonical_URL"
	RejectLoop          Rejection = "canonical_loop"
	RejectContradictory Rejection = "contradictory_explicit_targets_without conflict_state"
	RejectSitemap       Rejection = "sitemap_URL_presented_as canonical_proof"
	RejectOpenGraph     Rejection = "og_url_presented_as canonical_proof"
	RejectSchema        Rejection = "SchemaOrg_url_presented_as canonical_proof"
	RejectRedirect      Rejection = "canonical_declaration_presented_as HTTP_redirect"
	RejectIdentity      Rejection = "canonical_relationship_presented_as absolute_identity_without evidence"
	RejectIncomplete    Rejection = "required field missing"
	RejectField         Rejection = "field invalid"
)

// Refusal says what is wrong with a relationship, and where.
type Refusal struct {
	Line Rejection
	Text string
}

// Check holds the current relationships of one source against the ontology's
// validation section. It is for what comes from outside (an import, a webhook,
// another version's rows): what Judge makes passes, except that a malformed or
// looping declaration is kept with status invalid, which is how it is rejected.
func Check(rels []Relationship, conflict *Conflict) []Refusal {
	var out []Refusal
	say := func(line Rejection, format string, args ...any) {
		out = append(out, Refusal{line, fmt.Sprintf(format, args...)})
	}
	var explicit []*Relationship
	for i := range rels {
		r := &rels[i]
		if r.Source == "" || r.Target == "" && r.Status != StatusInvalid {
			say(RejectIncomplete, "source_url %q, canonical_url %q", r.Source, r.Target)
			continue
		}
		if r.Status != StatusInvalid {
			if _, reason := resolve(nil, r.Target, ""); reason != "" {
				say(RejectMalformed, "%s: %s", r.Target, reason)
			}
			if r.Reason == ReasonLoop || r.Rule == "C2" {
				say(RejectLoop, "%s", r.Target)
			}
		}
		checkFields(r, say)
		checkProof(r, say)
		if r.Method.Explicit() && r.Current() && r.Status != StatusInvalid {
			explicit = append(explicit, r)
		}
	}
	for _, r := range explicit {
		if r.TargetKey != explicit[0].TargetKey && (conflict == nil || r.Status != StatusConflicting || explicit[0].Status != StatusConflicting) {
			say(RejectContradictory, "%s and %s", explicit[0].Target, r.Target)
			break
		}
	}
	return out
}

// checkFields validates what is present.
func checkFields(r *Relationship, say func(Rejection, string, ...any)) {
	if r.Score < 0 || r.Score > 1 {
		say(RejectField, "confidence %v is not within 0 and 1", r.Score)
	}
	if !slices.Contains([]Method{MethodHTML, MethodHTTP, MethodConfig, MethodInferred}, r.Method) {
		say(RejectField, "declaration_method %q", r.Method)
	}
	if r.Status.Rank() < 0 {
		say(RejectField, "status %q", r.Status)
	}
	if !r.ValidUntil.IsZero() && r.ValidUntil.Before(r.ValidFrom) {
		say(RejectField, "valid_until is before valid_from")
	}
	v := &r.Validation
	if v.Status != 0 && (v.Status < 100 || v.Status > 599) {
		say(RejectField, "target_status %d", v.Status)
	}
	if !slices.Contains([]string{"", "none", "permanent", "temporary"}, v.RedirectState) {
		say(RejectField, "redirect_state %q", v.RedirectState)
	}
	if !slices.Contains([]string{"", "unknown", "match", "near", "mismatch"}, v.Content) {
		say(RejectField, "content_compatibility %q", v.Content)
	}
	if r.Provenance.SourceURL != "" && KeyOf(r.Provenance.SourceURL) != KeyOf(r.Source) {
		say(RejectField, "provenance speaks of %s", r.Provenance.SourceURL)
	}
}

// checkProof tells whether the evidence can carry the method and the score.
func checkProof(r *Relationship, say func(Rejection, string, ...any)) {
	declares := slices.ContainsFunc(r.Signals, func(k Kind) bool { return k == KindHTMLLink || k == KindHTTPLink || k == KindConfig })
	strong := slices.ContainsFunc(r.Signals, func(k Kind) bool {
		return k == KindRedirectPermanent || k == KindRefresh || k == KindRefreshHeader || k == "content" || k == "identifier"
	})
	for _, p := range []struct {
		kind Kind
		line Rejection
	}{{KindSitemap, RejectSitemap}, {KindOpenGraph, RejectOpenGraph}, {KindSchema, RejectSchema}} {
		k, line := p.kind, p.line
		if slices.Contains(r.Signals, k) && !declares && (r.Method.Explicit() || !strong && r.Validation.Content != "match" && r.Validation.Identifier != "match") {
			say(line, "%s rests on %s", r.Target, k)
		}
	}
	if r.Method.Explicit() && !declares && strong {
		say(RejectRedirect, "%s rests on %v, no declaration", r.Target, r.Signals)
	}
	if !r.Method.Explicit() && r.Score > 0.90 {
		say(RejectIdentity, "inferred with %.2f", r.Score)
	}
}

// Consolidates says whether a relationship may be used to treat source and
// target as one resource. It takes a validated target that nothing contradicts
// and content or identifier that agree; a canonical alone never merges, and a
// merge is to be undone when this no longer holds.
func Consolidates(r *Relationship, conflict *Conflict) bool {
	return r.Current() && r.Status == StatusValidated && conflict == nil && r.Scope != ScopeSelf &&
		(r.Validation.Content == "match" || r.Validation.Identifier == "match") && r.Validation.Content != "mismatch" && r.Validation.Identifier != "mismatch"
}
