package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// StageDocuments stages versions of documents that readers know, with the rows that differ, in one transaction: where few
// rows of each document change, transactions and round trips are what a run costs. It is for documents of which this run
// staged nothing yet; the same call may be repeated. What is too large for one transaction is staged document by document.
func (s *Store) StageDocuments(ctx context.Context, lease models.Lease, site, run int64, all []models.Staging) error {
	if len(all) == 0 {
		return nil
	}
	if err := s.prepareStaging(ctx); err != nil {
		return fmt.Errorf("stage documents: %w", err)
	}
	rows, size := 0, 0
	for i := range all {
		if !s.mysql() {
			s.index.note(site, run, all[i].Document.Number, len(all[i].Add))
		}
		rows += len(all[i].Close) + len(all[i].Add)
		for j := range all[i].Add {
			size += rowBytes(&all[i].Add[j])
		}
	}
	var err error
	if rows > 2*batchRows || size > 2*batchBytes {
		err = s.stageApart(ctx, lease, site, run, all)
	} else if err = s.stageTogether(ctx, lease, site, run, all); tooLarge(err) {
		err = s.stageApart(ctx, lease, site, run, all)
	}
	if err != nil {
		return fmt.Errorf("stage %d documents: %w", len(all), err)
	}
	return nil
}

func (s *Store) stageApart(ctx context.Context, lease models.Lease, site, run int64, all []models.Staging) error {
	for i := range all {
		if err := s.SaveDocument(ctx, lease, site, run, all[i].Document, all[i].Findings); err != nil {
			return err
		}
		if len(all[i].Close)+len(all[i].Add) == 0 {
			continue
		}
		if err := s.StageDocument(ctx, lease, site, run, all[i].Document.Number, all[i].Close, all[i].Add); err != nil {
			return err
		}
		sums := []models.DocumentSums{{Document: all[i].Document.Number, Sums: all[i].Sums}}
		if err := s.SaveSums(ctx, lease, site, run, sums); err != nil {
			return err
		}
	}
	return nil
}

// errLeftovers means that not every document has a version of an earlier run to end.
var errLeftovers = errors.New("versions of this run are there already")

// stageTogether looks for leftovers only when there can be some: a version that is there already is the trace of a try
// whose commit arrived, or of an earlier call.
func (s *Store) stageTogether(ctx context.Context, lease models.Lease, site, run int64, all []models.Staging) error {
	again := false
	return s.fenced(ctx, lease, func(tx *gorm.DB, try int) error {
		err := s.stageAll(ctx, tx, site, run, all, again || try > 0)
		if !again && (duplicate(err) || errors.Is(err, errLeftovers)) {
			again = true
			return fmt.Errorf("%w: %w", errAgain, err)
		}
		return err
	})
}

func (s *Store) stageAll(ctx context.Context, tx *gorm.DB, site, run int64, all []models.Staging, again bool) error {
	conn, err := raw(tx)
	if err != nil {
		return err
	}
	numbers := make([]int32, len(all))
	versions := make([]versionRow, len(all))
	for i := range all {
		numbers[i] = all[i].Document.Number
		if versions[i], err = newVersionRow(site, run, all[i].Document); err != nil {
			return err
		}
	}
	if err := s.touch(tx, site, run, numbers...); err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	ended := tx.Exec("UPDATE document_versions SET to_run = ? WHERE site_id = ? AND document IN ? AND to_run = "+open+" AND from_run < ?",
		run, site, numbers, run)
	if ended.Error != nil {
		return fmt.Errorf("end versions: %w", ended.Error)
	}
	if ended.RowsAffected != int64(len(all)) && !again {
		return errLeftovers
	}
	if again {
		for _, table := range []string{"document_versions", "findings"} {
			if err := tx.Exec("DELETE FROM "+table+" WHERE site_id = ? AND from_run = ? AND document IN ?", site, run, numbers).Error; err != nil {
				return fmt.Errorf("drop versions of this run: %w", err)
			}
		}
	}
	if err := tx.Create(&versions).Error; err != nil {
		return fmt.Errorf("save versions: %w", err)
	}
	for i := range all {
		if err := saveFindings(tx, site, numbers[i], run, all[i].Findings); err != nil {
			return err
		}
	}
	if err := s.stageSums(tx, site, run, all); err != nil {
		return fmt.Errorf("save sums: %w", err)
	}
	if err := s.endRows(ctx, conn, site, run, all, again); err != nil {
		return fmt.Errorf("close rows: %w", err)
	}
	if err := s.beginRows(ctx, conn, site, run, all, again); err != nil {
		return fmt.Errorf("insert rows: %w", err)
	}
	return nil
}

