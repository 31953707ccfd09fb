package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// incidentsFor is how long an incident counts as going on.
const incidentsFor = 7 * 24 * time.Hour

// Verification counts what is known and what is due of a site's pages at a time. It reads every head of the site: about a
// second for a million. The host's budget is the caller's to add.
func (s *Store) Verification(ctx context.Context, site int64, at time.Time) (models.Verification, error) {
	v := models.Verification{At: at.UTC(), Statuses: map[string]int64{}, Resolutions: map[string]int64{}, Conflicts: map[string]int64{}, Waiting: map[string]int64{}}
	for _, count := range []func(context.Context, int64, *models.Verification) error{s.countHeads, s.countConflicts, s.countWaiting, s.countRest} {
		if err := count(ctx, site, &v); err != nil {
			return v, fmt.Errorf("count what is verified: %w", err)
		}
	}
	return v, nil
}

func (s *Store) countHeads(ctx context.Context, site int64, v *models.Verification) error {
	var rows []struct {
		Status, Own, Resolution string
		Never, Edge             bool
		Pages                   int64
	}
	err := s.reads.WithContext(ctx).Raw(`SELECT status, own, resolution, reason = 'never_fetched' AS never, edge_key IS NOT NULL AS edge, COUNT(*) AS pages
		FROM canonical_heads WHERE site_id = ? AND listed = ? GROUP BY 1, 2, 3, 4, 5`, site, true).Scan(&rows).Error
	if err != nil {
		return err
	}
	for _, r := range rows {
		v.Pages += r.Pages
		v.Statuses[r.Status] += r.Pages
		if !r.Never {
			v.Verified += r.Pages
		}
		resolution := r.Own
		if r.Own != "conflict" && r.Edge && r.Resolution != "none" {
			resolution = r.Resolution
		}
		v.Resolutions[resolution] += r.Pages
	}
	return nil
}

func (s *Store) countConflicts(ctx context.Context, site int64, v *models.Verification) error {
	var rows []struct {
		Kinds string
		Pages int64
	}
	err := s.reads.WithContext(ctx).Raw("SELECT kinds, COUNT(*) AS pages FROM canonical_conflicts WHERE site_id = ? AND closed_at IS NULL GROUP BY kinds", site).
		Scan(&rows).Error
	for _, r := range rows {
		for _, kind := range strings.Split(r.Kinds, ",") {
			v.Conflicts[kind] += r.Pages
		}
	}
	return err
}

// countWaiting reads the index of what is due alone.
func (s *Store) countWaiting(ctx context.Context, site int64, v *models.Verification) error {
	for class, name := range models.LookClasses {
		due := func() (out []canonicalWatchRow, n int64, err error) {
			query := s.reads.WithContext(ctx).Model(&canonicalWatchRow{}).Where("site_id = ? AND class = ? AND next_look <= ?", site, class, stored(v.At))
			if err = query.Count(&n).Error; err == nil && n > 0 {
				err = query.Select("next_look").Order("next_look").Limit(1).Find(&out).Error
			}
			return out, n, err
		}
		oldest, n, err := due()
		if err != nil {
			return err
		}
		v.Waiting[name] = n
		v.Due += n
		if len(oldest) > 0 {
			if at := micros(oldest[0].NextLook); v.OldestDue == nil || at.Before(*v.OldestDue) {
				v.OldestDue = at
			}
		}
	}
	return nil
}

func (s *Store) countRest(ctx context.Context, site int64, v *models.Verification) error {
	err := s.reads.WithContext(ctx).Raw("SELECT (SELECT COUNT(*) FROM canonical_dirty WHERE site_id = ?) + (SELECT COUNT(*) FROM canonical_news WHERE site_id = ?)", site, site).
		Scan(&v.Unsettled).Error
	if err != nil {
		return err
	}
	if err := s.audited(ctx, site, models.AuditFilter{}).Count(&v.Findings).Error; err != nil {
		return err
	}
	mutes, err := s.Mutes(ctx, site, v.At)
	if err != nil {
		return err
	}
	incidents, err := s.Incidents(ctx, site, v.At.Add(-incidentsFor))
	v.Muted, v.Incidents = int64(len(mutes)), int64(len(incidents))
	return err
}
