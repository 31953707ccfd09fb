package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

// SaveLook writes what one look came to, or one new judgement, in one fenced transaction. models.ErrConflict says that
// the URL was written since it was read: the look is to be judged again on what is there now.
func (s *Store) SaveLook(ctx context.Context, lease models.Lease, site int64, look *models.Look) error {
	err := s.fenced(ctx, lease, func(tx *gorm.DB, try int) error {
		if done, err := saveWatch(tx, site, &look.Watch, try); done || err != nil {
			return err
		}
		if look.Head != nil {
			if err := s.saveHead(tx, site, look.Head); err != nil {
				return err
			}
		}
		if look.EdgeMoved {
			if err := s.pushDirty(tx, site, []models.DirtyEdge{{Key: look.Watch.Key}}); err != nil {
				return err
			}
		}
		for _, target := range look.Stirred {
			if err := s.pushDirty(tx, site, []models.DirtyEdge{{Key: target}}); err != nil {
				return err
			}
		}
		if err := saveRelationships(tx, site, look); err != nil {
			return err
		}
		if err := saveNegatives(tx, site, look); err != nil {
			return err
		}
		if err := saveEvidence(tx, site, look); err != nil {
			return err
		}
		return saveFindingRows(tx, site, look.Findings)
	})
	if err != nil {
		return fmt.Errorf("save look at %s: %w", look.Watch.URL, err)
	}
	return nil
}

// saveWatch is the compare and set that all else of a look rests on. done says that an earlier try of this very call
// was committed although its answer was lost.
func saveWatch(tx *gorm.DB, site int64, w *models.CanonicalWatch, try int) (done bool, err error) {
	row := newWatchRow(site, w)
	row.Revision = w.Revision + 1
	if w.Revision == 0 {
		err := tx.Create(&row).Error
		switch {
		case err == nil:
			return false, nil
		case !duplicate(err):
			return false, fmt.Errorf("save watch: %w", err)
		case try > 0:
			return true, nil
		}
		return false, models.ErrConflict
	}
	result := tx.Model(&canonicalWatchRow{}).Where("site_id = ? AND url_key = ? AND revision = ?", site, w.Key[:], w.Revision).
		Select("*").Omit("site_id", "url_key", "url").Updates(&row)
	switch {
	case result.Error != nil:
		return false, fmt.Errorf("save watch: %w", result.Error)
	case result.RowsAffected == 1:
		return false, nil
	case try == 0:
		return false, models.ErrConflict
	}
	var revision int64
	if err := tx.Model(&canonicalWatchRow{}).Where("site_id = ? AND url_key = ?", site, w.Key[:]).Pluck("revision", &revision).Error; err != nil {
		return false, fmt.Errorf("read revision: %w", err)
	}
	if revision == w.Revision+1 {
		return true, nil
	}
	return false, models.ErrConflict
}

// saveHead writes all of a head but what the graph says of it, and makes sure that what it names has a head as well.
func (s *Store) saveHead(tx *gorm.DB, site int64, h *models.CanonicalHead) error {
	row := canonicalHeadRow{SiteID: site, URLKey: h.Key[:], URL: h.URL, Target: h.Target, TargetKey: keyOrNil(h.TargetKey), Edge: h.Edge,
		EdgeKey: keyOrNil(h.EdgeKey), EdgeKind: h.EdgeKind, Own: h.Own, Status: h.Status, Reason: h.Reason, Listed: h.Listed, Resolution: "none"}
	err := tx.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"url", "target", "target_key", "edge", "edge_key",
		"edge_kind", "own", "status", "reason", "listed"})}).Create(&row).Error
	if err != nil {
		return fmt.Errorf("save head: %w", err)
	}
	for _, named := range []struct {
		url string
		key models.Key
	}{{h.Target, h.TargetKey}, {h.Edge, h.EdgeKey}} {
		if named.key == (models.Key{}) {
			continue
		}
		other := canonicalHeadRow{SiteID: site, URLKey: named.key[:], URL: named.url, Own: "none", Resolution: "none", Status: "unknown", Reason: "never_fetched"}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&other).Error; err != nil {
			return fmt.Errorf("save head of target: %w", err)
		}
	}
	return nil
}

func saveRelationships(tx *gorm.DB, site int64, look *models.Look) error {
	at := now()
	for i := range look.Closed { // first: another row of the same meaning may be opened
		row := newRelationshipRow(site, &look.Closed[i])
		err := tx.Model(&canonicalRelationshipRow{}).Where("site_id = ? AND url_key = ? AND valid_from = ? AND target_key = ? AND method = ?",
			site, row.URLKey, row.ValidFrom, row.TargetKey, row.Method).
			Updates(map[string]any{"valid_until": row.ValidUntil, "is_open": nil, "ended_at": at, "end_reason": row.EndReason,
				"observed_at": row.ObservedAt, "status": row.Status, "reason": row.Reason, "body": row.Body}).Error
		if err != nil {
			return fmt.Errorf("close relationship: %w", err)
		}
	}
	for i := range look.Changed {
		row := newRelationshipRow(site, &look.Changed[i])
		err := tx.Model(&canonicalRelationshipRow{}).Where("site_id = ? AND url_key = ? AND valid_from = ? AND target_key = ? AND method = ?",
			site, row.URLKey, row.ValidFrom, row.TargetKey, row.Method).
			Updates(map[string]any{"status": row.Status, "reason": row.Reason, "score": row.Score, "rule": row.Rule, "ruleset": row.Ruleset,
				"observed_at": row.ObservedAt, "body": row.Body}).Error
		if err != nil {
			return fmt.Errorf("judge relationship: %w", err)
		}
	}
	for i := range look.Seen {
		row := newRelationshipRow(site, &look.Seen[i])
		err := tx.Model(&canonicalRelationshipRow{}).Where("site_id = ? AND url_key = ? AND valid_from = ? AND target_key = ? AND method = ?",
			site, row.URLKey, row.ValidFrom, row.TargetKey, row.Method).Updates(map[string]any{"observed_at": row.ObservedAt, "body": row.Body}).Error
		if err != nil {
			return fmt.Errorf("confirm relationship: %w", err)
		}
	}
	for i := range look.Opened {
		row := newRelationshipRow(site, &look.Opened[i])
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("open relationship: %w", err)
		}
	}
	var states []canonicalStateRow
	for _, list := range [][]models.CanonicalRelationship{look.Opened, look.Changed} {
		for i := range list {
			states = append(states, newStateRow(site, &list[i]))
		}
	}
	if len(states) > 0 {
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&states).Error; err != nil {
			return fmt.Errorf("save judgement: %w", err)
		}
	}
	return nil
}

