package canonical

import (
	"bytes"
	"slices"
	"sort"
)

// proposal is a URL that some signal names, where nothing is declared.
type proposal struct {
	url     string
	key     Key
	scope   Scope
	signals []Kind
}

func (j *judgement) proposals() []proposal {
	var out []proposal
	name := func(url string, key Key, scope Scope, k Kind) {
		for i := range out {
			if out[i].key == key {
				if !slices.Contains(out[i].signals, k) {
					out[i].signals = append(out[i].signals, k)
				}
				return
			}
		}
		out = append(out, proposal{url, key, scope, []Kind{k}})
	}
	for _, it := range j.ev.Items {
		switch it.Kind {
		case KindSitemap, KindOpenGraph, KindSchema:
			if it.Accepted {
				name(it.URL, it.Key, it.Scope, it.Kind)
			}
		}
	}
	if n := len(j.permanent); n > 0 && !j.endless {
		last := j.permanent[n-1]
		name(last.URL, last.Key, last.Scope, last.Kind)
	}
	for k, t := range j.in.Targets {
		if k == j.ev.Key {
			continue
		}
		if t.Content == ComparedMatch || t.Content == ComparedNear || t.Identifier == ComparedMatch {
			for i := range out {
				if out[i].key == k {
					k = Key{}
					break
				}
			}
			if !k.IsZero() && t.Validation.TargetCanonical != "" {
				name(t.Validation.TargetCanonical, k, "", "content")
			}
		}
	}
	sort.SliceStable(out, func(a, b int) bool { return bytes.Compare(out[a].key[:], out[b].key[:]) < 0 })
	return out
}

// agreement says what the accepted statements of a kind say of a URL.
func (j *judgement) agreement(k Kind, key Key) Agreement {
	a := SignalAbsent
	for _, it := range j.ev.Items {
		if it.Kind != k || !it.Accepted {
			continue
		}
		if it.Key == key {
			return SignalAgrees
		}
		a = SignalDiffers
	}
	return a
}

// inferred weighs the signals of a page that declares nothing.
func (j *judgement) inferred() {
	var relationships []Relationship
	for _, p := range j.proposals() {
		t := j.in.Targets[p.key]
		f := Facts{Redirect: j.ownRedirect(p.key), Sitemap: j.agreement(KindSitemap, p.key), OpenGraph: j.agreement(KindOpenGraph, p.key),
			Schema: j.agreement(KindSchema, p.key)}
		if j.endless { // a redirect that reaches no page names none
			f.Redirect = RedirectNone
		}
		if p.key != j.ev.Key {
			f.Content, f.Identifier = t.Content, t.Identifier
		}
		rule := Apply(f)
		switch rule.Outcome {
		case OutcomeInferred:
			it := Item{URL: p.url, Key: p.key, Scope: p.scope}
			r := j.relationship(&it, MethodInferred, rule)
			r.Reason, r.Validation, r.Signals = ReasonNoDeclaration, t.Validation, p.signals
			if t.State == TargetValid {
				r.Status, r.Reason = StatusValidated, ""
			}
			relationships = append(relationships, r)
		case OutcomeCandidate:
			j.v.Candidates = append(j.v.Candidates, j.candidate(p, rule, f))
		}
	}
	if len(relationships) == 1 {
		j.v.Relationships = relationships
		return
	}
	for _, r := range relationships { // several at once are no inference
		rule := ruleByID("C1m")
		j.v.Candidates = append(j.v.Candidates, j.candidate(proposal{r.Target, r.TargetKey, r.Scope, r.Signals}, rule, Facts{}))
	}
}

func ruleByID(id string) Rule {
	for _, r := range rules {
		if r.ID == id {
			return r
		}
	}
	return Rule{}
}

func (j *judgement) candidate(p proposal, rule Rule, f Facts) Candidate {
	c := Candidate{Source: j.ev.Source, SourceKey: j.ev.Key, Target: p.url, TargetKey: p.key, Scope: p.scope, Signals: p.signals,
		Conflicting: rule.Status == StatusConflicting, Score: rule.Score, Rule: rule.ID, Ruleset: Ruleset}
	if f.Content != ComparedUnknown {
		c.Content = f.Content.String()
	}
	if f.Identifier != ComparedUnknown {
		c.Identifier = f.Identifier.String()
	}
	return c
}

// chain proposes the end of a chain of declarations. It is never taken for the
// declared target: declared and final target stay two things.
func (j *judgement) chain() {
	g := j.in.Graph
	if g.Resolution != ResolutionChain || g.Depth < 2 || len(j.distinct) != 1 || g.FinalKey.IsZero() || g.FinalKey == j.distinct[0].Key {
		return
	}
	t := j.in.Targets[g.FinalKey]
	f := Facts{Chain: ChainUnvalidated, Content: t.Content, Identifier: t.Identifier}
	if t.State == TargetValid && j.in.At.Sub(t.Validation.At) <= ValidityWindow {
		f.Chain = ChainValid
	}
	rule := Apply(f)
	it := Item{URL: g.Final, Key: g.FinalKey}
	if l, reason := resolve(nil, g.Final, ""); reason == "" && !l.foreign {
		if self := parseBase(j.ev.Source); self != nil {
			it.Scope = classify(*self, l.url)
		}
	}
	if rule.Outcome == OutcomeInferred {
		r := j.relationship(&it, MethodInferred, rule)
		r.Validation, r.Signals = t.Validation, []Kind{j.distinct[0].Kind}
		j.v.Relationships = append(j.v.Relationships, r)
		return
	}
	c := j.candidate(proposal{g.Final, g.FinalKey, it.Scope, []Kind{j.distinct[0].Kind}}, rule, f)
	c.Path = g.Path
	j.v.Candidates = append(j.v.Candidates, c)
}
