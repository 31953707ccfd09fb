package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type eventRow struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	UID     string
	SiteID  int64
	Run     int64
	Type    string
	At      time.Time
	Channel int64
	Data    []byte
}

func (eventRow) TableName() string { return "events" }

func (r *eventRow) event() models.Event {
	return models.Event{ID: r.ID, UID: r.UID, SiteID: r.SiteID, Run: r.Run, Type: r.Type, At: r.At.UTC(), Channel: r.Channel, Data: r.Data}
}

func eventsOf(query *gorm.DB) ([]models.Event, error) {
	var rows []eventRow
	if err := query.Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	out := make([]models.Event, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].event())
	}
	return out, nil
}

// appendEvents gives events their numbers and stores them. It is the last statement of its transaction but the commit:
// the counter's row stays locked until then, so numbers become visible in their order, and nobody waits for it while
// holding it. An auto-increment would not do: number 6 may be seen before 5 is committed, and 5 never after.
func appendEvents(tx *gorm.DB, events []models.Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := tx.Exec("UPDATE event_counter SET last = last + ? WHERE id = 1", len(events)).Error; err != nil {
		return fmt.Errorf("count events: %w", err)
	}
	var last int64
	if err := tx.Raw("SELECT last FROM event_counter WHERE id = 1").Scan(&last).Error; err != nil {
		return fmt.Errorf("count events: %w", err)
	}
	rows := make([]eventRow, 0, len(events))
	for i := range events {
		e := &events[i]
		if e.UID == "" {
			e.UID = newUID()
		}
		e.ID = last - int64(len(events)-1-i)
		rows = append(rows, eventRow{ID: e.ID, UID: e.UID, SiteID: e.SiteID, Run: e.Run, Type: e.Type, At: stored(e.At), Channel: e.Channel, Data: e.Data})
	}
	if err := tx.CreateInBatches(&rows, 100).Error; err != nil {
		return fmt.Errorf("store events: %w", err)
	}
	return nil
}

// newUID names an event in every attempt to deliver it. Standard Webhooks allow no dots in it.
func newUID() string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return "evt_" + hex.EncodeToString(random[:])
}

// AppendEvents stores events and gives them their numbers.
func (s *Store) AppendEvents(ctx context.Context, events []models.Event) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error { return appendEvents(tx, events) })
	if err != nil {
		return fmt.Errorf("append events: %w", err)
	}
	return nil
}

// Events gives events with numbers above after, at most limit, in order.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]models.Event, error) {
	return eventsOf(s.reads.WithContext(ctx).Where("id > ?", after).Limit(limit))
}

// Event gives one event by the id that receivers know.
func (s *Store) Event(ctx context.Context, uid string) (models.Event, error) {
	var row eventRow
	err := s.reads.WithContext(ctx).Where("uid = ?", uid).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Event{}, notFound("event", uid)
	}
	if err != nil {
		return models.Event{}, fmt.Errorf("read event: %w", err)
	}
	return row.event(), nil
}

// UnreadRuns gives the sites with runs that no events were made of yet: finished ones, or ones about to be.
func (s *Store) UnreadRuns(ctx context.Context) ([]models.Unread, error) {
	var out []models.Unread
	err := s.reads.WithContext(ctx).Raw(`SELECT s.id AS site_id, COALESCE(e.run, 0) AS run FROM sites s LEFT JOIN event_runs e ON e.site_id = s.id
		WHERE s.removed_at IS NULL AND s.last_run > COALESCE(e.run, 0) ORDER BY s.id`).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("read sites with new runs: %w", err)
	}
	return out, nil
}

// RunsAfter gives a site's runs with numbers above run, oldest first, at most limit.
func (s *Store) RunsAfter(ctx context.Context, siteID, run int64, limit int) ([]models.Run, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return nil, err
	}
	var rows []runRow
	if err := s.reads.WithContext(ctx).Where("site_id = ? AND run > ?", siteID, run).Order("run").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read runs of site %d: %w", siteID, err)
	}
	out := make([]models.Run, 0, len(rows))
	for i := range rows {
		r, err := rows[i].run(site.Name, site.CurrentRun)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// AppendRun stores what a run means for whoever listens: its events and the alerts that it opened or resolved, once.
// False: another daemon was first, nothing was stored.
func (s *Store) AppendRun(ctx context.Context, siteID, before, run int64, events []models.Event, alerts []models.AlertChange) (bool, error) {
	won := false
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		won = false
		if err := tx.Exec(s.insertIgnore()+" event_runs (site_id, run) VALUES (?, 0)", siteID).Error; err != nil {
			return err
		}
		moved := tx.Exec("UPDATE event_runs SET run = ? WHERE site_id = ? AND run = ?", run, siteID, before)
		if moved.Error != nil || moved.RowsAffected != 1 {
			return moved.Error
		}
		if err := applyAlerts(tx, alerts); err != nil {
			return err
		}
		if err := appendEvents(tx, events); err != nil {
			return err
		}
		won = true
		return nil
	})
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("store events of run %d of site %d: %w", run, siteID, err)
	}
	return won, nil
}

// errOvertaken ends a transaction that was decided on a state which is no more.
var errOvertaken = errors.New("decided on an older state")

// forgetRows bounds one transaction of ForgetEvents.
const forgetRows = 2000

// ForgetEvents deletes events from before a time with their attempts, as far as every channel that is not disabled has
// settled them.
func (s *Store) ForgetEvents(ctx context.Context, before time.Time) (int64, error) {
	var total int64
	for {
		var n int64
		err := s.write(ctx, func(tx *gorm.DB, _ int) error {
			var ids []int64
			err := tx.Raw(`SELECT id FROM events WHERE at < ? AND id <= COALESCE((SELECT MIN(position) FROM channels WHERE disabled_at IS NULL), ?)
				AND NOT EXISTS (SELECT 1 FROM resends r WHERE r.event_id = events.id) ORDER BY id LIMIT ?`, stored(before), models.Open, forgetRows).Scan(&ids).Error
			if err != nil || len(ids) == 0 {
				n = 0
				return err
			}
			n = int64(len(ids))
			if err := tx.Exec("DELETE FROM attempts WHERE event_id IN ?", ids).Error; err != nil {
				return err
			}
			return tx.Exec("DELETE FROM events WHERE id IN ?", ids).Error
		})
		if err != nil {
			return total, fmt.Errorf("forget events: %w", err)
		}
		if total += n; n < forgetRows {
			return total, nil
		}
	}
}
