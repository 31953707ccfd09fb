package canonical

import (
	"slices"
	"strings"
	"time"
)

// Times of the rules on when a relationship may be closed.
const (
	AbsenceConfirm = time.Hour          // between two clean looks that find no declaration
	GoneConfirm    = 24 * time.Hour     // between two 404 or 410
	FlapWindow     = 7 * 24 * time.Hour // in which alternating values are flapping
	FlapCount      = 2                  // changes back to an earlier value; with the first change, three in all
)

// Seen is one value that the page declared, by the instant it was first seen.
type Seen struct {
	At  time.Time `json:"at"`
	Key Key       `json:"key"`
}

// Record is what is remembered of one source between looks.
type Record struct {
	Current      []Relationship `json:"current,omitempty"` // open relationships
	Conflict     *Conflict      `json:"conflict,omitempty"`
	AbsentSince  time.Time      `json:"absent_since,omitzero"` // first clean look without the declaration
	Failures     Failures       `json:"failures,omitzero"`
	LastRead     time.Time      `json:"last_read,omitzero"`      // last look that confirmed or changed something
	Generation   time.Time      `json:"generation,omitzero"`     // of the newest answer taken (Response.Generation)
	Changes      []Seen         `json:"changes,omitempty"`       // the last changes of value, at most 8
	SourceGone   bool           `json:"source_gone,omitempty"`   // confirmed by a second 404 or 410
	LastmodNewer bool           `json:"lastmod_newer,omitempty"` // the sitemap's lastmod is after LastRead
}

// Action is what a look did to the record.
type Action string

// The actions.
const (
	ActionOpen      Action = "open"      // a first declaration, or one beside others
	ActionConfirm   Action = "confirm"   // the same was seen again
	ActionSupersede Action = "supersede" // another value: the old ones are closed
	ActionHold      Action = "hold"      // absence or 404 once: a second look decides
	ActionKeep      Action = "keep"      // the look proves nothing
	ActionRemove    Action = "remove"    // absence confirmed: closed without a successor
	ActionConflict  Action = "conflict"  // contradicting values: all are kept
	ActionNone      Action = "none"      // nothing was on record and nothing was found
)

// Observed is one look at the source, ready to be put on record.
type Observed struct {
	Evidence   Evidence // of the source alone
	Verdict    Verdict  // Judge of it
	Generation time.Time
	Started    time.Time // when the fetch began; zero is At
	At         time.Time // when it ended
	Unlisted   bool      // the sitemap dropped the page too: corroborates a 404
	HoldMass   bool      // a mass change is going on: absences wait (see Sweep)
}

// Step is what one look came to.
type Step struct {
	Action Action         `json:"action"`
	Reason Reason         `json:"reason,omitempty"` // why it was kept, held or closed
	Opened []Relationship `json:"opened,omitempty"`
	Closed []Relationship `json:"closed,omitempty"`
	Next   Record         `json:"next"`
}

// Why a look changes nothing.
const (
	ReasonOutOfOrder  Reason = "out_of_order"
	ReasonAbsentOnce  Reason = "absent_once"
	ReasonGoneOnce    Reason = "gone_once"
	ReasonTemporary   Reason = "temporary_redirect"
	ReasonMaintenance Reason = "maintenance"
	ReasonMassChange  Reason = "mass_change"
	ReasonRedirected  Reason = "redirected"
)

// Advance puts one look on record. Presence is strong: another value on a
// clean 200 supersedes at once. Absence is weak: it takes a second clean look.
// Failures, blocks and truncation never close anything. A 304 says again what
// the look before it said.
func Advance(prev Record, o Observed) Step {
	started := o.Started
	if started.IsZero() {
		started = o.At
	}
	if started.Before(prev.LastRead) || !o.Generation.IsZero() && o.Generation.Before(prev.Generation) {
		return Step{Action: ActionKeep, Reason: ReasonOutOfOrder, Next: prev}
	}
	next := prev
	next.Current = slices.Clone(prev.Current)
	next.Changes = slices.Clone(prev.Changes)
	next.Failures = prev.Failures.Note(o.Evidence.Reading, o.At)
	s := Step{Next: next}
	switch r := o.Evidence.Reading; {
	case r == ReadingNotModified && len(o.Evidence.Declared()) == 0 && !prev.AbsentSince.IsZero():
		s.absent(o, ReasonAbsentOnce) // unchanged since the look that did not find the declaration
	case r == ReadingNotModified && len(o.Evidence.Declared()) == 0:
		s.confirm(o)
	case r == ReadingGone:
		s.gone(o)
	case r == ReadingRedirect:
		s.redirect(o)
	case r == ReadingNonHTML && len(s.Next.Current) > 0 && media(o.Evidence.ContentType) != media(s.Next.Current[0].Provenance.ContentType):
		// A wrong content type is no word on what the page declares.
		s.Action, s.Reason = ActionKeep, ReasonNonHTML
	case r.Clean() || r == ReadingNotModified:
		s.clean(o)
	default:
		s.Action, s.Reason = ActionKeep, keepReason(r)
	}
	if len(s.Next.Current)+len(s.Closed) == 0 { // nothing to keep, hold or remove
		s.Action = ActionNone
	}
	return s
}

