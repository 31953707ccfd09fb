package store

import (
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

type canonicalNegativeRow struct {
	SiteID       int64     `gorm:"primaryKey;autoIncrement:false"`
	URLKey       []byte    `gorm:"primaryKey"`
	ValidFrom    time.Time `gorm:"primaryKey"`
	ValidUntil   *time.Time
	ObservedAt   time.Time
	Status       string
	Reason       string
	Reading      string
	SourceStatus int
}

func (canonicalNegativeRow) TableName() string { return "canonical_negatives" }

func newNegativeRow(site int64, key models.Key, a *models.CanonicalNegative) canonicalNegativeRow {
	return canonicalNegativeRow{SiteID: site, URLKey: key[:], ValidFrom: stored(a.From), ValidUntil: micros(a.Until), ObservedAt: stored(a.Seen),
		Status: a.Status, Reason: a.Reason, Reading: a.Reading, SourceStatus: a.HTTPStatus}
}

// saveNegatives ends a negative and begins another one.
func saveNegatives(tx *gorm.DB, site int64, look *models.Look) error {
	for _, a := range []*models.CanonicalNegative{look.Ended, look.Negative} {
		if a == nil {
			continue
		}
		row := newNegativeRow(site, look.Watch.Key, a)
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return fmt.Errorf("save a negative: %w", err)
		}
	}
	return nil
}

// negatives adds those of the moment asked for. The one of now is in the watch's record.
func (r *dossierReader) negatives() error {
	if r.at.IsZero() {
		return nil
	}
	var rows []canonicalNegativeRow
	if err := r.valid("valid_from", "valid_until").Where("site_id = ? AND url_key IN ?", r.site, r.keys).Order("valid_from").Find(&rows).Error; err != nil {
		return err
	}
	for i := range rows {
		a := &rows[i]
		d := r.get(a.URLKey)
		out := &models.CanonicalNegative{From: a.ValidFrom.UTC(), Until: micros(a.ValidUntil), Seen: a.ObservedAt.UTC(), Status: a.Status, Reason: a.Reason,
			Reading: a.Reading, HTTPStatus: a.SourceStatus}
		if out.Until == nil {
			out.Seen = latest(out.Seen, d.Watch.LastLook)
		}
		if out.Seen.After(r.at) { // of the looks between, only the first one's time is kept
			out.Seen = out.From
		}
		d.Negative = out
	}
	return nil
}
