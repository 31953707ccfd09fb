package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// diffCursor names a row's place in the comparison of two runs. What differs between two runs never changes.
type diffCursor struct {
	from, to int64
	document int32
	key      models.Key
	part     int // of the page's rows
}

func (c diffCursor) String() string {
	return fmt.Sprintf("%d.%d.%d.%s.%d", c.from, c.to, c.document, c.key, c.part)
}

func parseDiffCursor(text string) (diffCursor, error) {
	var c diffCursor
	parts := strings.Split(text, ".")
	if len(parts) == 5 {
		from, err1 := strconv.ParseInt(parts[0], 10, 64)
		to, err2 := strconv.ParseInt(parts[1], 10, 64)
		document, err3 := strconv.ParseInt(parts[2], 10, 32)
		key, err4 := models.ParseKey(parts[3])
		part, err5 := strconv.ParseInt(parts[4], 10, 8)
		c = diffCursor{from, to, int32(document), key, int(part)}
		if errors.Join(err1, err2, err3, err4, err5) == nil && from >= 0 && to > 0 {
			return c, nil
		}
	}
	return c, models.Invalid("after", "give the cursor of a row as it was answered", "not a cursor: %q", text)
}

// differ compares a site at two moments. It reads what differs, not what is the same: rows that begin or end between
// the two, cases that changed, documents that turned.
type differ struct {
	from, to  *moment
	filter    models.DiffFilter
	views     [2]map[int32]*documentView
	undecided [2]*cases
	touched   map[int32][]models.Key // by document, pages whose removal changed, so that their state may have
	migrated  []migration            // by the page that took the other's place
	after     *diffCursor
	given     int
	at        time.Time
	deadline  time.Time // of a reading that may take only so long
	came      *diffCursor
	written   map[int32]bool // documents whose rows a run between the moments wrote
	fn        func(*models.Change) error
}

// Diff streams what is different of a site's pages at one moment against an earlier one: added (not listed then), removed
// and moved, changed with its fields, and pages whose state differs: pending, held, stale, fresh. What happened and was
// undone in between is not told; the change feed tells it.
func (s *Store) Diff(ctx context.Context, siteID int64, filter models.DiffFilter, fn func(*models.Change) error) error {
	_, err := s.DiffWithin(ctx, siteID, filter, 0, fn)
	return err
}

// DiffWithin is Diff for somebody who waits: where little of what differs is wanted it stops looking after the budget (0:
// never) and gives the cursor at which to look on, "" when it came to the end or to the filter's limit. It always gets further.
func (s *Store) DiffWithin(ctx context.Context, siteID int64, filter models.DiffFilter, budget time.Duration, fn func(*models.Change) error) (string, error) {
	d := &differ{filter: filter, fn: fn, touched: map[int32][]models.Key{}}
	if budget > 0 {
		d.deadline = time.Now().Add(budget)
	}
	from, to := filter.From, filter.To
	if filter.After != "" {
		c, err := parseDiffCursor(filter.After)
		if err != nil {
			return "", err
		}
		d.after, to = &c, models.AsOf{Run: c.to}
		if from = (models.AsOf{Run: c.from}); c.from == 0 {
			from = models.AsOf{Time: time.Unix(0, 0)}
		}
	}
	if from.IsZero() {
		return "", models.Invalid("from", "a run's number or a time", "the earlier moment is missing")
	}
	var err error
	if d.from, err = s.at(ctx, siteID, from); err != nil {
		return "", fmt.Errorf("compare: %w", named("from", err))
	}
	if d.to, err = s.at(ctx, siteID, to); err != nil {
		return "", fmt.Errorf("compare: %w", named("to", err))
	}
	if d.from.run > d.to.run {
		return "", models.Invalid("from", "swap the two", "run %d is after run %d", d.from.run, d.to.run)
	}
	if d.from.run == d.to.run {
		return "", nil
	}
	if err := s.indexPages(ctx, siteID); err != nil {
		return "", err
	}
	if err := d.read(ctx); err != nil && !errors.Is(err, errEnough) {
		return "", fmt.Errorf("compare runs %d and %d of site %d: %w", d.from.run, d.to.run, siteID, err)
	}
	if d.came != nil {
		return d.came.String(), nil
	}
	return "", nil
}

// late ends a reading that has used up its time; key is how far it came in a document.
func (d *differ) late(document int32, key models.Key) error {
	at := diffCursor{d.from.run, d.to.run, document, key, 0}
	if d.deadline.IsZero() || d.after != nil && *d.after == at || time.Now().Before(d.deadline) {
		return nil // the place where it began would be no progress
	}
	d.came = &at
	return errEnough
}

// named says which of several moments is pruned.
func named(field string, err error) error {
	var pruned *models.PrunedError
	if errors.As(err, &pruned) {
		pruned.Field = field
	}
	return err
}

func (d *differ) store() *Store { return d.from.store }

func (d *differ) read(ctx context.Context) error {
	var err error
	var order []int32
	for i, m := range []*moment{d.from, d.to} {
		if d.views[i], order, err = m.documents(ctx, 0); err != nil {
			return err
		}
		if d.undecided[i], err = m.cases(ctx); err != nil {
			return err
		}
	}
	if d.at, err = d.to.when(ctx, d.to.run); err != nil {
		return err
	}
	if err := d.readCases(ctx); err != nil {
		return err
	}
	if err := d.readWritten(ctx); err != nil {
		return err
	}
	skip := d.after != nil
	for _, number := range order {
		if skip = skip && number != d.after.document; skip {
			continue
		}
		if err := d.document(ctx, number); err != nil {
			return fmt.Errorf("document %d: %w", number, err)
		}
		if err := d.late(number, lastKey); err != nil {
			return err
		}
	}
	return nil
}

