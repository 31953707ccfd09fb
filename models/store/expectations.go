package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

type expectationRow struct {
	SiteID      int64  `gorm:"primaryKey;autoIncrement:false"`
	TriggerID   int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey      []byte `gorm:"primaryKey"`
	Kind        string `gorm:"primaryKey"`
	URL         []byte
	PreviousKey []byte
	PreviousURL []byte
	Modified    *time.Time
	OpenedAt    time.Time
	OpenedRun   int64
	Checks      int
	NextCheck   *time.Time
	Outcome     string
	DecidedRun  int64
	DecidedAt   *time.Time
	Finding     string
	Text        string
}

func (expectationRow) TableName() string { return "expectations" }

func expectationRowOf(e *models.Expectation) expectationRow {
	row := expectationRow{SiteID: e.SiteID, TriggerID: e.Trigger, URLKey: e.Key[:], Kind: e.Kind, URL: []byte(e.URL),
		PreviousURL: []byte(e.PreviousURL), Modified: micros(e.Modified), OpenedAt: stored(e.OpenedAt), OpenedRun: e.OpenedRun,
		Checks: e.Checks, NextCheck: micros(e.NextCheck), Outcome: e.Outcome, DecidedRun: e.DecidedRun, DecidedAt: micros(e.DecidedAt),
		Finding: e.Finding, Text: cut(e.Text, 1000)}
	if e.PreviousKey != (models.Key{}) {
		row.PreviousKey = e.PreviousKey[:]
	}
	return row
}

func (r *expectationRow) expectation() models.Expectation {
	e := models.Expectation{SiteID: r.SiteID, Trigger: r.TriggerID, URL: string(r.URL), Kind: r.Kind, PreviousURL: string(r.PreviousURL),
		Modified: micros(r.Modified), OpenedAt: r.OpenedAt.UTC(), OpenedRun: r.OpenedRun, Checks: r.Checks, NextCheck: micros(r.NextCheck),
		Outcome: r.Outcome, DecidedRun: r.DecidedRun, DecidedAt: micros(r.DecidedAt), Finding: r.Finding, Text: r.Text}
	copy(e.Key[:], r.URLKey)
	copy(e.PreviousKey[:], r.PreviousKey)
	return e
}

// cut shortens a text to so many bytes without splitting a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most]
}

// OpenExpectations stores new expectations; one that is stored already (trigger, page, kind) stays as it is. Older open
// ones about the same page are superseded: the latest message is what the site means.
func (s *Store) OpenExpectations(ctx context.Context, expectations []models.Expectation) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		for i := range expectations {
			e := &expectations[i]
			row := expectationRowOf(e)
			if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
				return err
			}
			err := tx.Model(&expectationRow{}).
				Where("site_id = ? AND outcome = ? AND url_key = ? AND trigger_id < ?", e.SiteID, models.OutcomeOpen, e.Key[:], e.Trigger).
				Updates(map[string]any{"outcome": models.OutcomeSuperseded, "next_check": nil}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("open expectations: %w", err)
	}
	return nil
}

// Expectations gives the open ones of a site, oldest first.
func (s *Store) Expectations(ctx context.Context, siteID int64) ([]models.Expectation, error) {
	return s.expectations(s.db.WithContext(ctx).Where("site_id = ? AND outcome = ?", siteID, models.OutcomeOpen).Order("trigger_id, url_key, kind"))
}

// ExpectationLog gives those of a site with trigger ids below before (0: from the newest), newest first.
func (s *Store) ExpectationLog(ctx context.Context, siteID, before int64, limit int) ([]models.Expectation, error) {
	query := s.reads.WithContext(ctx).Where("site_id = ?", siteID).Order("trigger_id DESC, url_key, kind")
	if before > 0 {
		query = query.Where("trigger_id < ?", before)
	}
	if limit > 0 {
		query = query.Limit(limit)
	}
	return s.expectations(query)
}

func (s *Store) expectations(query *gorm.DB) ([]models.Expectation, error) {
	var rows []expectationRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read expectations: %w", err)
	}
	out := make([]models.Expectation, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].expectation())
	}
	return out, nil
}

// SaveExpectations writes checks, next check, outcome and finding of expectations that are still open.
func (s *Store) SaveExpectations(ctx context.Context, expectations []models.Expectation) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		for i := range expectations {
			row := expectationRowOf(&expectations[i])
			err := tx.Model(&expectationRow{}).
				Where("site_id = ? AND trigger_id = ? AND url_key = ? AND kind = ? AND outcome = ?", row.SiteID, row.TriggerID, row.URLKey, row.Kind, models.OutcomeOpen).
				Updates(map[string]any{"checks": row.Checks, "next_check": row.NextCheck, "outcome": row.Outcome, "decided_run": row.DecidedRun,
					"decided_at": row.DecidedAt, "finding": row.Finding, "text": row.Text}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save expectations: %w", err)
	}
	return nil
}

// PlanSite sets when a site is due next, nil for never.
func (s *Store) PlanSite(ctx context.Context, siteID int64, next *time.Time) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Exec("UPDATE sites SET next_due = ? WHERE id = ?", micros(next), siteID).Error
	})
	if err != nil {
		return fmt.Errorf("plan site %d: %w", siteID, err)
	}
	return nil
}
