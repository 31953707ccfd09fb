package store

import (
	"context"
	"fmt"

	"github.com/sitemapd/sitemapd/models"
)

// RunPoints gives the visible runs of a site for charts, newest first and at most limit of them. It reads a few columns
// of the newest rows along the primary key, whatever the size of the inventory.
func (s *Store) RunPoints(ctx context.Context, siteID int64, limit int) ([]models.RunPoint, error) {
	var rows []runRow
	err := s.reads.WithContext(ctx).Select("run", "started_at", "verdict", "baseline", "live", "added", "removed", "changed", "moved", "restored").
		Where("site_id = ? AND finished_at IS NOT NULL AND error = ''", siteID).Order("run DESC").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read runs of site %d for charts: %w", siteID, err)
	}
	out := make([]models.RunPoint, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		out = append(out, models.RunPoint{Run: r.Run, At: r.StartedAt.UTC(), Verdict: models.Verdict(r.Verdict), Baseline: r.Baseline, Live: r.Live,
			Added: r.Added, Removed: r.Removed, Changed: r.Changed, Moved: r.Moved, Restored: r.Restored})
	}
	return out, nil
}

// FindingGroups counts the findings at one run by code (see Findings), errors first and the most frequent first.
// Documents keep at most some tens of findings of a code, so the rows are bounded by the number of documents.
func (s *Store) FindingGroups(ctx context.Context, siteID, run int64) ([]models.FindingGroup, error) {
	var groups []models.FindingGroup
	err := s.reads.WithContext(ctx).Raw(`SELECT f.code, f.severity, COUNT(*) AS count, COUNT(DISTINCT f.document) AS documents, MIN(f.text) AS text
		FROM findings f LEFT JOIN document_versions v ON v.site_id = f.site_id AND v.document = f.document AND v.from_run = f.from_run
		WHERE f.site_id = ? AND ((f.document = 0 AND f.from_run = ?) OR (v.from_run <= ? AND v.to_run > ?) OR `+across+`)
		GROUP BY f.code, f.severity
		ORDER BY CASE f.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, COUNT(*) DESC, f.code`,
		siteID, run, run, run, run, run).Scan(&groups).Error
	if err != nil {
		return nil, fmt.Errorf("count findings of site %d: %w", siteID, err)
	}
	return groups, nil
}