// saveEvidence writes observations, the conflict and candidates.
func saveEvidence(tx *gorm.DB, site int64, look *models.Look) error {
	key := look.Watch.Key
	if len(look.Observations) > 0 {
		rows := make([]canonicalObservationRow, 0, len(look.Observations))
		for i := range look.Observations {
			o := &look.Observations[i]
			rows = append(rows, canonicalObservationRow{SiteID: site, URLKey: key[:], Observation: o.ID[:], Kind: o.Kind, Accepted: o.Accepted,
				IsOpen: o.Current, FirstSeen: stored(o.FirstSeen), LastSeen: stored(o.LastSeen), Times: o.Times, AtLook: look.Watch.Looks,
				Parser: o.Parser, Item: o.Item})
		}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).CreateInBatches(&rows, findingsBatch).Error; err != nil {
			return fmt.Errorf("save observations: %w", err)
		}
	}
	if c := look.Conflict; c != nil {
		row := canonicalConflictRow{SiteID: site, URLKey: key[:], OpenedAt: stored(c.OpenedAt), ClosedAt: micros(c.ClosedAt), Kinds: c.Kinds, Body: c.Body}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return fmt.Errorf("save conflict: %w", err)
		}
	}
	if look.SetCandidates {
		return saveCandidates(tx, site, key, look.Candidates)
	}
	return nil
}

// saveCandidates keeps the open candidates that are named again as they are, and ends the others.
func saveCandidates(tx *gorm.DB, site int64, key models.Key, list []models.CanonicalCandidate) error {
	var open []canonicalCandidateRow
	if err := tx.Where("site_id = ? AND url_key = ? AND valid_until IS NULL", site, key[:]).Find(&open).Error; err != nil {
		return fmt.Errorf("read candidates: %w", err)
	}
	known := map[models.Key]*canonicalCandidateRow{}
	for i := range open {
		known[keyFrom(open[i].TargetKey)] = &open[i]
	}
	at := now()
	for i := range list {
		c := &list[i]
		at = stored(c.ValidFrom)
		row := canonicalCandidateRow{SiteID: site, URLKey: key[:], TargetKey: c.Target[:], ValidFrom: at, Score: hundredths(c.Score), Rule: c.Rule, Body: c.Body}
		if before := known[c.Target]; before != nil {
			delete(known, c.Target)
			if before.Rule == row.Rule && before.Score == row.Score {
				continue
			}
			row.ValidFrom = before.ValidFrom
		}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return fmt.Errorf("save candidate: %w", err)
		}
	}
	for _, gone := range known {
		err := tx.Model(&canonicalCandidateRow{}).Where("site_id = ? AND url_key = ? AND target_key = ? AND valid_from = ?", site, key[:], gone.TargetKey, gone.ValidFrom).
			Update("valid_until", at).Error
		if err != nil {
			return fmt.Errorf("end candidate: %w", err)
		}
	}
	return nil
}

func saveFindingRows(tx *gorm.DB, site int64, list []models.PageFinding) error {
	if len(list) == 0 {
		return nil
	}
	rows := make([]canonicalFindingRow, len(list))
	for i := range list {
		rows[i] = newFindingRow(site, &list[i])
	}
	if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).CreateInBatches(&rows, findingsBatch).Error; err != nil {
		return fmt.Errorf("save findings: %w", err)
	}
	return nil
}

// SaveIncident notes one change that many pages share, or how far it has gone.
func (s *Store) SaveIncident(ctx context.Context, site int64, i models.Incident) error {
	row := canonicalIncidentRow{SiteID: site, ChangeKey: textKey(i.What), StartedAt: stored(i.StartedAt), LastSeen: stored(i.LastSeen), What: i.What,
		Pages: i.Pages, Looked: i.Looked, Examples: i.Examples}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("save incident: %w", err)
	}
	return nil
}

// Incidents gives those that were going on since a time, newest first.
func (s *Store) Incidents(ctx context.Context, site int64, since time.Time) ([]models.Incident, error) {
	var rows []canonicalIncidentRow
	err := s.reads.WithContext(ctx).Where("site_id = ? AND last_seen >= ?", site, stored(since)).Order("started_at DESC").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read incidents: %w", err)
	}
	out := make([]models.Incident, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		out = append(out, models.Incident{Key: keyFrom(r.ChangeKey), StartedAt: r.StartedAt.UTC(), LastSeen: r.LastSeen.UTC(), What: r.What,
			Pages: r.Pages, Looked: r.Looked, Examples: r.Examples})
	}
	return out, nil
}
