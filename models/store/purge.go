package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// purgeRows bounds one transaction of a purge.
const purgeRows = 5000

// PurgeSite deletes everything of a site that was removed before: history, findings, inbox, keys. It is the one
// operation that loses what was recorded, works in bounded transactions and may be repeated after an interruption.
func (s *Store) PurgeSite(ctx context.Context, id int64) error {
	var site siteRow
	if err := s.db.WithContext(ctx).Where("id = ?", id).Limit(1).Find(&site).Error; err != nil {
		return fmt.Errorf("purge site %d: %w", id, err)
	}
	if site.ID == 0 {
		return notFound("site", id)
	}
	if site.RemovedAt == nil {
		return fmt.Errorf("purge site %d: remove it first: %w", id, models.ErrConflict)
	}
	tables := []string{"declarations", "removals", "findings", "document_versions", "document_sums", "documents", "touched", "runs", "triggers", "deliveries",
		"expectations", "hook_keys", "published_posts", "plugin_inventories", "events", "event_runs", "alerts", "alert_states",
		"segments", "retention", "rulings", "cached_runs", "trigger_traces"}
	tables = append(tables, canonicalTables...)
	if !s.mysql() {
		tables = append(tables, "page_documents")
	}
	for _, table := range tables {
		if err := s.purge(ctx, table, id); err != nil {
			return fmt.Errorf("purge %s of site %d: %w", table, id, err)
		}
	}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error { return tx.Exec("DELETE FROM sites WHERE id = ?", id).Error })
	if err != nil {
		return fmt.Errorf("purge site %d: %w", id, err)
	}
	return nil
}

// canonicalTables hold what is known of pages; canonical_hosts, which is of hosts, stays.
var canonicalTables = []string{"canonical_heads", "canonical_watches", "canonical_observations", "canonical_relationships", "canonical_states",
	"canonical_candidates", "canonical_conflicts", "canonical_dirty", "canonical_news", "canonical_findings", "canonical_mutes", "canonical_incidents",
	"canonical_audits", "canonical_progress", "canonical_negatives"}

// purge deletes a table's rows of a site; SQLite, which has no limit for deletes, by the keys of a portion.
func (s *Store) purge(ctx context.Context, table string, id int64) error {
	text := fmt.Sprintf("DELETE FROM %s WHERE site_id = ? LIMIT %d", table, purgeRows)
	if !s.mysql() {
		key, known := map[string]string{
			"declarations": "document, url_key, from_run", "page_documents": "url_key, document", "removals": "url_key, from_run, valid_from",
			"findings": "document, from_run, seq", "document_versions": "document, from_run", "published_posts": "post_id, from_run",
			"canonical_heads": "url_key", "canonical_watches": "url_key", "canonical_observations": "url_key, observation",
			"canonical_relationships": "url_key, valid_from, target_key, method", "canonical_states": "url_key, valid_from, target_key, method, judged_at",
			"canonical_candidates": "url_key, target_key, valid_from", "canonical_conflicts": "url_key, opened_at", "canonical_negatives": "url_key, valid_from", "canonical_findings": "finding",
		}[table]
		text = fmt.Sprintf("DELETE FROM %s WHERE site_id = ?", table)
		if known {
			text += fmt.Sprintf(" AND (%s) IN (SELECT %s FROM %s WHERE site_id = %d LIMIT %d)", key, key, table, id, purgeRows)
		}
	}
	for {
		var n int64
		err := s.write(ctx, func(tx *gorm.DB, _ int) error {
			result := tx.Exec(text, id)
			n = result.RowsAffected
			return result.Error
		})
		if err != nil || n < purgeRows {
			return err
		}
	}
}
