package store

import (
	"context"
	"fmt"

	"github.com/sitemapd/sitemapd/models"
)

// returned tells of pages, by page, that were said to be restored although no readable document stands for them: one that
// was unreadable before and still is lists them as it did. Its other lines speak of what turned and what is listed anew.
func (r *changeReader) returned(ctx context.Context) error {
	if !r.wants(models.KindStale) {
		return nil
	}
	after := r.from(sectionReturned, 0)
	for {
		var rows []removalRow
		err := r.store.reads.WithContext(ctx).Where("site_id = ? AND valid_from = ? AND stage = ? AND url_key > ?",
			r.site.ID, r.run, models.StageRestored, after[:]).Order("url_key").Limit(portion).Find(&rows).Error
		if err != nil {
			return fmt.Errorf("read removals: %w", err)
		}
		if err := r.tellReturned(ctx, rows); err != nil {
			return err
		}
		if len(rows) < portion {
			return nil
		}
		after = models.Key(rows[len(rows)-1].URLKey)
		if err := r.late(sectionReturned, 0, after); err != nil {
			return err
		}
	}
}

func (r *changeReader) tellReturned(ctx context.Context, rows []removalRow) error {
	if len(rows) == 0 {
		return nil
	}
	before, err := r.stagesBefore(ctx, rows)
	if err != nil {
		return err
	}
	var keys []models.Key
	for i := range rows {
		if c := &rows[i]; r.caseKind(c, before[caseName{models.Key(c.URLKey), c.FromRun}]) == models.KindRestored {
			keys = append(keys, models.Key(c.URLKey))
		}
	}
	t, err := r.readTurns(ctx)
	if err != nil {
		return err
	}
	listed, err := r.declared(ctx, keys, r.run)
	if err != nil {
		return err
	}
	undecided, err := t.undecided.of(ctx, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		row := listed[key]
		if row == nil || row.FromRun == r.run || of(row.Document, undecided[key]) != nil {
			continue
		}
		was, err := t.document(ctx, r, row.Document, r.was)
		if err != nil {
			return err
		}
		is, err := t.document(ctx, r, row.Document, r.run)
		if err != nil {
			return err
		}
		if was.good || is.good {
			continue
		}
		if err := r.emit(sectionReturned, 0, key, models.Change{Kind: models.KindStale, URL: row.URL, Reason: is.reason}); err != nil {
			return err
		}
	}
	return nil
}
