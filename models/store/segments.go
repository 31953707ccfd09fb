package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type segmentRow struct {
	ID        int64 `gorm:"primaryKey"`
	SiteID    int64
	Name      string
	NameKey   []byte
	Filter    string
	CreatedAt time.Time
}

func (segmentRow) TableName() string { return "segments" }

func (r *segmentRow) segment() models.Segment {
	return models.Segment{ID: r.ID, SiteID: r.SiteID, Name: r.Name, Filter: r.Filter, CreatedAt: r.CreatedAt.UTC()}
}

// Segments gives the segments that a site has: its own and those of every site, by name. Site 0 has the latter alone.
func (s *Store) Segments(ctx context.Context, siteID int64) ([]models.Segment, error) {
	var rows []segmentRow
	if err := s.reads.WithContext(ctx).Where("site_id IN ?", []int64{0, siteID}).Order("name, site_id DESC").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read segments of site %d: %w", siteID, err)
	}
	out := make([]models.Segment, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].segment())
	}
	return out, nil
}

// SaveSegment stores a segment and gives its id; with an id it replaces name and filter of that one.
// models.ErrConflict when the site has another one of this name.
func (s *Store) SaveSegment(ctx context.Context, g models.Segment) (models.Segment, error) {
	if g.CreatedAt.IsZero() {
		g.CreatedAt = now()
	}
	row := segmentRow{ID: g.ID, SiteID: g.SiteID, Name: g.Name, NameKey: textKey(g.Name), Filter: g.Filter, CreatedAt: stored(g.CreatedAt)}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		row.ID = g.ID
		if g.ID == 0 {
			return tx.Create(&row).Error
		}
		var old segmentRow
		if err := tx.Where("id = ? AND site_id = ?", g.ID, g.SiteID).Limit(1).Find(&old).Error; err != nil {
			return err
		}
		if old.ID == 0 {
			return notFound("segment", g.ID)
		}
		row.CreatedAt = old.CreatedAt
		return tx.Save(&row).Error
	})
	if duplicate(err) {
		return g, fmt.Errorf("save segment %s: there is one of this name: %w", g.Name, models.ErrConflict)
	}
	if err != nil {
		return g, fmt.Errorf("save segment %s: %w", g.Name, err)
	}
	return row.segment(), nil
}

// RemoveSegment forgets one segment of a site, or of every site (0).
func (s *Store) RemoveSegment(ctx context.Context, siteID, id int64) error {
	var n int64
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		result := tx.Exec("DELETE FROM segments WHERE id = ? AND site_id = ?", id, siteID)
		n = result.RowsAffected
		return result.Error
	})
	if err != nil {
		return fmt.Errorf("remove segment %d: %w", id, err)
	}
	if n == 0 {
		return notFound("segment", id)
	}
	return nil
}
