package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// removalRow is one version of one case. A run supersedes the version it changes, so that a sweep can take it back and
// any past run can be asked; what a person ruled stands beside it and no run overwrites it.
type removalRow struct {
	SiteID     int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey     []byte `gorm:"primaryKey"`
	FromRun    int64  `gorm:"primaryKey;autoIncrement:false"`
	ValidFrom  int64  `gorm:"primaryKey;autoIncrement:false"`
	ValidTo    int64
	Document   int32
	FirstRun   int64
	HeldRun    int64
	DecidedRun int64
	AgreedRun  int64
	Stage      string
	Since      time.Time
	URL        string
	Reason     string
	MovedTo    string
	MovedKey   []byte
	Evidence   []byte
	Ruling     int
	RuledRun   int64
	RuledAt    *time.Time
}

func (removalRow) TableName() string { return "removals" }

const (
	approved = 1
	rejected = 2
)

// stageAt gives the stage at a run at which this version is valid.
func (r *removalRow) stageAt(run int64) string {
	undecided := r.Stage == models.StagePending || r.Stage == models.StageHeld
	switch {
	case undecided && r.Ruling == approved && r.RuledRun <= run:
		return models.StageApproved
	case undecided && r.Ruling == rejected && r.RuledRun <= run:
		return models.StageRejected
	}
	return r.Stage
}

func (r *removalRow) removal() models.Removal {
	out := models.Removal{URL: r.URL, Document: r.Document, FromRun: r.FromRun, FirstRun: r.FirstRun, HeldRun: r.HeldRun,
		DecidedRun: r.DecidedRun, Stage: r.stageAt(models.Open), Since: r.Since.UTC(), AgreedRun: r.AgreedRun, Reason: r.Reason,
		MovedTo: r.MovedTo, Evidence: r.Evidence}
	copy(out.Key[:], r.URLKey)
	copy(out.MovedKey[:], r.MovedKey)
	return out
}

// why gives what the case rests on, as it was known at a run.
func (r *removalRow) why(run int64) *models.PageRemoval {
	since := r.Since.UTC()
	out := &models.PageRemoval{Stage: r.stageAt(run), FromRun: r.FromRun, Since: &since, HeldRun: r.HeldRun, AgreedRun: r.AgreedRun}
	if r.DecidedRun <= run {
		decided := r.DecidedRun
		out.DecidedRun = &decided
	}
	if r.Ruling != 0 && r.RuledRun <= run {
		out.RuledRun, out.RuledAt = r.RuledRun, micros(r.RuledAt)
	}
	_ = json.Unmarshal(r.Evidence, &out.RemovalEvidence) // written by a later version: what can be read of it
	return out
}

func newRemovalRow(site, run int64, m *models.Removal) removalRow {
	r := removalRow{SiteID: site, URLKey: m.Key[:], FromRun: m.FromRun, ValidFrom: run, ValidTo: models.Open, Document: m.Document,
		FirstRun: m.FirstRun, HeldRun: m.HeldRun, DecidedRun: m.DecidedRun, AgreedRun: m.AgreedRun, Stage: m.Stage,
		Since: stored(m.Since), URL: m.URL, Reason: m.Reason, MovedTo: m.MovedTo, Evidence: m.Evidence}
	if m.MovedKey != (models.Key{}) {
		r.MovedKey = m.MovedKey[:]
	}
	if r.Stage == models.StageApproved || r.Stage == models.StageRejected { // a ruling, which stands beside
		r.Stage = models.StagePending
		if r.HeldRun > 0 {
			r.Stage = models.StageHeld
		}
	}
	if r.Stage == models.StageHeld && r.HeldRun == 0 {
		r.HeldRun = run
	}
	return r
}

// Removals gives the undecided cases by page, as they are staged at the moment. Those that a person ruled on are
// approved or rejected.
func (s *Store) Removals(ctx context.Context, siteID int64) ([]models.Removal, error) {
	var rows []removalRow
	err := s.reads.WithContext(ctx).Where("site_id = ? AND decided_run = ? AND valid_to = ?", siteID, models.Open, models.Open).
		Order("url_key").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read removals: %w", err)
	}
	out := make([]models.Removal, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].removal())
	}
	return out, nil
}

