package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type siteRow struct {
	ID         int64 `gorm:"primaryKey"`
	Name       string
	NameKey    []byte
	Home       string
	HomeKey    []byte
	Root       string
	RootKey    []byte
	Roots      string
	Schedule   string
	TimeZone   string
	Paused     bool
	Settings   string
	Password   string
	CurrentRun int64
	LastRun    int64
	StagedRun  int64
	Live       int64
	NextDue    *time.Time
	CreatedAt  time.Time
	RemovedAt  *time.Time

	keptFrom int64 // see retention; only siteRow reads it
}

func (siteRow) TableName() string { return "sites" }

// textKey makes texts of any length comparable byte by byte and fit for a unique index.
func textKey(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

// urlKey forgives a trailing slash: people leave it out.
func urlKey(text string) []byte { return textKey(strings.TrimRight(text, "/")) }

func newSiteRow(site models.Site) (siteRow, error) {
	roots, err := json.Marshal(site.Roots)
	if err != nil {
		return siteRow{}, fmt.Errorf("encode roots: %w", err)
	}
	settings, err := json.Marshal(site.Settings)
	if err != nil {
		return siteRow{}, fmt.Errorf("encode settings: %w", err)
	}
	return siteRow{ID: site.ID, Name: site.Name, NameKey: textKey(site.Name), Home: site.Home, HomeKey: urlKey(site.Home),
		Root: site.Root, RootKey: urlKey(site.Root), Roots: string(roots), Schedule: site.Schedule, TimeZone: site.TimeZone,
		Paused: site.Paused, Settings: string(settings), Password: site.Settings.Password, CurrentRun: site.CurrentRun,
		LastRun: site.LastRun, Live: site.Live, NextDue: micros(site.NextDue), CreatedAt: site.CreatedAt.UTC().Truncate(time.Microsecond)}, nil
}

func (r *siteRow) site() (models.Site, error) {
	site := models.Site{ID: r.ID, Name: r.Name, Home: r.Home, Root: r.Root, Schedule: r.Schedule, TimeZone: r.TimeZone,
		Paused: r.Paused, CurrentRun: r.CurrentRun, LastRun: r.LastRun, Live: r.Live, NextDue: r.NextDue, CreatedAt: r.CreatedAt}
	if err := json.Unmarshal([]byte(r.Roots), &site.Roots); err != nil {
		return site, fmt.Errorf("site %d: decode roots: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(r.Settings), &site.Settings); err != nil {
		return site, fmt.Errorf("site %d: decode settings: %w", r.ID, err)
	}
	site.Settings.Password = r.Password
	return site, nil
}

// micros gives a time in the precision and zone that are stored.
func micros(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC().Truncate(time.Microsecond)
	return &u
}

// completeSite fills in what follows from the rest of a site and refuses what does not fit.
func completeSite(site *models.Site) error {
	if site.Root == "" && len(site.Roots) > 0 {
		site.Root = site.Roots[0].URL
	}
	if len(site.Roots) == 0 && site.Root != "" {
		site.Roots = []models.Root{{URL: site.Root, Discovery: "direct_URL"}}
	}
	for _, text := range []string{site.Home, site.Root} {
		if u, err := url.Parse(text); site.Name == "" && err == nil {
			site.Name = u.Host
		}
	}
	if site.CreatedAt.IsZero() {
		site.CreatedAt = now()
	}
	for field, value := range map[string]string{"name": site.Name, "schedule": site.Schedule, "time_zone": site.TimeZone, "password": site.Settings.Password} {
		if len(value) > maxSetting || !utf8.ValidString(value) {
			return models.Invalid(field, "shorten it", "must be valid UTF-8 of at most %d bytes", maxSetting)
		}
	}
	return nil
}

// maxSetting is the longest text of a site's settings, in bytes; URLs are not limited.
const maxSetting = 255

// AddSite stores a new site and gives it its id; one that was removed comes back as it was, by its root. Its name and its root must be free, else models.ErrConflict.
func (s *Store) AddSite(ctx context.Context, site models.Site) (models.Site, error) {
	if err := completeSite(&site); err != nil {
		return models.Site{}, err
	}
	site.ID, site.CurrentRun, site.LastRun, site.Live = 0, 0, 0, 0
	row, err := newSiteRow(site)
	if err != nil {
		return models.Site{}, err
	}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		row.ID = 0
		// A site that was removed comes back with its history, under its old id.
		var old siteRow
		found := tx.Where("removed_at IS NOT NULL AND root = ?", row.Root).Order("id DESC").Limit(1).Find(&old)
		if found.Error != nil {
			return found.Error
		}
		if found.RowsAffected == 0 {
			return tx.Create(&row).Error
		}
		row.ID, row.CurrentRun, row.LastRun, row.Live, row.CreatedAt = old.ID, old.CurrentRun, old.LastRun, old.Live, old.CreatedAt
		return tx.Save(&row).Error
	})
	if duplicate(err) {
		return models.Site{}, fmt.Errorf("add site %s: there is one with this name or root: %w", site.Name, models.ErrConflict)
	}
	if err != nil {
		return models.Site{}, fmt.Errorf("add site %s: %w", site.Name, err)
	}
	return row.site()
}

