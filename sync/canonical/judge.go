package canonical

import (
	"slices"
	"time"
)

// GraphState is what the graph of all out-edges says of the source (package graph).
type GraphState struct {
	Resolution Resolution // "" where the graph was not asked
	Final      string
	FinalKey   Key
	Depth      int
	LoopID     string
	Path       []string
}

// Input is everything a judgement rests on.
type Input struct {
	Evidence Evidence       // of the source; Along is not looked at
	Targets  map[Key]Target // what is known of URLs that the source may prefer
	Graph    GraphState
	Past     []Key // targets that an earlier declaration, now turned into a redirect, named
	Flapping bool  // the declared value alternates (Record.Flapping)
	At       time.Time
}

// Verdict is what the evidence comes to. Effective relationships come first.
type Verdict struct {
	Relationships []Relationship `json:"relationships,omitempty"`
	Candidates    []Candidate    `json:"candidates,omitempty"`
	Conflict      *Conflict      `json:"conflict,omitempty"`
	Head          Head           `json:"head"`
	Status        Status         `json:"status"`
	Reason        Reason         `json:"reason,omitempty"`
}

// Judge turns evidence into relationships, candidates, a conflict and the head
// entry. It is deterministic: the same input gives the same verdict. It judges
// one look: of a 304 or a failed fetch it says that nothing was declared, and
// Advance keeps what stands on record.
func Judge(in Input) Verdict {
	j := judgement{in: in, ev: &in.Evidence}
	j.redirects()
	j.declarations()
	j.v.Status = StatusUnknown
	switch {
	case len(j.distinct) > 0:
		j.explicit()
	case j.malformed != nil:
		j.invalid()
	default:
		j.inferred()
	}
	if len(j.v.Relationships) > 0 && j.v.Relationships[0].Method.Explicit() {
		for _, r := range j.v.Relationships {
			if r.Method.Explicit() && r.Status.Rank() > j.v.Status.Rank() {
				j.v.Status, j.v.Reason = r.Status, r.Reason
			}
		}
	} else {
		j.v.Reason = UnknownReason(j.ev)
	}
	j.chain()
	j.head()
	return j.v
}

type judgement struct {
	in        Input
	ev        *Evidence
	v         Verdict
	declared  []Item
	distinct  []Item // one declaration of each distinct target
	malformed *Item
	permanent []Item // the source's own permanent redirects in order, refreshes without delay last
	endless   bool   // its redirects reach no page: they prove nothing
}

// redirects finds where the source permanently leads: every hop up to the first temporary one.
func (j *judgement) redirects() {
	for _, it := range j.ev.Items {
		if it.Kind != KindRedirectPermanent && it.Kind != KindRedirectTemporary {
			continue
		}
		if it.Kind == KindRedirectTemporary || !it.Accepted {
			break
		}
		j.permanent = append(j.permanent, it)
	}
	if j.ev.Reading.Clean() {
		j.permanent = append(j.permanent, refreshes(j.ev)...)
	}
	_, circles := j.ev.Circle()
	j.endless = circles || len(j.permanent) > mostHops
}

// mostHops is how many redirects a look follows; a URL that leads through more was not seen to reach a page.
const mostHops = 10

// Circle finds where a URL's redirects begin again: the first URL that they lead to twice, the URL itself counted. A
// redirect to itself is a circle of one. No page is ever reached, whatever the statuses.
func (e *Evidence) Circle() (again Item, circles bool) {
	seen := map[Key]bool{e.Key: true}
	for _, it := range e.Items {
		if it.Kind != KindRedirectPermanent && it.Kind != KindRedirectTemporary {
			continue
		}
		if !it.Accepted || it.Key.IsZero() {
			return Item{}, false
		}
		if seen[it.Key] {
			return it, true
		}
		seen[it.Key] = true
	}
	return Item{}, false
}

func (j *judgement) ownRedirect(k Key) OwnRedirect {
	if len(j.permanent) == 0 {
		return RedirectNone
	}
	for _, it := range j.permanent {
		if it.Key == k {
			return RedirectSame
		}
	}
	return RedirectElsewhere
}

// sameTarget compares declared targets. A user name makes another URL of one
// that is otherwise equal.
func sameTarget(a, b *Item) bool {
	return a.Key == b.Key && a.HasHint(HintUserinfo) == b.HasHint(HintUserinfo)
}

// declarations sorts the statements that declare.
func (j *judgement) declarations() {
	for i := range j.ev.Items {
		it := &j.ev.Items[i]
		if !it.Declares() {
			continue
		}
		if !it.Accepted {
			switch it.Reason {
			case ReasonMalformed, ReasonBadScheme, ReasonEmptyTarget:
				if j.malformed == nil {
					j.malformed = it
				}
			}
			continue
		}
		j.declared = append(j.declared, *it)
		if !slices.ContainsFunc(j.distinct, func(d Item) bool { return sameTarget(&d, it) }) {
			j.distinct = append(j.distinct, *it)
		}
	}
}