// Removed gives the last case of pages that had been removed or moved, by page: where their history
// began. No keys means every page.
func (s *Store) Removed(ctx context.Context, siteID int64, keys []models.Key) ([]models.Removal, error) {
	var out []models.Removal
	ended := []string{models.StageRemoved, models.StageMoved, models.StageMigrated}
	read := func(query *gorm.DB) error {
		var rows []removalRow
		err := query.Where("site_id = ? AND decided_run < ? AND valid_to = ? AND stage IN ?", siteID, models.Open, models.Open, ended).
			Order("url_key, from_run").Find(&rows).Error
		if err != nil {
			return fmt.Errorf("read removed pages: %w", err)
		}
		for i := range rows {
			removal := rows[i].removal()
			if n := len(out); n > 0 && out[n-1].Key == removal.Key {
				out = out[:n-1]
			}
			out = append(out, removal)
		}
		return nil
	}
	if keys == nil {
		return out, read(s.reads.WithContext(ctx))
	}
	for portion := range slices.Chunk(sortedKeys(keys), statementKeys) {
		if err := read(s.reads.WithContext(ctx).Where("url_key IN ?", keyBytes(portion))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func keyBytes(keys []models.Key) [][]byte {
	out := make([][]byte, len(keys))
	for i := range keys {
		out[i] = keys[i][:]
	}
	return out
}

// removalBatch cases are written in one transaction.
const removalBatch = 200

// SaveRemovals stages cases: new ones, and changes of those that have the same page and FromRun. At most one case of
// a page may be undecided at a time.
func (s *Store) SaveRemovals(ctx context.Context, lease models.Lease, site, run int64, removals []models.Removal) error {
	for portion := range slices.Chunk(removals, removalBatch) {
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error { return saveRemovals(tx, site, run, portion) })
		if err != nil {
			return fmt.Errorf("save removals: %w", err)
		}
	}
	return nil
}

type caseName struct {
	key  models.Key
	from int64
}

func saveRemovals(tx *gorm.DB, site, run int64, removals []models.Removal) error {
	keys := make([][]byte, len(removals))
	for i := range removals {
		keys[i] = removals[i].Key[:]
	}
	var stored []removalRow
	if err := tx.Where("site_id = ? AND url_key IN ? AND valid_to = ?", site, keys, models.Open).Find(&stored).Error; err != nil {
		return err
	}
	known := make(map[caseName]*removalRow, len(stored))
	for i := range stored {
		known[caseName{models.Key(stored[i].URLKey), stored[i].FromRun}] = &stored[i]
	}
	rows := make([]removalRow, 0, len(removals))
	for i := range removals {
		row := newRemovalRow(site, run, &removals[i])
		if old := known[caseName{removals[i].Key, row.FromRun}]; old != nil {
			row.Ruling, row.RuledRun, row.RuledAt = old.Ruling, old.RuledRun, old.RuledAt
			if err := endRemoval(tx, old, run); err != nil {
				return err
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.Create(&rows).Error
}

// endRemoval supersedes a version, or drops it when this run wrote it.
func endRemoval(tx *gorm.DB, old *removalRow, run int64) error {
	where := " WHERE site_id = ? AND url_key = ? AND from_run = ? AND valid_from = ?"
	if old.ValidFrom >= run {
		return tx.Exec("DELETE FROM removals"+where, old.SiteID, old.URLKey, old.FromRun, old.ValidFrom).Error
	}
	return tx.Exec("UPDATE removals SET valid_to = ?"+where, run, old.SiteID, old.URLKey, old.FromRun, old.ValidFrom).Error
}

// DecideRemovals records what a person says of undecided removals. Nil keys mean all of a site, but approving all leaves
// alone what was rejected by name. Approved ones are
// removed by the next complete walk that still misses them; rejected ones are listed again at once. It works outside
// runs, and a run under way keeps the ruling. It gives the number of cases whose ruling changed.
func (s *Store) DecideRemovals(ctx context.Context, siteID int64, keys []models.Key, approve bool) (int64, error) {
	ruling := rejected
	if approve {
		ruling = approved
	}
	portions := [][]models.Key{nil}
	if keys != nil {
		portions = slices.Collect(slices.Chunk(sortedKeys(keys), statementKeys))
	}
	var total int64
	for _, portion := range portions {
		n, err := s.rule(ctx, siteID, portion, ruling)
		if err != nil {
			return total, fmt.Errorf("decide removals: %w", err)
		}
		total += n
	}
	return total, nil
}

func (s *Store) rule(ctx context.Context, siteID int64, keys []models.Key, ruling int) (int64, error) {
	var n int64
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		var site siteRow
		if err := tx.Where("id = ? AND removed_at IS NULL", siteID).Limit(1).Find(&site).Error; err != nil {
			return err
		}
		if site.ID == 0 {
			return notFound("site", siteID)
		}
		cases := func() *gorm.DB {
			query := tx.Model(&removalRow{}).Where("site_id = ? AND decided_run = ? AND valid_to > ? AND ruling <> ? AND stage <> ?",
				siteID, models.Open, site.CurrentRun, ruling, models.StageLeftWindow)
			if keys != nil {
				query = query.Where("url_key IN ?", keyBytes(keys))
			} else if ruling == approved { // "all" does not mean what a person rejected one by one
				query = query.Where("ruling = 0")
			}
			return query
		}
		var listed int64 // rejected before, approved now: no longer listed
		if err := cases().Where("valid_from <= ?", site.CurrentRun).Count(&n).Error; err != nil {
			return err
		}
		if err := cases().Where("valid_from <= ? AND ruling = ?", site.CurrentRun, rejected).Count(&listed).Error; err != nil {
			return err
		}
		if err := splitRulings(tx, cases().Where("valid_from < ? AND ruling <> 0 AND ruled_run < ?", site.CurrentRun, site.CurrentRun), site.CurrentRun); err != nil {
			return err
		}
		var urls []string
		if err := cases().Where("valid_from <= ?", site.CurrentRun).Order("url_key").Limit(eventPages).Pluck("url", &urls).Error; err != nil {
			return err
		}
		at := now()
		err := cases().Updates(map[string]any{"ruling": ruling, "ruled_run": site.CurrentRun, "ruled_at": at}).Error
		if err != nil {
			return err
		}
		if n > 0 {
			if err := noteRuling(tx, siteID, site.CurrentRun); err != nil {
				return err
			}
		}
		change := -listed
		if ruling == rejected {
			change = n
		}
		if err := tx.Exec("UPDATE sites SET live = live + ? WHERE id = ?", change, siteID).Error; err != nil || n == 0 {
			return err
		}
		return ruledEvent(tx, &site, urls, n, ruling, at)
	})
	return n, err
}

// splitRulings ends the versions that a person ruled on at an earlier run and copies them from this run on, so that a
// second ruling does not change what the first one was.
func splitRulings(tx *gorm.DB, ruledBefore *gorm.DB, run int64) error {
	var rows []removalRow
	if err := ruledBefore.Find(&rows).Error; err != nil {
		return err
	}
	for i := range rows {
		if err := endRemoval(tx, &rows[i], run); err != nil {
			return err
		}
		rows[i].ValidFrom = run
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.CreateInBatches(rows, removalBatch).Error
}
