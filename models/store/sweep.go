package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// sweepRows bounds one transaction of a sweep where the server has a limit for deletes.
const sweepRows = 2000

// sweep takes back everything above the run that readers see. The marks in touched say where to look; they go last,
// so that a sweep that is killed itself is carried on by the next.
func (s *Store) sweep(ctx context.Context, lease models.Lease, siteID int64) error {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return err
	}
	seen := site.CurrentRun
	var documents []int32
	err = s.db.WithContext(ctx).Raw("SELECT DISTINCT document FROM touched WHERE site_id = ? AND run > ? ORDER BY document",
		siteID, seen).Scan(&documents).Error
	if err != nil {
		return fmt.Errorf("read marks: %w", err)
	}
	for _, document := range documents {
		if err := s.sweepDocument(ctx, lease, siteID, document, seen); err != nil {
			return fmt.Errorf("sweep document %d: %w", document, err)
		}
	}
	if err := s.sweepPublished(ctx, lease, siteID, seen); err != nil {
		return err
	}
	s.index.forget(siteID)
	return s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		for _, text := range []string{
			"DELETE FROM removals WHERE site_id = ? AND valid_from > ?",
			"UPDATE removals SET valid_to = 9223372036854775807 WHERE site_id = ? AND valid_to > ? AND valid_to < 9223372036854775807",
			"DELETE FROM findings WHERE site_id = ? AND document = 0 AND from_run > ?",
			"DELETE FROM document_sums WHERE site_id = ? AND run > ?",
			"DELETE FROM touched WHERE site_id = ? AND run > ?",
			"UPDATE sites SET staged_run = 0 WHERE id = ? AND current_run = ?",
		} {
			if err := tx.Exec(text, siteID, seen).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// sweepDocument takes back one document's rows above a run.
func (s *Store) sweepDocument(ctx context.Context, lease models.Lease, siteID int64, document int32, seen int64) error {
	if err := s.sweepDeclarations(ctx, lease, siteID, document, seen); err != nil {
		return err
	}
	return s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		if err := sweepVersions(tx, siteID, document, seen); err != nil {
			return err
		}
		return tx.Exec("DELETE FROM documents WHERE site_id = ? AND document = ? AND first_run > ?", siteID, document, seen).Error
	})
}

// sweepVersions takes back versions and findings of a document above a run.
func sweepVersions(tx *gorm.DB, siteID int64, document int32, seen int64) error {
	for _, text := range []string{
		"DELETE FROM findings WHERE site_id = ? AND document = ? AND from_run > ?",
		"DELETE FROM document_versions WHERE site_id = ? AND document = ? AND from_run > ?",
		"UPDATE document_versions SET to_run = 9223372036854775807 WHERE site_id = ? AND document = ? AND to_run > ? AND to_run < 9223372036854775807",
	} {
		if err := tx.Exec(text, siteID, document, seen).Error; err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) sweepDeclarations(ctx context.Context, lease models.Lease, siteID int64, document int32, seen int64) error {
	limit := ""
	if s.mysql() { // write sets are bounded on clusters; SQLite has no LIMIT here and no need
		limit = fmt.Sprintf(" LIMIT %d", sweepRows)
	}
	for _, text := range []string{
		"DELETE FROM declarations WHERE site_id = ? AND document = ? AND from_run > ?",
		"UPDATE declarations SET to_run = 9223372036854775807 WHERE site_id = ? AND document = ? AND to_run > ? AND to_run < 9223372036854775807",
	} {
		for more := true; more; {
			err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
				result := tx.Exec(text+limit, siteID, document, seen)
				more = limit != "" && result.RowsAffected == sweepRows
				return result.Error
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
