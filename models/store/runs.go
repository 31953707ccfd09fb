package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type runRow struct {
	SiteID        int64 `gorm:"primaryKey;autoIncrement:false"`
	Run           int64 `gorm:"primaryKey;autoIncrement:false"`
	Cause         string
	Targeted      bool
	Baseline      bool
	Verdict       string
	Reason        string
	Error         string
	StartedAt     time.Time
	FinishedAt    *time.Time
	DocsRead      int64
	DocsUnchanged int64
	DocsFailed    int64
	Live          int64
	Added         int64
	Removed       int64
	Changed       int64
	Moved         int64
	Unchanged     int64
	Pending       int64
	Held          int64
	Stale         int64
	Restored      int64
	Requests      int64
	Bytes         int64
	SemanticHash  string
	Triggers      string
}

func (runRow) TableName() string { return "runs" }

func newRunRow(r models.Run) (runRow, error) {
	triggers, err := json.Marshal(r.Triggers)
	if err != nil {
		return runRow{}, fmt.Errorf("encode triggers: %w", err)
	}
	c := r.Counts
	return runRow{SiteID: r.SiteID, Run: r.ID, Cause: r.Cause, Targeted: r.Targeted, Baseline: r.Baseline,
		Verdict: string(r.Verdict), Reason: r.Reason, Error: r.Error, StartedAt: r.StartedAt.UTC().Truncate(time.Microsecond),
		FinishedAt: micros(r.FinishedAt), DocsRead: r.Documents.Read, DocsUnchanged: r.Documents.Unchanged, DocsFailed: r.Documents.Failed,
		Live: c.Live, Added: c.Added, Removed: c.Removed, Changed: c.Changed, Moved: c.Moved, Unchanged: c.Unchanged,
		Pending: c.Pending, Held: c.Held, Stale: c.Stale, Restored: c.Restored, Requests: r.Requests, Bytes: r.Bytes,
		SemanticHash: r.SemanticHash, Triggers: string(triggers)}, nil
}

func (r *runRow) run(site string, current int64) (models.Run, error) {
	out := models.Run{ID: r.Run, SiteID: r.SiteID, Site: site, Cause: r.Cause, Targeted: r.Targeted, Baseline: r.Baseline,
		Verdict: models.Verdict(r.Verdict), Reason: r.Reason, Error: r.Error, StartedAt: r.StartedAt.UTC(), FinishedAt: micros(r.FinishedAt),
		Current: r.Run == current, Documents: models.RunDocuments{Read: r.DocsRead, Unchanged: r.DocsUnchanged, Failed: r.DocsFailed},
		Counts: models.Counts{Live: r.Live, Added: r.Added, Removed: r.Removed, Changed: r.Changed, Moved: r.Moved,
			Unchanged: r.Unchanged, Pending: r.Pending, Held: r.Held, Stale: r.Stale, Restored: r.Restored},
		Requests: r.Requests, Bytes: r.Bytes, SemanticHash: r.SemanticHash, Findings: []models.Finding{}}
	if err := json.Unmarshal([]byte(r.Triggers), &out.Triggers); err != nil {
		return out, fmt.Errorf("run %d: decode triggers: %w", r.Run, err)
	}
	return out, nil
}

// interrupted is what a run that was killed says of itself once the next one begins.
const interrupted = "interrupted before it was finished"

// BeginRun sweeps what an interrupted run left, gives the new run its number and stores it unfinished.
func (s *Store) BeginRun(ctx context.Context, lease models.Lease, siteID int64, run models.Run) (models.Run, error) {
	err := s.begin(ctx, lease, siteID, &run)
	if errors.Is(err, errStaged) {
		if err := s.sweep(ctx, lease, siteID); err != nil {
			return run, fmt.Errorf("sweep after an interrupted run: %w", err)
		}
		err = s.begin(ctx, lease, siteID, &run)
	}
	if err != nil {
		return run, fmt.Errorf("begin run: %w", err)
	}
	return run, nil
}

// errStaged means that the site still has rows of a run that never finished.
var errStaged = errors.New("an interrupted run left rows")

func (s *Store) begin(ctx context.Context, lease models.Lease, siteID int64, run *models.Run) error {
	return s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		var site siteRow
		if err := tx.Where("id = ? AND removed_at IS NULL", siteID).Take(&site).Error; err != nil {
			if errors.Is(err, gorm.ErrRecordNotFound) {
				return notFound("site", siteID)
			}
			return err
		}
		if site.StagedRun != 0 {
			return errStaged
		}
		run.SiteID, run.Site, run.LiveBefore = siteID, site.Name, site.Live
		run.ID = site.LastRun + 1
		run.Baseline = run.Baseline || site.CurrentRun == 0
		taken := tx.Exec("UPDATE sites SET last_run = ?, staged_run = ? WHERE id = ? AND last_run = ?", run.ID, run.ID, siteID, site.LastRun)
		if taken.Error != nil {
			return taken.Error
		}
		if taken.RowsAffected != 1 {
			return again(models.ErrConflict)
		}
		return insertRun(tx, *run, site.LastRun, site.CurrentRun)
	})
}

