package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

// watchBatch watches are written in one transaction.
const watchBatch = 500

// AddWatches stores watches of URLs that are not known yet; known ones stay as they are.
func (s *Store) AddWatches(ctx context.Context, lease models.Lease, site int64, watches []models.CanonicalWatch) error {
	for start := 0; start < len(watches); start += watchBatch {
		part := watches[start:min(start+watchBatch, len(watches))]
		rows := make([]canonicalWatchRow, len(part))
		heads := make([]canonicalHeadRow, len(part))
		for i := range part {
			rows[i] = newWatchRow(site, &part[i])
			rows[i].Revision = 1
			heads[i] = canonicalHeadRow{SiteID: site, URLKey: rows[i].URLKey, URL: part[i].URL, Own: "none", Resolution: "none", Status: "unknown",
				Reason: "never_fetched", Listed: part[i].Listed}
		}
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
			if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows).Error; err != nil {
				return err
			}
			if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&heads).Error; err != nil {
				return err
			}
			// What was known as a target alone has a head already.
			var listed [][]byte
			for i := range heads {
				if heads[i].Listed {
					listed = append(listed, heads[i].URLKey)
				}
			}
			if len(listed) == 0 {
				return nil
			}
			return tx.Exec("UPDATE canonical_heads SET listed = ? WHERE site_id = ? AND url_key IN ? AND listed = ?", true, site, listed, false).Error
		})
		if err != nil {
			return fmt.Errorf("add watches: %w", err)
		}
	}
	return nil
}

// PlanWatches writes what events changed of watches: whether they are listed, their record, and when they are looked at
// next. A watch that was written since it was read is left out; those are returned.
func (s *Store) PlanWatches(ctx context.Context, lease models.Lease, site int64, watches []models.CanonicalWatch) (missed []models.Key, err error) {
	for start := 0; start < len(watches); start += watchBatch {
		part := watches[start:min(start+watchBatch, len(watches))]
		var late []models.Key
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
			late = nil
			for i := range part {
				w := &part[i]
				row := newWatchRow(site, w)
				result := tx.Exec(`UPDATE canonical_watches SET revision = revision + 1, listed = ?, class = ?, next_look = ?, due = ?, record = ?
					WHERE site_id = ? AND url_key = ? AND revision = ?`, row.Listed, row.Class, row.NextLook, row.Due, row.Record, site, row.URLKey, w.Revision)
				if result.Error != nil {
					return result.Error
				}
				if result.RowsAffected == 0 {
					late = append(late, w.Key)
				}
				if err := tx.Exec("UPDATE canonical_heads SET listed = ? WHERE site_id = ? AND url_key = ?", row.Listed, site, row.URLKey).Error; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return missed, fmt.Errorf("plan watches: %w", err)
		}
		missed = append(missed, late...)
	}
	return missed, nil
}

// Watches gives the watches of URLs, as far as there are any.
func (s *Store) Watches(ctx context.Context, site int64, keys []models.Key) (map[models.Key]models.CanonicalWatch, error) {
	out := make(map[models.Key]models.CanonicalWatch, len(keys))
	for start := 0; start < len(keys); start += statementKeys {
		part := keys[start:min(start+statementKeys, len(keys))]
		var rows []canonicalWatchRow
		if err := s.db.WithContext(ctx).Where("site_id = ? AND url_key IN ?", site, keyBytes(part)).Find(&rows).Error; err != nil {
			return nil, fmt.Errorf("read watches: %w", err)
		}
		for i := range rows {
			w := rows[i].watch()
			out[w.Key] = w
		}
	}
	return out, nil
}

// DueWatches gives up to n URLs that are to be looked at, in the order of work: by class, then by time. Only those of
// classes up to class count.
func (s *Store) DueWatches(ctx context.Context, site int64, at time.Time, class, n int) ([]models.CanonicalWatch, error) {
	var out []models.CanonicalWatch
	for c := 0; c <= class && len(out) < n; c++ {
		var rows []canonicalWatchRow
		err := s.db.WithContext(ctx).Omit("evidence", "sketch").Where("site_id = ? AND class = ? AND next_look <= ?", site, c, stored(at)).
			Order("next_look, url_key").Limit(n - len(out)).Find(&rows).Error
		if err != nil {
			return nil, fmt.Errorf("read what is due: %w", err)
		}
		for i := range rows {
			out = append(out, rows[i].watch())
		}
	}
	return out, nil
}

