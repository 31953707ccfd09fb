package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// Prune forgets what no run from one on shows: superseded declarations, document versions with their findings, and
// versions of removals that ended at that run or before. Any moment from that run on can still be asked for and is what it
// was, and so is the change feed behind it; earlier ones are refused with a models.PrunedError from then on. What was
// declared of a page last is kept even when the page is gone, and so are runs, documents and decided removals. It works in
// bounded fenced transactions under the host's lease; one that is interrupted is carried on by the next. A run that failed means the one before it.
func (s *Store) Prune(ctx context.Context, lease models.Lease, siteID, run int64) (models.Pruned, error) {
	p := models.Pruned{Run: run}
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return p, err
	}
	if run < 1 || run > site.CurrentRun {
		return p, models.Invalid("run", "name a run that is there", "run %d is not between 1 and the current run %d", run, site.CurrentRun)
	}
	if site.StagedRun != 0 { // the lease is ours, so that run is dead
		if err := s.sweep(ctx, lease, siteID); err != nil {
			return p, fmt.Errorf("prune: sweep: %w", err)
		}
	}
	if run, err = s.lastFinished(ctx, siteID, run); err != nil {
		return p, fmt.Errorf("prune: %w", err)
	}
	known, err := s.horizon(ctx, siteID)
	if err != nil {
		return p, fmt.Errorf("prune: %w", err)
	}
	if p.Run = max(run, known.keptFrom); p.Run > known.keptFrom {
		h := horizon{keptFrom: p.Run}
		if h.feedAfter, err = s.lastChange(ctx, siteID, p.Run, known); err != nil {
			return p, fmt.Errorf("prune: find the last change: %w", err)
		}
		if err := s.setHorizon(ctx, lease, siteID, h); err != nil { // first: nobody begins to read what is half gone
			return p, fmt.Errorf("prune: %w", err)
		}
	}
	var documents []int32
	if err := s.reads.WithContext(ctx).Raw("SELECT document FROM documents WHERE site_id = ? ORDER BY document", siteID).Scan(&documents).Error; err != nil {
		return p, fmt.Errorf("prune: read documents: %w", err)
	}
	if err := s.indexPages(ctx, siteID); err != nil {
		return p, err
	}
	missed := map[int32][]int64{} // by document, runs that missed pages of it
	rows, err := s.query(ctx, "SELECT DISTINCT document, from_run FROM removals WHERE site_id = ? AND valid_to > ?", siteID, p.Run)
	err = each(rows, err, func(rows *sql.Rows) error {
		var document int32
		var run int64
		err := rows.Scan(&document, &run)
		missed[document] = append(missed[document], run)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("prune: read removals: %w", err)
	}
	for _, document := range documents {
		if err := s.pruneDeclarations(ctx, lease, siteID, document, &p); err != nil {
			return p, fmt.Errorf("prune document %d: %w", document, err)
		}
		if err := s.pruneVersions(ctx, lease, siteID, document, missed[document], &p); err != nil {
			return p, fmt.Errorf("prune document %d: %w", document, err)
		}
	}
	if err := s.pruneRest(ctx, lease, siteID, &p); err != nil {
		return p, fmt.Errorf("prune: %w", err)
	}
	return p, nil
}

// lastFinished gives the run whose rows are seen at a run: that one, or the one before it when it failed. What a person
// ruled while it failed belongs to the one before, and the feed behind the failed one still tells of it.
func (s *Store) lastFinished(ctx context.Context, siteID, run int64) (int64, error) {
	var last int64
	err := s.reads.WithContext(ctx).Raw("SELECT COALESCE(MAX(run), 0) FROM runs WHERE site_id = ? AND run <= ? AND "+finished, siteID, run).Scan(&last).Error
	if err != nil {
		return 0, fmt.Errorf("read runs: %w", err)
	}
	if last == 0 { // nothing is seen yet
		return run, nil
	}
	return last, nil
}

// pruneRest forgets versions of removals, findings of whole runs and the marks of who wrote what. What a person had ruled
// of a page until somebody ruled anew at that very run is kept: the feed behind it tells of the second ruling by the first.
func (s *Store) pruneRest(ctx context.Context, lease models.Lease, siteID int64, p *models.Pruned) error {
	for _, x := range []struct {
		text string
		n    *int64
	}{
		{"DELETE FROM removals WHERE site_id = ? AND valid_to < ? + (ruling = 0)", &p.Removals},
		{"DELETE FROM findings WHERE site_id = ? AND document = 0 AND from_run < ?", &p.Findings},
		{"DELETE FROM touched WHERE site_id = ? AND run <= ?", nil},
		{"DELETE FROM published_posts WHERE site_id = ? AND to_run <= ?", nil},
		{"DELETE FROM rulings WHERE site_id = ? AND ruled_run < ?", nil},
		{"DELETE FROM cached_runs WHERE site_id = ? AND run < ?", nil},
	} {
		limit := ""
		if s.mysql() { // write sets are bounded on clusters; SQLite has no LIMIT here and no need
			limit = " LIMIT " + strconv.Itoa(sweepRows)
		}
		for more := true; more; {
			var n int64
			err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
				result := tx.Exec(x.text+limit, siteID, p.Run)
				n = result.RowsAffected
				return result.Error
			})
			if err != nil {
				return err
			}
			if more = limit != "" && n == sweepRows; x.n != nil {
				*x.n += n
			}
		}
	}
	return nil
}

