package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// Dossiers gives everything kept of some URLs as it is now. URLs that nothing is kept of are missing.
func (s *Store) Dossiers(ctx context.Context, site int64, keys []models.Key) (map[models.Key]*models.Dossier, error) {
	return s.dossiers(ctx, s.db, site, keys, time.Time{})
}

// dossiers reads from one handle; at, unless zero, chooses what was valid then.
func (s *Store) dossiers(ctx context.Context, db *gorm.DB, site int64, keys []models.Key, at time.Time) (map[models.Key]*models.Dossier, error) {
	out := make(map[models.Key]*models.Dossier, len(keys))
	for chunk := range slices.Chunk(sortedKeys(keys), statementKeys) {
		r := dossierReader{db: db.WithContext(ctx), site: site, at: at, out: out, keys: keyBytes(chunk)}
		for _, read := range []func() error{r.watches, r.heads, r.relationships, r.states, r.observations, r.conflicts, r.candidates, r.negatives, r.findings} {
			if err := read(); err != nil {
				return nil, fmt.Errorf("read what is kept of pages: %w", err)
			}
		}
	}
	return out, nil
}

type dossierReader struct {
	db   *gorm.DB
	site int64
	at   time.Time
	keys [][]byte
	out  map[models.Key]*models.Dossier
	rels []canonicalRelationshipRow
}

func (r *dossierReader) of(rows any) error {
	return r.db.Where("site_id = ? AND url_key IN ?", r.site, r.keys).Find(rows).Error
}

func (r *dossierReader) watches() error {
	var rows []canonicalWatchRow
	if err := r.of(&rows); err != nil {
		return err
	}
	for i := range rows {
		r.out[keyFrom(rows[i].URLKey)] = &models.Dossier{Watch: rows[i].watch()}
	}
	return nil
}

// get gives the dossier of a URL; one that was never planned has an empty watch.
func (r *dossierReader) get(key []byte) *models.Dossier {
	k := keyFrom(key)
	d := r.out[k]
	if d == nil {
		d = &models.Dossier{Watch: models.CanonicalWatch{Key: k}}
		r.out[k] = d
	}
	return d
}

func (r *dossierReader) heads() error {
	var rows []canonicalHeadRow
	if err := r.of(&rows); err != nil {
		return err
	}
	var finals [][]byte
	for i := range rows {
		h := rows[i].head()
		d := r.get(rows[i].URLKey)
		d.Head = &h
		if d.Watch.URL == "" {
			d.Watch.URL = h.URL
		}
		if rows[i].FinalKey != nil {
			finals = append(finals, rows[i].FinalKey)
		}
	}
	if len(finals) == 0 {
		return nil
	}
	var ends []canonicalHeadRow
	if err := r.db.Select("url_key", "url").Where("site_id = ? AND url_key IN ?", r.site, finals).Find(&ends).Error; err != nil {
		return err
	}
	urls := map[models.Key]string{}
	for i := range ends {
		urls[keyFrom(ends[i].URLKey)] = ends[i].URL
	}
	for i := range rows {
		h := r.get(rows[i].URLKey).Head
		h.FinalURL = urls[h.Final]
	}
	return nil
}

// valid adds the condition that a row was valid at the moment asked for.
func (r *dossierReader) valid(from, until string) *gorm.DB {
	if r.at.IsZero() {
		return r.db.Where(until + " IS NULL")
	}
	return r.db.Where(from+" <= ? AND ("+until+" IS NULL OR "+until+" > ?)", r.at, r.at)
}

func (r *dossierReader) relationships() error {
	query := r.valid("valid_from", "valid_until")
	if r.at.IsZero() {
		query = r.db.Where("is_open = ?", true)
	}
	if err := query.Where("site_id = ? AND url_key IN ?", r.site, r.keys).Order("url_key, valid_from, method, target_key").Find(&r.rels).Error; err != nil {
		return err
	}
	for i := range r.rels {
		d := r.get(r.rels[i].URLKey)
		d.Relationships = append(d.Relationships, r.rels[i].relationship(&d.Watch))
	}
	return nil
}

