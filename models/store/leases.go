package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// clock is the database's clock as an expression: all daemons on one database share it. SQLite is one machine,
// whose clock is ours.
func (s *Store) clock() (string, []any) {
	if s.mysql() {
		return "NOW(6)", nil
	}
	return "?", []any{now()}
}

// after is the clock plus a time.
func (s *Store) after(d time.Duration) (string, []any) {
	if s.mysql() {
		return "NOW(6) + INTERVAL ? MICROSECOND", []any{d.Microseconds()}
	}
	return "?", []any{now().Add(d)}
}

// AcquireLease takes a host for an owner by compare and set. A host that was given back is free whatever the clock says:
// clocks step back. models.ErrBusy means that somebody holds it.
func (s *Store) AcquireLease(ctx context.Context, host models.Key, owner string, ttl time.Duration) (models.Lease, error) {
	lease := models.Lease{Host: host, Owner: owner}
	err := s.write(ctx, func(tx *gorm.DB, _ int) (err error) {
		lease.Epoch, err = s.takeHost(ctx, tx, host, owner, ttl)
		return err
	})
	if err != nil {
		return models.Lease{}, fmt.Errorf("acquire lease: %w", err)
	}
	lease.Until = now().Add(ttl)
	return lease, nil
}

// LeaseHolder tells who holds a host at the moment, models.ErrNotFound when nobody does.
func (s *Store) LeaseHolder(ctx context.Context, host models.Key) (models.Lease, error) {
	clock, at := s.clock()
	row := struct {
		Owner string
		Epoch int64
	}{}
	found := s.db.WithContext(ctx).Raw("SELECT owner, epoch FROM host_leases WHERE host = ? AND owner <> '' AND until > "+clock, append([]any{host[:]}, at...)...).Scan(&row)
	if found.Error != nil {
		return models.Lease{}, fmt.Errorf("read lease: %w", found.Error)
	}
	if found.RowsAffected == 0 {
		return models.Lease{}, fmt.Errorf("lease: %w", models.ErrNotFound)
	}
	return models.Lease{Host: host, Owner: row.Owner, Epoch: row.Epoch}, nil
}

// RenewLease prolongs a lease, or says models.ErrLeaseLost.
func (s *Store) RenewLease(ctx context.Context, lease *models.Lease, ttl time.Duration) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		until, args := s.after(ttl)
		result := tx.Exec("UPDATE host_leases SET beat = beat + 1, until = "+until+" WHERE host = ? AND owner = ? AND epoch = ?",
			append(args, lease.Host[:], lease.Owner, lease.Epoch)...)
		if result.Error == nil && result.RowsAffected != 1 {
			return models.ErrLeaseLost
		}
		return result.Error
	})
	if err != nil {
		return fmt.Errorf("renew lease: %w", err)
	}
	lease.Until = now().Add(ttl)
	return nil
}

// ReleaseLease ends a lease, so that the next owner need not wait for its end. The epoch stays, for the fence.
func (s *Store) ReleaseLease(ctx context.Context, lease models.Lease) error {
	err := s.write(ctx, func(tx *gorm.DB, try int) error {
		text, args := s.giveBack()
		result := tx.Exec(text+" WHERE host = ? AND owner = ? AND epoch = ?", append(args, lease.Host[:], lease.Owner, lease.Epoch)...)
		if result.Error == nil && result.RowsAffected != 1 && try == 0 {
			return models.ErrLeaseLost
		}
		return result.Error
	})
	if err != nil && !errors.Is(err, models.ErrLeaseLost) {
		return fmt.Errorf("release lease: %w", err)
	}
	return err
}