// media is a content type without its parameters.
func media(contentType string) string {
	m, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(m))
}

func keepReason(r Reading) Reason {
	switch r {
	case ReadingMaintenance:
		return ReasonMaintenance
	case ReadingRobots:
		return ReasonBlocked
	case ReadingChallenge, ReadingDenied, ReadingUnverified:
		return ReasonFetchBlocked
	case ReadingTruncated:
		return ReasonTruncated
	case ReadingEmpty:
		return ReasonEmpty
	case ReadingUndecodable:
		return ReasonUndecodable
	}
	return ReasonSourceUnreachable
}

// read notes a look that was understood.
func (s *Step) read(o Observed) {
	s.Next.LastRead, s.Next.SourceGone, s.Next.LastmodNewer = o.At, false, false
	if o.Generation.After(s.Next.Generation) {
		s.Next.Generation = o.Generation
	}
}

// confirm notes that everything on record still holds.
func (s *Step) confirm(o Observed) {
	s.read(o)
	s.Next.AbsentSince = time.Time{}
	for i := range s.Next.Current {
		s.Next.Current[i].ObservedAt = o.At
	}
	s.Action = ActionConfirm
	if len(s.Next.Current) == 0 {
		s.Action = ActionNone
	}
}

// gone handles 404 and 410: the second look at least a day later decides, or
// the sitemap's word. The row is kept; its validity ends.
func (s *Step) gone(o Observed) {
	if !s.Next.Failures.Confirmed() && !o.Unlisted {
		s.Action, s.Reason = ActionHold, ReasonGoneOnce
		return
	}
	s.Next.SourceGone = true
	s.closeAll(o.At, ReasonSourceGone, "")
	s.Action, s.Reason = ActionRemove, ReasonSourceGone
	s.Next.Conflict = nil
}

// redirect handles a source that leads elsewhere now.
func (s *Step) redirect(o Observed) {
	if len(o.Evidence.Declared()) > 0 {
		s.clean(o)
		return
	}
	if !permanent(&o.Evidence) {
		s.Action, s.Reason = ActionKeep, ReasonTemporary
		return
	}
	if !slices.ContainsFunc(s.Next.Current, func(r Relationship) bool { return r.Method.Explicit() }) {
		s.read(o)
		s.Action, s.Reason = ActionNone, ReasonRedirected
		s.inferred(o)
		return
	}
	if o.Verdict.Head.Resolution == ResolutionLoop {
		s.circle(o)
		return
	}
	j := judgement{in: Input{Evidence: o.Evidence}, ev: &o.Evidence}
	j.redirects()
	for i := range s.Next.Current {
		if r := &s.Next.Current[i]; r.Method.Explicit() && j.ownRedirect(r.TargetKey) != RedirectSame {
			s.absent(o, ReasonRedirected)
			return
		}
	}
	s.read(o)
	s.Action, s.Reason = ActionConfirm, ReasonRedirected // what was declared has become the redirect
	for i := range s.Next.Current {
		r := &s.Next.Current[i]
		t := Target{Validation: r.Validation, State: TargetUnknown}
		if r.Status == StatusValidated {
			t.State = TargetValid
		}
		*r = Rejudge(*r, News{Target: t, Redirect: RedirectSame, At: o.At})
		r.ObservedAt = o.At
	}
}

// circle handles a source whose own redirect comes back to it. Nobody reaches a page that way: nothing is confirmed, and
// nothing is closed, but while it lasts what was declared is part of a loop.
func (s *Step) circle(o Observed) {
	s.Action, s.Reason = ActionHold, ReasonLoop
	for i := range s.Next.Current {
		r := &s.Next.Current[i]
		*r = Rejudge(*r, News{Graph: GraphState{Resolution: ResolutionLoop}, At: o.At})
	}
}

