package store

import (
	"context"
	"fmt"

	"github.com/sitemapd/sitemapd/models"
)

// CurrentRuns gives the run that readers see of every site that has one, by site, in two statements for all of them and
// without what the runs found.
func (s *Store) CurrentRuns(ctx context.Context) (map[int64]models.Run, error) {
	var sites []siteRow
	var rows []runRow
	err := s.reads.WithContext(ctx).Select("id", "name").Where("removed_at IS NULL").Find(&sites).Error
	if err == nil {
		err = s.reads.WithContext(ctx).Raw("SELECT r.* FROM sites s JOIN runs r ON r.site_id = s.id AND r.run = s.current_run WHERE s.removed_at IS NULL").Scan(&rows).Error
	}
	if err != nil {
		return nil, fmt.Errorf("read current runs: %w", err)
	}
	names := make(map[int64]string, len(sites))
	for i := range sites {
		names[sites[i].ID] = sites[i].Name
	}
	out := make(map[int64]models.Run, len(rows))
	for i := range rows {
		run, err := rows[i].run(names[rows[i].SiteID], rows[i].Run)
		if err != nil {
			return nil, err
		}
		out[run.SiteID] = run
	}
	return out, nil
}
