package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/sketch"
)

// newsBatch is how many sources are judged anew with one reading of what they name.
const newsBatch = 200

// targets gives what is known of the URLs that a page may prefer, from their own looks.
func (v *visit) targets(ctx context.Context, source *subject, names map[canonical.Key]string, current []canonical.Relationship) (map[canonical.Key]canonical.Target, error) {
	if len(names) == 0 {
		return nil, nil
	}
	keys := make([]models.Key, 0, len(names))
	for k := range names {
		keys = append(keys, models.Key(k))
	}
	found, err := v.o.Store.Dossiers(ctx, v.site.ID, keys)
	if err != nil {
		return nil, err
	}
	out := map[canonical.Key]canonical.Target{}
	for k, url := range names {
		t, err := newSubject(found[models.Key(k)], models.Key(k), url)
		if err != nil {
			return nil, err
		}
		if target, known := v.target(source, t); known {
			out[k] = target
		}
	}
	return out, nil
}

// target holds one URL's own word against the page that names it; false while it was never looked at.
func (v *visit) target(source, t *subject) (canonical.Target, bool) {
	if t.watch.LastLook.IsZero() {
		return canonical.Target{}, false
	}
	look := canonical.Look{Source: source.watch.URL, Target: t.watch.URL, Failures: t.record.Failures, Soft404: t.memory.Soft404, At: t.watch.LastRead}
	reading := canonical.Reading(t.watch.Reading)
	plain := canonical.Evidence{Source: t.watch.URL, Key: canonical.Key(t.watch.Key), Reading: reading, Status: t.watch.Status}
	switch {
	case t.evidence == nil, reading == canonical.ReadingRobots, failing(reading) && t.record.Failures.Persistent():
		// What was read before is no longer to be relied on, or never was there.
		look.Evidence, look.At = plain, t.watch.LastLook
	default:
		look.Evidence = *t.evidence
	}
	if look.Evidence.Reading == canonical.ReadingRead && source.evidence != nil {
		look.Content = sketch.Compare(source.sketch, t.sketch)
		if look.Content == canonical.ComparedMismatch && (source.memory.Cut || t.memory.Cut) {
			look.Content = canonical.ComparedUnknown // the rest of a text may hold what its beginning does not
		}
		look.Identifier = canonical.CompareIdentifiers(source.evidence, &look.Evidence)
	}
	return canonical.Validate(look), true
}

// intoLoop says of targets that lead on whether they lead into a loop: a single look at them cannot tell.
func intoLoop(targets map[canonical.Key]canonical.Target, g canonical.GraphState) {
	if g.Resolution != canonical.ResolutionIntoLoop {
		return
	}
	for k, t := range targets {
		if t.State == canonical.TargetChain || t.State == canonical.TargetRedirects {
			t.State = canonical.TargetIntoLoop
			targets[k] = t
		}
	}
}

func failing(r canonical.Reading) bool {
	switch r {
	case canonical.ReadingGone, canonical.ReadingError, canonical.ReadingDenied, canonical.ReadingTempFail, canonical.ReadingMaintenance,
		canonical.ReadingUnreachable, canonical.ReadingChallenge, canonical.ReadingUnverified:
		return true
	}
	return false
}

// spread judges everybody anew whose target, or whose way to the final URL, has changed. Those of a hub are many: where a run
// becomes due the rest is left in the queue for the next stay.
func (v *visit) spread(ctx context.Context) error {
	for batch := 0; ; batch++ {
		news, err := v.o.Store.News(ctx, v.site.ID, newsBatch)
		if v.unsettled = err == nil && len(news) > 0; !v.unsettled {
			return err
		}
		if batch > 0 {
			if wanted, err := v.wanted(ctx); wanted || err != nil {
				return err
			}
		}
		keys := make([]models.Key, 0, len(news))
		for k := range news {
			keys = append(keys, k)
		}
		found, err := v.o.Store.Dossiers(ctx, v.site.ID, sortKeys(keys))
		if err != nil {
			return err
		}
		moved := false
		for _, k := range keys {
			if found[k] == nil || found[k].Watch.Revision == 0 {
				continue
			}
			again, err := v.rejudge(ctx, found[k])
			if err != nil {
				return err
			}
			moved = moved || again
		}
		if err := v.o.Store.AnswerNews(ctx, v.site.ID, news); err != nil {
			return err
		}
		if moved {
			if _, err := NewEdges(ctx, v.o.Store, v.site.ID).Drain(); err != nil {
				return err
			}
		}
	}
}

