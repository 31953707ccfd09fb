package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Sections of one run's changes, in the order of the feed.
const (
	sectionDeclarations = 1 // by document and page: added, changed, moved, removed, restored
	sectionCases        = 2 // by page: pending, held, restored
	sectionDocuments    = 3 // by document and page: stale, fresh
	sectionRulings      = 4 // by page: what a person decided since the run before
	sectionReturned     = 5 // by page: stale, of pages that came back in a document that stays unreadable
)

// changeCursor names a change's place in a site's feed. Nothing is stored for it: the feed is derived from the rows'
// runs, and the same change has the same cursor for ever.
type changeCursor struct {
	run      int64
	section  int
	document int32
	key      models.Key
}

func (c changeCursor) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", c.run, c.section, c.document, c.key)
}

func parseChangeCursor(text string) (changeCursor, error) {
	var c changeCursor
	parts := strings.Split(text, ".")
	fail := func() (changeCursor, error) {
		return c, models.Invalid("after", "give the cursor of a change as it was answered", "not a cursor: %q", text)
	}
	if len(parts) != 4 {
		return fail()
	}
	run, err1 := strconv.ParseInt(parts[0], 10, 64)
	section, err2 := strconv.ParseInt(parts[1], 10, 8)
	document, err3 := strconv.ParseInt(parts[2], 10, 32)
	key, err4 := models.ParseKey(parts[3])
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return fail()
	}
	return changeCursor{run, int(section), int32(document), key}, nil
}

func (c changeCursor) compare(d changeCursor) int {
	for _, n := range []int64{c.run - d.run, int64(c.section - d.section), int64(c.document) - int64(d.document)} {
		if n != 0 {
			return int(max(-1, min(1, n)))
		}
	}
	return bytes.Compare(c.key[:], d.key[:])
}

// changeReader derives the changes of one run at a time.
type changeReader struct {
	store    *Store
	site     siteRow
	filter   models.ChangeFilter
	after    changeCursor
	begin    int64 // the first run that is whole: 1 unless somebody pruned
	given    int
	fn       func(*models.Change) error
	run, was int64 // the run, and the last moment before it
	at       time.Time
	turns    *turns
	ruled    int64        // run at which a person ruled on removals since the run before, 0 for none
	shift    int64        // microseconds by which every lastmod of the document moved in the run
	migrated []models.Key // pages that took the place of migrated ones in this run, ascending
	deadline time.Time    // of a reading that may take only so long
	came     *changeCursor
	start    changeCursor
	selects  func(key models.Key, c *models.Change) (bool, error) // nil: every page
}

// Changes streams a site's change feed, oldest first: one run, or everything after a cursor up to the current run.
// A page that only moved to another document is no change unless the filter asks for shifts. Where history was pruned, the
// feed begins behind the oldest run that is kept, and older cursors are refused with a models.PrunedError unless nothing
// happened between.
func (s *Store) Changes(ctx context.Context, siteID int64, filter models.ChangeFilter, fn func(*models.Change) error) error {
	_, err := s.ChangesWithin(ctx, siteID, filter, 0, fn)
	return err
}

// ChangesWithin is Changes for somebody who waits: where few changes are wanted it stops looking after the budget (0:
// never) and gives the cursor at which to look on, "" when it came to the end or to the filter's limit. It always gets further.
func (s *Store) ChangesWithin(ctx context.Context, siteID int64, filter models.ChangeFilter, budget time.Duration, fn func(*models.Change) error) (string, error) {
	began := time.Now()
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return "", err
	}
	r := &changeReader{store: s, site: site, filter: filter, fn: fn}
	if budget > 0 {
		r.deadline = began.Add(budget)
	}
	if filter.After != "" {
		if r.after, err = parseChangeCursor(filter.After); err != nil {
			return "", err
		}
	}
	if filter.Pages != nil {
		r.selects = r.selecting(ctx, *filter.Pages)
	}
	h, err := s.horizon(ctx, siteID)
	if err != nil {
		return "", err
	}
	if r.begin, err = h.begin(filter, r.after); err != nil {
		return "", err
	}
	r.start = r.after
	if err := s.indexPages(ctx, siteID); err != nil {
		return "", err
	}
	if err := r.read(ctx); err != nil && !errors.Is(err, errEnough) {
		return "", fmt.Errorf("read changes of site %d: %w", siteID, err)
	}
	if r.came != nil {
		return r.came.String(), nil
	}
	return "", nil
}

// late ends a reading that has used up its time; at is how far it came.
func (r *changeReader) late(section int, document int32, key models.Key) error {
	at := changeCursor{r.run, section, document, key}
	if r.deadline.IsZero() || at.compare(r.start) <= 0 || time.Now().Before(r.deadline) {
		return nil // the place where it began would be no progress
	}
	r.came = &at
	return errEnough
}

