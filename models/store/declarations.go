package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

const (
	declarationColumns = "site_id, document, url_key, from_run, to_run, first_run, role, url, lastmod_raw, lastmod, " +
		"lastmod_precision, lastmod_zone, changefreq, priority, extensions, fingerprint"
	declarationWidth = 16
	maxChangefreq    = 64
)

// Bounds of one transaction and one statement. Clusters limit write sets (and their packets) well above these.
const (
	batchRows     = 2000
	batchBytes    = 1 << 20
	sqliteRows    = 20000 // one local file: fewer commits are cheaper
	statementRows = 1000  // 16,000 placeholders of at most 65,535
	statementKeys = 500   // below MariaDB's in_predicate_conversion_threshold
)

// insertShapes are the numbers of rows that an INSERT may have, so that few statements are prepared.
var insertShapes = []int{statementRows, 100, 10, 1}

// shapeFor gives the largest shape for so many rows.
func shapeFor(rows int) int {
	for _, shape := range insertShapes {
		if shape <= rows {
			return shape
		}
	}
	return 1
}

// keyShapes are the lengths of IN lists; shorter lists repeat their last key.
var keyShapes = []int{1, 10, 100, statementKeys}

// batch is what one transaction of StageDocument writes.
type batch struct {
	site, run int64
	document  int32
	close     []models.Key
	add       []models.Declaration
}

// StageDocument ends the open rows of a document that close names and inserts the rows of add, which ascend by key and
// are open from this run on. A row that this same run inserted is deleted instead of ended. It works in bounded fenced
// transactions; calling it again with the same arguments changes nothing. Different documents may be staged at once.
func (s *Store) StageDocument(ctx context.Context, lease models.Lease, site, run int64, document int32, close []models.Key, add []models.Declaration) error {
	if err := s.prepareStaging(ctx); err != nil {
		return fmt.Errorf("stage document %d: %w", document, err)
	}
	limit := batchRows
	if !s.mysql() {
		limit = sqliteRows
		s.index.note(site, run, document, len(add))
	}
	for first := true; first || len(close)+len(add) > 0; first = false {
		b := batch{site: site, run: run, document: document}
		n := min(limit, len(close))
		b.close, close = close[:n], close[n:]
		n = fitting(add, limit-n)
		b.add, add = add[:n], add[n:]
		if err := s.stageBatch(ctx, lease, b); err != nil {
			return fmt.Errorf("stage document %d: %w", document, err)
		}
	}
	return nil
}

// fitting counts the rows at the head of add that are few and small enough for one transaction, at least one.
func fitting(add []models.Declaration, limit int) int {
	size := 0
	for i := range add {
		size += rowBytes(&add[i])
		if i >= limit || i > 0 && size > batchBytes {
			return i
		}
	}
	return len(add)
}

func rowBytes(d *models.Declaration) int { return 120 + len(d.URL) + len(d.Extensions) }

// stageBatch writes one batch, or its halves when the server finds it too large.
func (s *Store) stageBatch(ctx context.Context, lease models.Lease, b batch) error {
	again := false // a row that is there already is the trace of a try whose commit arrived, or of an earlier call
	err := s.fenced(ctx, lease, func(tx *gorm.DB, try int) error {
		err := s.stage(ctx, tx, b, again || try > 0)
		if duplicate(err) && !again {
			again = true
			return fmt.Errorf("%w: %w", errAgain, err)
		}
		return err
	})
	n := len(b.close) + len(b.add)
	if err == nil || !tooLarge(err) || n < 2 {
		return err
	}
	half := b
	if len(b.close) > 0 && len(b.add) > 0 {
		half.add = nil
		b.close = nil
	} else {
		half.close, b.close = b.close[:len(b.close)/2], b.close[len(b.close)/2:]
		half.add, b.add = b.add[:len(b.add)/2], b.add[len(b.add)/2:]
	}
	if err := s.stageBatch(ctx, lease, half); err != nil {
		return err
	}
	return s.stageBatch(ctx, lease, b)
}