// facts puts together what the score of a declared target depends on.
func (j *judgement) facts(it *Item) Facts {
	f := Facts{Explicit: ExplicitOne, Self: it.Scope == ScopeSelf, SourceOK: j.ev.Reading == ReadingRead,
		Disqualified: it.HasHint(HintAttrDisqualified), Redirect: j.ownRedirect(it.Key), Flapping: j.in.Flapping,
		Loop: j.in.Graph.Resolution == ResolutionLoop || len(j.permanent) > 0 && j.permanent[0].Key == j.ev.Key, Past: slices.Contains(j.in.Past, it.Key)}
	if len(j.distinct) > 1 {
		f.Explicit = ExplicitSeveral
	}
	t := j.target(it)
	f.Target, f.Content, f.Identifier = t.State, t.Content, t.Identifier
	return f
}

// target is what is known of a declared target now.
func (j *judgement) target(it *Item) Target {
	t := j.in.Targets[it.Key]
	if it.Scope == ScopeSelf || it.Key == j.ev.Key {
		return Target{}
	}
	if !t.Validation.At.IsZero() && j.in.At.Sub(t.Validation.At) > ValidityWindow && t.State != TargetError {
		t.State = TargetUnknown
	}
	if t.State == TargetUnknown || t.State == TargetValid {
		switch g := j.in.Graph; {
		case it.HasHint(HintUnverifiableScheme):
			t.State = TargetUnverifiable
		case g.Resolution == ResolutionIntoLoop:
			t.State = TargetIntoLoop
		case g.Resolution == ResolutionTooLong, g.Resolution == ResolutionChain && g.Depth > 1:
			t.State = TargetChain
		}
	}
	return t
}

// explicit makes a relationship of each declaration.
func (j *judgement) explicit() {
	kinds := j.conflictKinds()
	for i := range j.declared {
		it := &j.declared[i]
		f := j.facts(it)
		rule := Apply(f)
		r := j.relationship(it, methodOf(it.Kind), rule)
		r.Reason = explicitReason(rule, f, kinds)
		r.Validation = j.validation(it, f)
		j.v.Relationships = append(j.v.Relationships, r)
	}
	if len(kinds) > 0 {
		j.conflict(kinds)
	}
}

// explicitReason says why a declared relationship has its status.
func explicitReason(rule Rule, f Facts, kinds []Reason) Reason {
	switch {
	case rule.Status == StatusConflicting && len(kinds) > 0:
		return kinds[0]
	case rule.ID == "C2":
		return ReasonLoop
	case rule.Status != StatusDeclared:
		return ""
	case rule.ID == "E2m":
		return ReasonContentMismatch
	case rule.ID == "C3":
		return ReasonTargetError
	case f.Disqualified:
		return ReasonDisqualified
	case f.Target == TargetValid:
		return ReasonUnvalidated
	}
	return targetReasons[f.Target]
}

// validation describes the target; for a page that declares itself, its own answer is the look.
func (j *judgement) validation(it *Item, f Facts) Validation {
	if !f.Self {
		v := j.in.Targets[it.Key].Validation
		v.URLValid = true
		if v.Method == "" {
			v.Method, v.Protocol = "none", protocol(j.ev.Source, it.URL)
		}
		if v.State == "" && f.Target != TargetValid {
			v.State = targetReasons[f.Target]
		}
		return v
	}
	ok := j.ev.Reading == ReadingRead
	return Validation{URLValid: true, Retrievable: &ok, Status: j.ev.Status, TargetCanonical: it.URL, RedirectState: "none",
		Protocol: "same", Noindex: j.ev.Robots.NoIndex, At: j.in.At, Method: "self"}
}

func (j *judgement) relationship(it *Item, m Method, rule Rule) Relationship {
	r := Relationship{Source: j.ev.Source, SourceKey: j.ev.Key, Target: it.URL, TargetKey: it.Key, Raw: it.Raw, Method: m, Scope: it.Scope,
		Status: rule.Status, Score: rule.Score, Rule: rule.ID, Ruleset: Ruleset, Hints: it.Hints, ValidFrom: j.in.At, ObservedAt: j.in.At}
	if it.Kind != "" {
		r.Signals = []Kind{it.Kind}
	}
	doc := j.ev.Source
	if it.Place == PlaceSystem {
		doc = it.Source
	}
	r.Provenance = Provenance{SourceDocument: doc, SourceURL: j.ev.Source, Method: m, RetrievedAt: j.in.At, Parser: j.ev.Parser,
		Status: j.ev.Status, ContentType: j.ev.ContentType, Place: it.Place, Line: it.Line, Offset: it.Offset, Excerpt: it.Source,
		Ruleset: Ruleset}
	return r
}

