package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// errEnoughLines ends a reading when the caller has as many lines as it asked for.
var errEnoughLines = errors.New("enough")

// Canonical streams lines of a site that a filter selects, in the order of their pages' keys.
func (v *Verifier) Canonical(ctx context.Context, site int64, f models.CanonicalFilter, fn func(*models.Canonical) error) error {
	return v.read(ctx, site, f, func(l *canonical.Line, cursor string) error {
		c, err := canonicalOf(l)
		if err != nil {
			return err
		}
		c.Cursor = cursor
		return fn(c)
	})
}

func (v *Verifier) read(ctx context.Context, site int64, f models.CanonicalFilter, fn func(l *canonical.Line, cursor string) error) error {
	source, target, err := filterKeys(f)
	if err != nil {
		return err
	}
	q := canonical.Query{SourceURL: f.Source, CanonicalURL: f.Target, Method: canonical.Method(f.Method), TargetStatus: f.TargetStatus,
		RedirectTarget: f.RedirectTarget, SitemapSignal: f.Sitemap, OpenGraph: f.OpenGraph, Schema: f.Schema, At: f.At}
	given := 0
	err = v.o.Store.Judged(ctx, site, f, source, target, func(d *models.Dossier) error {
		lines, err := v.linesOf(d, f.At)
		if err != nil {
			return err
		}
		for i := range lines {
			l := &lines[i]
			if !q.Match(l) || f.Status != "" && f.Status != string(l.Status) || f.Resolution != "" && f.Resolution != string(l.Resolution) {
				continue
			}
			if err := fn(l, d.Watch.Key.String()); err != nil {
				return err
			}
			given++
		}
		// A page's lines stay together, so that its key is a place to go on from.
		if f.Limit > 0 && given >= f.Limit {
			return errEnoughLines
		}
		return nil
	})
	if errors.Is(err, errEnoughLines) {
		return nil
	}
	return err
}

// CanonicalAnswers gives the ontology's ten outputs for each line that a filter selects, its relationship as linked data.
func (v *Verifier) CanonicalAnswers(ctx context.Context, site int64, f models.CanonicalFilter, fn func(answer json.RawMessage) error) error {
	return v.read(ctx, site, f, func(l *canonical.Line, _ string) error {
		text, err := json.Marshal(canonical.AnswerOf(l))
		if err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		return fn(text)
	})
}

