package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type expectationRow struct {
	SiteID      int64  `gorm:"primaryKey;autoIncrement:false"`
	TriggerID   int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey      []byte `gorm:"primaryKey"`
	Kind        string `gorm:"primaryKey"`
	URL         string
	PreviousKey []byte
	PreviousURL string
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

func newExpectationRow(e *models.Expectation) expectationRow {
	r := expectationRow{SiteID: e.SiteID, TriggerID: e.Trigger, URLKey: e.Key[:], Kind: e.Kind, URL: e.URL, PreviousURL: e.PreviousURL,
		OpenedAt: stored(e.OpenedAt), OpenedRun: e.OpenedRun, Checks: e.Checks, NextCheck: micros(e.NextCheck), Outcome: e.Outcome,
		DecidedRun: e.DecidedRun, DecidedAt: micros(e.DecidedAt), Finding: e.Finding, Text: e.Text}
	if e.PreviousKey != (models.Key{}) {
		r.PreviousKey = e.PreviousKey[:]
	}
	if e.Modified != nil {
		r.Modified = storable(*e.Modified)
	}
	if r.Outcome == "" {
		r.Outcome = models.OutcomeOpen
	}
	return r
}

func (r *expectationRow) expectation() models.Expectation {
	e := models.Expectation{SiteID: r.SiteID, Trigger: r.TriggerID, URL: r.URL, Kind: r.Kind, PreviousURL: r.PreviousURL, Modified: micros(r.Modified),
		OpenedAt: r.OpenedAt.UTC(), OpenedRun: r.OpenedRun, Checks: r.Checks, NextCheck: micros(r.NextCheck), Outcome: r.Outcome,
		DecidedRun: r.DecidedRun, DecidedAt: micros(r.DecidedAt), Finding: r.Finding, Text: r.Text}
	copy(e.Key[:], r.URLKey)
	copy(e.PreviousKey[:], r.PreviousKey)
	return e
}

// expectationBatch expectations are written in one transaction.
const expectationBatch = 200

// OpenExpectations stores new ones. One that is stored already (by site, trigger, page and kind) stays as it is; older
// open ones about the same page are superseded by the later trigger.
func (s *Store) OpenExpectations(ctx context.Context, lease models.Lease, all []models.Expectation) error {
	for start := 0; start < len(all); start += expectationBatch {
		part := all[start:min(start+expectationBatch, len(all))]
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
			for i := range part {
				if err := openExpectation(tx, newExpectationRow(&part[i])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("open expectations: %w", err)
		}
	}
	return nil
}

func openExpectation(tx *gorm.DB, row expectationRow) error {
	var known int64
	err := tx.Model(&expectationRow{}).Where("site_id = ? AND trigger_id = ? AND url_key = ? AND kind = ?", row.SiteID, row.TriggerID, row.URLKey, row.Kind).
		Count(&known).Error
	if err != nil || known > 0 {
		return err
	}
	err = tx.Exec("UPDATE expectations SET outcome = ?, decided_at = ?, next_check = NULL WHERE site_id = ? AND outcome = ? AND url_key = ? AND trigger_id < ?",
		models.OutcomeSuperseded, row.OpenedAt, row.SiteID, models.OutcomeOpen, row.URLKey, row.TriggerID).Error
	if err != nil {
		return err
	}
	return tx.Create(&row).Error
}

// Expectations gives the open ones of a site, oldest first.
func (s *Store) Expectations(ctx context.Context, siteID int64) ([]models.Expectation, error) {
	return expectationsOf(s.db.WithContext(ctx).Where("site_id = ? AND outcome = ?", siteID, models.OutcomeOpen).Order("trigger_id, url_key, kind"))
}

// ExpectationHistory gives those of a site whose trigger is below before (0: all), newest trigger first, at most limit
// (0: all).
func (s *Store) ExpectationHistory(ctx context.Context, siteID, before int64, limit int) ([]models.Expectation, error) {
	query := s.reads.WithContext(ctx).Where("site_id = ?", siteID).Order("trigger_id DESC, url_key, kind")
	if before > 0 {
		query = query.Where("trigger_id < ?", before)
	}
	if limit > 0 {
		query = query.Limit(limit)
	}
	return expectationsOf(query)
}

func expectationsOf(query *gorm.DB) ([]models.Expectation, error) {
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

// SaveExpectations writes what checks found: their number, the next one, outcome and finding.
func (s *Store) SaveExpectations(ctx context.Context, lease models.Lease, all []models.Expectation) error {
	for start := 0; start < len(all); start += expectationBatch {
		part := all[start:min(start+expectationBatch, len(all))]
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
			for i := range part {
				row := newExpectationRow(&part[i])
				err := tx.Model(&row).Select("checks", "next_check", "outcome", "decided_run", "decided_at", "finding", "text").Updates(&row).Error
				if err != nil {
					return err
				}
			}
			return expiredEvent(tx, part)
		})
		if err != nil {
			return fmt.Errorf("save expectations: %w", err)
		}
	}
	return nil
}

// PlanSite sets when a site is due next; nil means by triggers alone. It is for whoever holds the site's lease: a daemon that
// was frozen in between must not put off what another one planned since.
func (s *Store) PlanSite(ctx context.Context, lease models.Lease, siteID int64, next *time.Time) error {
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		return tx.Exec("UPDATE sites SET next_due = ? WHERE id = ?", micros(next), siteID).Error
	})
	if err != nil {
		return fmt.Errorf("plan site %d: %w", siteID, err)
	}
	return nil
}
