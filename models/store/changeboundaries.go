package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/sitemapd/sitemapd/models"
)

// boundary is what one document said of a page before and after the run; one of the two may be missing.
type boundary struct{ before, after *models.Declaration }

// declarations gives the changes of one document: its rows that begin or end at this run, in portions by key.
func (r *changeReader) declarations(ctx context.Context, document int32) error {
	if !r.wants(models.KindAdded, models.KindChanged, models.KindMoved, models.KindRemoved, models.KindRestored) {
		return nil
	}
	if err := r.readShift(ctx, document); err != nil {
		return err
	}
	after := r.from(sectionDeclarations, document)
	for {
		var rows []*models.Declaration
		run := strconv.FormatInt(r.run, 10)
		err := r.store.declarations(ctx, "d.site_id = ? AND d.document = ? AND d.url_key > ? AND (d.from_run = "+run+" OR d.to_run = "+run+
			") ORDER BY d.url_key, d.from_run LIMIT "+strconv.Itoa(portion), []any{r.site.ID, document, after[:]}, func(d *models.Declaration) error {
			rows = append(rows, d)
			return nil
		})
		if err != nil {
			return err
		}
		full := len(rows) == portion
		if full && rows[portion-2].Key != rows[portion-1].Key { // its other half may come next
			rows = rows[:portion-1]
		}
		if err := r.boundaries(ctx, document, rows); err != nil {
			return err
		}
		if !full {
			return nil
		}
		after = rows[len(rows)-1].Key
		if err := r.late(sectionDeclarations, document, after); err != nil {
			return err
		}
	}
}

func (r *changeReader) boundaries(ctx context.Context, document int32, rows []*models.Declaration) error {
	var all []boundary
	for _, row := range rows {
		var b boundary
		if row.FromRun == r.run {
			b.after = row
		} else {
			b.before = row
		}
		if n := len(all); n > 0 && b.after != nil && all[n-1].before != nil && all[n-1].before.Key == row.Key {
			all[n-1].after = row
		} else {
			all = append(all, b)
		}
	}
	// Only declarations speak of pages: duplicates and foreign listings come and go without a word.
	var unclear, gone []models.Key
	for i := range all {
		b := &all[i]
		if b.before != nil && b.before.Role != models.RoleDeclaration {
			b.before = nil
		}
		if b.after != nil && b.after.Role != models.RoleDeclaration {
			b.after = nil
		}
		if b.before == nil && b.after != nil && b.after.FirstRun < r.run {
			unclear = append(unclear, b.after.Key)
		}
		if b.before != nil && b.after == nil {
			gone = append(gone, b.before.Key)
		}
	}
	before, err := r.declared(ctx, unclear, r.was)
	if err != nil {
		return err
	}
	after, err := r.declared(ctx, gone, r.run)
	if err != nil {
		return err
	}
	ends, err := r.ends(ctx, gone)
	if err != nil {
		return err
	}
	for _, b := range all {
		var c *models.Change
		key := models.Key{}
		switch {
		case b.before != nil && b.after != nil && r.shifted(b.before, b.after):
		case b.before != nil && b.after != nil:
			key, c = b.after.Key, changed(b.before, b.after)
		case b.after != nil:
			key, c = b.after.Key, r.appeared(before[b.after.Key], b.after)
		case b.before != nil && after[b.before.Key] == nil:
			key, c = b.before.Key, left(b.before, ends[b.before.Key])
		}
		if c == nil {
			continue
		}
		if err := r.emit(sectionDeclarations, document, key, *c); err != nil {
			return err
		}
	}
	return nil
}

// readShift reads by how much this run found every lastmod of a document moved; 0 for the ordinary case.
func (r *changeReader) readShift(ctx context.Context, document int32) error {
	r.shift = 0
	err := r.store.reads.WithContext(ctx).Raw("SELECT lastmod_shift FROM document_versions WHERE site_id = ? AND document = ? AND from_run = ?",
		r.site.ID, document, r.run).Scan(&r.shift).Error
	if err != nil {
		return fmt.Errorf("read lastmod shift: %w", err)
	}
	return nil
}

// shifted tells that a declaration changed by the document's shift alone: part of one event, no change of its own.
func (r *changeReader) shifted(before, after *models.Declaration) bool {
	if r.shift == 0 || r.filter.Shifts || before.Lastmod == nil || after.Lastmod == nil {
		return false
	}
	c := changed(before, after)
	return c != nil && len(c.Fields) == 1 && c.Fields[0].Field == "lastmod" &&
		after.Lastmod.Instant.Sub(before.Lastmod.Instant).Microseconds() == r.shift
}

// declared gives the declarations of pages at a run, in whichever document.
func (r *changeReader) declared(ctx context.Context, keys []models.Key, run int64) (map[models.Key]*models.Declaration, error) {
	out := map[models.Key]*models.Declaration{}
	for chunk := range slices.Chunk(keys, statementKeys) {
		at := strconv.FormatInt(run, 10)
		err := r.store.declarationsFrom(ctx, r.store.byPage(), r.store.pageColumn("site_id")+" = ? AND "+r.store.pageColumn("url_key")+
			" IN ("+marks(len(chunk))+") AND d.from_run <= "+at+" AND d.to_run > "+at+" AND d.role = 0",
			appendKeys([]any{r.site.ID}, chunk, len(chunk)), func(d *models.Declaration) error {
				out[d.Key] = d
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ends gives the cases of pages that this run decided.
func (r *changeReader) ends(ctx context.Context, keys []models.Key) (map[models.Key]*removalRow, error) {
	out := map[models.Key]*removalRow{}
	for chunk := range slices.Chunk(keys, statementKeys) {
		var rows []removalRow
		err := r.store.reads.WithContext(ctx).Where("site_id = ? AND url_key IN ? AND valid_from = ? AND decided_run = ?",
			r.site.ID, keyBytes(chunk), r.run, r.run).Find(&rows).Error
		if err != nil {
			return nil, fmt.Errorf("read removals: %w", err)
		}
		for i := range rows {
			out[models.Key(rows[i].URLKey)] = &rows[i]
		}
	}
	return out, nil
}

// appeared tells what it means that a document declares a page which it did not declare before.
func (r *changeReader) appeared(before, after *models.Declaration) *models.Change {
	switch {
	case before != nil:
		if c := changed(before, after); c != nil || !r.filter.Shifts {
			return c
		}
		return shifted(before, after)
	case after.FirstRun < r.run:
		return &models.Change{Kind: models.KindRestored, URL: after.URL}
	}
	if _, found := slices.BinarySearchFunc(r.migrated, after.Key, compareKeys); found {
		return nil
	}
	return &models.Change{Kind: models.KindAdded, URL: after.URL}
}

// shifted tells that another document lists a page, with the same content.
func shifted(before, after *models.Declaration) *models.Change {
	return &models.Change{Kind: models.KindMoved, URL: after.URL, Reason: "listed by another document, with the same content",
		Fields: []models.FieldChange{{Field: "document", Old: before.Document, New: after.Document}}}
}

// left tells how a page ended.
func left(before *models.Declaration, end *removalRow) *models.Change {
	c := &models.Change{Kind: models.KindRemoved, URL: before.URL}
	if end == nil {
		return c
	}
	c.Reason = end.Reason
	if end.Stage == models.StageMoved || end.Stage == models.StageMigrated {
		c.Kind = models.KindMoved
		c.Fields = []models.FieldChange{{Field: "url", Old: before.URL, New: end.MovedTo}}
	}
	return c
}