// LinesOf gives the lines of some pages, in the order of the keys.
func (v *Verifier) LinesOf(ctx context.Context, site int64, keys []models.Key, fn func(*models.Canonical) error) error {
	for start := 0; start < len(keys); start += newsBatch {
		part := keys[start:min(start+newsBatch, len(keys))]
		found, err := v.o.Store.Dossiers(ctx, site, part)
		if err != nil {
			return err
		}
		for _, k := range part {
			if found[k] == nil {
				continue
			}
			lines, err := v.linesOf(found[k], time.Time{})
			if err != nil {
				return err
			}
			for i := range lines {
				c, err := canonicalOf(&lines[i])
				if err != nil {
					return err
				}
				if err := fn(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Evidence gives the lines of one page, none where nothing is known of it. It waits for no writer.
func (v *Verifier) Evidence(ctx context.Context, site int64, key models.Key) (out []models.Canonical, err error) {
	err = v.o.Store.Judged(ctx, site, models.CanonicalFilter{Unlisted: true, Limit: 1}, &key, nil, func(d *models.Dossier) error {
		lines, err := v.linesOf(d, time.Time{})
		for i := range lines {
			c, err := canonicalOf(&lines[i])
			if err != nil {
				return err
			}
			out = append(out, *c)
		}
		return err
	})
	return out, err
}

func filterKeys(f models.CanonicalFilter) (source, target *models.Key, err error) {
	for _, x := range []struct {
		name, url string
		key       **models.Key
	}{{"source", f.Source, &source}, {"target", f.Target, &target}} {
		if x.url == "" {
			continue
		}
		k := models.Key(canonical.KeyOf(x.url))
		if k == (models.Key{}) {
			return nil, nil, models.Invalid(x.name, "an absolute http or https URL", "%q is not the address of a page", x.url)
		}
		*x.key = &k
	}
	return source, target, nil
}

// linesOf makes the lines of one page, as they read now, or as of an earlier moment.
func (v *Verifier) linesOf(d *models.Dossier, at time.Time) ([]canonical.Line, error) {
	s, err := newSubject(d, d.Watch.Key, d.Watch.URL)
	if err != nil {
		return nil, err
	}
	verdict := canonical.Verdict{Conflict: s.record.Conflict, Candidates: candidatesOf(d.Candidates), Status: canonical.StatusUnknown,
		Reason: canonical.ReasonNeverFetched, Head: canonical.Head{Resolution: canonical.ResolutionNone}}
	if s.head != nil {
		verdict.Head = headOf(s.head)
		verdict.Status, verdict.Reason = canonical.Status(s.head.Status), canonical.Reason(s.head.Reason)
	}
	for _, r := range s.record.Current {
		if at.IsZero() {
			r = canonical.Shown(r, &s.record, s.watch.Interval, v.now())
		}
		verdict.Relationships = append(verdict.Relationships, r)
	}
	ev := canonical.Evidence{Source: s.watch.URL, Key: canonical.Key(s.watch.Key), Parser: canonical.ParserVersion}
	if s.evidence != nil {
		ev = *s.evidence
	}
	gone := d.Negative
	if at.IsZero() {
		ev.Reading, ev.Status = canonical.Reading(s.watch.Reading), s.watch.Status
		if s.watch.Reading == "" {
			ev.Reading = canonical.ReadingNone
		}
		if a := s.memory.Negative; a != nil {
			gone = a.row(nil, s.watch.LastLook)
		}
	} else {
		past(&ev, &verdict, s, at)
	}
	lines := canonical.Lines(&ev, verdict)
	if len(verdict.Relationships) == 0 && gone != nil { // what looks told that found no relationship, and from when to when
		lines[0].ValidFrom, lines[0].ValidUntil, lines[0].ObservedAt = &gone.From, gone.Until, &gone.Seen
	}
	return lines, nil
}

// past puts evidence and head back to what they were when the relationships held.
func past(ev *canonical.Evidence, verdict *canonical.Verdict, s *subject, at time.Time) {
	if s.watch.LastRead.After(at) { // of a later look
		ev.Head, ev.Robots, ev.Remarks = canonical.DocumentHead{}, canonical.Robots{}, nil
	}
	ev.Items = nil
	for _, o := range s.observed {
		ev.Items = append(ev.Items, o.Item)
	}
	verdict.Head = canonical.Head{Resolution: canonical.ResolutionNone}
	verdict.Status, verdict.Reason = canonical.StatusUnknown, canonical.ReasonNoDeclaration
	if len(verdict.Relationships) == 0 {
		pastNegative(ev, verdict, s.dossier.Negative)
		return
	}
	switch r := &verdict.Relationships[0]; {
	case verdict.Conflict == nil && r.TargetKey.IsZero(): // empty or malformed: it leads nowhere
	case verdict.Conflict != nil:
		verdict.Head.Resolution = canonical.ResolutionConflict
	case r.Reason == canonical.ReasonLoop:
		verdict.Head.Resolution = canonical.ResolutionLoop
	case r.Reason == canonical.ReasonIntoLoop:
		verdict.Head.Resolution = canonical.ResolutionIntoLoop
	case r.Scope == canonical.ScopeSelf:
		verdict.Head.Resolution = canonical.ResolutionSelf
	case r.Method.Explicit():
		verdict.Head.Resolution = canonical.ResolutionChain
	}
}

// pastNegative puts back what looks told that found no relationship. Their redirects lead where they led.
func pastNegative(ev *canonical.Evidence, verdict *canonical.Verdict, a *models.CanonicalNegative) {
	if a == nil { // never looked at: the line has no time, and no question about the past selects it
		verdict.Reason = canonical.ReasonNeverFetched
		return
	}
	verdict.Status, verdict.Reason = canonical.Status(a.Status), canonical.Reason(a.Reason)
	ev.Reading, ev.Status = canonical.Reading(a.Reading), a.HTTPStatus
	first, permanent := canonical.Item{}, false
	for _, it := range ev.Of(canonical.KindRedirectPermanent, canonical.KindRedirectTemporary, canonical.KindRefresh, canonical.KindRefreshHeader) {
		first, permanent = it, it.Accepted && it.Delay == 0 && it.Kind != canonical.KindRedirectTemporary
		break
	}
	switch again, circles := ev.Circle(); {
	case circles && again.Key == ev.Key:
		verdict.Head.Resolution = canonical.ResolutionLoop
	case circles && permanent:
		verdict.Head.Resolution = canonical.ResolutionIntoLoop
	case permanent && first.Key != ev.Key:
		verdict.Head.Resolution = canonical.ResolutionChain
	}
}

// canonicalOf writes a line in the contract's shape.
func canonicalOf(l *canonical.Line) (*models.Canonical, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write a line: %w", err)
	}
	var c models.Canonical
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("write a line: %w", err)
	}
	return &c, nil
}