// stageSums replaces sums that are given and doubts the others.
func (s *Store) stageSums(tx *gorm.DB, site, run int64, all []models.Staging) error {
	sums := make([]models.DocumentSums, len(all))
	for i := range all {
		sums[i] = models.DocumentSums{Document: all[i].Document.Number, Sums: all[i].Sums}
		if all[i].Sums != nil || len(all[i].Close)+len(all[i].Add) == 0 {
			continue
		}
		if err := s.doubt(tx, site, all[i].Document.Number, all[i].Close, all[i].Add); err != nil {
			return err
		}
	}
	return putSums(tx, site, run, sums)
}

// endRows ends rows of several documents, and drops those that an earlier try inserted.
func (s *Store) endRows(ctx context.Context, conn *sql.Tx, site, run int64, all []models.Staging, again bool) error {
	if !s.mysql() {
		return s.endOneByOne(ctx, conn, site, run, all, again)
	}
	var where strings.Builder
	var args []any
	count := 0
	flush := func() error {
		if count == 0 {
			return nil
		}
		_, err := conn.ExecContext(ctx, "UPDATE declarations FORCE INDEX (PRIMARY) SET to_run = ? WHERE site_id = ? AND from_run < ? AND to_run = "+open+
			" AND ("+where.String()+")", append([]any{run, site, run}, args...)...)
		if err == nil && again {
			_, err = conn.ExecContext(ctx, "DELETE FROM declarations WHERE site_id = ? AND from_run = ? AND ("+where.String()+")",
				append([]any{site, run}, args...)...)
		}
		where.Reset()
		args, count = args[:0], 0
		return err
	}
	for i := range all {
		for keys := range slices.Chunk(all[i].Close, statementKeys) {
			if count+len(keys) > statementKeys {
				if err := flush(); err != nil {
					return err
				}
			}
			if count > 0 {
				where.WriteString(" OR ")
			}
			where.WriteString("(document = ? AND url_key IN (" + marks(len(keys)) + "))")
			args = appendKeys(append(args, all[i].Document.Number), keys, len(keys))
			count += len(keys)
		}
	}
	return flush()
}

func (s *Store) endOneByOne(ctx context.Context, conn *sql.Tx, site, run int64, all []models.Staging, again bool) (err error) {
	texts := []string{"UPDATE declarations SET to_run = ?4 WHERE site_id = ?1 AND document = ?2 AND url_key = ?3 AND from_run < ?4 AND to_run = " + open}
	if again {
		texts = append(texts, "DELETE FROM declarations WHERE site_id = ?1 AND document = ?2 AND url_key = ?3 AND from_run = ?4")
	}
	for _, text := range texts {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		for i := range all {
			for _, key := range all[i].Close {
				if _, err := stmt.ExecContext(ctx, site, all[i].Document.Number, key[:], run); err != nil {
					return errors.Join(err, stmt.Close())
				}
			}
		}
		if err := stmt.Close(); err != nil {
			return err
		}
	}
	return nil
}

// beginRows inserts rows of several documents.
func (s *Store) beginRows(ctx context.Context, conn *sql.Tx, site, run int64, all []models.Staging, again bool) error {
	if !s.mysql() {
		for i := range all {
			b := batch{site: site, run: run, document: all[i].Document.Number, close: all[i].Close, add: all[i].Add}
			if err := s.insertOneByOne(ctx, conn, b, again); err != nil {
				return err
			}
		}
		return nil
	}
	rows := 0
	for i := range all {
		rows += len(all[i].Add)
	}
	i, at := 0, 0
	var args []any
	for rows > 0 {
		shape := shapeFor(rows)
		args = args[:0]
		for n := 0; n < shape; {
			if at == len(all[i].Add) {
				i, at = i+1, 0
				continue
			}
			args = s.appendRow(args, batch{site: site, run: run, document: all[i].Document.Number}, &all[i].Add[at])
			at, n = at+1, n+1
		}
		if err := s.execute(ctx, conn, insertText(shape, again), args); err != nil {
			return err
		}
		rows -= shape
	}
	return nil
}
