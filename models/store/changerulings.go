package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// afterRulings gives the runs that followed a ruling: each tells what a person decided since the run before it.
const afterRulings = `SELECT (SELECT MIN(x.run) FROM runs x WHERE x.site_id = g.site_id AND x.run > g.ruled_run AND x.finished_at IS NOT NULL AND x.error = '')
	FROM rulings g WHERE g.site_id = ?`

// noteRuling remembers that somebody ruled at a run.
func noteRuling(tx *gorm.DB, siteID, run int64) error {
	var known int64
	if err := tx.Raw("SELECT COUNT(*) FROM rulings WHERE site_id = ? AND ruled_run = ?", siteID, run).Scan(&known).Error; err != nil || known > 0 {
		return err
	}
	return tx.Exec("INSERT INTO rulings (site_id, ruled_run) VALUES (?, ?)", siteID, run).Error
}

// readRuled finds out whether a person ruled between the run and the one before it.
func (r *changeReader) readRuled(ctx context.Context) error {
	r.ruled = 0
	err := r.store.reads.WithContext(ctx).Raw(`SELECT COALESCE(MAX(ruled_run), 0) FROM rulings WHERE site_id = ? AND ruled_run < ? AND ruled_run >=
		(SELECT COALESCE(MAX(run), 0) FROM runs WHERE site_id = ? AND run < ? AND `+finished+")", r.site.ID, r.run, r.site.ID, r.run).Scan(&r.ruled).Error
	if err != nil {
		return fmt.Errorf("read rulings: %w", err)
	}
	return nil
}

// rulings tells of pages on whose removal a person ruled since the run before, by page: one that is kept is what its
// document is, one whose removal was approved is pending. The run's other lines tell of those that it removed.
func (r *changeReader) rulings(ctx context.Context) error {
	if r.ruled == 0 || !r.wants(models.KindStale, models.KindFresh, models.KindPending) {
		return nil
	}
	t, err := r.readTurns(ctx)
	if err != nil {
		return err
	}
	after := r.from(sectionRulings, 0)
	for {
		var rows []removalRow
		err := r.store.reads.WithContext(ctx).Where("site_id = ? AND ruled_run = ? AND ruling <> 0 AND valid_from <= ? AND valid_to > ? AND url_key > ?",
			r.site.ID, r.ruled, r.ruled, r.ruled, after[:]).Order("url_key").Limit(portion).Find(&rows).Error
		if err != nil {
			return fmt.Errorf("read rulings: %w", err)
		}
		if err := r.tellRulings(ctx, t, rows); err != nil {
			return err
		}
		if len(rows) < portion {
			return nil
		}
		after = models.Key(rows[len(rows)-1].URLKey)
		if err := r.late(sectionRulings, 0, after); err != nil {
			return err
		}
	}
}

func (r *changeReader) tellRulings(ctx context.Context, t *turns, rows []removalRow) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]models.Key, len(rows))
	for i := range rows {
		keys[i] = models.Key(rows[i].URLKey)
	}
	listed, err := r.declared(ctx, keys, r.run)
	if err != nil {
		return err
	}
	undecided, err := t.undecided.of(ctx, keys)
	if err != nil {
		return err
	}
	earlier, err := r.earlierRulings(ctx, keys)
	if err != nil {
		return err
	}
	for i := range rows {
		c, row := &rows[i], listed[keys[i]]
		if row == nil {
			continue // it is gone, and its end says so
		}
		now := of(row.Document, undecided[keys[i]])
		told := models.State(c.Stage)
		if earlier[keys[i]] == approved {
			told = models.StatePending
		} else if earlier[keys[i]] == rejected {
			told = models.StateLive
		}
		change := models.Change{Kind: models.KindPending, URL: row.URL, Reason: "its removal was approved: " + c.Reason}
		if c.Ruling == approved {
			if now == nil || told == models.StatePending {
				continue // listed again, which was said; or nothing new
			}
		} else {
			d, err := t.document(ctx, r, row.Document, r.run)
			if err != nil {
				return err
			}
			change.Kind, change.Reason = models.KindFresh, "a person kept it"
			if !d.good {
				change.Kind, change.Reason = models.KindStale, d.reason
			}
		}
		if err := r.emit(sectionRulings, 0, keys[i], change); err != nil {
			return err
		}
	}
	return nil
}

// earlierRulings gives what a person had said before, of pages on which somebody ruled again.
func (r *changeReader) earlierRulings(ctx context.Context, keys []models.Key) (map[models.Key]int, error) {
	var rows []removalRow
	err := r.store.reads.WithContext(ctx).Select("url_key", "ruling").Where("site_id = ? AND url_key IN ? AND valid_to = ? AND ruling <> 0 AND ruled_run < ?",
		r.site.ID, keyBytes(keys), r.ruled, r.ruled).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read rulings: %w", err)
	}
	out := map[models.Key]int{}
	for i := range rows {
		out[models.Key(rows[i].URLKey)] = rows[i].Ruling
	}
	return out, nil
}
