package canonical

import (
	"slices"
	"time"
)

// News is what was learnt about a stored relationship's target without a new
// look at its source.
type News struct {
	Target   Target
	Graph    GraphState
	Redirect OwnRedirect // of the source, if it redirects now
	At       time.Time
}

// Rejudge applies the table to a stored relationship in the light of news. Its
// meaning, validity and provenance stay; status, score, rule and validation
// block may change, which is an event on the same row. Conflicting and
// malformed relationships stay as they are: only a look at the source settles them.
func Rejudge(r Relationship, n News) Relationship {
	if !r.Method.Explicit() || !r.Current() || r.Rule == "X1" || r.Status == StatusConflicting && n.Redirect != RedirectSame {
		return r
	}
	f := Facts{Explicit: ExplicitOne, Self: r.Scope == ScopeSelf, SourceOK: r.Provenance.Status >= 200 && r.Provenance.Status < 300,
		Disqualified: slices.Contains(r.Hints, HintAttrDisqualified), Redirect: n.Redirect, Loop: n.Graph.Resolution == ResolutionLoop}
	it := Item{Key: r.TargetKey, URL: r.Target, Scope: r.Scope, Hints: r.Hints}
	j := judgement{in: Input{Targets: map[Key]Target{r.TargetKey: n.Target}, Graph: n.Graph, At: n.At}, ev: &Evidence{Source: r.Source, Key: r.SourceKey}}
	t := j.target(&it)
	f.Target, f.Content, f.Identifier = t.State, t.Content, t.Identifier
	rule := Apply(f)
	r.Status, r.Score, r.Rule, r.Ruleset = rule.Status, rule.Score, rule.ID, Ruleset
	r.Reason = explicitReason(rule, f, nil)
	if !f.Self {
		r.Validation = j.validation(&it, f)
	}
	return r
}
