package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

const (
	// tries is how often a transaction is tried in all.
	tries = 10
	// triesFor bounds the time in which a new try may begin: one try alone may wait for a lock as long as the database
	// lets it (10 s on SQLite, 15 s on MySQL).
	triesFor = 45 * time.Second
)

// write runs fn in a transaction and, when it fails for a passing reason (a deadlock, a lost connection, a busy
// file), tries the whole of it anew. fn must return every statement's error: a server may have rolled back already,
// and a commit of nothing succeeds. try counts from 0; from 1 on an earlier try may have been committed.
func (s *Store) write(ctx context.Context, fn func(tx *gorm.DB, try int) error) error {
	began := time.Now()
	for try := 0; ; try++ {
		err := s.once(ctx, func(tx *gorm.DB) error { return fn(tx, try) })
		if err == nil || try+1 == tries || time.Since(began) > triesFor || !passing(err) && !errors.Is(err, errAgain) {
			return hinted(err)
		}
		// 5 ms doubled up to 1 s, with full jitter, so that two that met do not meet again.
		wait := time.Duration(rand.Int64N(int64(min(5*time.Millisecond<<try, time.Second)))) + time.Millisecond
		s.log.Debug("transaction is tried again", "try", try+1, "error", err)
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// errAgain asks write for another try.
var errAgain = errors.New("try again")

func again(err error) error { return errors.Join(errAgain, err) }

func (s *Store) once(ctx context.Context, fn func(tx *gorm.DB) error) (err error) {
	tx := s.db.WithContext(ctx).Begin()
	if tx.Error != nil {
		return fmt.Errorf("begin: %w", tx.Error)
	}
	done := false
	defer func() {
		if !done { // also when fn panics
			if e := tx.Rollback().Error; e != nil && !errors.Is(e, sql.ErrTxDone) && err != nil {
				err = fmt.Errorf("%w (and rollback: %w)", err, e)
			}
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	done = true
	if err := tx.Commit().Error; err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// fenced is write for the rows of a run: the transaction also proves that the lease is still ours. The proof comes
// last, so that two documents staged at once wait for each other's commit only, not for each other's rows.
func (s *Store) fenced(ctx context.Context, lease models.Lease, fn func(tx *gorm.DB, try int) error) error {
	lease.GiveBack = false
	return s.fencedBy(ctx, lease, new(bool), fn)
}

// fencedBy is fenced for a transaction that may give the lease back. fn sets done when it found everything written by an
// earlier try, which gave the lease back too: there is nothing left to prove then.
//
// Since the proof comes last, a daemon that lost the lease may meet rows of the one that took over, which gives a run of the
// same number the same keys, before it comes to its proof. A duplicate key is therefore looked at once more.
func (s *Store) fencedBy(ctx context.Context, lease models.Lease, done *bool, fn func(tx *gorm.DB, try int) error) error {
	err := s.write(ctx, func(tx *gorm.DB, try int) error {
		if err := fn(tx, try); err != nil {
			return err
		}
		if *done && lease.GiveBack {
			return nil
		}
		text, args := "UPDATE host_leases SET beat = beat + 1", []any(nil)
		if lease.GiveBack {
			text, args = s.giveBack()
		}
		result := tx.Exec(text+" WHERE host = ? AND owner = ? AND epoch = ?", append(args, lease.Host[:], lease.Owner, lease.Epoch)...)
		if result.Error != nil {
			return fmt.Errorf("prove lease: %w", result.Error)
		}
		if result.RowsAffected != 1 {
			return models.ErrLeaseLost
		}
		return nil
	})
	if err == nil || !duplicate(err) {
		return err
	}
	var ours int64
	if e := s.db.WithContext(ctx).Raw("SELECT COUNT(*) FROM host_leases WHERE host = ? AND owner = ? AND epoch = ?", lease.Host[:], lease.Owner, lease.Epoch).Scan(&ours).Error; e != nil {
		return fmt.Errorf("%w (and prove lease: %w)", err, e)
	}
	if ours == 0 {
		return fmt.Errorf("%w: %w", models.ErrLeaseLost, err)
	}
	return err
}

// giveBack ends a lease: its host is free, its epoch stays for the fence.
func (s *Store) giveBack() (string, []any) {
	clock, at := s.clock()
	return "UPDATE host_leases SET owner = '', beat = beat + 1, until = " + clock, at
}

// hinted adds what an operator can do about a failed write.
func hinted(err error) error {
	if err == nil {
		return nil
	}
	if text := hint(err); text != "" {
		return &models.HintedError{Err: err, Hint: text}
	}
	return err
}

// raw gives the transaction's own connection for statements that GORM would only slow down.
func raw(tx *gorm.DB) (*sql.Tx, error) {
	conn, ok := tx.Statement.ConnPool.(*sql.Tx)
	if !ok {
		return nil, fmt.Errorf("not in a transaction: %T", tx.Statement.ConnPool)
	}
	return conn, nil
}
