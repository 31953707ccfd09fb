package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// timeline is everything stored of one page, up to the current run.
type timeline struct {
	*moment
	rows     []models.Declaration
	cases    []removalRow
	versions map[int32][]models.Document
}

// PageHistory gives every state of one page, oldest first, each from the run that began it up to but without the run
// that ended it: no gap, no overlap. It is empty for a page that was never listed, and begins at the oldest run that is kept.
func (s *Store) PageHistory(ctx context.Context, siteID int64, key models.Key) ([]models.Page, error) {
	m, err := s.at(ctx, siteID, models.AsOf{})
	if err != nil {
		return nil, err
	}
	t := &timeline{moment: m, versions: map[int32][]models.Document{}}
	if err := t.read(ctx, key); err != nil {
		return nil, fmt.Errorf("read history of page %s: %w", key, err)
	}
	pages, err := t.pages(ctx)
	if err != nil {
		return nil, fmt.Errorf("read history of page %s: %w", key, err)
	}
	return pages, nil
}

func (t *timeline) read(ctx context.Context, key models.Key) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	if err := t.store.indexPages(ctx, t.site.ID); err != nil {
		return err
	}
	current := t.site.CurrentRun
	err := t.store.declarationsFrom(ctx, t.store.byPage(), t.store.pageColumn("site_id")+" = ? AND "+t.store.pageColumn("url_key")+
		" = ? AND d.from_run <= ? ORDER BY d.from_run, d.document", []any{t.site.ID, key[:], current}, func(d *models.Declaration) error {
		if d.ToRun > current {
			d.ToRun = models.Open
		}
		t.rows = append(t.rows, *d)
		return nil
	})
	if err != nil {
		return err
	}
	err = t.store.reads.WithContext(ctx).Where("site_id = ? AND url_key = ? AND valid_from + 0 <= ?", t.site.ID, key[:], current).
		Order("from_run, valid_from").Find(&t.cases).Error
	if err != nil {
		return err
	}
	for i := range t.cases {
		if t.cases[i].ValidTo > current {
			t.cases[i].ValidTo = models.Open
		}
	}
	for i := range t.rows {
		number := t.rows[i].Document
		if t.versions[number] == nil {
			if t.versions[number], err = t.store.DocumentHistory(ctx, t.site.ID, number); err != nil {
				return err
			}
		}
	}
	return nil
}

// boundaries are the runs at which the page's state may have changed.
func (t *timeline) boundaries() []int64 {
	if len(t.rows) == 0 {
		return nil
	}
	var runs []int64
	for i := range t.rows {
		runs = append(runs, t.rows[i].FromRun, t.rows[i].ToRun)
	}
	for i := range t.cases {
		runs = append(runs, t.cases[i].ValidFrom, t.cases[i].ValidTo)
		if t.cases[i].Ruling != 0 {
			runs = append(runs, t.cases[i].RuledRun)
		}
	}
	for _, versions := range t.versions {
		for i := range versions {
			runs = append(runs, versions[i].FromRun)
		}
	}
	for i := range runs { // what was before the horizon is not kept whole
		runs[i] = max(runs[i], t.site.keptFrom)
	}
	slices.Sort(runs)
	runs = slices.Compact(runs)
	first := max(t.rows[0].FromRun, t.site.keptFrom)
	return slices.DeleteFunc(runs, func(run int64) bool { return run < first || run > t.site.CurrentRun })
}

func (t *timeline) pages(ctx context.Context) ([]models.Page, error) {
	runs := t.boundaries()
	var out []models.Page
	var last *models.Declaration
	for i, from := range runs {
		to := models.Open
		if i+1 < len(runs) {
			to = runs[i+1]
		}
		row, page, err := t.page(ctx, from, min(to-1, t.site.CurrentRun))
		if err != nil {
			return nil, err
		}
		page.FromRun, page.ToRun = from, nil
		if to != models.Open {
			page.ToRun = &to
		}
		if n := len(out); n > 0 && row == last && out[n-1].State == page.State && out[n-1].MovedTo == page.MovedTo && stage(&out[n-1]) == stage(page) {
			page.FromRun = out[n-1].FromRun
			out = out[:n-1]
		}
		out, last = append(out, *page), row
	}
	return out, nil
}

// stage tells pages that are pending from those that a person approved or kept.
func stage(p *models.Page) string {
	if p.Removal == nil {
		return ""
	}
	return p.Removal.Stage
}

// page gives the state from a boundary on, as it was known at the end of it.
func (t *timeline) page(ctx context.Context, from, end int64) (*models.Declaration, *models.Page, error) {
	m := t.with(end)
	row := t.open(from)
	if row == nil {
		c, former := t.ended(from)
		view, err := t.document(ctx, m, former.Document)
		if err != nil {
			return nil, nil, err
		}
		page, err := m.removed(ctx, c, former, view)
		return nil, page, err
	}
	var undecided *removalRow
	for i := range t.cases {
		c := &t.cases[i]
		if c.ValidFrom <= from && c.ValidTo > from && c.DecidedRun == models.Open && c.Document == row.Document {
			undecided = c
		}
	}
	view, err := t.document(ctx, m, row.Document)
	if err != nil {
		return nil, nil, err
	}
	page, err := m.listed(ctx, row, view, undecided)
	return row, page, err
}

// open gives the row that declares the page at a run: a declaration before a duplicate before a foreign listing.
func (t *timeline) open(run int64) *models.Declaration {
	var best *models.Declaration
	for i := range t.rows {
		row := &t.rows[i]
		if row.FromRun <= run && row.ToRun > run && (best == nil || row.Role < best.Role) {
			best = row
		}
	}
	return best
}

// ended gives the case that ended a page before a run, and what was declared last. A page that ended without a case
// gets one that says so.
func (t *timeline) ended(run int64) (*removalRow, *models.Declaration) {
	var former *models.Declaration
	for i := range t.rows {
		row := &t.rows[i]
		if row.FromRun <= run && (former == nil || row.ToRun > former.ToRun || row.ToRun == former.ToRun && row.Role < former.Role) {
			former = row
		}
	}
	c := &removalRow{URLKey: former.Key[:], URL: former.URL, FromRun: former.ToRun, DecidedRun: former.ToRun, Document: former.Document, Stage: models.StageRemoved}
	for i := range t.cases {
		if e := &t.cases[i]; e.ValidFrom <= run && e.ValidTo > run && e.DecidedRun <= run && e.DecidedRun >= former.ToRun && slices.Contains(removedStages, e.Stage) {
			c = e
		}
	}
	return c, former
}

// document gives the view of a document at a run.
func (t *timeline) document(ctx context.Context, m *moment, number int32) (*documentView, error) {
	for _, d := range t.versions[number] {
		if d.FromRun > m.run || d.ToRun != 0 && d.ToRun <= m.run {
			continue
		}
		checked, err := m.last(ctx, m.run, true)
		if err != nil {
			return nil, err
		}
		m.checked = checked
		view := &documentView{Number: d.Number, FromRun: d.FromRun, URL: d.URL, Verdict: d.Verdict, Reason: d.Reason, Trust: d.LastmodTrust, good: d.Good(), staleSince: d.StaleSince}
		return view, nil
	}
	return nil, nil
}
