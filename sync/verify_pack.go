package syncer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// pack makes the rows.
func (j *judging) pack() (*models.Look, error) {
	s := j.s
	look := &models.Look{Watch: s.watch, Head: &j.head, EdgeMoved: j.moved, Stirred: j.stirred, Findings: j.findings}
	w := &look.Watch
	w.LastLook, w.Reading, w.Status, w.Listed = j.at, string(j.ev.Reading), j.ev.Status, j.l.listed
	if j.informed {
		w.LastRead = j.at
		w.Looks++
	}
	changed := len(j.step.Opened)+len(j.step.Closed) > 0 || j.touched != nil && *j.touched
	if j.informed {
		w.Interval = canonical.NextInterval(w.Interval, changed)
	}
	if j.ev.Reading == canonical.ReadingRead {
		w.ETag, w.LastModified, w.ValidatedURL = j.a.etag, j.a.lastModified, s.watch.URL
		sample, err := j.a.sketch.MarshalBinary()
		if err != nil {
			return nil, err
		}
		w.Sketch = sample
	} else if takes(j.ev) {
		w.ETag, w.LastModified, w.ValidatedURL, w.Sketch = "", "", "", nil
	}
	if err := j.packEvidence(look); err != nil {
		return nil, err
	}
	if err := j.packRelationships(look); err != nil {
		return nil, err
	}
	j.memory.follow(look, absent(j.step.Next.Current, &j.head, j.shown, j.at), j.at, s.watch.LastLook)
	plan(w, &j.memory, j.at)
	record, err := json.Marshal(j.memory)
	if err != nil {
		return nil, fmt.Errorf("write the record: %w", err)
	}
	w.Record = record
	return look, nil
}

// packEvidence writes observations that are new, or no longer seen; those that stay are counted by the watch alone.
func (j *judging) packEvidence(look *models.Look) error {
	all, changed := canonical.Observe(j.s.observed, j.ev, j.at)
	before := map[[16]byte]canonical.Observation{}
	for _, o := range j.s.observed {
		before[o.ID] = o
	}
	for _, o := range changed {
		old, known := before[o.ID]
		if known && old.Current == o.Current && old.Parser == o.Parser {
			continue
		}
		item, err := json.Marshal(o.Item)
		if err != nil {
			return fmt.Errorf("write an observation: %w", err)
		}
		look.Observations = append(look.Observations, models.CanonicalObservation{ID: o.ID, Kind: string(o.Item.Kind), Accepted: o.Item.Accepted,
			Current: o.Current, FirstSeen: o.FirstSeen, LastSeen: o.LastSeen, Times: int64(o.Times), Parser: o.Parser, Item: item})
	}
	if !takes(j.ev) && j.s.evidence != nil {
		return nil // what was read before still stands
	}
	k := kept{Evidence: *j.ev}
	k.Items, k.Along = nil, nil
	for i := range j.ev.Items {
		for _, o := range all {
			if o.Current && sameStatement(&o.Item, &j.ev.Items[i]) && !slices.Contains(k.Statements, o.ID) {
				k.Statements = append(k.Statements, o.ID)
				break
			}
		}
	}
	body, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	look.Watch.Evidence = body
	return nil
}

// sameStatement compares what makes a statement an observation of its own.
func sameStatement(a, b *canonical.Item) bool {
	return a.Kind == b.Kind && a.Place == b.Place && a.Hop == b.Hop && a.Accepted == b.Accepted && a.URL == b.URL && a.Raw == b.Raw
}

