package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// horizon is how far back the history of a site is kept whole: from a run on, and the feed behind a cursor.
type horizon struct {
	keptFrom  int64        // the oldest run that can be asked for; 0 when nothing was ever pruned
	feedAfter changeCursor // the last change up to that run: who has it has missed nothing
}

// keptFrom gives the oldest run of a site that can be asked for, 0 when nothing was ever pruned.
func keptFrom(db *gorm.DB, siteID int64) (int64, error) {
	var run int64
	err := db.Raw("SELECT kept_from FROM retention WHERE site_id = ?", siteID).Scan(&run).Error
	return run, err
}

func (s *Store) horizon(ctx context.Context, siteID int64) (horizon, error) {
	var row struct {
		KeptFrom  int64
		FeedAfter string
	}
	err := s.reads.WithContext(ctx).Raw("SELECT kept_from, feed_after FROM retention WHERE site_id = ?", siteID).Scan(&row).Error
	if err != nil {
		return horizon{}, fmt.Errorf("read retention: %w", err)
	}
	h := horizon{keptFrom: row.KeptFrom}
	if row.FeedAfter != "" {
		h.feedAfter, err = parseChangeCursor(row.FeedAfter)
	}
	return h, err
}

// setHorizon moves the horizon on, never back.
func (s *Store) setHorizon(ctx context.Context, lease models.Lease, siteID int64, h horizon) error {
	return s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		before, err := keptFrom(tx, siteID)
		if err != nil || before >= h.keptFrom {
			return err
		}
		if err := tx.Exec("DELETE FROM retention WHERE site_id = ?", siteID).Error; err != nil {
			return err
		}
		return tx.Exec("INSERT INTO retention (site_id, kept_from, feed_after, pruned_at) VALUES (?, ?, ?, ?)",
			siteID, h.keptFrom, h.feedAfter.String(), now()).Error
	})
}

// feedRuns is how many runs back the last change before a horizon is looked for. Where it is older, who follows the feed
// and had nothing to read for so long has to begin anew.
const feedRuns = 200

// lastChange gives the cursor of the last change up to a run: who has it has missed nothing.
func (s *Store) lastChange(ctx context.Context, siteID, run int64, known horizon) (changeCursor, error) {
	var runs []int64
	err := s.reads.WithContext(ctx).Raw(`SELECT run FROM touched WHERE site_id = ? AND run <= ? AND run > ?
		UNION SELECT valid_from FROM removals WHERE site_id = ? AND valid_from <= ? AND valid_from > ?
		UNION SELECT run FROM runs WHERE site_id = ? AND run <= ? AND run > ? AND run IN (`+afterRulings+") ORDER BY 1 DESC LIMIT ?",
		siteID, run, known.keptFrom, siteID, run, known.keptFrom, siteID, run, known.keptFrom, siteID, feedRuns).Scan(&runs).Error
	if err != nil {
		return changeCursor{}, fmt.Errorf("read runs: %w", err)
	}
	for _, run := range runs {
		last := ""
		err := s.Changes(ctx, siteID, models.ChangeFilter{Run: run}, func(c *models.Change) error {
			last = c.Cursor
			return nil
		})
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return changeCursor{}, err
		}
		if last != "" {
			return parseChangeCursor(last)
		}
	}
	if len(runs) < feedRuns {
		return known.feedAfter, nil
	}
	return changeCursor{run: run, section: sectionReturned + 1}, nil
}

// begin says where the feed begins for a reader, who may have asked for what is pruned.
func (h horizon) begin(filter models.ChangeFilter, after changeCursor) (int64, error) {
	switch {
	case h.keptFrom == 0:
		return 1, nil
	case filter.Run != 0 && filter.Run <= h.keptFrom:
		return 0, &models.PrunedError{Field: "run", Run: filter.Run, KeptFrom: h.keptFrom + 1}
	case filter.After != "" && after.compare(h.feedAfter) < 0:
		return 0, &models.PrunedError{Field: "after", Run: after.run, KeptFrom: h.keptFrom + 1}
	}
	return h.keptFrom + 1, nil
}