// pruneDeclarations deletes a document's rows that ended, except those that were the last ones of their pages at the run:
// what was declared of a page that is gone by then.
func (s *Store) pruneDeclarations(ctx context.Context, lease models.Lease, siteID int64, document int32, p *models.Pruned) error {
	var after models.Key
	for {
		var keys []models.Key
		rows, err := s.query(ctx, "SELECT DISTINCT d.url_key, 0 FROM declarations d WHERE d.site_id = ? AND d.document = ? AND d.url_key > ? AND d.to_run <= "+
			strconv.FormatInt(p.Run, 10)+" ORDER BY d.url_key LIMIT "+strconv.Itoa(statementKeys), siteID, document, append([]byte(nil), after[:]...))
		err = eachKeyed(rows, err, func(key models.Key, _ int64) error {
			keys = append(keys, key)
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.prunePages(ctx, lease, siteID, document, keys, p); err != nil {
			return err
		}
		if len(keys) < statementKeys {
			return nil
		}
		after = keys[len(keys)-1]
	}
}

func (s *Store) prunePages(ctx context.Context, lease models.Lease, siteID int64, document int32, keys []models.Key, p *models.Pruned) error {
	if len(keys) == 0 {
		return nil
	}
	last := map[models.Key]int64{} // foreign listings are nobody's last word
	rows, err := s.query(ctx, "SELECT d.url_key, MAX(d.to_run) FROM "+s.byPage()+" WHERE "+s.pageColumn("site_id")+" = ? AND "+s.pageColumn("url_key")+
		" IN ("+marks(len(keys))+") AND d.from_run <= "+strconv.FormatInt(p.Run, 10)+" AND d.role < 2 GROUP BY d.url_key",
		appendKeys([]any{siteID}, keys, len(keys))...)
	err = eachKeyed(rows, err, func(key models.Key, to int64) error {
		last[key] = to
		return nil
	})
	if err != nil {
		return err
	}
	// Pages by the run up to which their rows go, so that one statement serves many.
	upTo := map[int64][]models.Key{}
	for _, key := range keys {
		to := min(p.Run, last[key]-1)
		upTo[to] = append(upTo[to], key)
	}
	var n int64
	err = s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		n = 0
		for to, pages := range upTo {
			result := tx.Exec("DELETE FROM declarations WHERE site_id = ? AND document = ? AND (to_run <= ? OR role = 2 AND to_run <= ?) AND url_key IN ?",
				siteID, document, to, p.Run, keyBytes(pages))
			if result.Error != nil {
				return result.Error
			}
			n += result.RowsAffected
		}
		return nil
	})
	p.Declarations += n
	return err
}

// pruneVersions deletes a document's versions that ended, with their findings, but for those that say when the document,
// or a page that left it, was last seen: the last good one, and the last good ones before a run that missed a page.
func (s *Store) pruneVersions(ctx context.Context, lease models.Lease, siteID int64, document int32, missed []int64, p *models.Pruned) error {
	var versions []versionRow
	err := s.reads.WithContext(ctx).Select("from_run", "to_run", "verdict", "semantic_hash").Where("site_id = ? AND document = ?", siteID, document).
		Order("from_run DESC").Find(&versions).Error
	if err != nil {
		return err
	}
	kept := map[int64]bool{}
	keep := func(before int64, settled bool) {
		at := slices.IndexFunc(versions, func(v versionRow) bool {
			return v.FromRun < before && models.Verdict(v.Verdict).Read() && (!settled || v.SemanticHash != nil)
		})
		if at >= 0 {
			kept[versions[at].FromRun] = true
		}
	}
	keep(p.Run+1, false)
	for _, run := range missed {
		keep(run, true)
	}
	ended := slices.DeleteFunc(versions, func(v versionRow) bool { return v.ToRun > p.Run || kept[v.FromRun] })
	for portion := range slices.Chunk(ended, statementKeys) {
		from := make([]int64, len(portion))
		for i := range portion {
			from[i] = portion[i].FromRun
		}
		var deleted, findings int64
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
			result := tx.Exec("DELETE FROM document_versions WHERE site_id = ? AND document = ? AND from_run IN ?", siteID, document, from)
			if result.Error != nil {
				return result.Error
			}
			deleted = result.RowsAffected
			result = tx.Exec("DELETE FROM findings WHERE site_id = ? AND document = ? AND from_run IN ?", siteID, document, from)
			findings = result.RowsAffected
			return result.Error
		})
		if err != nil {
			return err
		}
		p.Versions, p.Findings = p.Versions+deleted, p.Findings+findings
	}
	return nil
}

// PruneBefore gives the run that Prune keeps from on when moments before one are not wanted any more: the run that readers
// saw then, or the oldest that there is still. models.ErrNotFound means that nothing is so old.
func (s *Store) PruneBefore(ctx context.Context, siteID int64, at models.AsOf) (int64, error) {
	m, err := s.at(ctx, siteID, at)
	var pruned *models.PrunedError
	if errors.As(err, &pruned) {
		return pruned.KeptFrom, nil
	}
	if err != nil {
		return 0, err
	}
	if m.run == 0 {
		return 0, errors.Join(models.ErrNotFound, errors.New("no run is so old"))
	}
	return m.run, nil
}