func (r *changeReader) read(ctx context.Context) error {
	from, to := max(r.after.run, r.begin), r.site.CurrentRun
	if r.filter.Run != 0 {
		if r.filter.Run > r.site.LastRun || r.filter.Run < 0 {
			return notFound("run", r.filter.Run)
		}
		from, to = max(from, r.filter.Run), min(to, r.filter.Run)
	}
	for from <= to {
		runs, err := r.runs(ctx, from, to)
		if err != nil {
			return err
		}
		for _, run := range runs {
			if err := r.changes(ctx, run); err != nil {
				return fmt.Errorf("run %d: %w", run.Run, err)
			}
		}
		if len(runs) < portion {
			return nil
		}
		from = runs[len(runs)-1].Run + 1
	}
	return nil
}

// runs gives the runs that wrote anything, in order, a portion at a time.
func (r *changeReader) runs(ctx context.Context, from, to int64) ([]runRow, error) {
	var runs []runRow
	err := r.store.reads.WithContext(ctx).Select("run", "finished_at").Where("site_id = ? AND run >= ? AND run <= ? AND "+finished, r.site.ID, from, to).
		Where(`(run IN (SELECT run FROM touched WHERE site_id = ? AND run >= ? AND run <= ?)
			OR run IN (SELECT valid_from FROM removals WHERE site_id = ? AND valid_from >= ? AND valid_from <= ?)
			OR run IN (`+afterRulings+"))", r.site.ID, from, to, r.site.ID, from, to, r.site.ID).
		Order("run").Limit(portion).Find(&runs).Error
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return runs, nil
}

func (r *changeReader) changes(ctx context.Context, run runRow) error {
	r.run, r.was, r.at = run.Run, run.Run-1, run.FinishedAt.UTC()
	if r.after.run != r.run {
		r.after = changeCursor{run: r.run}
	}
	var documents []int32
	err := r.store.reads.WithContext(ctx).Raw("SELECT document FROM touched WHERE site_id = ? AND run = ? ORDER BY document", r.site.ID, r.run).
		Scan(&documents).Error
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	if err := r.readMigrated(ctx); err != nil {
		return err
	}
	if err := r.readRuled(ctx); err != nil {
		return err
	}
	if r.after.section <= sectionDeclarations {
		for _, document := range documents {
			if r.after.section == sectionDeclarations && document < r.after.document {
				continue
			}
			if err := r.declarations(ctx, document); err != nil {
				return fmt.Errorf("document %d: %w", document, err)
			}
			if err := r.late(sectionDeclarations, document, lastKey); err != nil {
				return err
			}
		}
	}
	if r.after.section <= sectionCases {
		if err := r.cases(ctx); err != nil {
			return err
		}
	}
	for _, document := range documents {
		if r.after.section > sectionDocuments || r.after.section == sectionDocuments && document < r.after.document {
			continue
		}
		if err := r.turned(ctx, document); err != nil {
			return fmt.Errorf("document %d: %w", document, err)
		}
		if err := r.late(sectionDocuments, document, lastKey); err != nil {
			return err
		}
	}
	if err := r.rulings(ctx); err != nil {
		return err
	}
	if err := r.late(sectionRulings, math.MaxInt32, lastKey); err != nil {
		return err
	}
	if err := r.returned(ctx); err != nil {
		return err
	}
	return r.late(sectionReturned, math.MaxInt32, lastKey)
}

func (r *changeReader) wants(kinds ...string) bool {
	if len(r.filter.Kinds) == 0 {
		return true
	}
	return slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(r.filter.Kinds, kind) })
}

// emit hands a change out unless the caller has it or does not want it.
func (r *changeReader) emit(section int, document int32, key models.Key, c models.Change) error {
	at := changeCursor{r.run, section, document, key}
	if at.compare(r.after) <= 0 || !r.wants(c.Kind) {
		return nil
	}
	c.Cursor, c.Run, c.At = at.String(), r.run, r.at
	if r.selects != nil {
		if wanted, err := r.selects(key, &c); err != nil || !wanted {
			return err
		}
	}
	if err := r.fn(&c); err != nil {
		return err
	}
	if r.given++; r.given == r.filter.Limit {
		return errEnough
	}
	return nil
}

func (r *changeReader) readMigrated(ctx context.Context) error {
	r.migrated = nil
	var rows []removalRow
	err := r.store.reads.WithContext(ctx).Select("moved_key").Where("site_id = ? AND valid_from = ? AND stage = ? AND moved_key IS NOT NULL",
		r.site.ID, r.run, models.StageMigrated).Find(&rows).Error
	if err != nil {
		return fmt.Errorf("read migrated pages: %w", err)
	}
	for i := range rows {
		r.migrated = append(r.migrated, models.Key(rows[i].MovedKey))
	}
	slices.SortFunc(r.migrated, compareKeys)
	return nil
}

func compareKeys(a, b models.Key) int { return bytes.Compare(a[:], b[:]) }

// from gives where a document's reading begins in a section.
func (r *changeReader) from(section int, document int32) models.Key {
	if r.after.section == section && r.after.document == document {
		return r.after.key
	}
	return models.Key{}
}
