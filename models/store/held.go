package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// heldRows selects the removals that wait for a person, as they are staged at the moment.
func (s *Store) heldRows(ctx context.Context, siteID int64) *gorm.DB {
	return s.reads.WithContext(ctx).Model(&removalRow{}).Where("site_id = ? AND decided_run = ? AND valid_to = ? AND stage = ? AND ruling = 0",
		siteID, models.Open, models.Open, models.StageHeld)
}

// HeldRemovals gives a part of the removals that wait for a person, by document and page, behind a Cursor of
// theirs ("" for the beginning).
func (s *Store) HeldRemovals(ctx context.Context, siteID int64, after string, limit int) ([]models.Removal, error) {
	query := s.heldRows(ctx, siteID)
	if after != "" {
		c, err := parsePageCursor(after)
		if err != nil {
			return nil, err
		}
		query = query.Where("(document > ? OR (document = ? AND url_key > ?))", c.document, c.document, c.key[:])
	}
	var rows []removalRow
	if err := query.Order("document, url_key").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read held removals: %w", err)
	}
	out := make([]models.Removal, 0, len(rows))
	for i := range rows {
		held := rows[i].removal()
		held.Cursor = pageCursor{document: held.Document, key: held.Key}.String()
		out = append(out, held)
	}
	return out, nil
}

// CountHeld counts the removals that wait for a person, up to a limit.
func (s *Store) CountHeld(ctx context.Context, siteID int64, limit int) (int64, error) {
	var n int64
	part := s.heldRows(ctx, siteID).Select("1 AS one").Limit(limit)
	if err := s.reads.WithContext(ctx).Raw("SELECT COUNT(*) FROM (?) AS held", part).Scan(&n).Error; err != nil {
		return 0, fmt.Errorf("count held removals: %w", err)
	}
	return n, nil
}