// agendaRow is a site with what waits for its next run.
type agendaRow struct {
	Site            siteRow `gorm:"embedded"`
	HasTriggers     bool
	HasExpectations bool
	HasRemovals     bool
	HasKeys         bool
}

// agendaColumns reads a site s with its agenda: each is one look into an index.
const agendaColumns = "s.*, EXISTS (SELECT 1 FROM triggers t WHERE t.served_run = 0 AND t.site_id = s.id) AS has_triggers, " +
	"EXISTS (SELECT 1 FROM expectations e WHERE e.site_id = s.id AND e.outcome = '" + models.OutcomeOpen + "') AS has_expectations, " +
	"EXISTS (SELECT 1 FROM removals r WHERE r.site_id = s.id AND r.decided_run = " + open + " AND r.valid_to = " + open + ") AS has_removals, " +
	"EXISTS (SELECT 1 FROM hook_keys k WHERE k.site_id = s.id) AS has_keys"

// site leaves the agenda unknown while a run's rows are staged: what they end may be taken back.
func (r *agendaRow) site() (models.Site, error) {
	site, err := r.Site.site()
	site.Agenda = models.Agenda{Known: r.Site.StagedRun == 0, Triggers: r.HasTriggers, Expectations: r.HasExpectations, Removals: r.HasRemovals,
		Keys: r.HasKeys}
	return site, err
}

// Site gives one site by its id, with its agenda.
func (s *Store) Site(ctx context.Context, id int64) (models.Site, error) {
	var row agendaRow
	found := s.reads.WithContext(ctx).Raw("SELECT "+agendaColumns+" FROM sites s WHERE s.id = ? AND s.removed_at IS NULL", id).Scan(&row)
	if found.Error != nil {
		return models.Site{}, fmt.Errorf("read site %d: %w", id, found.Error)
	}
	if found.RowsAffected == 0 {
		return models.Site{}, notFound("site", id)
	}
	return row.site()
}

func (s *Store) siteRow(ctx context.Context, id int64) (siteRow, error) {
	var row siteRow
	err := s.reads.WithContext(ctx).Where("id = ? AND removed_at IS NULL", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row, notFound("site", id)
	}
	if err != nil {
		return row, fmt.Errorf("read site %d: %w", id, err)
	}
	if row.keptFrom, err = keptFrom(s.reads.WithContext(ctx), id); err != nil {
		return row, fmt.Errorf("read site %d: %w", id, err)
	}
	return row, nil
}