// absent handles a clean look that found no declaration.
func (s *Step) absent(o Observed, reason Reason) {
	explicit := slices.ContainsFunc(s.Next.Current, func(r Relationship) bool { return r.Method.Explicit() })
	switch {
	case !explicit:
		s.read(o)
		s.Action = ActionNone
		s.inferred(o)
		return
	case s.Next.AbsentSince.IsZero():
		s.Next.AbsentSince = o.At
		s.Action, s.Reason = ActionHold, reason
	case o.At.Sub(s.Next.AbsentSince) < AbsenceConfirm:
		s.Action, s.Reason = ActionHold, reason
	case o.HoldMass:
		s.Action, s.Reason = ActionHold, ReasonMassChange
	default:
		s.closeAll(o.At, ReasonRemoved, "")
		s.Next.AbsentSince, s.Next.Conflict = time.Time{}, nil
		s.Action, s.Reason = ActionRemove, ReasonRemoved
		s.read(o)
		s.inferred(o)
		return
	}
	if reason == ReasonRedirected && s.Action == ActionHold { // meanwhile the page contradicts its own redirect
		for i := range s.Next.Current {
			s.Next.Current[i].contradict(ReasonExplicitRedirect)
		}
	}
	since := s.Next.AbsentSince
	s.read(o)
	s.Next.AbsentSince = since
}

// clean compares a clean look's relationships with those on record.
func (s *Step) clean(o Observed) {
	found := o.Verdict.Relationships
	wasOpen := s.Next.Conflict != nil
	explicit := slices.DeleteFunc(slices.Clone(found), func(r Relationship) bool { return !r.Method.Explicit() })
	if len(explicit) == 0 {
		s.absent(o, ReasonAbsentOnce)
		return
	}
	absentSince := s.Next.AbsentSince
	s.read(o)
	s.Next.AbsentSince = time.Time{}
	if !slices.ContainsFunc(explicit, func(r Relationship) bool { return r.TargetKey != explicit[0].TargetKey }) {
		s.Next.note(explicit[0].TargetKey, o.At)
	}
	flapping := s.Next.Flapping(o.At)
	// A 304 speaks for its own header fields only: what the body said stays.
	partial := o.Evidence.Reading == ReadingNotModified
	word := s.pageWord(o, explicit, absentSince)
	var kept []Relationship
	for _, old := range s.Next.Current {
		i := slices.IndexFunc(found, func(r Relationship) bool { return r.ID() == old.ID() })
		switch {
		case i >= 0:
			kept = append(kept, refresh(old, found[i], o.At))
		case flapping && old.Method.Explicit():
			kept = append(kept, old)
		case old.Method == MethodConfig, word == wordGone && old.Method.ofPage():
			s.close(old, o.At, ReasonRemoved, "")
		case partial && (old.Method != MethodHTTP || word != wordSpoken), word == wordHeld && old.Method.ofPage():
			kept = append(kept, old)
		default:
			s.close(old, o.At, ReasonReplaced, explicit[0].ID())
		}
	}
	for _, r := range found {
		if !slices.ContainsFunc(s.Next.Current, func(old Relationship) bool { return r.ID() == old.ID() }) {
			r.ValidFrom, r.ObservedAt = o.At, o.At
			kept = append(kept, r)
			s.Opened = append(s.Opened, r)
		}
	}
	s.Next.Current = kept
	s.conflict(o, flapping)
	switch {
	case s.Next.Conflict != nil && (len(s.Opened) > 0 || !wasOpen):
		s.Action, s.Reason = ActionConflict, s.Next.Conflict.Kinds[0]
	case len(s.Closed) > 0:
		s.Action = ActionSupersede
	case len(s.Opened) > 0:
		s.Action = ActionOpen
	case word == wordHeld && !partial:
		s.Action = ActionHold
	default:
		s.Action = ActionConfirm
	}
	if word == wordHeld && o.Evidence.Reading == ReadingRedirect && permanent(&o.Evidence) {
		for i := range s.Next.Current { // meanwhile the page contradicts its own redirect
			if r := &s.Next.Current[i]; r.Method.ofPage() {
				r.contradict(ReasonExplicitRedirect)
			}
		}
	}
}

// refresh takes the new judgement of a relationship whose meaning is the same.
func refresh(old, seen Relationship, at time.Time) Relationship {
	seen.ValidFrom, seen.ObservedAt = old.ValidFrom, at
	return seen
}

// contradict turns a relationship into one side of a conflict.
func (r *Relationship) contradict(why Reason) {
	if !r.Method.Explicit() || r.Status == StatusInvalid {
		return
	}
	rule := Apply(Facts{Explicit: ExplicitSeveral})
	r.Status, r.Reason, r.Score, r.Rule, r.Ruleset = rule.Status, why, rule.Score, rule.ID, Ruleset
}

// conflict keeps an open conflict's beginning, and opens one for values that alternate.
func (s *Step) conflict(o Observed, flapping bool) {
	c := o.Verdict.Conflict
	if flapping && len(s.Next.Current) > 1 {
		c = &Conflict{Source: o.Evidence.Source, SourceKey: o.Evidence.Key, Kinds: []Reason{ReasonFlapping}, State: "open", OpenedAt: o.At}
		for i := range s.Next.Current {
			r := &s.Next.Current[i]
			r.contradict(ReasonFlapping)
			c.Members = append(c.Members, Member{Target: r.Target, Key: r.TargetKey, Signal: kindOf(r.Method), Place: r.Provenance.Place, Line: r.Provenance.Line})
		}
	}
	if c == nil && o.Evidence.Reading == ReadingNotModified {
		c = s.mixed(o)
	}
	if c != nil && s.Next.Conflict != nil {
		copied := *c
		copied.OpenedAt = s.Next.Conflict.OpenedAt
		c = &copied
	}
	s.Next.Conflict = c
}