// OldestWatches gives up to n (0: all) listed URLs, those never looked at first, then by their last look.
func (s *Store) OldestWatches(ctx context.Context, site int64, n int) ([]models.Key, error) {
	query := s.reads.WithContext(ctx).Model(&canonicalWatchRow{}).Where("site_id = ? AND listed = ?", site, true).Order("last_look IS NOT NULL, last_look, url_key")
	if n > 0 {
		query = query.Limit(n)
	}
	var found [][]byte
	if err := query.Pluck("url_key", &found).Error; err != nil {
		return nil, fmt.Errorf("read watches: %w", err)
	}
	out := make([]models.Key, len(found))
	for i := range found {
		out[i] = keyFrom(found[i])
	}
	return out, nil
}

// WatchedUpTo says which run and trigger the watches of a site know already.
func (s *Store) WatchedUpTo(ctx context.Context, site int64) (run, trigger int64, err error) {
	var row canonicalProgressRow
	if err := s.db.WithContext(ctx).Where("site_id = ?", site).Limit(1).Find(&row).Error; err != nil {
		return 0, 0, fmt.Errorf("read progress of watches: %w", err)
	}
	return row.Run, row.TriggerID, nil
}

// SaveWatchedUpTo notes it.
func (s *Store) SaveWatchedUpTo(ctx context.Context, lease models.Lease, site, run, trigger int64) error {
	row := canonicalProgressRow{SiteID: site, Run: run, TriggerID: trigger}
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("save progress of watches: %w", err)
	}
	return nil
}

// TriggersAfter gives the triggers of a site with ids above one, oldest first.
func (s *Store) TriggersAfter(ctx context.Context, site, id int64, limit int) ([]models.Trigger, error) {
	return s.triggers(s.db.WithContext(ctx).Omit("body").Where("site_id = ? AND id > ?", site, id).Order("id").Limit(limit))
}

// Spend takes one request from a host's allowance of a day (2006-01-02). False says that it is used up.
func (s *Store) Spend(ctx context.Context, host models.Key, day string, allowance int64) (bool, error) {
	granted := false
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		granted = false
		var row canonicalHostRow
		if err := tx.Where("host = ?", host[:]).Limit(1).Find(&row).Error; err != nil {
			return err
		}
		if row.Day != day {
			row.Day, row.Spent = day, 0
		}
		if row.Spent >= allowance {
			return nil
		}
		granted = true
		row.Host, row.Spent = host[:], row.Spent+1
		return tx.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"day", "spent"})}).Create(&row).Error
	})
	if err != nil {
		return false, fmt.Errorf("spend a request: %w", err)
	}
	return granted, nil
}

// Spent says how many requests of a day a host was sent.
func (s *Store) Spent(ctx context.Context, host models.Key, day string) (int64, error) {
	var row canonicalHostRow
	if err := s.reads.WithContext(ctx).Where("host = ?", host[:]).Limit(1).Find(&row).Error; err != nil {
		return 0, fmt.Errorf("read a host: %w", err)
	}
	if row.Day != day {
		return 0, nil
	}
	return row.Spent, nil
}

// HostProbe gives what a host answered to an address that does not exist, or models.ErrNotFound.
func (s *Store) HostProbe(ctx context.Context, host models.Key) (models.HostProbe, error) {
	var row canonicalHostRow
	err := s.reads.WithContext(ctx).Where("host = ? AND probed_at IS NOT NULL", host[:]).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.HostProbe{}, notFound("probe of host", host)
	}
	if err != nil {
		return models.HostProbe{}, fmt.Errorf("read probe: %w", err)
	}
	return models.HostProbe{At: moment0(row.ProbedAt), Status: row.ProbeStatus, Sketch: row.ProbeSketch}, nil
}

// SaveHostProbe keeps it.
func (s *Store) SaveHostProbe(ctx context.Context, host models.Key, p models.HostProbe) error {
	row := canonicalHostRow{Host: host[:], ProbedAt: storable(p.At), ProbeStatus: p.Status, ProbeSketch: p.Sketch}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Clauses(clause.OnConflict{DoUpdates: clause.AssignmentColumns([]string{"probed_at", "probe_status", "probe_sketch"})}).Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("save probe: %w", err)
	}
	return nil
}