// rejudge applies the rules to what is stored of a source, in the light of what is known of its targets now.
func (v *visit) rejudge(ctx context.Context, d *models.Dossier) (moved bool, err error) {
	s, err := newSubject(d, d.Watch.Key, d.Watch.URL)
	if err != nil || s.evidence == nil || s.head == nil {
		return false, err
	}
	at := v.now()
	g := canonical.GraphState{Resolution: canonical.Resolution(s.head.Resolution), Final: s.head.FinalURL, FinalKey: canonical.Key(s.head.Final), Depth: s.head.Depth}
	if s.head.Loop != (models.Key{}) {
		g.LoopID = s.head.Loop.String()
	}
	names := map[canonical.Key]string{}
	for _, r := range s.record.Current {
		if r.TargetKey != r.SourceKey && !r.TargetKey.IsZero() {
			names[r.TargetKey] = r.Target
		}
	}
	for i := range d.Candidates {
		if c := d.Candidates[i]; c.Target != s.watch.Key {
			names[canonical.Key(c.Target)] = targetOf(c.Body)
		}
	}
	if !g.FinalKey.IsZero() {
		names[g.FinalKey] = g.Final
	}
	targets, err := v.targets(ctx, s, names, s.record.Current)
	if err != nil {
		return false, err
	}
	intoLoop(targets, g)
	look := &models.Look{Watch: s.watch}
	next := s.record
	next.Current = slices.Clone(s.record.Current)
	for i := range next.Current {
		old := next.Current[i]
		if !old.Method.Explicit() {
			continue
		}
		judged := canonical.Rejudge(old, canonical.News{Target: targets[old.TargetKey], Graph: g, Redirect: ownRedirect(s.evidence, old.TargetKey), At: at})
		next.Current[i] = judged
		if !judgedOtherwise(&old, &judged) {
			continue
		}
		cause := "target"
		if old.Reason != judged.Reason && (judged.Reason == canonical.ReasonLoop || old.Reason == canonical.ReasonLoop || judged.Reason == canonical.ReasonIntoLoop ||
			old.Reason == canonical.ReasonIntoLoop || judged.Reason == canonical.ReasonChain || old.Reason == canonical.ReasonChain) {
			cause = "graph"
		}
		m, err := packed(&judged, cause, at)
		if err != nil {
			return false, err
		}
		look.Changed = append(look.Changed, m)
	}
	verdict := canonical.Verdict{Candidates: candidatesOf(d.Candidates)}
	if takes(s.evidence) && s.record.AbsentSince.IsZero() {
		in := canonical.Input{Evidence: *s.evidence, Targets: targets, Graph: g, Flapping: s.record.Flapping(at), At: at}
		verdict = canonical.Judge(in)
		if err := v.reinfer(&next, &verdict, look); err != nil {
			return false, err
		}
		look.SetCandidates = true
		if look.Candidates, err = packedCandidates(verdict.Candidates, at); err != nil {
			return false, err
		}
	}
	return v.saveRejudged(ctx, s, next, verdict, look)
}

// reinfer opens and closes relationships that nobody declared.
func (v *visit) reinfer(next *canonical.Record, verdict *canonical.Verdict, look *models.Look) error {
	at := v.now()
	inferred := slices.DeleteFunc(slices.Clone(verdict.Relationships), func(r canonical.Relationship) bool { return r.Method.Explicit() })
	var current []canonical.Relationship
	for _, old := range next.Current {
		i := slices.IndexFunc(inferred, func(r canonical.Relationship) bool { return r.ID() == old.ID() })
		if old.Method.Explicit() || i >= 0 {
			if i >= 0 {
				inferred = slices.Delete(inferred, i, i+1)
			}
			current = append(current, old)
			continue
		}
		old.ValidUntil, old.EndReason, old.Status, old.Reason = at, canonical.ReasonReplaced, canonical.StatusSuperseded, canonical.ReasonReplaced
		m, err := packed(&old, "graph", at)
		if err != nil {
			return err
		}
		look.Closed = append(look.Closed, m)
	}
	for _, r := range inferred {
		r.ValidFrom, r.ObservedAt = at, at
		m, err := packed(&r, "graph", at)
		if err != nil {
			return err
		}
		look.Opened = append(look.Opened, m)
		current = append(current, r)
	}
	next.Current = current
	return nil
}