// Finish makes a run visible: its record, the site's pointer, live count and next time, and the triggers it served,
// in one transaction. A lease with GiveBack is given back by the same transaction.
func (s *Store) Finish(ctx context.Context, lease models.Lease, run models.Run, served []int64, next *time.Time) error {
	if err := s.indexPages(ctx, run.SiteID); err != nil {
		return fmt.Errorf("finish run %d: %w", run.ID, err)
	}
	if run.FinishedAt == nil {
		at := now()
		run.FinishedAt = &at
	}
	row, err := newRunRow(run)
	if err != nil {
		return err
	}
	visible := false // an earlier try was committed, though its answer was lost
	err = s.fencedBy(ctx, lease, &visible, func(tx *gorm.DB, try int) error {
		moved, err := movePointer(tx, &run, next)
		if err != nil {
			return err
		}
		if !moved {
			err := s.finishedBefore(tx, run, try)
			visible = err == nil
			return err
		}
		if err := tx.Save(&row).Error; err != nil {
			return err
		}
		if run.Cached > 0 {
			if err := tx.Exec("INSERT INTO cached_runs (site_id, run) VALUES (?, ?)", run.SiteID, run.ID).Error; err != nil {
				return fmt.Errorf("note that a cache answered: %w", err)
			}
		}
		return serve(tx, run, served)
	})
	if err != nil {
		return fmt.Errorf("finish run %d: %w", run.ID, err)
	}
	return nil
}

// LastWalk gives number and start of a site's last complete run that read all documents and that no cache answered: what is stored
// of a document since before that run was still true then. Zero when there is none.
func (s *Store) LastWalk(ctx context.Context, siteID int64) (run int64, at time.Time, err error) {
	var row runRow
	err = s.reads.WithContext(ctx).Raw(`SELECT r.run, r.started_at FROM runs r JOIN sites s ON s.id = r.site_id
		WHERE r.site_id = ? AND r.run <= s.current_run AND r.targeted = ? AND r.verdict = ? AND r.error = ''
		AND NOT EXISTS (SELECT 1 FROM cached_runs c WHERE c.site_id = r.site_id AND c.run = r.run)
		ORDER BY r.run DESC LIMIT 1`, siteID, false, models.VerdictComplete).Scan(&row).Error
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("read last complete run of site %d: %w", siteID, err)
	}
	if row.Run == 0 {
		return 0, time.Time{}, nil
	}
	return row.Run, row.StartedAt.UTC(), nil
}

// movePointer shows a run to readers; false when it is not the one under way. The live count that the run came to holds
// unless a person ruled on removals meanwhile, which changed it.
func movePointer(tx *gorm.DB, run *models.Run, next *time.Time) (bool, error) {
	const text = "UPDATE sites SET current_run = ?, live = ?, next_due = ?, staged_run = 0 WHERE id = ? AND staged_run = ?"
	moved := tx.Exec(text+" AND live = ?", run.ID, run.Counts.Live, micros(next), run.SiteID, run.ID, run.LiveBefore)
	if moved.Error != nil || moved.RowsAffected == 1 {
		return moved.Error == nil, moved.Error
	}
	live, err := liveAfter(tx, run)
	if err != nil {
		return false, err
	}
	moved = tx.Exec(text, run.ID, live, micros(next), run.SiteID, run.ID)
	return moved.RowsAffected == 1, moved.Error
}

// liveAfter gives the site's live count once a run is visible: what the run counted, unless a person ruled on removals
// while it was under way. Then it is counted anew, for the run may have decided the same cases.
func liveAfter(tx *gorm.DB, run *models.Run) (int64, error) {
	var before int64
	if err := tx.Raw("SELECT live FROM sites WHERE id = ?", run.SiteID).Scan(&before).Error; err != nil {
		return 0, fmt.Errorf("read live count: %w", err)
	}
	if before == run.LiveBefore {
		return run.Counts.Live, nil
	}
	var listed, gone int64
	if err := tx.Raw("SELECT COUNT(*) FROM declarations WHERE site_id = ? AND to_run = ? AND role = 0", run.SiteID, models.Open).Scan(&listed).Error; err != nil {
		return 0, fmt.Errorf("count listed pages: %w", err)
	}
	err := tx.Raw("SELECT COUNT(*) FROM removals WHERE site_id = ? AND decided_run = ? AND valid_to = ? AND stage <> ? AND ruling <> ?",
		run.SiteID, models.Open, models.Open, models.StageLeftWindow, rejected).Scan(&gone).Error
	if err != nil {
		return 0, fmt.Errorf("count undecided removals: %w", err)
	}
	return listed - gone, nil
}

