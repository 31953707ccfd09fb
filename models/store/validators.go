package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// validatorRows bounds the documents of one statement.
const validatorRows = 100

// SaveValidators changes the validators of documents' current versions in place: they are no statement about pages.
func (s *Store) SaveValidators(ctx context.Context, lease models.Lease, siteID int64, all []models.Validators) error {
	for some := range slices.Chunk(all, validatorRows) {
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error { return putValidators(tx, siteID, some) })
		if err != nil {
			return fmt.Errorf("save validators of %d documents: %w", len(some), err)
		}
	}
	return nil
}

func putValidators(tx *gorm.DB, siteID int64, all []models.Validators) error {
	const where = " WHERE site_id = ? AND to_run = " + open + " AND document "
	if len(all) == 1 {
		return tx.Exec("UPDATE document_versions SET etag = ?, last_modified = ?"+where+"= ?", all[0].ETag, all[0].LastModified, siteID, all[0].Document).Error
	}
	var tags, times []any
	documents := make([]int32, len(all))
	for i, v := range all {
		tags, times = append(tags, v.Document, v.ETag), append(times, v.Document, v.LastModified)
		documents[i] = v.Document
	}
	cases := "CASE document" + strings.Repeat(" WHEN ? THEN ?", len(all)) + " END"
	return tx.Exec("UPDATE document_versions SET etag = "+cases+", last_modified = "+cases+where+"IN ?", append(append(tags, times...), siteID, documents)...).Error
}
