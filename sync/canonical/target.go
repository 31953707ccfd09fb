package canonical

import "time"

// ValidityWindow is how long a look at a target proves anything.
const ValidityWindow = 45 * 24 * time.Hour

// Failures remembers a URL's unbroken run of failed looks.
type Failures struct {
	Count     int       `json:"count,omitempty"`
	First     time.Time `json:"first,omitzero"`
	Last      time.Time `json:"last,omitzero"`
	Gone      int       `json:"gone,omitempty"` // 404 or 410 among them, unbroken
	GoneFirst time.Time `json:"gone_first,omitzero"`
	GoneLast  time.Time `json:"gone_last,omitzero"`
}

// Note counts one look. Whatever is understood ends the run. Maintenance
// (503 with Retry-After) counts only once it has lasted an hour, blocked looks never.
func (f Failures) Note(r Reading, at time.Time) Failures {
	switch r {
	case ReadingGone:
		if f.Gone == 0 {
			f.GoneFirst = at
		}
		f.Gone++
		f.GoneLast = at
	case ReadingError, ReadingDenied, ReadingTempFail, ReadingUnreachable, ReadingChallenge, ReadingUnverified:
		f.Gone, f.GoneFirst, f.GoneLast = 0, time.Time{}, time.Time{}
	case ReadingMaintenance:
		if f.First.IsZero() {
			f.First = at
			return f
		}
		if at.Sub(f.First) < time.Hour {
			return f
		}
	case ReadingRobots, ReadingTruncated, ReadingEmpty, ReadingUndecodable, ReadingNone:
		return f
	default:
		return Failures{}
	}
	if f.First.IsZero() {
		f.First = at
	}
	f.Count++
	f.Last = at
	return f
}

// Persistent says that the run is no passing fault: 404 or 410 twice at least a
// day apart, or any failure five times over at least seven days.
func (f Failures) Persistent() bool {
	return f.Confirmed() || f.Count >= 5 && f.Last.Sub(f.First) >= 7*24*time.Hour
}

// Confirmed says that the URL answered 404 or 410 twice at least a day apart.
func (f Failures) Confirmed() bool { return f.Gone >= 2 && f.GoneLast.Sub(f.GoneFirst) >= 24*time.Hour }

// Target is what is known of a relationship's target.
type Target struct {
	State      TargetState
	Validation Validation
	Content    Compared
	Identifier Compared
}

// Look is one look at a target, to be held against the source that names it.
type Look struct {
	Source     string   // URL of the page that declares
	Target     string   // URL that it declares
	Evidence   Evidence // Extract of the target's own response
	Failures   Failures // of the target, this look counted
	Soft404    bool     // the host answers 200 with the same page to anything
	Content    Compared // of source and target (sketch.Compare)
	Identifier Compared
	At         time.Time
	Before     *Target // what was known, for a 304 and for looks that tell nothing
}

// Validate judges a target by its own answer. A failure that may pass leaves
// the relationship alone; only a persistent one lowers it.
func Validate(l Look) Target {
	ev := &l.Evidence
	t := Target{Content: l.Content, Identifier: l.Identifier}
	v := Validation{URLValid: true, Status: ev.Status, At: l.At, Method: "fetch", RedirectState: "none", Protocol: protocol(l.Source, l.Target),
		Content: l.Content.String(), Identifier: l.Identifier.String(), Noindex: ev.Robots.NoIndex}
	yes, no := true, false
	switch ev.Reading {
	case ReadingNotModified:
		if l.Before != nil {
			t = *l.Before
			t.Validation.At = l.At
			return t
		}
		t.State = TargetUnknown
	case ReadingRedirect:
		t.State, v.Retrievable = TargetRedirects, &yes
		if hops := ev.Of(KindRedirectPermanent, KindRedirectTemporary); len(hops) > 0 {
			v.RedirectState, v.RedirectTarget = "permanent", hops[0].URL
			if hops[0].Kind == KindRedirectTemporary {
				v.RedirectState = "temporary"
			}
		}
	case ReadingRobots:
		t.State = TargetBlocked
	case ReadingNone, ReadingTruncated, ReadingEmpty, ReadingUndecodable:
		t.State = TargetUnknown
		if l.Before != nil {
			t = *l.Before
			return t
		}
	case ReadingRead, ReadingNonHTML:
		v.Retrievable = &yes
		t.State = readTarget(ev, l.Soft404, &v)
	default:
		v.Retrievable = &no
		t.State = TargetTempFail
		if ev.Reading == ReadingGone {
			t.State = TargetNotFound
		}
		if l.Failures.Persistent() {
			t.State = TargetError
		} else if l.Before != nil && l.Before.State == TargetValid && l.At.Sub(l.Before.Validation.At) <= ValidityWindow {
			// A passing failure takes nothing back that was proven.
			return *l.Before
		}
	}
	v.State = targetReasons[t.State]
	t.Validation = v
	return t
}

// readTarget judges a target that answered and was read.
func readTarget(ev *Evidence, soft404 bool, v *Validation) TargetState {
	state := TargetValid
	for _, it := range ev.Declared() {
		if it.Scope != ScopeSelf {
			state, v.TargetCanonical = TargetChain, it.URL
			break
		}
		v.TargetCanonical = it.URL
	}
	if immediate := refreshes(ev); state == TargetValid && len(immediate) > 0 {
		state, v.RedirectState, v.RedirectTarget = TargetRedirects, "permanent", immediate[0].URL
	}
	switch {
	case soft404:
		return TargetSoft404
	case ev.Robots.NoIndex:
		return TargetNoindex
	}
	return state
}

// refreshes lists the accepted refreshes without delay, which stand for a permanent redirect.
func refreshes(ev *Evidence) []Item {
	var out []Item
	for _, it := range ev.Of(KindRefresh, KindRefreshHeader) {
		if it.Accepted && it.Delay == 0 {
			out = append(out, it)
		}
	}
	return out
}

func protocol(source, target string) string {
	a, b := schemeOf(source), schemeOf(target)
	switch {
	case a == b:
		return "same"
	case a == "https":
		return "downgrade"
	}
	return "upgrade"
}

var comparedNames = [...]string{ComparedUnknown: "unknown", ComparedMatch: "match", ComparedMismatch: "mismatch", ComparedNear: "near"}

// String gives the word that is stored and shown.
func (c Compared) String() string { return comparedNames[c] }

// targetReasons are the reasons of a declared relationship whose target is in that state.
var targetReasons = map[TargetState]Reason{TargetUnknown: ReasonUnvalidated, TargetTempFail: ReasonTargetTempFail, TargetNotFound: ReasonTargetNotFound, TargetError: ReasonTargetError,
	TargetRedirects: ReasonTargetRedirects, TargetNoindex: ReasonTargetNoindex, TargetBlocked: ReasonTargetBlocked,
	TargetSoft404: ReasonTargetSoft404, TargetChain: ReasonChain, TargetIntoLoop: ReasonIntoLoop, TargetUnverifiable: ReasonUnverifiable}

// CompareIdentifiers holds the identifiers of two pages against each other:
// equal host and WordPress post ID is the same post.
func CompareIdentifiers(a, b *Evidence) Compared {
	x, y := a.identifiers(), b.identifiers()
	if len(x) == 0 || len(y) == 0 {
		return ComparedUnknown
	}
	for id := range x {
		if y[id] {
			return ComparedMatch
		}
	}
	return ComparedMismatch
}

func (e *Evidence) identifiers() map[string]bool {
	out := map[string]bool{}
	for _, it := range e.Items {
		if it.ID != "" && it.Accepted {
			out[it.ID] = true
		}
	}
	return out
}
