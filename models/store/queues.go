package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type resendRow struct {
	ChannelID int64 `gorm:"primaryKey;autoIncrement:false"`
	EventID   int64 `gorm:"primaryKey;autoIncrement:false"`
	AskedAt   time.Time
	Tries     int
	NextAt    time.Time
}

func (resendRow) TableName() string { return "resends" }

// DueChannels gives the channels that may have something to send now: events after their position whose time has come, or
// something to be sent again. Those that a daemon works at are left out.
func (s *Store) DueChannels(ctx context.Context, at time.Time) ([]models.Channel, error) {
	clock, args := s.clock()
	args = append(args, stored(at), stored(at))
	return channelsOf(s.reads.WithContext(ctx).Where("(owner = '' OR until <= "+clock+`) AND disabled_at IS NULL AND (
		((next_at IS NULL OR next_at <= ?) AND position < (SELECT last FROM event_counter WHERE id = 1))
		OR EXISTS (SELECT 1 FROM resends r WHERE r.channel_id = channels.id AND r.next_at <= ?))`, args...))
}

// ClaimChannel takes a channel for an owner by compare and set, as it is at that moment. models.ErrBusy: somebody has it.
func (s *Store) ClaimChannel(ctx context.Context, id int64, owner string, ttl time.Duration) (models.Channel, error) {
	var row channelRow
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		row = channelRow{}
		clock, at := s.clock()
		until, end := s.after(ttl)
		args := append(append([]any{owner}, end...), id)
		taken := tx.Exec("UPDATE channels SET owner = ?, epoch = epoch + 1, until = "+until+" WHERE id = ? AND disabled_at IS NULL AND (owner = '' OR until <= "+clock+")",
			append(args, at...)...)
		if taken.Error == nil && taken.RowsAffected != 1 {
			return models.ErrBusy
		}
		if taken.Error != nil {
			return taken.Error
		}
		return tx.Where("id = ?", id).Take(&row).Error
	})
	if err != nil {
		return models.Channel{}, fmt.Errorf("claim channel %d: %w", id, err)
	}
	return row.channel()
}

// held proves, last but for new events, that a claim still holds, prolongs it and changes the channel's columns.
func (s *Store) held(tx *gorm.DB, c *models.Channel, ttl time.Duration, set string, args ...any) error {
	until, end := s.after(ttl)
	all := append(append(append([]any{}, end...), args...), c.ID, c.Owner, c.Epoch)
	result := tx.Exec("UPDATE channels SET until = "+until+set+" WHERE id = ? AND owner = ? AND epoch = ?", all...)
	if result.Error == nil && result.RowsAffected != 1 {
		return models.ErrLeaseLost
	}
	return result.Error
}

// ReleaseChannel ends a claim.
func (s *Store) ReleaseChannel(ctx context.Context, c models.Channel) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Exec("UPDATE channels SET owner = '' WHERE id = ? AND owner = ? AND epoch = ?", c.ID, c.Owner, c.Epoch).Error
	})
	if err != nil {
		return fmt.Errorf("release channel %d: %w", c.ID, err)
	}
	return nil
}

// ReleaseChannels ends all claims of an owner who is known to be dead.
func (s *Store) ReleaseChannels(ctx context.Context, owner string) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Exec("UPDATE channels SET owner = '', epoch = epoch + 1 WHERE owner = ?", owner).Error
	})
	if err != nil {
		return fmt.Errorf("release channels of %s: %w", owner, err)
	}
	return nil
}

// SkipEvents moves a claimed channel past events that it does not want.
func (s *Store) SkipEvents(ctx context.Context, c *models.Channel, position int64, ttl time.Duration) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return s.held(tx, c, ttl, ", position = ?, head = 0, tries = 0, next_at = NULL", position)
	})
	if err != nil {
		return fmt.Errorf("skip events of channel %d: %w", c.ID, err)
	}
	c.Position, c.Head, c.Tries, c.NextAt = position, 0, 0, nil
	return nil
}

// Settle records what became of the event at the head of a claimed channel's queue: delivered and given up ones let the
// next come, failed ones wait. A channel that is disabled by it tells the others, by notice.
func (s *Store) Settle(ctx context.Context, c *models.Channel, o models.Settlement, ttl time.Duration, notice []models.Event) error {
	a, after := &o.Attempt, *c
	after.NextAt = micros(o.NextAt)
	if a.Outcome == models.AttemptFailed {
		after.Head, after.Tries = a.EventID, a.Try
	} else {
		after.Position, after.Head, after.Tries, after.NextAt = a.EventID, 0, 0, nil
	}
	settleFailing(&after, o)
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		if err := saveAttempt(tx, a); err != nil {
			return err
		}
		if a.Outcome == models.AttemptDelivered { // asked for meanwhile
			if err := tx.Exec("DELETE FROM resends WHERE channel_id = ? AND event_id = ?", c.ID, a.EventID).Error; err != nil {
				return err
			}
		}
		err := s.held(tx, c, ttl, ", position = ?, head = ?, tries = ?, next_at = ?, failing_since = ?, disabled_at = ?, disabled_reason = ?",
			after.Position, after.Head, after.Tries, after.NextAt, after.FailingSince, after.DisabledAt, text(after.DisabledReason, 255))
		if err != nil {
			return err
		}
		return appendEvents(tx, notice)
	})
	if err != nil {
		return fmt.Errorf("settle an event of channel %d: %w", c.ID, err)
	}
	*c = after
	return nil
}

