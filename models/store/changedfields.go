package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// changed compares two declarations of one page, field by field; nil when they say the same.
func changed(before, after *models.Declaration) *models.Change {
	if before.Fingerprint == after.Fingerprint {
		return nil // also when a lastmod is spelled otherwise
	}
	var fields []models.FieldChange
	add := func(name string, old, current any) {
		fields = append(fields, models.FieldChange{Field: name, Old: old, New: current})
	}
	if f := changedLastmod(before.Lastmod, after.Lastmod); f != nil {
		fields = append(fields, *f)
	}
	if before.Changefreq != after.Changefreq {
		add("changefreq", orNil(before.Changefreq), orNil(after.Changefreq))
	}
	if a, b := before.Priority, after.Priority; (a == nil) != (b == nil) || a != nil && *a != *b {
		add("priority", orNilNumber(a), orNilNumber(b))
	}
	if !bytes.Equal(before.Extensions, after.Extensions) {
		x, y := blocks(before.Extensions), blocks(after.Extensions)
		for _, name := range blockNames(x, y) {
			if !bytes.Equal(x[name], y[name]) {
				add(name, orNilJSON(x[name]), orNilJSON(y[name]))
			}
		}
	}
	if len(fields) == 0 && before.URL != after.URL {
		add("url", before.URL, after.URL)
	}
	return &models.Change{Kind: models.KindChanged, URL: after.URL, Fields: fields}
}

// blockNames gives the names of two sets of blocks, in alphabetical order.
func blockNames(x, y map[string]json.RawMessage) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
	slices.Sort(names)
	return slices.Compact(names)
}

func changedLastmod(before, after *models.Lastmod) *models.FieldChange {
	if before == nil && after == nil || before != nil && after != nil && before.Raw == after.Raw && before.Instant.Equal(after.Instant) {
		return nil
	}
	moment := before == nil || after == nil || !before.Instant.Equal(after.Instant)
	f := &models.FieldChange{Field: "lastmod", InstantChanged: &moment}
	if before != nil {
		f.Old = before.Raw
	}
	if after != nil {
		f.New = after.Raw
	}
	return f
}

// blocks splits stored extensions; what cannot be read counts as one block of its own.
func blocks(object []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if len(object) > 0 && json.Unmarshal(object, &out) != nil {
		return map[string]json.RawMessage{"pagemap": object}
	}
	return out
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func orNilNumber(n *float64) any {
	if n == nil {
		return nil
	}
	return *n
}

func orNilJSON(block json.RawMessage) any {
	if len(block) == 0 {
		return nil
	}
	return block
}

// cases gives the changes of undecided removals in this run, by page: a case began, was held, or ended by a return. Of a
// rolling window that goes on they tell what the inventory shows: its page is stale until it is listed again.
func (r *changeReader) cases(ctx context.Context) error {
	if !r.wants(models.KindPending, models.KindHeld, models.KindRestored, models.KindStale, models.KindFresh) {
		return nil
	}
	after := models.Key{}
	if r.after.section == sectionCases {
		after = r.after.key
	}
	for {
		var rows []removalRow
		err := r.store.reads.WithContext(ctx).Where("site_id = ? AND valid_from = ? AND url_key > ?", r.site.ID, r.run, after[:]).
			Order("url_key, from_run").Limit(portion).Find(&rows).Error
		if err != nil {
			return fmt.Errorf("read removals: %w", err)
		}
		before, err := r.stagesBefore(ctx, rows)
		if err != nil {
			return err
		}
		readable, err := r.reenteredReadable(ctx, rows, before)
		if err != nil {
			return err
		}
		for i := range rows {
			c := &rows[i]
			kind := r.caseKind(c, before[caseName{models.Key(c.URLKey), c.FromRun}])
			if kind == "" || kind == models.KindFresh && !readable[models.Key(c.URLKey)] {
				continue
			}
			err := r.emit(sectionCases, 0, models.Key(c.URLKey), models.Change{Kind: kind, URL: c.URL, Reason: c.Reason})
			if err != nil {
				return err
			}
		}
		if len(rows) < portion {
			return nil
		}
		after = models.Key(rows[len(rows)-1].URLKey)
		if err := r.late(sectionCases, 0, after); err != nil {
			return err
		}
	}
}

// stagesBefore gives the stages that cases had before this run; none for those that it began.
func (r *changeReader) stagesBefore(ctx context.Context, rows []removalRow) (map[caseName]string, error) {
	out := map[caseName]string{}
	for chunk := range slices.Chunk(rows, statementKeys) {
		keys := make([][]byte, len(chunk))
		for i := range chunk {
			keys[i] = chunk[i].URLKey
		}
		var before []removalRow
		err := r.store.reads.WithContext(ctx).Select("url_key", "from_run", "stage").
			Where("site_id = ? AND url_key IN ? AND valid_to = ?", r.site.ID, keys, r.run).Find(&before).Error
		if err != nil {
			return nil, fmt.Errorf("read removals: %w", err)
		}
		for i := range before {
			out[caseName{models.Key(before[i].URLKey), before[i].FromRun}] = before[i].Stage
		}
	}
	return out, nil
}

// caseKind tells what a case's new stage means for its page. What a person rejected was listed again before; fresh is so
// only where a readable document lists the page.
func (r *changeReader) caseKind(c *removalRow, before string) string {
	undecided := before == models.StagePending || before == models.StageHeld
	switch {
	case c.Stage == models.StageHeld && before != models.StageHeld:
		return models.KindHeld
	case c.Stage == models.StagePending && !undecided:
		return models.KindPending
	case c.Stage == models.StageRestored && undecided && (c.Ruling != rejected || c.RuledRun >= r.run):
		return models.KindRestored
	case c.Stage == models.StageLeftWindow && c.DecidedRun == models.Open && before != models.StageLeftWindow:
		return models.KindStale
	case r.reentered(c, before):
		return models.KindFresh
	}
	return ""
}

// reentered tells whether a page came back to its rolling window in this run.
func (r *changeReader) reentered(c *removalRow, before string) bool {
	return before == models.StageLeftWindow && c.DecidedRun == r.run && (c.Stage == models.StageLeftWindow || c.Stage == models.StageRestored)
}

// reenteredReadable gives the pages that came back to a rolling window in a document that was read: in another one they
// stay stale, as they were said to be.
func (r *changeReader) reenteredReadable(ctx context.Context, rows []removalRow, before map[caseName]string) (map[models.Key]bool, error) {
	var keys []models.Key
	for i := range rows {
		if c := &rows[i]; r.reentered(c, before[caseName{models.Key(c.URLKey), c.FromRun}]) {
			keys = append(keys, models.Key(c.URLKey))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	t, err := r.readTurns(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := r.declared(ctx, keys, r.run)
	if err != nil {
		return nil, err
	}
	out := map[models.Key]bool{}
	for key, row := range listed {
		d, err := t.document(ctx, r, row.Document, r.run)
		if err != nil {
			return nil, err
		}
		out[key] = d.good
	}
	return out, nil
}

// of gives a case when it is about a page's listing in a document.
func of(document int32, c *removalRow) *removalRow {
	if c == nil || c.Document != document {
		return nil
	}
	return c
}
