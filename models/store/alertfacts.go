package store

import (
	"context"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// factRows bounds what is read of the past to judge a rule by it.
const factRows = 20_000

// ExpiredExpectations gives what was announced to a site and never came true, decided since a time, oldest first.
func (s *Store) ExpiredExpectations(ctx context.Context, siteID int64, since time.Time) ([]models.Expectation, error) {
	return expectationsOf(s.reads.WithContext(ctx).Where("site_id = ? AND outcome = ? AND decided_at >= ?", siteID, models.OutcomeExpired, stored(since)).
		Order("decided_at, url_key").Limit(factRows))
}

// ConflictSpans gives the canonical conflicts of a site's pages that were open at some moment since a time, oldest first.
func (s *Store) ConflictSpans(ctx context.Context, siteID int64, since time.Time) ([]models.ConflictSpan, error) {
	var rows []struct {
		URL      string
		OpenedAt time.Time
		ClosedAt *time.Time
	}
	err := s.reads.WithContext(ctx).Raw(`SELECT COALESCE(h.url, '') AS url, c.opened_at, c.closed_at FROM canonical_conflicts c
		LEFT JOIN canonical_heads h ON h.site_id = c.site_id AND h.url_key = c.url_key
		WHERE c.site_id = ? AND (c.closed_at IS NULL OR c.closed_at >= ?) ORDER BY c.opened_at, c.url_key LIMIT ?`, siteID, stored(since), factRows).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read conflicts of site %d: %w", siteID, err)
	}
	out := make([]models.ConflictSpan, 0, len(rows))
	for _, r := range rows {
		out = append(out, models.ConflictSpan{URL: r.URL, OpenedAt: r.OpenedAt.UTC(), ClosedAt: micros(r.ClosedAt)})
	}
	return out, nil
}