// FindSite gives the site that a person means: by id, by name, by root, by home page, in this order.
func (s *Store) FindSite(ctx context.Context, nameOrURLOrID string) (models.Site, error) {
	id, err := strconv.ParseInt(nameOrURLOrID, 10, 64)
	if err != nil {
		id = 0
	}
	name, address := textKey(nameOrURLOrID), urlKey(nameOrURLOrID)
	var rows []siteRow
	err = s.reads.WithContext(ctx).Where("removed_at IS NULL AND (id = ? OR name_key = ? OR root_key = ? OR home_key = ?)",
		id, name, address, address).Order("id").Find(&rows).Error
	if err != nil {
		return models.Site{}, fmt.Errorf("find site: %w", err)
	}
	for _, is := range []func(*siteRow) bool{
		func(r *siteRow) bool { return r.ID == id },
		func(r *siteRow) bool { return string(r.NameKey) == string(name) },
		func(r *siteRow) bool { return string(r.RootKey) == string(address) },
		func(*siteRow) bool { return true },
	} {
		for i := range rows {
			if is(&rows[i]) {
				return rows[i].site()
			}
		}
	}
	return models.Site{}, notFound("site", nameOrURLOrID)
}

// Sites gives all sites by id.
func (s *Store) Sites(ctx context.Context) ([]models.Site, error) {
	var rows []siteRow
	if err := s.reads.WithContext(ctx).Where("removed_at IS NULL").Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read sites: %w", err)
	}
	return sitesOf(rows)
}

func sitesOf(rows []siteRow) ([]models.Site, error) {
	sites := make([]models.Site, 0, len(rows))
	for i := range rows {
		site, err := rows[i].site()
		if err != nil {
			return nil, err
		}
		sites = append(sites, site)
	}
	return sites, nil
}

// SaveSite stores what an operator chose for a site: everything but runs, counts and creation. Who edits one that others
// may edit too uses ChangeSite.
func (s *Store) SaveSite(ctx context.Context, site models.Site) error {
	if err := completeSite(&site); err != nil {
		return err
	}
	row, err := newSiteRow(site)
	if err != nil {
		return err
	}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		var known int64
		if err := tx.Model(&siteRow{}).Where("id = ? AND removed_at IS NULL", site.ID).Count(&known).Error; err != nil {
			return err
		}
		if known == 0 {
			return notFound("site", site.ID)
		}
		return saveSite(tx, &row)
	})
	if duplicate(err) {
		return fmt.Errorf("save site %s: there is another one with this name or root: %w", site.Name, models.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("save site %s: %w", site.Name, err)
	}
	return nil
}

// RemoveSite hides a site and frees its name and root. Its rows stay.
func (s *Store) RemoveSite(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx *gorm.DB, try int) error {
		result := tx.Exec("UPDATE sites SET removed_at = ?, name_key = NULL, root_key = NULL WHERE id = ? AND removed_at IS NULL", now(), id)
		if result.Error == nil && result.RowsAffected == 0 && try == 0 {
			return notFound("site", id)
		}
		return result.Error
	})
	if err != nil {
		return fmt.Errorf("remove site: %w", err)
	}
	return nil
}

// DueSites gives the sites that want a run, with their agendas: their time has come, or a trigger waits. Paused ones wait
// for triggers alone.
func (s *Store) DueSites(ctx context.Context, at time.Time) ([]models.Site, error) {
	var rows []agendaRow
	err := s.reads.WithContext(ctx).Raw("SELECT "+agendaColumns+` FROM sites s WHERE s.removed_at IS NULL AND ((s.paused = ? AND s.next_due <= ?)
		OR s.id IN (SELECT site_id FROM triggers WHERE served_run = 0)) ORDER BY s.id`, false, at.UTC().Truncate(time.Microsecond)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read due sites: %w", err)
	}
	sites := make([]models.Site, 0, len(rows))
	for i := range rows {
		site, err := rows[i].site()
		if err != nil {
			return nil, err
		}
		sites = append(sites, site)
	}
	return sites, nil
}
