package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

// audited selects findings by a filter, muted ones left out unless it wants them.
func (s *Store) audited(ctx context.Context, site int64, f models.AuditFilter) *gorm.DB {
	query := s.reads.WithContext(ctx).Model(&canonicalFindingRow{}).Where("canonical_findings.site_id = ?", site)
	if len(f.Codes) > 0 {
		query = query.Where("code IN ?", f.Codes)
	}
	if f.Severity != "" {
		query = query.Where("severity = ?", f.Severity)
	}
	switch f.State {
	case "all":
	case "":
		query = query.Where("state <> 'fixed'")
	default:
		query = query.Where("state = ?", f.State)
	}
	if !f.Since.IsZero() {
		query = query.Where("changed_at >= ?", stored(f.Since))
	}
	if f.Template != "" {
		query = query.Where("template = ?", s.bytes(f.Template))
	}
	if f.Key != nil {
		query = query.Where("url_key = ?", f.Key[:])
	}
	if !f.Muted {
		query = query.Where(`NOT EXISTS (SELECT 1 FROM canonical_mutes m WHERE m.site_id = canonical_findings.site_id AND m.code = canonical_findings.code
			AND (m.until IS NULL OR m.until > ?) AND (m.place_key = ? OR m.place_key = canonical_findings.url_key OR m.place = canonical_findings.template))`,
			now(), textKey(""))
	}
	return query
}

// bytes is a text as the dialect compares it with a column of bytes.
func (s *Store) bytes(text string) any {
	if s.mysql() {
		return []byte(text)
	}
	return text
}

// PageFindings streams findings of pages by code and id.
func (s *Store) PageFindings(ctx context.Context, site int64, f models.AuditFilter, fn func(*models.PageFinding) error) error {
	code, id, _ := strings.Cut(f.After, " ")
	given := 0
	for {
		n := portion
		if f.Limit > 0 {
			n = min(n, f.Limit-given)
		}
		query := s.audited(ctx, site, f)
		if code != "" {
			query = query.Where("(code > ? OR code = ? AND finding > ?)", code, code, id)
		}
		var rows []canonicalFindingRow
		if err := query.Order("code, finding").Limit(n).Find(&rows).Error; err != nil {
			return fmt.Errorf("read findings of pages: %w", err)
		}
		for i := range rows {
			found := rows[i].finding()
			if err := fn(&found); err != nil {
				return err
			}
		}
		given += len(rows)
		if len(rows) < n || given == f.Limit {
			return nil
		}
		last := &rows[len(rows)-1]
		code, id = last.Code, last.Finding
	}
}

// GroupFindings counts findings by code and path template, the largest group first.
func (s *Store) GroupFindings(ctx context.Context, site int64, f models.AuditFilter) ([]models.AuditGroup, error) {
	var out []models.AuditGroup
	query := s.audited(ctx, site, f).Select("code, severity, template, COUNT(*) AS pages, MIN(page) AS example").
		Group("code, severity, template").Order("pages DESC, code, template")
	if f.Limit > 0 {
		query = query.Limit(f.Limit)
	}
	if err := query.Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("group findings of pages: %w", err)
	}
	return out, nil
}

// MuteFinding keeps a code out of reports: everywhere, for a template (place begins with "/"), or for one page (key).
func (s *Store) MuteFinding(ctx context.Context, site int64, m models.Mute) error {
	row := canonicalMuteRow{SiteID: site, Code: m.Code, PlaceKey: m.Key[:], Place: m.Place, Until: micros(m.Until), Note: m.Note, CreatedAt: now()}
	if m.Key == (models.Key{}) {
		row.PlaceKey = textKey(m.Place)
	}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("mute a finding: %w", err)
	}
	return nil
}

// UnmuteFinding lets a code be heard again at a place and says whether it was muted.
func (s *Store) UnmuteFinding(ctx context.Context, site int64, m models.Mute) (bool, error) {
	place := m.Key[:]
	if m.Key == (models.Key{}) {
		place = textKey(m.Place)
	}
	was := false
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		result := tx.Exec("DELETE FROM canonical_mutes WHERE site_id = ? AND code = ? AND place_key = ?", site, m.Code, place)
		was = result.RowsAffected > 0
		return result.Error
	})
	if err != nil {
		return false, fmt.Errorf("unmute a finding: %w", err)
	}
	return was, nil
}

// Mutes gives those in force at a time, by code and place.
func (s *Store) Mutes(ctx context.Context, site int64, at time.Time) ([]models.Mute, error) {
	var rows []canonicalMuteRow
	err := s.reads.WithContext(ctx).Where("site_id = ? AND (until IS NULL OR until > ?)", site, stored(at)).Order("code, place_key").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read mutes: %w", err)
	}
	out := make([]models.Mute, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		out = append(out, models.Mute{Code: r.Code, Place: r.Place, Key: keyFrom(r.PlaceKey), Until: micros(r.Until), Note: r.Note, CreatedAt: r.CreatedAt.UTC()})
	}
	return out, nil
}
