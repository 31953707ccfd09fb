package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type channelRow struct {
	ID             int64 `gorm:"primaryKey"`
	Name           string
	NameKey        []byte
	Kind           string
	Address        string
	SiteID         int64
	Types          string
	Digest         string
	TimeZone       string
	DigestDue      *time.Time
	Origin         string
	CreatedAt      time.Time
	Position       int64
	Head           int64
	Tries          int
	NextAt         *time.Time
	FailingSince   *time.Time
	DisabledAt     *time.Time
	DisabledReason string
	Owner          string
	Epoch          int64
	Until          time.Time
}

func (channelRow) TableName() string { return "channels" }

func (r *channelRow) channel() (models.Channel, error) {
	c := models.Channel{ID: r.ID, Name: r.Name, Kind: r.Kind, Address: r.Address, SiteID: r.SiteID, Digest: r.Digest, TimeZone: r.TimeZone,
		Origin: r.Origin, CreatedAt: r.CreatedAt.UTC(), DigestDue: micros(r.DigestDue), FailingSince: micros(r.FailingSince),
		DisabledAt: micros(r.DisabledAt), DisabledReason: r.DisabledReason, Position: r.Position, Head: r.Head, Tries: r.Tries,
		NextAt: micros(r.NextAt), Owner: r.Owner, Epoch: r.Epoch}
	if err := json.Unmarshal([]byte(r.Types), &c.Types); err != nil {
		return c, fmt.Errorf("channel %d: decode types: %w", r.ID, err)
	}
	return c, nil
}

func channelsOf(query *gorm.DB) ([]models.Channel, error) {
	var rows []channelRow
	if err := query.Order("channels.id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read channels: %w", err)
	}
	out := make([]models.Channel, 0, len(rows))
	for i := range rows {
		c, err := rows[i].channel()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Channels gives all channels, disabled ones too.
func (s *Store) Channels(ctx context.Context) ([]models.Channel, error) {
	return channelsOf(s.reads.WithContext(ctx))
}

// Channel gives one channel.
func (s *Store) Channel(ctx context.Context, id int64) (models.Channel, error) {
	return oneChannel(s.reads.WithContext(ctx).Where("id = ?", id), id)
}

// FindChannel gives the channel with a name or a number.
func (s *Store) FindChannel(ctx context.Context, name string) (models.Channel, error) {
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		return s.Channel(ctx, id)
	}
	return oneChannel(s.reads.WithContext(ctx).Where("name_key = ?", textKey(name)), name)
}

func oneChannel(query *gorm.DB, what any) (models.Channel, error) {
	var row channelRow
	err := query.Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Channel{}, notFound("channel", what)
	}
	if err != nil {
		return models.Channel{}, fmt.Errorf("read channel: %w", err)
	}
	return row.channel()
}

// AddChannel stores a new channel, which is told what happens from now on.
func (s *Store) AddChannel(ctx context.Context, c models.Channel) (models.Channel, error) {
	types, err := json.Marshal(append([]string{}, c.Types...))
	if err != nil {
		return c, fmt.Errorf("encode types: %w", err)
	}
	var row channelRow
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		row = channelRow{Name: c.Name, NameKey: textKey(c.Name), Kind: c.Kind, Address: c.Address, SiteID: c.SiteID, Types: string(types),
			Digest: c.Digest, TimeZone: c.TimeZone, DigestDue: micros(c.DigestDue), Origin: c.Origin, CreatedAt: stored(c.CreatedAt), Until: stored(time.Time{})}
		if err := tx.Raw("SELECT last FROM event_counter WHERE id = 1").Scan(&row.Position).Error; err != nil {
			return err
		}
		return tx.Create(&row).Error
	})
	if duplicate(err) {
		return c, fmt.Errorf("channel %s: %w", c.Name, models.ErrConflict)
	}
	if err != nil {
		return c, fmt.Errorf("add channel %s: %w", c.Name, err)
	}
	return row.channel()
}

// SaveChannel changes what a person chooses of a channel. Where it is in its queue stays.
func (s *Store) SaveChannel(ctx context.Context, c models.Channel) error {
	types, err := json.Marshal(append([]string{}, c.Types...))
	if err != nil {
		return fmt.Errorf("encode types: %w", err)
	}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		return found(tx, "channels", c.ID, map[string]any{"name": c.Name, "name_key": textKey(c.Name), "kind": c.Kind, "address": c.Address, "site_id": c.SiteID,
			"types": string(types), "digest": c.Digest, "time_zone": c.TimeZone, "digest_due": micros(c.DigestDue), "origin": c.Origin})
	})
	if duplicate(err) {
		return fmt.Errorf("channel %s: %w", c.Name, models.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("save channel %s: %w", c.Name, err)
	}
	return nil
}

// found updates columns of the row with an id, which must be there.
func found(tx *gorm.DB, table string, id int64, columns map[string]any) error {
	var n int64
	if err := tx.Table(table).Where("id = ?", id).Count(&n).Error; err != nil {
		return err
	}
	if n == 0 {
		return notFound(table[:len(table)-1], id)
	}
	return tx.Table(table).Where("id = ?", id).Updates(columns).Error
}

// RemoveChannel deletes a channel with its secrets, its queue and its log.
func (s *Store) RemoveChannel(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *gorm.DB, try int) error {
		gone := tx.Exec("DELETE FROM channels WHERE id = ?", id)
		if gone.Error == nil && gone.RowsAffected == 0 && try == 0 {
			return notFound("channel", id)
		}
		if gone.Error != nil {
			return gone.Error
		}
		for _, table := range []string{"channel_keys", "resends", "attempts"} {
			if err := tx.Exec("DELETE FROM "+table+" WHERE channel_id = ?", id).Error; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove channel: %w", err)
	}
	return nil
}

// EnableChannel makes a channel go on where it stopped, at once.
func (s *Store) EnableChannel(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return found(tx, "channels", id, map[string]any{"disabled_at": nil, "disabled_reason": "", "failing_since": nil, "next_at": nil, "tries": 0})
	})
	if err != nil {
		return fmt.Errorf("enable channel: %w", err)
	}
	return nil
}

// DisableChannel stops a channel; what happens meanwhile waits for it.
func (s *Store) DisableChannel(ctx context.Context, id int64, at time.Time, reason string) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return found(tx, "channels", id, map[string]any{"disabled_at": stored(at), "disabled_reason": text(reason, 255)})
	})
	if err != nil {
		return fmt.Errorf("disable channel: %w", err)
	}
	return nil
}

// DigestSent moves a channel's digest on from the time that was due to the next one. False: another daemon did so. The
// digest itself is stored in the same transaction, so that it is made once.
func (s *Store) DigestSent(ctx context.Context, c models.Channel, next *time.Time, digest []models.Event) (bool, error) {
	won := false
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		moved := tx.Exec("UPDATE channels SET digest_due = ? WHERE id = ? AND digest_due = ?", micros(next), c.ID, micros(c.DigestDue))
		if won = moved.RowsAffected == 1; moved.Error != nil || !won {
			return moved.Error
		}
		return appendEvents(tx, digest)
	})
	if err != nil {
		return false, fmt.Errorf("store a digest: %w", err)
	}
	return won, nil
}