func (v *visit) saveRejudged(ctx context.Context, s *subject, next canonical.Record, verdict canonical.Verdict, look *models.Look) (bool, error) {
	at := v.now()
	head := *s.head
	head.Status, head.Reason = statusOf(next.Current, canonical.StatusUnknown, canonical.Reason(head.Reason))
	l, err := v.listing(ctx, s.watch.Key)
	if err != nil {
		return false, err
	}
	j := judging{visit: v, s: s, l: l, ev: latestView(s), a: &pageAnswer{}, at: at, before: s.record, verdict: verdict, head: head, memory: s.memory,
		again: true, informed: !failing(canonical.Reading(s.watch.Reading))}
	j.shown = j.ev
	j.step.Next = next
	if err := j.audit(ctx); err != nil {
		return false, err
	}
	look.Findings = j.findings
	if len(look.Changed)+len(look.Opened)+len(look.Closed)+len(look.Findings) == 0 && head.Status == s.head.Status && head.Reason == s.head.Reason {
		return false, nil
	}
	look.Head = &head
	memory := s.memory
	memory.TroubleSince = trouble(memory.TroubleSince, head.Status, head.Resolution, at)
	// A change at the target is reported at once, but does not count as a look at the source.
	bearing := memory.Bearing
	memory.follow(look, absent(next.Current, &head, j.shown, at), at, s.watch.LastLook)
	plan(&look.Watch, &memory, at)
	if look.Watch.Record, err = json.Marshal(memory); err != nil {
		return false, fmt.Errorf("write the record: %w", err)
	}
	err = v.o.Store.SaveLook(ctx, v.lease, v.site.ID, look)
	if errors.Is(err, models.ErrConflict) {
		return false, nil
	}
	return bearing != memory.Bearing, err
}

// latestView is the evidence that a report rests on: what was read last, or that the last look failed.
func latestView(s *subject) *canonical.Evidence {
	reading := canonical.Reading(s.watch.Reading)
	if s.evidence != nil && (reading == canonical.ReadingNotModified || takes(&canonical.Evidence{Reading: reading})) {
		return s.evidence
	}
	ev := &canonical.Evidence{Source: s.watch.URL, Key: canonical.Key(s.watch.Key), Reading: reading, Status: s.watch.Status}
	if s.memory.NoRobots {
		ev.Remarks = []canonical.Remark{{Hint: canonical.HintNoRobots}}
	}
	return ev
}

// ownRedirect says where a page's own permanent redirect goes, seen from a target.
func ownRedirect(ev *canonical.Evidence, target canonical.Key) canonical.OwnRedirect {
	found := canonical.RedirectNone
	for _, it := range ev.Of(canonical.KindRedirectPermanent, canonical.KindRedirectTemporary, canonical.KindRefresh, canonical.KindRefreshHeader) {
		if it.Kind == canonical.KindRedirectTemporary || !it.Accepted || it.Delay > 0 {
			if it.Kind == canonical.KindRedirectTemporary {
				break
			}
			continue
		}
		if it.Key == target {
			return canonical.RedirectSame
		}
		found = canonical.RedirectElsewhere
	}
	return found
}

func targetOf(body []byte) string {
	var c canonical.Candidate
	_ = json.Unmarshal(body, &c) // our own rows; a broken one names nothing
	return c.Target
}

func candidatesOf(list []models.CanonicalCandidate) []canonical.Candidate {
	var out []canonical.Candidate
	for i := range list {
		var c canonical.Candidate
		if json.Unmarshal(list[i].Body, &c) == nil {
			out = append(out, c)
		}
	}
	return out
}
