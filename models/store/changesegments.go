package store

import (
	"context"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// selecting narrows a feed to the pages that a filter selects. The address is judged as it stands in the line; document,
// lastmod, language, extensions and first sight by the declaration after the run, or by the last one before it where the
// page left. State and moment do not count: a line's kind and run say those.
func (r *changeReader) selecting(ctx context.Context, f models.PageFilter) func(key models.Key, c *models.Change) (bool, error) {
	m := &moment{store: r.store, site: r.site, run: r.site.CurrentRun, times: map[int64]time.Time{}}
	byRow := f.Document != 0 || f.ObjectType != "" || f.Lastmod != "" || f.LastmodFrom != nil || f.LastmodTo != nil || f.Language != "" || f.Title != "" || f.Extension != "" || f.FirstFrom != nil
	return func(key models.Key, c *models.Change) (bool, error) {
		if f.Key != nil && *f.Key != key || !contains(c.URL, f.Contains) || !hasPrefix(c.URL, f.Prefix) {
			return false, nil
		}
		if !byRow {
			return true, nil
		}
		row, err := r.speaking(ctx, key)
		if err != nil || row == nil {
			return false, err
		}
		return m.selects(ctx, &f, row)
	}
}

// speaking gives the declaration that a change of a page is about.
func (r *changeReader) speaking(ctx context.Context, key models.Key) (*models.Declaration, error) {
	for _, run := range []int64{r.run, r.was} {
		rows, err := r.declared(ctx, []models.Key{key}, run)
		if err != nil || rows[key] != nil {
			return rows[key], err
		}
	}
	return nil, nil
}

// selects judges one declaration by the parts of a filter that are about what was declared.
func (m *moment) selects(ctx context.Context, f *models.PageFilter, row *models.Declaration) (bool, error) {
	if f.Document != 0 && row.Document != f.Document {
		return false, nil
	}
	if f.Lastmod != "" && (row.Lastmod != nil) != (f.Lastmod == models.LastmodDeclared) {
		return false, nil
	}
	if f.ObjectType != "" {
		document, err := m.addressOf(ctx, row.Document)
		if err != nil || !f.Lists(document) {
			return false, err
		}
	}
	if (f.LastmodFrom != nil || f.LastmodTo != nil) && (row.Lastmod == nil || !within(row.Lastmod.Instant, f.LastmodFrom, f.LastmodTo)) {
		return false, nil
	}
	if f.FirstFrom != nil {
		first, err := m.when(ctx, row.FirstRun)
		if err != nil || first.Before(*f.FirstFrom) {
			return false, err
		}
	}
	if f.Language == "" && f.Title == "" && f.Extension == "" {
		return true, nil
	}
	p, err := newPage(row)
	if err != nil {
		return false, err
	}
	return (f.Language == "" || hasLanguage(p, f.Language)) && (f.Title == "" || hasTitle(p, f.Title)) && (f.Extension == "" || hasExtension(p, f.Extension)), nil
}