func (s *Store) stage(ctx context.Context, tx *gorm.DB, b batch, replace bool) error {
	conn, err := raw(tx)
	if err != nil {
		return err
	}
	if err := s.touch(tx, b.site, b.run, b.document); err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	if err := s.doubt(tx, b.site, b.document, b.close, b.add); err != nil {
		return fmt.Errorf("doubt sums: %w", err)
	}
	if len(b.close) > 0 {
		if err := s.closeRows(ctx, conn, b); err != nil {
			return fmt.Errorf("close rows: %w", err)
		}
	}
	if len(b.add) > 0 {
		if err := s.insertRows(ctx, conn, b, replace); err != nil {
			return fmt.Errorf("insert rows: %w", err)
		}
	}
	return nil
}

func (s *Store) closeRows(ctx context.Context, conn *sql.Tx, b batch) error {
	for keys := b.close; len(keys) > 0; {
		n := min(len(keys), statementKeys)
		shape := keyShapes[0]
		for _, shape = range keyShapes {
			if shape >= n {
				break
			}
		}
		args := make([]any, 0, shape+4)
		args = append(args, b.run, b.site, b.document, b.run)
		args = appendKeys(args, keys[:n], shape)
		if err := s.execute(ctx, conn, s.closeText(shape), args); err != nil {
			return err
		}
		args = append(args[:0], b.site, b.document, b.run)
		args = appendKeys(args, keys[:n], shape)
		if err := s.execute(ctx, conn, s.dropText(shape), args); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

func appendKeys(args []any, keys []models.Key, shape int) []any {
	for i := range shape {
		args = append(args, keys[min(i, len(keys)-1)][:])
	}
	return args
}

func (s *Store) closeText(shape int) string {
	table := "declarations"
	if s.mysql() {
		table += " FORCE INDEX (PRIMARY)" // the index by page would lock the rows of other documents on the way
	}
	return "UPDATE " + table + " SET to_run = ? WHERE site_id = ? AND document = ? AND from_run < ? AND to_run = 9223372036854775807 AND url_key IN (" + marks(shape) + ")"
}

func (s *Store) dropText(shape int) string {
	return "DELETE FROM declarations WHERE site_id = ? AND document = ? AND from_run = ? AND url_key IN (" + marks(shape) + ")"
}

// insertText is REPLACE on later tries: rows of this very run are all that it can replace.
func insertText(shape int, replace bool) string {
	verb := "INSERT"
	if replace {
		verb = "REPLACE"
	}
	row := "(" + marks(declarationWidth) + ")"
	return verb + " INTO declarations (" + declarationColumns + ") VALUES " + row + strings.Repeat(", "+row, shape-1)
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// prepareStaging prepares the statements on the pool before a transaction takes a connection of it. On SQLite
// statements are prepared in each transaction: that costs microseconds, and there is one connection alone.
func (s *Store) prepareStaging(ctx context.Context) error {
	if !s.mysql() {
		return nil
	}
	for _, shape := range insertShapes {
		if _, err := s.statements.get(ctx, s.bulk, insertText(shape, false)); err != nil {
			return err
		}
	}
	for _, shape := range keyShapes {
		for _, text := range []string{s.closeText(shape), s.dropText(shape)} {
			if _, err := s.statements.get(ctx, s.bulk, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// execute runs a statement, by its prepared form when there is one.
func (s *Store) execute(ctx context.Context, conn *sql.Tx, text string, args []any) error {
	if stmt := s.statements.known(text); stmt != nil {
		_, err := conn.StmtContext(ctx, stmt).ExecContext(ctx, args...)
		return err
	}
	_, err := conn.ExecContext(ctx, text, args...)
	return err
}

func (s *Store) insertRows(ctx context.Context, conn *sql.Tx, b batch, replace bool) error {
	if !s.mysql() {
		return s.insertOneByOne(ctx, conn, b, replace)
	}
	rows := b.add
	for len(rows) > 0 {
		shape := shapeFor(len(rows))
		args := make([]any, 0, shape*declarationWidth)
		for i := range rows[:shape] {
			args = s.appendRow(args, b, &rows[i])
		}
		if err := s.execute(ctx, conn, insertText(shape, replace), args); err != nil {
			return err
		}
		rows = rows[shape:]
	}
	return nil
}

// insertOneByOne is the fastest way into SQLite: a statement of many rows measured slower.
func (s *Store) insertOneByOne(ctx context.Context, conn *sql.Tx, b batch, replace bool) error {
	stmt, err := conn.PrepareContext(ctx, insertText(1, replace))
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }() // the transaction closes it too
	args := make([]any, 0, declarationWidth)
	for i := range b.add {
		args = s.appendRow(args[:0], b, &b.add[i])
		if _, err := stmt.ExecContext(ctx, args...); err != nil {
			return err
		}
	}
	if len(b.add) > indexAtOnce {
		return nil
	}
	return indexRowsOf(ctx, conn, b)
}

// indexRowsOf puts the pages of a small batch into the index by page. One whose former row ends is in it already.
func indexRowsOf(ctx context.Context, conn *sql.Tx, b batch) error {
	var stmt *sql.Stmt
	for i := range b.add {
		if _, ended := slices.BinarySearchFunc(b.close, b.add[i].Key, compareKeys); ended {
			continue
		}
		if stmt == nil {
			var err error
			stmt, err = conn.PrepareContext(ctx, "INSERT OR IGNORE INTO page_documents (site_id, url_key, document) VALUES (?, ?, ?)")
			if err != nil {
				return err
			}
			defer func() { _ = stmt.Close() }() // the transaction closes it too
		}
		if _, err := stmt.ExecContext(ctx, b.site, b.add[i].Key[:], b.document); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) appendRow(args []any, b batch, d *models.Declaration) []any {
	var raw, lastmod, priority, extensions any
	precision, zone := int64(0), int64(0)
	if d.Lastmod != nil {
		raw, precision = clip(d.Lastmod.Raw, maxLastmod), int64(d.Lastmod.Precision)
		if d.Lastmod.Zone {
			zone = 1
		}
		if t := storable(d.Lastmod.Instant); t != nil {
			lastmod = *t
			if !s.mysql() {
				lastmod = t.UnixMicro()
			}
		}
	}
	if d.Priority != nil {
		priority = *d.Priority
	}
	if len(d.Extensions) > 0 {
		extensions = d.Extensions
	}
	first := d.FirstRun
	if first == 0 {
		first = b.run
	}
	return append(args, b.site, int64(b.document), d.Key[:], b.run, models.Open, first, int64(d.Role), d.URL, raw, lastmod,
		precision, zone, clip(d.Changefreq, maxChangefreq), priority, extensions, d.Fingerprint[:])
}

// Unstage takes back what a run staged for one document: its rows, its version, its findings. A new document keeps
// its number.
func (s *Store) Unstage(ctx context.Context, lease models.Lease, site, run int64, document int32) error {
	if err := s.sweepDeclarations(ctx, lease, site, document, run-1); err != nil {
		return fmt.Errorf("unstage document %d: %w", document, err)
	}
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		if err := forgetSums(tx, site, document); err != nil {
			return err
		}
		return sweepVersions(tx, site, document, run-1)
	})
	if err != nil {
		return fmt.Errorf("unstage document %d: %w", document, err)
	}
	return nil
}

// instant scans a moment as either dialect's bulk reads give it.
type instant struct {
	time.Time
	valid bool
}

// Scan takes a time (MySQL), integer microseconds (SQLite) or NULL.
func (t *instant) Scan(from any) error {
	switch v := from.(type) {
	case nil:
		*t = instant{}
	case time.Time:
		*t = instant{v.UTC(), true}
	case int64:
		*t = instant{time.UnixMicro(v).UTC(), true}
	default:
		return fmt.Errorf("a moment as %T", from)
	}
	return nil
}
