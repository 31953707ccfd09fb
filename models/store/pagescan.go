package store

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/sitemapd/sitemapd/models"
)

// scan reads document after document, each in portions by key.
func (r *pageReader) scan(ctx context.Context) error {
	if r.after != nil && r.after.removed {
		return nil
	}
	skip := r.after != nil
	for _, number := range r.order {
		var key *models.Key
		if skip {
			if number != r.after.document {
				continue
			}
			skip, key = false, &r.after.key
		}
		if r.passes(number) {
			continue
		}
		if d := r.views[number]; r.state == models.StateLive && !d.good || r.state == models.StateStale && d.good && len(r.cases.all) == 0 && r.cases.all != nil {
			continue
		}
		if err := r.scanDocument(ctx, number, key); err != nil {
			return err
		}
		if err := r.late(pageCursor{document: number, key: lastKey}); err != nil {
			return err
		}
	}
	return nil
}

// scanCases reads the pages of documents that could not be read, where stale ones are asked for, and of all others those
// with an undecided case: few where rows are many.
func (r *pageReader) scanCases(ctx context.Context) error {
	if r.after != nil && r.after.removed {
		return nil
	}
	with, err := r.cases.documents(ctx, r.state)
	if err != nil {
		return err
	}
	skip := r.after != nil
	for _, number := range r.order {
		var key *models.Key
		if skip {
			if number != r.after.document {
				continue
			}
			skip, key = false, &r.after.key
		}
		if r.passes(number) {
			continue
		}
		switch {
		case r.state == models.StateStale && !r.views[number].good:
			err = r.scanDocument(ctx, number, key)
		case with[number]:
			err = r.scanCasesOf(ctx, number, key)
		}
		if err == nil {
			err = r.late(pageCursor{document: number, key: lastKey})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *pageReader) scanCasesOf(ctx context.Context, number int32, after *models.Key) error {
	where, filters := r.where()
	want := statementKeys
	if r.filter.Limit > 0 {
		want = min(statementKeys, r.filter.Limit-r.given)
	}
	for ; ; want = min(statementKeys, 2*want) {
		keys, err := r.cases.keys(ctx, r.state, number, after, want)
		if err != nil || len(keys) == 0 {
			return err
		}
		var rows []models.Declaration
		err = r.store.declarations(ctx, "d.site_id = ? AND d.document = ?"+where+" AND d.url_key IN ("+marks(len(keys))+") ORDER BY d.url_key",
			appendKeys(append([]any{r.site.ID, number}, filters...), keys, len(keys)), func(d *models.Declaration) error {
				rows = append(rows, *d)
				return nil
			})
		if err != nil {
			return err
		}
		if err := r.give(ctx, rows); err != nil {
			return err
		}
		if len(keys) < want {
			return nil
		}
		after = &keys[len(keys)-1]
		if err := r.late(pageCursor{document: number, key: *after}); err != nil {
			return err
		}
	}
}

func (r *pageReader) scanDocument(ctx context.Context, number int32, after *models.Key) error {
	where, filters := r.where()
	want := portion
	if r.filter.Limit > 0 {
		want = min(portion, r.filter.Limit-r.given)
	}
	for ; ; want = min(portion, 2*want) { // more than asked for once rows were read in vain
		args := []any{r.site.ID, number}
		from := ""
		if after != nil {
			from = " AND d.url_key > ?"
			args = append(args, after[:])
		}
		rows := make([]models.Declaration, 0, want)
		err := r.store.declarations(ctx, "d.site_id = ? AND d.document = ?"+from+where+" ORDER BY d.url_key LIMIT "+strconv.Itoa(want),
			append(args, filters...), func(d *models.Declaration) error {
				rows = append(rows, *d)
				return nil
			})
		if err != nil {
			return err
		}
		if err := r.give(ctx, rows); err != nil {
			return err
		}
		if len(rows) < want {
			return nil
		}
		after = &rows[len(rows)-1].Key
		if err := r.late(pageCursor{document: number, key: *after}); err != nil {
			return err
		}
	}
}

// lookUp reads one page by its key.
func (r *pageReader) lookUp(ctx context.Context) error {
	where, args := r.where()
	var rows []models.Declaration
	err := r.store.declarationsFrom(ctx, r.store.byPage(), r.store.pageColumn("site_id")+" = ? AND "+r.store.pageColumn("url_key")+" = ?"+where+
		" ORDER BY d.document", append([]any{r.site.ID, r.filter.Key[:]}, args...), func(d *models.Declaration) error {
		at := pageCursor{document: d.Document, key: d.Key}
		if (r.filter.Document == 0 || d.Document == r.filter.Document) && (r.after == nil || !r.after.removed && r.after.document < at.document) {
			rows = append(rows, *d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.give(ctx, rows)
}

// undecidedPages reads pages by their cases, which are few where rows are many.
func (r *pageReader) undecidedPages(ctx context.Context) error {
	if r.after != nil && r.after.removed {
		return nil
	}
	keys := map[int32][]models.Key{}
	for key, c := range r.cases.all {
		if !r.passes(c.Document) {
			keys[c.Document] = append(keys[c.Document], key)
		}
	}
	where, filters := r.where()
	skip := r.after != nil
	for _, number := range r.order {
		of := sortedKeys(keys[number])
		if skip {
			if number != r.after.document {
				continue
			}
			skip = false
			at, found := slices.BinarySearchFunc(of, r.after.key, func(a, b models.Key) int { return bytes.Compare(a[:], b[:]) })
			if found {
				at++
			}
			of = of[at:]
		}
		for chunk := range slices.Chunk(of, statementKeys) {
			args := append([]any{r.site.ID, number}, filters...)
			var rows []models.Declaration
			err := r.store.declarations(ctx, "d.site_id = ? AND d.document = ?"+where+" AND d.url_key IN ("+marks(len(chunk))+") ORDER BY d.url_key",
				appendKeys(args, chunk, len(chunk)), func(d *models.Declaration) error {
					rows = append(rows, *d)
					return nil
				})
			if err != nil {
				return err
			}
			if err := r.give(ctx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// give hands rows out as pages.
func (r *pageReader) give(ctx context.Context, rows []models.Declaration) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]models.Key, len(rows))
	for i := range rows {
		keys[i] = rows[i].Key
	}
	cases, err := r.cases.of(ctx, keys)
	if err != nil {
		return err
	}
	others, err := r.others(ctx, keys)
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		c := cases[row.Key]
		if c != nil && c.Document != row.Document {
			c = nil
		}
		d, err := r.view(ctx, row.Document)
		if err != nil {
			return err
		}
		p, err := r.listed(ctx, row, d, c)
		if err != nil {
			return err
		}
		for _, number := range others[row.Key] {
			if number == row.Document {
				continue
			}
			if d, err = r.view(ctx, number); err != nil {
				return err
			}
			if d != nil {
				p.Listings = append(p.Listings, d.URL)
			}
		}
		p.Cursor = pageCursor{document: row.Document, key: row.Key}.String()
		if err := r.hand(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *pageReader) hand(p *models.Page) error {
	if !r.wanted(p) {
		return nil
	}
	if r.gathered != nil {
		r.gathered[p.Cursor] = p
		return nil
	}
	return r.pass(p)
}

// pass gives a page to the caller.
func (r *pageReader) pass(p *models.Page) error {
	if err := r.fn(p); err != nil {
		return err
	}
	if r.given++; r.given == r.filter.Limit {
		return errEnough
	}
	return nil
}

// others gives the documents that list pages at the moment, when the answer is short enough to afford it.
func (r *pageReader) others(ctx context.Context, keys []models.Key) (map[models.Key][]int32, error) {
	if r.filter.Key == nil && (r.filter.Limit == 0 || r.filter.Limit > listingsLimit) {
		return nil, nil
	}
	out := map[models.Key][]int32{}
	for chunk := range slices.Chunk(sortedKeys(keys), statementKeys) {
		args := appendKeys([]any{r.site.ID}, chunk, len(chunk))
		rows, err := r.store.query(ctx, "SELECT d.url_key, d.document FROM "+r.store.byPage()+" WHERE "+r.store.pageColumn("site_id")+" = ? AND "+
			r.store.pageColumn("url_key")+" IN ("+marks(len(chunk))+") AND d.from_run <= "+strconv.FormatInt(r.run, 10)+" AND d.to_run > "+
			strconv.FormatInt(r.run, 10)+" AND d.role < 2 ORDER BY d.url_key, d.document", args...)
		err = eachKeyed(rows, err, func(key models.Key, document int64) error {
			out[key] = append(out[key], int32(document))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