// conflictKinds names every way in which the explicit evidence contradicts itself.
func (j *judgement) conflictKinds() []Reason {
	var kinds []Reason
	note := func(k Reason) {
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for a := range j.declared {
		for b := a + 1; b < len(j.declared); b++ {
			x, y := &j.declared[a], &j.declared[b]
			if !sameTarget(x, y) {
				note(pairKind(x.Kind, y.Kind))
			}
		}
	}
	for i := range j.distinct {
		if j.ownRedirect(j.distinct[i].Key) == RedirectElsewhere {
			note(ReasonExplicitRedirect)
		}
	}
	if j.in.Flapping && len(j.distinct) > 0 {
		note(ReasonFlapping)
	}
	return kinds
}

func pairKind(a, b Kind) Reason {
	switch {
	case a == KindConfig || b == KindConfig:
		return ReasonConfigPage
	case a != b:
		return ReasonHTMLHTTP
	case a == KindHTTPLink:
		return ReasonHTTPHTTP
	}
	return ReasonHTMLHTML
}

func (j *judgement) conflict(kinds []Reason) {
	c := &Conflict{Source: j.ev.Source, SourceKey: j.ev.Key, Kinds: kinds, State: "open", OpenedAt: j.in.At}
	for _, it := range j.declared {
		c.Members = append(c.Members, Member{it.URL, it.Key, it.Kind, it.Place, it.Line})
	}
	if slices.Contains(kinds, ReasonExplicitRedirect) {
		for _, it := range j.permanent {
			c.Members = append(c.Members, Member{it.URL, it.Key, it.Kind, it.Place, it.Line})
		}
	}
	j.v.Conflict = c
}

// invalid keeps a declaration that is no usable URL, rejected but recorded.
func (j *judgement) invalid() {
	r := j.relationship(j.malformed, methodOf(j.malformed.Kind), Apply(Facts{Explicit: ExplicitMalformed}))
	r.Reason = j.malformed.Reason
	r.Validation = Validation{State: j.malformed.Reason, Method: "none"}
	j.v.Relationships = append(j.v.Relationships, r)
}

// head fills the row that lists and joins read.
func (j *judgement) head() {
	h := &j.v.Head
	h.URL, h.Key, h.Status, h.Reason, h.Resolution = j.ev.Source, j.ev.Key, j.v.Status, j.v.Reason, ResolutionNone
	conflicting := j.v.Status == StatusConflicting
	if len(j.distinct) == 1 && !conflicting {
		if it := j.distinct[0]; it.Scope == ScopeSelf {
			h.Resolution = ResolutionSelf
		} else if it.Key != j.ev.Key {
			h.Target, h.TargetKey = it.URL, it.Key
			h.Edge, h.EdgeKey, h.EdgeKind = it.URL, it.Key, it.Kind
		}
	}
	if len(j.permanent) > 0 { // an edge to the URL itself is a loop of one
		it := j.permanent[0]
		h.Edge, h.EdgeKey, h.EdgeKind = it.URL, it.Key, it.Kind
	}
	if conflicting {
		h.Resolution = ResolutionConflict
		if len(j.permanent) == 0 {
			return
		}
	}
	if h.EdgeKey.IsZero() {
		return
	}
	if g := j.in.Graph; g.Resolution != "" && !conflicting {
		h.Resolution, h.Final, h.Depth, h.LoopID = g.Resolution, g.Final, g.Depth, g.LoopID
	} else if !conflicting && h.EdgeKey == j.ev.Key {
		h.Resolution, h.Depth, h.LoopID = ResolutionLoop, 1, j.ev.Key.String()
	} else if !conflicting {
		h.Resolution, h.Final, h.Depth = ResolutionChain, h.Edge, 1
	}
}

// unknownReason says why nothing is on record for a page.
func UnknownReason(ev *Evidence) Reason {
	switch ev.Reading {
	case ReadingNone, "":
		return ReasonNeverFetched
	case ReadingRobots:
		return ReasonBlocked
	case ReadingChallenge, ReadingDenied, ReadingUnverified:
		return ReasonFetchBlocked
	case ReadingTempFail, ReadingMaintenance, ReadingUnreachable:
		return ReasonSourceUnreachable
	case ReadingGone, ReadingError:
		return ReasonSourceGone
	case ReadingNonHTML:
		return ReasonNonHTML
	case ReadingUndecodable:
		return ReasonUndecodable
	case ReadingTruncated:
		return ReasonTruncated
	case ReadingEmpty:
		return ReasonEmpty
	}
	if ev.Robots.NoIndex {
		return ReasonNoindex
	}
	return ReasonNoDeclaration
}
