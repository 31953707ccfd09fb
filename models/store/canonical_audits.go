package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

type canonicalAuditRow struct {
	SiteID      int64     `gorm:"primaryKey;autoIncrement:false"`
	AuditedAt   time.Time `gorm:"primaryKey"`
	Micros      int64
	URLs        int64 `gorm:"column:urls"`
	Differences int64
	Examples    []byte
}

func (canonicalAuditRow) TableName() string { return "canonical_audits" }

// EdgePage gives up to n heads of a site that have an edge, or a state that only an edge gives, in the order of keys after
// one.
func (s *Store) EdgePage(ctx context.Context, site int64, after models.Key, n int) ([]models.CanonicalHead, error) {
	var rows []canonicalHeadRow
	err := s.db.WithContext(ctx).Select("url_key", "url", "listed", "edge_key", "resolution", "final_key", "depth", "loop_key").
		Where("site_id = ? AND url_key > ? AND (edge_key IS NOT NULL OR resolution <> 'none')", site, after[:]).Order("url_key").Limit(n).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read edges: %w", err)
	}
	out := make([]models.CanonicalHead, len(rows))
	for i := range rows {
		out[i] = rows[i].head()
	}
	return out, nil
}

// SaveGraphAudit keeps what an audit of the graph came to, with findings on the pages that it concerns.
func (s *Store) SaveGraphAudit(ctx context.Context, lease models.Lease, site int64, a *models.GraphAudit, findings []models.PageFinding) error {
	examples, err := json.Marshal(a.Examples)
	if err != nil {
		return fmt.Errorf("write an audit: %w", err)
	}
	row := canonicalAuditRow{SiteID: site, AuditedAt: stored(a.At), Micros: int64(a.Seconds * 1e6), URLs: a.URLs, Differences: a.Differences, Examples: examples}
	err = s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return err
		}
		return saveFindingRows(tx, site, findings)
	})
	if err != nil {
		return fmt.Errorf("save an audit of the graph: %w", err)
	}
	return nil
}

// LastGraphAudit gives a site's newest audit, nil before the first.
func (s *Store) LastGraphAudit(ctx context.Context, site int64) (*models.GraphAudit, error) {
	var rows []canonicalAuditRow
	if err := s.reads.WithContext(ctx).Where("site_id = ?", site).Order("audited_at DESC").Limit(1).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read audits of the graph: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	r := &rows[0]
	a := &models.GraphAudit{At: r.AuditedAt.UTC(), Seconds: float64(r.Micros) / 1e6, URLs: r.URLs, Differences: r.Differences}
	if err := json.Unmarshal(r.Examples, &a.Examples); err != nil {
		return nil, fmt.Errorf("read an audit of the graph: %w", err)
	}
	return a, nil
}
