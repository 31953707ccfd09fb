package store

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// ChangeSite edits what an operator chose for a site and gives the site as it is then. It is read and written in one
// transaction: of two who change different things at once both get their way, and a run that ends meanwhile keeps its
// counts. change may be called again with a fresh copy when the transaction is tried anew; what it returns as an error
// ends the transaction and is returned. A change that changes nothing writes nothing.
func (s *Store) ChangeSite(ctx context.Context, id int64, change func(*models.Site) error) (models.Site, error) {
	var changed models.Site
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		before, err := s.lockedSite(tx, id)
		if err != nil {
			return err
		}
		changed = before
		changed.Roots, changed.Settings.Hosts = slices.Clone(before.Roots), slices.Clone(before.Settings.Hosts)
		if err := change(&changed); err != nil {
			return err
		}
		changed.ID = id
		if err := completeSite(&changed); err != nil || reflect.DeepEqual(before, changed) {
			return err
		}
		row, err := newSiteRow(changed)
		if err != nil {
			return err
		}
		if err := saveSite(tx, &row); err != nil {
			return err
		}
		changed, err = s.lockedSite(tx, id)
		return err
	})
	if duplicate(err) {
		return models.Site{}, fmt.Errorf("change site %s: there is another one with this name or root: %w", changed.Name, models.ErrConflict)
	}
	return changed, err
}

// lockedSite reads a site that nobody else changes until the transaction ends. SQLite has one writer at a time.
func (s *Store) lockedSite(tx *gorm.DB, id int64) (models.Site, error) {
	text := "SELECT * FROM sites WHERE id = ? AND removed_at IS NULL"
	if s.mysql() {
		text += " FOR UPDATE"
	}
	var row siteRow
	err := tx.Raw(text, id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Site{}, notFound("site", id)
	}
	if err != nil {
		return models.Site{}, fmt.Errorf("read site %d: %w", id, err)
	}
	return row.site()
}

// saveSite writes what an operator chose: everything but runs, counts and creation.
func saveSite(tx *gorm.DB, row *siteRow) error {
	return tx.Model(row).Select("name", "name_key", "home", "home_key", "root", "root_key", "roots", "schedule",
		"time_zone", "paused", "settings", "password", "next_due").Updates(row).Error
}