// mixed finds the contradiction between the header of a 304 and what the body said that it stands for.
func (s *Step) mixed(o Observed) *Conflict {
	var of []int
	differ := false
	for i := range s.Next.Current {
		if r := &s.Next.Current[i]; r.Method.ofPage() && r.Status != StatusInvalid {
			of = append(of, i)
			differ = differ || r.TargetKey != s.Next.Current[of[0]].TargetKey
		}
	}
	if !differ {
		return nil
	}
	c := &Conflict{Source: o.Evidence.Source, SourceKey: o.Evidence.Key, Kinds: []Reason{ReasonHTMLHTTP}, State: "open", OpenedAt: o.At}
	for _, i := range of {
		r := &s.Next.Current[i]
		r.contradict(ReasonHTMLHTTP)
		c.Members = append(c.Members, Member{Target: r.Target, Key: r.TargetKey, Signal: kindOf(r.Method), Place: r.Provenance.Place, Line: r.Provenance.Line})
	}
	return c
}

func kindOf(m Method) Kind {
	switch m {
	case MethodHTTP:
		return KindHTTPLink
	case MethodConfig:
		return KindConfig
	}
	return KindHTMLLink
}

// inferred keeps at most one inferred relationship beside nothing declared.
func (s *Step) inferred(o Observed) {
	var kept []Relationship
	for _, old := range s.Next.Current {
		if i := slices.IndexFunc(o.Verdict.Relationships, func(r Relationship) bool { return r.ID() == old.ID() }); i >= 0 {
			kept = append(kept, refresh(old, o.Verdict.Relationships[i], o.At))
		} else {
			s.close(old, o.At, ReasonReplaced, "")
		}
	}
	for _, r := range o.Verdict.Relationships {
		if !slices.ContainsFunc(s.Next.Current, func(old Relationship) bool { return r.ID() == old.ID() }) {
			kept = append(kept, r)
			s.Opened = append(s.Opened, r)
		}
	}
	s.Next.Current = kept
}

func (s *Step) closeAll(at time.Time, reason Reason, by string) {
	for _, old := range s.Next.Current {
		s.close(old, at, reason, by)
	}
	s.Next.Current = nil
}

// close keeps everything that was known of a relationship and ends its validity.
func (s *Step) close(r Relationship, at time.Time, reason Reason, by string) {
	r.ValidUntil, r.EndReason, r.SupersededBy, r.Status, r.Reason = at, reason, by, StatusSuperseded, reason
	if reason == ReasonSourceGone {
		r.Status = StatusStale
	}
	s.Closed = append(s.Closed, r)
}

// note remembers a change of the declared value.
func (r *Record) note(k Key, at time.Time) {
	if n := len(r.Changes); n > 0 && r.Changes[n-1].Key == k {
		return
	}
	r.Changes = append(r.Changes, Seen{at, k})
	if n := len(r.Changes); n > 8 {
		r.Changes = r.Changes[n-8:]
	}
}

// Flapping says whether the declared value alternates: it came back to an
// earlier one at least FlapCount times within FlapWindow before now.
func (r *Record) Flapping(now time.Time) bool {
	back := 0
	for i, c := range r.Changes {
		if now.Sub(c.At) > FlapWindow {
			continue
		}
		for _, earlier := range r.Changes[:i] {
			if earlier.Key == c.Key {
				back++
				break
			}
		}
	}
	return back >= FlapCount
}

// Shown is a relationship as it reads now: a stale one says so and is worth no
// more than StaleCap. Nothing of it is stored. Interval is the time between
// looks at the source that the schedule has come to.
func Shown(r Relationship, rec *Record, interval time.Duration, now time.Time) Relationship {
	if !r.Current() || r.Status == StatusInvalid || r.Status == StatusConflicting || r.Status == StatusSuperseded {
		return r
	}
	reason := Reason("")
	switch {
	case rec.SourceGone:
		reason = ReasonSourceGone
	case rec.LastmodNewer:
		reason = ReasonLastmod
	case now.Sub(r.ObservedAt) > StaleAfter(interval):
		reason = ReasonTTL
		if rec.Failures.Count > 0 {
			reason = ReasonSourceUnreachable
		}
	}
	if reason != "" {
		r.Status, r.Reason, r.Score = StatusStale, reason, min(r.Score, StaleCap)
	}
	return r
}
