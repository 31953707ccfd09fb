package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// TakeRun takes a site's host for an owner and begins a run of the site in one transaction, whose fence is the taking
// itself. models.ErrBusy means that somebody holds the host. models.ErrConflict means that the site is not what it was when
// it was read, or that an interrupted run left rows: nothing is taken then, and AcquireLease, a new look at the site and
// BeginRun are the way.
func (s *Store) TakeRun(ctx context.Context, host models.Key, owner string, ttl time.Duration, site models.Site, run models.Run) (models.Lease, models.Run, error) {
	lease := models.Lease{Host: host, Owner: owner}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		var err error
		if lease.Epoch, err = s.takeHost(ctx, tx, host, owner, ttl); err != nil {
			return err
		}
		run.SiteID, run.Site, run.LiveBefore = site.ID, site.Name, site.Live
		run.ID, run.Baseline = site.LastRun+1, run.Baseline || site.CurrentRun == 0
		taken := tx.Exec("UPDATE sites SET last_run = ?, staged_run = ? WHERE id = ? AND last_run = ? AND current_run = ? AND live = ? AND staged_run = 0 AND removed_at IS NULL",
			run.ID, run.ID, site.ID, site.LastRun, site.CurrentRun, site.Live)
		if taken.Error != nil {
			return taken.Error
		}
		if taken.RowsAffected != 1 {
			return models.ErrConflict
		}
		return insertRun(tx, run, site.LastRun, site.CurrentRun)
	})
	if err != nil {
		return models.Lease{}, run, fmt.Errorf("take host and begin run: %w", err)
	}
	lease.Until = now().Add(ttl)
	return lease, run, nil
}

// insertRun stores a run that begins, and says of those between the run that readers see and the last one that they were
// interrupted.
func insertRun(tx *gorm.DB, run models.Run, last, current int64) error {
	if last != current {
		err := tx.Exec("UPDATE runs SET error = ?, finished_at = ? WHERE site_id = ? AND run > ? AND finished_at IS NULL",
			interrupted, now(), run.SiteID, current).Error
		if err != nil {
			return err
		}
	}
	row, err := newRunRow(run)
	if err != nil {
		return err
	}
	return tx.Create(&row).Error
}

// takeHost gives a free host to an owner by compare and set, and its new epoch. models.ErrBusy means that it is not free. A
// host that was given back is free whatever the clock says: clocks step back.
func (s *Store) takeHost(ctx context.Context, tx *gorm.DB, host models.Key, owner string, ttl time.Duration) (int64, error) {
	conn, err := raw(tx)
	if err != nil {
		return 0, err
	}
	epoch, err := s.raiseEpoch(ctx, conn, host, owner, ttl)
	if err != nil || epoch > 0 {
		return epoch, err
	}
	var known int64
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM host_leases WHERE host = ?", host[:]).Scan(&known); err != nil {
		return 0, err
	}
	if known > 0 {
		return 0, models.ErrBusy
	}
	until, end := s.after(ttl)
	args := append([]any{owner, host[:]}, end...) // GORM would spread bytes right after "("
	err = tx.Exec("INSERT INTO host_leases (owner, host, epoch, until, beat) VALUES (?, ?, 1, "+until+", 0)", args...).Error
	if duplicate(err) {
		return 0, models.ErrBusy // taken between our two statements
	}
	return 1, err
}

// raiseEpoch takes a host that is known and free; 0 when it is not.
func (s *Store) raiseEpoch(ctx context.Context, conn *sql.Tx, host models.Key, owner string, ttl time.Duration) (int64, error) {
	if s.mysql() {
		// The expression hands the new epoch back with the answer.
		result, err := conn.ExecContext(ctx, `UPDATE host_leases SET owner = ?, epoch = LAST_INSERT_ID(epoch + 1), until = NOW(6) + INTERVAL ? MICROSECOND
			WHERE host = ? AND (owner = '' OR until <= NOW(6))`, owner, ttl.Microseconds(), host[:])
		if err != nil {
			return 0, err
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return 0, err
		}
		return result.LastInsertId()
	}
	at := now()
	var epoch int64
	err := conn.QueryRowContext(ctx, `UPDATE host_leases SET owner = ?, epoch = epoch + 1, until = ?
		WHERE host = ? AND (owner = '' OR until <= ?) RETURNING epoch`, owner, at.Add(ttl), host[:], at).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return epoch, err
}