// states puts relationships back to how they were judged at the moment asked for.
func (r *dossierReader) states() error {
	if r.at.IsZero() || len(r.rels) == 0 {
		return nil
	}
	var rows []canonicalStateRow
	err := r.db.Where("site_id = ? AND url_key IN ? AND judged_at <= ?", r.site, r.keys, r.at).Order("judged_at").Find(&rows).Error
	if err != nil {
		return err
	}
	for i := range r.rels {
		for j, list := 0, r.get(r.rels[i].URLKey).Relationships; j < len(list); j++ {
			if list[j].ObservedAt.After(r.at) { // of the looks between, only those are known that judged otherwise
				list[j].ObservedAt = list[j].ValidFrom
			}
		}
	}
	for i := range rows {
		s := &rows[i]
		d := r.get(s.URLKey)
		for j := range d.Relationships {
			rel := &d.Relationships[j]
			if rel.Target == keyFrom(s.TargetKey) && rel.Method == s.Method && rel.ValidFrom.Equal(s.ValidFrom) {
				rel.Status, rel.Reason, rel.Score, rel.Rule, rel.Ruleset = s.Status, s.Reason, float64(s.Score)/100, s.Rule, s.Ruleset
				rel.Validation, rel.Cause, rel.JudgedAt = s.Validation, s.Cause, s.JudgedAt.UTC()
				if s.Cause == "look" {
					rel.ObservedAt = latest(rel.ObservedAt, rel.JudgedAt)
				}
			}
		}
	}
	return nil
}

func (r *dossierReader) observations() error {
	query := r.db
	if !r.at.IsZero() {
		query = query.Where("first_seen <= ? AND (is_open = ? OR last_seen >= ?)", r.at, true, r.at)
	}
	var rows []canonicalObservationRow
	if err := query.Where("site_id = ? AND url_key IN ?", r.site, r.keys).Find(&rows).Error; err != nil {
		return err
	}
	for i := range rows {
		d := r.get(rows[i].URLKey)
		d.Observations = append(d.Observations, rows[i].observation(&d.Watch))
	}
	return nil
}

func (r *dossierReader) conflicts() error {
	var rows []canonicalConflictRow
	if err := r.valid("opened_at", "closed_at").Where("site_id = ? AND url_key IN ?", r.site, r.keys).Order("opened_at").Find(&rows).Error; err != nil {
		return err
	}
	for i := range rows {
		c := &rows[i]
		r.get(c.URLKey).Conflict = &models.CanonicalConflict{OpenedAt: c.OpenedAt.UTC(), ClosedAt: micros(c.ClosedAt), Kinds: c.Kinds, Body: c.Body}
	}
	return nil
}

func (r *dossierReader) candidates() error {
	var rows []canonicalCandidateRow
	if err := r.valid("valid_from", "valid_until").Where("site_id = ? AND url_key IN ?", r.site, r.keys).Order("target_key").Find(&rows).Error; err != nil {
		return err
	}
	for i := range rows {
		c := &rows[i]
		d := r.get(c.URLKey)
		d.Candidates = append(d.Candidates, models.CanonicalCandidate{Target: keyFrom(c.TargetKey), ValidFrom: c.ValidFrom.UTC(), ValidUntil: micros(c.ValidUntil),
			Score: float64(c.Score) / 100, Rule: c.Rule, Body: c.Body})
	}
	return nil
}

func (r *dossierReader) findings() error {
	if !r.at.IsZero() {
		return nil
	}
	var rows []canonicalFindingRow
	if err := r.of(&rows); err != nil {
		return err
	}
	for i := range rows {
		d := r.get(rows[i].URLKey)
		d.Findings = append(d.Findings, rows[i].finding())
	}
	return nil
}

