package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// Listed gives all rows of pages that are valid at a run, duplicates included and foreign ones not, ascending by key, then
// document. The run under way sees what it staged.
func (s *Store) Listed(ctx context.Context, siteID, run int64, keys []models.Key) ([]models.Declaration, error) {
	if err := s.indexPages(ctx, siteID); err != nil {
		return nil, err
	}
	out := make([]models.Declaration, 0, len(keys))
	for portion := range slices.Chunk(sortedKeys(keys), statementKeys) {
		args := appendKeys(append(make([]any, 0, len(portion)+3), siteID), portion, len(portion))
		where := s.pageColumn("site_id") + " = ? AND " + s.pageColumn("url_key") + " IN (" + marks(len(portion)) +
			") AND d.from_run <= ? AND d.to_run > ? AND d.role <> 2 ORDER BY d.url_key, d.document"
		err := s.declarationsFrom(ctx, s.byPage(), where, append(args, run, run), func(d *models.Declaration) error {
			out = append(out, *d)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look pages up at run %d: %w", run, err)
		}
	}
	return out, nil
}

// Extended streams what a document declares with extension blocks at a run, ascending by key.
func (s *Store) Extended(ctx context.Context, siteID, run int64, document int32, fn func(*models.Declaration) error) error {
	at := strconv.FormatInt(run, 10)
	where := "d.site_id = " + strconv.FormatInt(siteID, 10) + " AND d.document = " + strconv.Itoa(int(document)) +
		" AND d.from_run <= " + at + " AND d.to_run > " + at + " AND d.role = 0 AND d.extensions IS NOT NULL ORDER BY d.url_key"
	if err := s.declarations(ctx, where, nil, fn); err != nil {
		return fmt.Errorf("read extensions of document %d: %w", document, err)
	}
	return nil
}

// Findings that come of looking across documents are kept under the negative number of the document that declares the
// page, as sets: the newest set at or before a run is what holds at it. A row without a code stands for an empty set.

// across selects those rows of findings f that hold at a run, to be given twice; "" codes are left out.
const across = `(f.document < 0 AND f.from_run <= ? AND f.code <> '' AND f.from_run =
	(SELECT MAX(g.from_run) FROM findings g WHERE g.site_id = f.site_id AND g.document = f.document AND g.from_run <= ?))`

// SaveSiteFindings stages the set of findings about the pages of one document that come of looking across documents. It
// replaces the set before, of which earlier runs keep saying what they said.
func (s *Store) SaveSiteFindings(ctx context.Context, lease models.Lease, siteID, run int64, document int32, findings []models.Finding) error {
	if document <= 0 {
		return errors.New("save findings across documents: a document is required")
	}
	if len(findings) == 0 {
		findings = []models.Finding{{}}
	}
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		if err := tx.Exec("DELETE FROM findings WHERE site_id = ? AND document = ? AND from_run = ?", siteID, -document, run).Error; err != nil {
			return err
		}
		if err := saveFindings(tx, siteID, -document, run, findings); err != nil {
			return err
		}
		return s.touch(tx, siteID, run, -document)
	})
	if err != nil {
		return fmt.Errorf("save findings across documents, document %d: %w", document, err)
	}
	return nil
}

// SiteFindings gives the sets of findings across documents that readers see, by document.
func (s *Store) SiteFindings(ctx context.Context, siteID int64) (map[int32][]models.Finding, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return nil, err
	}
	var rows []findingRow
	err = s.reads.WithContext(ctx).Raw("SELECT f.* FROM findings f WHERE f.site_id = ? AND "+across+" ORDER BY f.document, f.seq",
		siteID, site.CurrentRun, site.CurrentRun).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read findings across documents of site %d: %w", siteID, err)
	}
	out := map[int32][]models.Finding{}
	for i := range rows {
		out[-rows[i].Document] = append(out[-rows[i].Document], rows[i].finding())
	}
	return out, nil
}
