package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type triggerRow struct {
	ID         int64 `gorm:"primaryKey"`
	SiteID     int64
	Kind       string
	Dialect    string
	DedupeKey  []byte
	ReceivedAt time.Time
	ServedRun  int64
	ServedAt   *time.Time
	Hints      string
	Body       []byte
}

func (triggerRow) TableName() string { return "triggers" }

func (r *triggerRow) trigger() (models.Trigger, error) {
	t := models.Trigger{ID: r.ID, SiteID: r.SiteID, Kind: r.Kind, Dialect: r.Dialect, ReceivedAt: r.ReceivedAt.UTC(),
		ServedRun: r.ServedRun, ServedAt: micros(r.ServedAt), Body: r.Body}
	copy(t.DedupeKey[:], r.DedupeKey)
	if err := json.Unmarshal([]byte(r.Hints), &t.Hints); err != nil {
		return t, fmt.Errorf("trigger %d: decode hints: %w", r.ID, err)
	}
	return t, nil
}

// SaveTrigger puts a trigger into the inbox: one INSERT, which touches no row that a run proves its lease on. A second
// one with the same key is a duplicate and gets the first one's id. Without a key none is a duplicate.
func (s *Store) SaveTrigger(ctx context.Context, t models.Trigger) (id int64, isDuplicate bool, err error) {
	hints, err := json.Marshal(t.Hints)
	if err != nil {
		return 0, false, fmt.Errorf("encode hints: %w", err)
	}
	if t.DedupeKey == (models.Key{}) {
		if _, err := rand.Read(t.DedupeKey[:]); err != nil {
			return 0, false, fmt.Errorf("make dedupe key: %w", err)
		}
	}
	if t.ReceivedAt.IsZero() {
		t.ReceivedAt = now()
	}
	row := triggerRow{SiteID: t.SiteID, Kind: t.Kind, Dialect: t.Dialect, DedupeKey: t.DedupeKey[:], ReceivedAt: stored(t.ReceivedAt),
		Hints: string(hints), Body: t.Body}
	maybe := false // an earlier try of this very call may have arrived
	err = s.write(ctx, func(tx *gorm.DB, try int) error {
		row.ID, maybe = 0, try > 0
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return saveTrace(tx, &t, row.ID)
	})
	if err == nil {
		return row.ID, false, nil
	}
	if !duplicate(err) {
		return 0, false, fmt.Errorf("save trigger: %w", err)
	}
	var first triggerRow
	if err := s.db.WithContext(ctx).Where("site_id = ? AND dedupe_key = ?", t.SiteID, t.DedupeKey[:]).Take(&first).Error; err != nil {
		return 0, true, fmt.Errorf("find trigger: %w", err)
	}
	return first.ID, !maybe, nil
}

// PendingTriggers gives the triggers of a site that no run served yet, oldest first, without their bodies: after a storm these
// would be gigabytes, and no run needs them.
func (s *Store) PendingTriggers(ctx context.Context, siteID int64) ([]models.Trigger, error) {
	return s.triggers(s.db.WithContext(ctx).Omit("body").Where("served_run = 0 AND site_id = ?", siteID).Order("id"))
}

// Triggers gives those of a site with ids below before (0: from the newest), newest first, at most limit (0: all).
func (s *Store) Triggers(ctx context.Context, siteID, before int64, limit int) ([]models.Trigger, error) {
	query := s.reads.WithContext(ctx).Where("site_id = ?", siteID).Order("id DESC")
	if before > 0 {
		query = query.Where("id < ?", before)
	}
	if limit > 0 {
		query = query.Limit(limit)
	}
	return s.triggers(query)
}

func (s *Store) triggers(query *gorm.DB) ([]models.Trigger, error) {
	var rows []triggerRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read triggers: %w", err)
	}
	out := make([]models.Trigger, 0, len(rows))
	for i := range rows {
		t, err := rows[i].trigger()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Trigger gives one trigger of a site.
func (s *Store) Trigger(ctx context.Context, siteID, id int64) (models.Trigger, error) {
	var row triggerRow
	err := s.reads.WithContext(ctx).Where("site_id = ? AND id = ?", siteID, id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Trigger{}, notFound("trigger", id)
	}
	if err != nil {
		return models.Trigger{}, fmt.Errorf("read trigger %d: %w", id, err)
	}
	return row.trigger()
}
