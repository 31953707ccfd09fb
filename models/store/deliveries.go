package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type deliveryRow struct {
	ID        int64 `gorm:"primaryKey"`
	SiteID    int64
	At        time.Time
	Result    string
	Cause     string
	Status    int
	Dialect   string
	KeyID     string
	Remote    string
	Bytes     int64
	TriggerID int64
	Hints     string
}

func (deliveryRow) TableName() string { return "deliveries" }

// SaveDelivery keeps what was done with one request at a hook.
func (s *Store) SaveDelivery(ctx context.Context, d models.Delivery) error {
	hints, err := json.Marshal(d.Hints)
	if err != nil {
		return fmt.Errorf("encode hints: %w", err)
	}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		row := deliveryRow{SiteID: d.SiteID, At: stored(d.At), Result: d.Result, Cause: text(d.Cause, 255), Status: d.Status,
			Dialect: text(d.Dialect, 64), KeyID: text(d.KeyID, 64), Remote: text(d.Remote, 255), Bytes: d.Bytes, TriggerID: d.Trigger, Hints: string(hints)}
		return tx.Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("save delivery: %w", err)
	}
	return nil
}

// text makes what a stranger sent fit for a column of characters.
func text(raw string, limit int) string { return strings.ToValidUTF8(clip(raw, limit), "?") }

// Deliveries gives those of a site with ids below before (0: from the newest), newest first, at most limit (0: all),
// each with the run that served its trigger.
func (s *Store) Deliveries(ctx context.Context, siteID, before int64, limit int) ([]models.Delivery, error) {
	query := s.reads.WithContext(ctx).Table("deliveries d").Select("d.*, COALESCE(t.served_run, 0) AS served_run").
		Joins("LEFT JOIN triggers t ON t.id = d.trigger_id AND t.site_id = d.site_id").Where("d.site_id = ?", siteID).Order("d.id DESC")
	if before > 0 {
		query = query.Where("d.id < ?", before)
	}
	if limit > 0 {
		query = query.Limit(limit)
	}
	var rows []struct {
		Delivery  deliveryRow `gorm:"embedded"`
		ServedRun int64
	}
	if err := query.Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	out := make([]models.Delivery, 0, len(rows))
	for i := range rows {
		r := &rows[i].Delivery
		d := models.Delivery{ID: r.ID, Ref: models.DeliveryRef(r.ID), SiteID: r.SiteID, At: r.At.UTC(), Result: r.Result, Cause: r.Cause, Status: r.Status,
			Dialect: r.Dialect, KeyID: r.KeyID, Remote: r.Remote, Bytes: r.Bytes, Trigger: r.TriggerID, Run: rows[i].ServedRun}
		if err := json.Unmarshal([]byte(r.Hints), &d.Hints); err != nil {
			return nil, fmt.Errorf("delivery %d: decode hints: %w", r.ID, err)
		}
		out = append(out, d)
	}
	return out, nil
}