func settleFailing(c *models.Channel, o models.Settlement) {
	if o.Attempt.Outcome == models.AttemptDelivered {
		c.FailingSince = nil
		return
	}
	at := stored(o.Attempt.At)
	if c.FailingSince == nil {
		c.FailingSince = &at
	}
	if o.Disable != "" {
		c.DisabledAt, c.DisabledReason, c.NextAt = &at, o.Disable, nil
	}
}

// SettleResend records what became of an event that was asked for again. A delivery shows that the channel works, so
// what waits in its queue need not wait longer.
func (s *Store) SettleResend(ctx context.Context, c *models.Channel, o models.Settlement, ttl time.Duration) error {
	a := &o.Attempt
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		if err := saveAttempt(tx, a); err != nil {
			return err
		}
		var err error
		if a.Outcome == models.AttemptFailed && o.NextAt != nil {
			err = tx.Exec("UPDATE resends SET tries = ?, next_at = ? WHERE channel_id = ? AND event_id = ?", a.Try, micros(o.NextAt), c.ID, a.EventID).Error
		} else {
			err = tx.Exec("DELETE FROM resends WHERE channel_id = ? AND event_id = ?", c.ID, a.EventID).Error
		}
		if err != nil {
			return err
		}
		if a.Outcome == models.AttemptDelivered {
			return s.held(tx, c, ttl, ", next_at = NULL, failing_since = NULL")
		}
		return s.held(tx, c, ttl, "")
	})
	if err != nil {
		return fmt.Errorf("settle a repetition of channel %d: %w", c.ID, err)
	}
	if a.Outcome == models.AttemptDelivered {
		c.NextAt, c.FailingSince = nil, nil
	}
	return nil
}

// Resends gives what a channel was asked to send again by a time, oldest event first, with the tries made.
func (s *Store) Resends(ctx context.Context, channel int64, at time.Time, limit int) ([]models.Event, []int, error) {
	var rows []struct {
		Event eventRow `gorm:"embedded"`
		Tries int
	}
	err := s.reads.WithContext(ctx).Raw(`SELECT e.*, r.tries FROM resends r JOIN events e ON e.id = r.event_id WHERE r.channel_id = ? AND r.next_at <= ?
		ORDER BY r.event_id LIMIT ?`, channel, stored(at), limit).Scan(&rows).Error
	if err != nil {
		return nil, nil, fmt.Errorf("read resends of channel %d: %w", channel, err)
	}
	var events []models.Event
	var tries []int
	for i := range rows {
		events, tries = append(events, rows[i].Event.event()), append(tries, rows[i].Tries)
	}
	return events, tries, nil
}

// Resend asks for an event to be sent to a channel once more, whatever became of it before.
func (s *Store) Resend(ctx context.Context, channel int64, uid string, at time.Time) error {
	e, err := s.Event(ctx, uid)
	if err != nil {
		return err
	}
	if _, err := s.Channel(ctx, channel); err != nil {
		return err
	}
	return s.resend(ctx, channel, []int64{e.ID}, at)
}

func (s *Store) resend(ctx context.Context, channel int64, events []int64, at time.Time) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		for _, id := range events {
			err := tx.Exec(s.insertIgnore()+" resends (channel_id, event_id, asked_at, tries, next_at) VALUES (?, ?, ?, 0, ?)", channel, id, stored(at), stored(at)).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask for a repetition: %w", err)
	}
	return nil
}

// recoverBatch events are looked at, and asked for, at a time.
const recoverBatch = 500

// Recover asks for everything since a time to be sent again that the channel passed over and never took. It gives how
// many events that is.
func (s *Store) Recover(ctx context.Context, channel int64, since, at time.Time) (int, error) {
	c, err := s.Channel(ctx, channel)
	if err != nil {
		return 0, err
	}
	total, after := 0, int64(0)
	for {
		events, err := eventsOf(s.reads.WithContext(ctx).Where(`id > ? AND id <= ? AND at >= ? AND NOT EXISTS
			(SELECT 1 FROM attempts a WHERE a.event_id = events.id AND a.channel_id = ? AND a.outcome = ?)`,
			after, c.Position, stored(since), channel, models.AttemptDelivered).Limit(recoverBatch))
		if err != nil {
			return total, err
		}
		var ids []int64
		for i := range events {
			after = events[i].ID
			if c.Wants(&events[i]) {
				ids = append(ids, events[i].ID)
			}
		}
		if err := s.resend(ctx, channel, ids, at); err != nil {
			return total, err
		}
		if total += len(ids); len(events) < recoverBatch {
			return total, nil
		}
	}
}

// Queues gives what waits for each channel that is not disabled.
func (s *Store) Queues(ctx context.Context) ([]models.Queue, error) {
	channels, err := s.Channels(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]models.Queue, 0, len(channels))
	for _, c := range channels {
		q := models.Queue{Channel: c.ID}
		err := s.reads.WithContext(ctx).Table("events").Where("id > ? AND (channel = 0 OR channel = ?)", c.Position, c.ID).Count(&q.Waiting).Error
		if err != nil {
			return nil, fmt.Errorf("count waiting events: %w", err)
		}
		if q.Waiting > 0 {
			var row eventRow
			err := s.reads.WithContext(ctx).Select("at").Where("id > ? AND (channel = 0 OR channel = ?)", c.Position, c.ID).Order("id").Take(&row).Error
			if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
				return nil, fmt.Errorf("read the oldest waiting event: %w", err)
			}
			if err == nil {
				q.Oldest = micros(&row.At)
			}
		}
		out = append(out, q)
	}
	return out, nil
}