// Judged streams dossiers of a site in the order of their keys, as of a moment unless that is zero. The filter's source
// and target are looked up by key (the caller computes them), its status narrows the search; everything else of it is
// the caller's to decide.
func (s *Store) Judged(ctx context.Context, site int64, f models.CanonicalFilter, source, target *models.Key, fn func(*models.Dossier) error) error {
	var after []byte
	if f.After != "" {
		key, err := models.ParseKey(f.After)
		if err != nil {
			return models.Invalid("after", "give the cursor of a line as it was answered", "not a cursor: %q", f.After)
		}
		after = key[:]
	}
	size := 100
	if f.Limit > 0 {
		size = min(size, f.Limit+1)
	}
	for {
		keys, err := s.judgedKeys(ctx, site, f, source, target, after, size)
		if err != nil {
			return err
		}
		dossiers, err := s.dossiers(ctx, s.reads, site, keys, f.At)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if d := dossiers[k]; d != nil {
				if err := fn(d); err != nil {
					return err
				}
			}
		}
		if len(keys) < size {
			return nil
		}
		last := keys[len(keys)-1]
		after, size = last[:], min(2*size, statementKeys)
	}
}

func (s *Store) judgedKeys(ctx context.Context, site int64, f models.CanonicalFilter, source, target *models.Key, after []byte, n int) ([]models.Key, error) {
	query := s.reads.WithContext(ctx).Model(&canonicalHeadRow{}).Where("site_id = ?", site)
	if after != nil {
		query = query.Where("url_key > ?", after)
	}
	if source != nil {
		query = query.Where("url_key = ?", source[:])
	} else if !f.Unlisted && target == nil {
		query = query.Where("listed = ?", true)
	}
	if target != nil {
		query = query.Where("url_key IN (?)", s.reads.Model(&canonicalRelationshipRow{}).Select("url_key").Where("site_id = ? AND target_key = ?", site, target[:]))
	}
	// A stale one is stored with the status that it had.
	if f.Status != "" && f.Status != "stale" && f.At.IsZero() {
		query = query.Where("status = ?", f.Status)
	}
	var found [][]byte
	if err := query.Order("url_key").Limit(n).Pluck("url_key", &found).Error; err != nil {
		return nil, fmt.Errorf("read heads: %w", err)
	}
	out := make([]models.Key, len(found))
	for i := range found {
		out[i] = keyFrom(found[i])
	}
	return out, nil
}

// RelationshipHistory gives every relationship that a page ever had, oldest first, with the judgements of each.
func (s *Store) RelationshipHistory(ctx context.Context, site int64, key models.Key) (all, judgements []models.CanonicalRelationship, err error) {
	var rows []canonicalRelationshipRow
	if err := s.reads.WithContext(ctx).Where("site_id = ? AND url_key = ?", site, key[:]).Order("valid_from, method, target_key").Find(&rows).Error; err != nil {
		return nil, nil, fmt.Errorf("read relationships: %w", err)
	}
	watches, err := s.Watches(ctx, site, []models.Key{key})
	if err != nil {
		return nil, nil, err
	}
	w := watches[key]
	for i := range rows {
		all = append(all, rows[i].relationship(&w))
	}
	var states []canonicalStateRow
	if err := s.reads.WithContext(ctx).Where("site_id = ? AND url_key = ?", site, key[:]).Order("judged_at").Find(&states).Error; err != nil {
		return nil, nil, fmt.Errorf("read judgements: %w", err)
	}
	for i := range states {
		r := &states[i]
		judgements = append(judgements, models.CanonicalRelationship{Source: key, Target: keyFrom(r.TargetKey), Method: r.Method, ValidFrom: r.ValidFrom.UTC(),
			Status: r.Status, Reason: r.Reason, Score: float64(r.Score) / 100, Rule: r.Rule, Ruleset: r.Ruleset, Cause: r.Cause, JudgedAt: r.JudgedAt.UTC(),
			Validation: r.Validation})
	}
	return all, judgements, nil
}