// servedBatch triggers are marked in one statement: SQLite takes 32,766 parameters, MySQL 65,535.
const servedBatch = 10_000

// serve marks the triggers that a run served.
func serve(tx *gorm.DB, run models.Run, served []int64) error {
	for portion := range slices.Chunk(served, servedBatch) {
		err := tx.Exec("UPDATE triggers SET served_run = ?, served_at = ? WHERE site_id = ? AND id IN ? AND served_run = 0",
			run.ID, run.FinishedAt.UTC().Truncate(time.Microsecond), run.SiteID, portion).Error
		if err != nil {
			return fmt.Errorf("mark triggers served: %w", err)
		}
	}
	return nil
}

// finishedBefore tells a repeated Finish, whose first commit arrived though its answer did not, from a run that is
// not the one under way.
func (s *Store) finishedBefore(tx *gorm.DB, run models.Run, try int) error {
	var current int64
	if err := tx.Raw("SELECT current_run FROM sites WHERE id = ?", run.SiteID).Scan(&current).Error; err != nil {
		return err
	}
	if current == run.ID && try > 0 {
		return nil
	}
	return fmt.Errorf("run %d is not under way (current is %d): %w", run.ID, current, models.ErrConflict)
}

// FailRun records that a run ended by our own failure and takes back what it staged. Readers stay where they were.
func (s *Store) FailRun(ctx context.Context, lease models.Lease, siteID, run int64, message string) error {
	site, err := s.siteRow(ctx, siteID)
	if err == nil && site.StagedRun == run { // else a later run is under way, or the sweep was made already
		err = s.sweep(ctx, lease, siteID)
	}
	if err != nil {
		return fmt.Errorf("fail run %d: %w", run, err)
	}
	err = s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		return tx.Exec("UPDATE runs SET error = ?, finished_at = ? WHERE site_id = ? AND run = ? AND finished_at IS NULL",
			message, now(), siteID, run).Error
	})
	if err != nil {
		return fmt.Errorf("fail run %d: %w", run, err)
	}
	return nil
}

// Runs gives a site's runs, newest first, with numbers below before (0: from the newest), at most limit (0: all).
func (s *Store) Runs(ctx context.Context, siteID, before int64, limit int) ([]models.Run, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return nil, err
	}
	query := s.reads.WithContext(ctx).Where("site_id = ?", siteID).Order("run DESC")
	if before > 0 {
		query = query.Where("run < ?", before)
	}
	if limit > 0 {
		query = query.Limit(limit)
	}
	var rows []runRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read runs of site %d: %w", siteID, err)
	}
	out := make([]models.Run, 0, len(rows))
	for i := range rows {
		run, err := rows[i].run(site.Name, site.CurrentRun)
		if err != nil {
			return nil, err
		}
		out = append(out, run)
	}
	return out, s.foundIn(ctx, siteID, out)
}

// Run gives one run with what it found.
func (s *Store) Run(ctx context.Context, siteID, id int64) (models.Run, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return models.Run{}, err
	}
	var row runRow
	err = s.reads.WithContext(ctx).Where("site_id = ? AND run = ?", siteID, id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Run{}, notFound("run", id)
	}
	if err != nil {
		return models.Run{}, fmt.Errorf("read run %d: %w", id, err)
	}
	run, err := row.run(site.Name, site.CurrentRun)
	if err != nil {
		return run, err
	}
	runs := []models.Run{run}
	err = s.foundIn(ctx, siteID, runs)
	return runs[0], err
}

// RunAt gives the number of the run that readers saw at a moment; models.ErrNotFound before the first.
func (s *Store) RunAt(ctx context.Context, siteID int64, at time.Time) (int64, error) {
	var run int64
	err := s.reads.WithContext(ctx).Raw(`SELECT COALESCE(MAX(r.run), 0) FROM runs r JOIN sites s ON s.id = r.site_id
		WHERE r.site_id = ? AND r.run <= s.current_run AND r.error = '' AND r.finished_at <= ?`,
		siteID, at.UTC().Truncate(time.Microsecond)).Scan(&run).Error
	if err != nil {
		return 0, fmt.Errorf("find run at %s: %w", at.UTC().Format(time.RFC3339), err)
	}
	if run == 0 {
		return 0, notFound("run before", at.UTC().Format(time.RFC3339))
	}
	return run, nil
}
