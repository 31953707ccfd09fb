package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type attemptRow struct {
	ID        int64 `gorm:"primaryKey"`
	ChannelID int64
	EventID   int64
	At        time.Time
	Try       int
	Resend    bool
	Outcome   string
	Status    int
	Took      int64
	Error     string
	Excerpt   string
}

func (attemptRow) TableName() string { return "attempts" }

// excerptBytes bounds what is kept of an answer.
const excerptBytes = 512

func saveAttempt(tx *gorm.DB, a *models.Attempt) error {
	row := attemptRow{ChannelID: a.Channel, EventID: a.EventID, At: stored(a.At), Try: a.Try, Resend: a.Resend, Outcome: a.Outcome, Status: a.Status,
		Took: a.Took.Microseconds(), Error: text(a.Error, 255), Excerpt: text(a.Excerpt, excerptBytes)}
	if err := tx.Create(&row).Error; err != nil {
		return fmt.Errorf("store attempt: %w", err)
	}
	a.ID = row.ID
	return nil
}

// SaveAttempt keeps an attempt that is none of a queue's: a test.
func (s *Store) SaveAttempt(ctx context.Context, a models.Attempt) (models.Attempt, error) {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		if err := saveAttempt(tx, &a); err != nil || a.Outcome != models.AttemptDelivered {
			return err
		}
		// The channel works: what waits in its queue need not wait longer.
		return tx.Exec("UPDATE channels SET next_at = NULL, failing_since = NULL WHERE id = ?", a.Channel).Error
	})
	return a, err
}

// Attempts gives the log of one channel, newest first.
func (s *Store) Attempts(ctx context.Context, channel int64, f models.AttemptFilter) ([]models.Attempt, error) {
	query := s.reads.WithContext(ctx).Table("attempts a").Select("a.*, COALESCE(e.uid, '') AS uid, COALESCE(e.type, '') AS type, COALESCE(e.site_id, 0) AS site_id, COALESCE(e.run, 0) AS run").
		Joins("LEFT JOIN events e ON e.id = a.event_id").Where("a.channel_id = ?", channel).Order("a.id DESC")
	if f.Outcome != "" {
		query = query.Where("a.outcome = ?", f.Outcome)
	}
	if f.Event != "" {
		query = query.Where("e.uid = ?", f.Event)
	}
	if f.Before > 0 {
		query = query.Where("a.id < ?", f.Before)
	}
	if f.Limit > 0 {
		query = query.Limit(f.Limit)
	}
	var rows []struct {
		Attempt attemptRow `gorm:"embedded"`
		UID     string
		Type    string
		SiteID  int64
		Run     int64
	}
	if err := query.Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read attempts of channel %d: %w", channel, err)
	}
	out := make([]models.Attempt, 0, len(rows))
	for i := range rows {
		r := &rows[i].Attempt
		took := time.Duration(r.Took) * time.Microsecond
		out = append(out, models.Attempt{ID: r.ID, Channel: r.ChannelID, EventID: r.EventID, EventUID: rows[i].UID, Type: rows[i].Type, SiteID: rows[i].SiteID,
			Run: rows[i].Run, At: r.At.UTC(), Try: r.Try, Resend: r.Resend, Outcome: r.Outcome, Status: r.Status, Took: took,
			TookMS: float64(r.Took) / 1000, Error: r.Error, Excerpt: r.Excerpt})
	}
	return out, nil
}