// readWritten notes which documents may have other rows: most of a large site's have the same at both moments.
func (d *differ) readWritten(ctx context.Context) error {
	var numbers []int32
	err := d.store().reads.WithContext(ctx).Raw("SELECT DISTINCT document FROM touched WHERE site_id = ? AND run > ? AND run <= ?", d.from.site.ID, d.from.run, d.to.run).
		Scan(&numbers).Error
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	d.written = make(map[int32]bool, len(numbers))
	for _, number := range numbers {
		d.written[number] = true
	}
	return nil
}

// readCases notes the pages whose case changed between the moments, by a run or by a person, and where a move of the
// whole site took its pages.
func (d *differ) readCases(ctx context.Context) error {
	rows, err := d.store().query(ctx, "SELECT DISTINCT url_key, document FROM removals WHERE site_id = ? AND (valid_from > ? AND valid_from <= ? OR valid_to > ? AND valid_to <= ? OR ruled_run >= ? AND ruled_run <= ?)",
		d.from.site.ID, d.from.run, d.to.run, d.from.run, d.to.run, d.from.run, d.to.run)
	err = eachKeyed(rows, err, func(key models.Key, document int64) error {
		d.touched[int32(document)] = append(d.touched[int32(document)], key)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read removals: %w", err)
	}
	for number, keys := range d.touched {
		d.touched[number] = sortedKeys(keys)
	}
	return d.readMigrated(ctx)
}

// document tells of the pages that the document declares at the later moment, or declared at the earlier one when no
// document does any more, ascending by key. Rows that both moments see are read only where their state may differ.
func (d *differ) document(ctx context.Context, number int32) error {
	a, b := strconv.FormatInt(d.from.run, 10), strconv.FormatInt(d.to.run, 10)
	seenThen, seenNow := "d.from_run <= "+a+" AND d.to_run > "+a, "d.from_run <= "+b+" AND d.to_run > "+b
	where := "(" + seenNow + " AND d.from_run > " + a + " OR " + seenThen + " AND d.to_run <= " + b + ")"
	if was, is := d.views[0][number], d.views[1][number]; was != nil && was.good != is.good {
		where = "(" + seenNow + " OR " + seenThen + ")"
	}
	var after models.Key
	if d.after != nil && d.after.document == number {
		after = preceding(d.after.key)
	}
	touched := d.touched[number]
	if !d.written[number] && len(touched) == 0 {
		return nil
	}
	for {
		var keys []models.Key
		rows, err := d.store().query(ctx, "SELECT DISTINCT d.url_key, 0 FROM declarations d WHERE d.site_id = ? AND d.document = ? AND d.role = 0 AND "+where+
			" AND d.url_key > ? ORDER BY d.url_key LIMIT "+strconv.Itoa(statementKeys), d.from.site.ID, number, append([]byte(nil), after[:]...))
		err = eachKeyed(rows, err, func(key models.Key, _ int64) error {
			keys = append(keys, key)
			return nil
		})
		if err != nil {
			return err
		}
		last := len(keys) < statementKeys
		if last { // with those whose case alone changed, up to where the portion ends
			keys = append(keys, between(touched, after, nil)...)
		} else {
			keys = append(keys, between(touched, after, &keys[statementKeys-1])...)
		}
		keys = sortedKeys(keys)
		for portion := range slices.Chunk(keys, statementKeys) {
			if err := d.pages(ctx, number, portion); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		after = keys[len(keys)-1]
		if err := d.late(number, after); err != nil {
			return err
		}
	}
}

// between gives the part of ascending keys that comes after one and up to another; nil: up to the end.
func between(keys []models.Key, after models.Key, upTo *models.Key) []models.Key {
	from, found := slices.BinarySearchFunc(keys, after, compareKeys)
	if found {
		from++
	}
	to := len(keys)
	if upTo != nil {
		if to, found = slices.BinarySearchFunc(keys, *upTo, compareKeys); found {
			to++
		}
	}
	return keys[from:max(from, to)]
}

// preceding gives the key before one.
func preceding(key models.Key) models.Key {
	for i := len(key) - 1; i >= 0; i-- {
		key[i]--
		if key[i] != 0xff {
			break
		}
	}
	return key
}

// emit hands a row out unless the caller has it or does not want it.
func (d *differ) emit(at diffCursor, c models.Change) error {
	if len(d.filter.Kinds) > 0 && !slices.Contains(d.filter.Kinds, c.Kind) {
		return nil
	}
	if d.after != nil && at.document == d.after.document {
		if order := bytes.Compare(at.key[:], d.after.key[:]); order < 0 || order == 0 && at.part <= d.after.part {
			return nil
		}
	}
	c.Cursor, c.Run, c.At = at.String(), d.to.run, d.at
	if err := d.fn(&c); err != nil {
		return err
	}
	if d.given++; d.given == d.filter.Limit {
		return errEnough
	}
	return nil
}
