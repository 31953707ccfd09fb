package canonical

import (
	"slices"
	"time"
)

// What a look says of the declarations that the page itself made, where the site's system states something beside it.
type word int

const (
	wordSpoken word = iota // the page declares something, or never did
	wordHeld               // it does not, which a second look has to confirm
	wordGone               // confirmed
)

// pageWord tells a page that declares nothing any more from one that was not asked: what its system states fills no gap.
func (s *Step) pageWord(o Observed, explicit []Relationship, since time.Time) word {
	ofPage := func(r Relationship) bool { return r.Method.ofPage() }
	if slices.ContainsFunc(explicit, ofPage) || !slices.ContainsFunc(s.Next.Current, ofPage) {
		return wordSpoken
	}
	s.Next.AbsentSince = since
	switch r := o.Evidence.Reading; {
	case r == ReadingRedirect && !permanent(&o.Evidence):
		s.Reason = ReasonTemporary
	case r == ReadingNotModified && since.IsZero():
	case since.IsZero():
		s.Next.AbsentSince, s.Reason = o.At, ReasonAbsentOnce
	case o.At.Sub(since) < AbsenceConfirm:
		s.Reason = ReasonAbsentOnce
	case o.HoldMass:
		s.Reason = ReasonMassChange
	default:
		s.Next.AbsentSince = time.Time{}
		return wordGone
	}
	return wordHeld
}

// permanent says whether the first redirect of a source is permanent.
func permanent(ev *Evidence) bool {
	for _, it := range ev.Items {
		if it.Kind == KindRedirectPermanent || it.Kind == KindRedirectTemporary {
			return it.Kind == KindRedirectPermanent && it.Accepted
		}
	}
	return false
}