// packRelationships sorts what the step did into rows: opened, closed, judged otherwise, seen again.
func (j *judging) packRelationships(look *models.Look) error {
	opened := map[string]bool{}
	for i := range j.step.Opened {
		opened[j.step.Opened[i].ID()] = true
	}
	all := len(j.step.Next.Current) > 0
	for i := range j.step.Next.Current {
		r := &j.step.Next.Current[i]
		m, err := packed(r, "look", j.at)
		if err != nil {
			return err
		}
		all = all && r.ObservedAt.Equal(j.at)
		if opened[r.ID()] {
			look.Opened = append(look.Opened, m)
			continue
		}
		at := slices.IndexFunc(j.before.Current, func(old canonical.Relationship) bool { return old.ID() == r.ID() })
		if at < 0 {
			continue
		}
		switch old := &j.before.Current[at]; {
		case judgedOtherwise(old, r):
			look.Changed = append(look.Changed, m)
		case r.Validation.Method == "fetch" && !r.Validation.At.Equal(old.Validation.At):
			look.Seen = append(look.Seen, m)
		case r.ObservedAt.Equal(j.at):
			// told by the watch, if all were seen
			look.Seen = append(look.Seen, m)
		}
	}
	if all { // one row says it for all of them
		look.Watch.Confirmed = j.at
		look.Seen = slices.DeleteFunc(look.Seen, func(m models.CanonicalRelationship) bool {
			return !slices.ContainsFunc(j.before.Current, func(old canonical.Relationship) bool {
				return models.Key(old.TargetKey) == m.Target && string(old.Method) == m.Method && old.Validation.Method == "fetch"
			})
		})
	}
	for i := range j.step.Closed {
		m, err := packed(&j.step.Closed[i], "look", j.at)
		if err != nil {
			return err
		}
		look.Closed = append(look.Closed, m)
	}
	return j.packRest(look)
}

// judgedOtherwise says whether the judgement of one relationship changed, the moment of a validation apart.
func judgedOtherwise(a, b *canonical.Relationship) bool {
	x, y := a.Validation, b.Validation
	x.At, y.At = time.Time{}, time.Time{}
	if (x.Retrievable == nil) != (y.Retrievable == nil) || x.Retrievable != nil && *x.Retrievable != *y.Retrievable {
		return true
	}
	x.Retrievable, y.Retrievable = nil, nil
	return a.Status != b.Status || a.Reason != b.Reason || a.Score != b.Score || a.Rule != b.Rule || x != y
}

// packRest writes the conflict and, where the look may say, the candidates.
func (j *judging) packRest(look *models.Look) error {
	conflict, err := packedConflict(j.before.Conflict, j.step.Next.Conflict, j.at)
	if err != nil {
		return err
	}
	look.Conflict = conflict
	if takes(j.ev) {
		look.SetCandidates = true
		look.Candidates, err = packedCandidates(j.verdict.Candidates, j.at)
	}
	return err
}

func packedConflict(before, now *canonical.Conflict, at time.Time) (*models.CanonicalConflict, error) {
	c := now
	if c == nil && before != nil {
		closed := *before
		closed.State, closed.ClosedAt = "resolved", at
		c = &closed
	}
	if c == nil {
		return nil, nil
	}
	body, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write a conflict: %w", err)
	}
	kinds := make([]string, len(c.Kinds))
	for i, k := range c.Kinds {
		kinds[i] = string(k)
	}
	m := &models.CanonicalConflict{OpenedAt: c.OpenedAt, Kinds: strings.Join(kinds, ","), Body: body}
	if !c.ClosedAt.IsZero() {
		m.ClosedAt = &at
	}
	return m, nil
}

func packedCandidates(list []canonical.Candidate, at time.Time) ([]models.CanonicalCandidate, error) {
	var out []models.CanonicalCandidate
	seen := map[canonical.Key]bool{}
	for i := range list {
		c := &list[i]
		if seen[c.TargetKey] {
			continue
		}
		seen[c.TargetKey] = true
		body, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("write a candidate: %w", err)
		}
		out = append(out, models.CanonicalCandidate{Target: models.Key(c.TargetKey), ValidFrom: at, Score: c.Score, Rule: c.Rule, Body: body})
	}
	return out, nil
}
