package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// eachKeyed reads rows of a key and a number.
func eachKeyed(rows *sql.Rows, err error, fn func(models.Key, int64) error) error {
	var key sql.RawBytes
	var number int64
	return each(rows, err, func(rows *sql.Rows) error {
		if err := rows.Scan(&key, &number); err != nil {
			return err
		}
		return fn(models.Key(key), number)
	})
}

// removedStages are the ends after which a page is not listed.
var removedStages = []string{models.StageRemoved, models.StageMoved, models.StageMigrated}

// removedPages reads the ended cases in portions by key. The last case of a page counts, and only while no document
// lists the page.
func (r *pageReader) removedPages(ctx context.Context) error {
	var after []byte
	if r.filter.Key != nil && r.after != nil && r.after.removed {
		return nil
	}
	if r.after != nil && r.after.removed {
		after = r.after.key[:]
	}
	want := portion
	if r.filter.Limit > 0 {
		want = max(portion/10, min(portion, 2*(r.filter.Limit-r.given)))
	}
	for ; ; want = min(portion, 2*want) {
		query := r.ended(ctx).Limit(want)
		if r.filter.Key != nil {
			query = query.Where("url_key = ?", r.filter.Key[:])
		} else if after != nil {
			query = query.Where("url_key > ?", after)
		}
		var rows []removalRow
		if err := query.Find(&rows).Error; err != nil {
			return fmt.Errorf("read removed pages: %w", err)
		}
		full := len(rows) == want
		if full && r.filter.Key == nil { // a page's cases may be cut by the end of the portion: it comes again with the next
			last := rows[len(rows)-1].URLKey
			cut := slices.IndexFunc(rows, func(c removalRow) bool { return string(c.URLKey) == string(last) })
			if cut > 0 {
				rows = rows[:cut]
			}
		}
		if err := r.giveRemoved(ctx, rows); err != nil {
			return err
		}
		if !full || r.filter.Key != nil {
			return nil
		}
		after = rows[len(rows)-1].URLKey
		if err := r.late(pageCursor{removed: true, key: models.Key(after)}); err != nil {
			return err
		}
	}
}

// ended selects the ended cases at the moment, by page.
func (r *pageReader) ended(ctx context.Context) *gorm.DB {
	// The sums keep SQLite, which knows no figures of the table, on the primary key.
	return r.store.reads.WithContext(ctx).Where("site_id = ? AND valid_from + 0 <= ? AND valid_to + 0 > ? AND decided_run + 0 <= ? AND stage IN ?",
		r.site.ID, r.run, r.run, r.run, removedStages).Order("url_key, from_run")
}

func (r *pageReader) giveRemoved(ctx context.Context, rows []removalRow) error {
	var last []*removalRow
	for i := range rows {
		if n := len(last); n > 0 && string(last[n-1].URLKey) == string(rows[i].URLKey) {
			last[n-1] = &rows[i]
		} else {
			last = append(last, &rows[i])
		}
	}
	keys := make([]models.Key, len(last))
	for i, c := range last {
		keys[i] = models.Key(c.URLKey)
	}
	former, err := r.former(ctx, keys)
	if err != nil {
		return err
	}
	for _, c := range last {
		row := former[models.Key(c.URLKey)]
		if row != nil && row.ToRun > r.run { // listed again
			continue
		}
		number := c.Document
		if row != nil {
			number = row.Document
		}
		d, err := r.view(ctx, number)
		if err != nil {
			return err
		}
		p, err := r.removed(ctx, c, row, d)
		if err != nil {
			return err
		}
		p.Cursor = pageCursor{removed: true, key: p.Key}.String()
		if r.matches(p, row) {
			if err := r.hand(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// matches is what where asks of listed pages, for removed ones.
func (r *pageReader) matches(p *models.Page, row *models.Declaration) bool {
	f := r.filter
	if f.Document != 0 && (row == nil || row.Document != f.Document) {
		return false
	}
	if !contains(p.URL, f.Contains) || !hasPrefix(p.URL, f.Prefix) {
		return false
	}
	if f.Lastmod != "" && (p.Lastmod != nil) != (f.Lastmod == models.LastmodDeclared) {
		return false
	}
	if f.LastmodFrom != nil || f.LastmodTo != nil {
		return p.Lastmod != nil && within(p.Lastmod.Instant, f.LastmodFrom, f.LastmodTo)
	}
	return true
}

// former gives the last declaration of pages up to the moment: still open at it, or the one that was closed last.
func (r *pageReader) former(ctx context.Context, keys []models.Key) (map[models.Key]*models.Declaration, error) {
	out := make(map[models.Key]*models.Declaration, len(keys))
	for chunk := range slices.Chunk(keys, statementKeys) {
		args := appendKeys([]any{r.site.ID}, chunk, len(chunk))
		err := r.store.declarationsFrom(ctx, r.store.byPage(), r.store.pageColumn("site_id")+" = ? AND "+r.store.pageColumn("url_key")+
			" IN ("+marks(len(chunk))+") AND d.from_run <= "+strconv.FormatInt(r.run, 10)+" AND d.role < 2 ORDER BY d.url_key",
			args, func(d *models.Declaration) error {
				old := out[d.Key]
				if old == nil || d.ToRun > old.ToRun || d.ToRun == old.ToRun && d.Role < old.Role {
					out[d.Key] = d
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
