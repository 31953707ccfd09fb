package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// LastmodCounts counts the live pages of each document between bounds that go back in time: as many as Pages gives with
// the same bounds. Documents without one are left out. It reads the whole inventory once (a second for a million pages;
// some more where more than 20,000 removals are undecided), so callers keep the answer.
func (s *Store) LastmodCounts(ctx context.Context, siteID int64, bounds []time.Time) ([]models.LastmodCounts, error) {
	r, err := s.pageReader(ctx, siteID, models.PageFilter{})
	if err != nil {
		return nil, fmt.Errorf("count lastmods: %w", err)
	}
	c := lastmodCounter{lastmodSteps: lastmodSteps{bounds}, reader: r, all: map[int32]*models.LastmodCounts{}}
	text, args := c.statement()
	err = r.tally(ctx, text, args, c.row, c.page)
	if err != nil {
		return nil, fmt.Errorf("count lastmods of site %d: %w", siteID, err)
	}
	out := make([]models.LastmodCounts, 0, len(c.all))
	for _, counts := range c.all {
		if counts.None != 0 || slices.ContainsFunc(counts.At, func(n int64) bool { return n != 0 }) {
			out = append(out, *counts)
		}
	}
	slices.SortFunc(out, func(a, b models.LastmodCounts) int { return cmp.Compare(a.Document, b.Document) })
	return out, nil
}

// lastmodCounter adds pages up by document and lastmod.
type lastmodCounter struct {
	lastmodSteps
	reader *pageReader
	all    map[int32]*models.LastmodCounts
	byURL  map[string]int32
}

func (c *lastmodCounter) of(number int32) *models.LastmodCounts {
	counts := c.all[number]
	if counts == nil {
		counts = &models.LastmodCounts{Document: number, URL: c.reader.views[number].URL, At: make([]int64, len(c.bounds)+1)}
		c.all[number] = counts
	}
	return counts
}

// statement counts rows by document and step.
func (c *lastmodCounter) statement() (string, []any) {
	step, args := c.sql(c.reader.store)
	where, filters := c.reader.where()
	return fmt.Sprintf("SELECT d.document, %s AS step, COUNT(*) FROM declarations d WHERE d.site_id = %d%s GROUP BY d.document, step", step, c.reader.site.ID, where),
		append(args, filters...)
}

func (c *lastmodCounter) row(rows *sql.Rows) error {
	var number int32
	var step int
	var n int64
	if err := rows.Scan(&number, &step, &n); err != nil || !c.reader.reads(number) {
		return err
	}
	if step < 0 {
		c.of(number).None += n
	} else {
		c.of(number).At[step] += n
	}
	return nil
}

// page counts one page, or takes it out again.
func (c *lastmodCounter) page(p *models.Page, by int64) {
	if c.byURL == nil {
		c.byURL = make(map[string]int32, len(c.reader.views))
		for number, d := range c.reader.views {
			c.byURL[d.URL] = number
		}
	}
	counts := c.of(c.byURL[p.Document])
	if step := c.stepOf(p); step < 0 {
		counts.None += by
	} else {
		counts.At[step] += by
	}
}
