package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type inventoryRow struct {
	SiteID             int64 `gorm:"primaryKey;autoIncrement:false"`
	Run                int64 `gorm:"primaryKey;autoIncrement:false"`
	ReadAt             time.Time
	Outcome            string
	Reason             string
	Endpoint           string
	Steady             bool
	Seq                int64
	Home               string
	SiteURL            string
	PermalinkStructure string
	SystemName         string // "system" alone is a reserved word of MySQL 8
	Posts              int64
	NotDeclared        int64
	DeclaredGone       int64
	Requests           int64
}

func (inventoryRow) TableName() string { return "plugin_inventories" }

func newInventoryRow(p *models.PluginInventory) inventoryRow {
	return inventoryRow{SiteID: p.SiteID, Run: p.Run, ReadAt: stored(p.ReadAt), Outcome: p.Outcome, Reason: p.Reason, Endpoint: p.Endpoint,
		Steady: p.Steady, Seq: p.Seq, Home: p.Home, SiteURL: p.SiteURL, PermalinkStructure: p.PermalinkStructure, SystemName: text(p.System, 255),
		Posts: p.Posts, NotDeclared: p.NotDeclared, DeclaredGone: p.DeclaredGone, Requests: p.Requests}
}

func (r *inventoryRow) inventory() models.PluginInventory {
	return models.PluginInventory{SiteID: r.SiteID, Run: r.Run, ReadAt: r.ReadAt.UTC(), Outcome: r.Outcome, Reason: r.Reason, Endpoint: r.Endpoint,
		Steady: r.Steady, Seq: r.Seq, Home: r.Home, SiteURL: r.SiteURL, PermalinkStructure: r.PermalinkStructure, System: r.SystemName,
		Posts: r.Posts, NotDeclared: r.NotDeclared, DeclaredGone: r.DeclaredGone, Requests: r.Requests}
}

type postRow struct {
	SiteID    int64 `gorm:"primaryKey;autoIncrement:false"`
	PostID    int64 `gorm:"primaryKey;autoIncrement:false"`
	FromRun   int64 `gorm:"primaryKey;autoIncrement:false"`
	ToRun     int64
	URLKey    []byte
	URL       string
	Type      string
	Status    string
	Modified  *time.Time
	Password  bool
	Noindex   bool
	Canonical string
}

func (postRow) TableName() string { return "published_posts" }

func newPostRow(site, run int64, p *models.PublishedPost) postRow {
	r := postRow{SiteID: site, PostID: p.PostID, FromRun: run, ToRun: models.Open, URLKey: p.Key[:], URL: p.URL, Type: text(p.Type, 255),
		Status: p.Status, Password: p.Password, Noindex: p.Noindex, Canonical: p.Canonical}
	if p.Modified != nil {
		r.Modified = storable(*p.Modified)
	}
	return r
}

func (r *postRow) post() models.PublishedPost {
	p := models.PublishedPost{PostID: r.PostID, FromRun: r.FromRun, ToRun: r.ToRun, URL: r.URL, Type: r.Type, Status: r.Status,
		Modified: micros(r.Modified), Password: r.Password, Noindex: r.Noindex, Canonical: r.Canonical}
	copy(p.Key[:], r.URLKey)
	return p
}

// SavePluginInventory stages what a run's reading of the plugin's inventory came to. A run stages it before any post, so
// that a sweep knows where to look, and again when it knows more.
func (s *Store) SavePluginInventory(ctx context.Context, lease models.Lease, p models.PluginInventory) error {
	row := newInventoryRow(&p)
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		if err := tx.Exec("DELETE FROM plugin_inventories WHERE site_id = ? AND run = ?", p.SiteID, p.Run).Error; err != nil {
			return err
		}
		return tx.Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("save plugin inventory: %w", err)
	}
	return nil
}

// PluginInventory gives the last reading that readers see, models.ErrNotFound before the first. answered asks for the last
// one that was read to its end.
func (s *Store) PluginInventory(ctx context.Context, siteID int64, answered bool) (models.PluginInventory, error) {
	query := s.reads.WithContext(ctx).Where("site_id = ? AND run <= (SELECT current_run FROM sites WHERE id = ?)", siteID, siteID)
	if answered {
		query = query.Where("outcome = ?", models.PublishedComplete)
	}
	var row inventoryRow
	err := query.Order("run DESC").Limit(1).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.PluginInventory{}, fmt.Errorf("plugin inventory of site %d: %w", siteID, models.ErrNotFound)
	}
	if err != nil {
		return models.PluginInventory{}, fmt.Errorf("read plugin inventory: %w", err)
	}
	return row.inventory(), nil
}

// postBatch rows of twelve columns are written in one statement.
const postBatch = 500

// StagePublished closes the open versions of some posts and adds new ones.
func (s *Store) StagePublished(ctx context.Context, lease models.Lease, siteID, run int64, add []models.PublishedPost) error {
	for portion := range slices.Chunk(add, postBatch) {
		err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
			ids := make([]int64, 0, len(portion))
			rows := make([]postRow, 0, len(portion))
			for i := range portion {
				ids = append(ids, portion[i].PostID)
				rows = append(rows, newPostRow(siteID, run, &portion[i]))
			}
			if err := tx.Exec("DELETE FROM published_posts WHERE site_id = ? AND from_run = ? AND post_id IN ?", siteID, run, ids).Error; err != nil {
				return err
			}
			err := tx.Exec("UPDATE published_posts SET to_run = ? WHERE site_id = ? AND to_run = ? AND post_id IN ?", run, siteID, models.Open, ids).Error
			if err != nil {
				return err
			}
			return tx.Create(&rows).Error
		})
		if err != nil {
			return fmt.Errorf("stage published posts: %w", err)
		}
	}
	return nil
}

// PublishedPosts gives the open versions of the posts after a number, by number, staged ones included; at most limit.
func (s *Store) PublishedPosts(ctx context.Context, siteID, after int64, limit int) ([]models.PublishedPost, error) {
	return s.posts(s.db.WithContext(ctx).Where("site_id = ? AND post_id > ? AND to_run = ?", siteID, after, models.Open).
		Order("post_id").Limit(limit))
}

// PublishedAt gives every version of the posts that have or had one of these addresses, staged ones included: of each post
// those with the address and the one that is open now, by number, oldest first.
func (s *Store) PublishedAt(ctx context.Context, siteID int64, keys []models.Key) ([]models.PublishedPost, error) {
	var out []models.PublishedPost
	for portion := range slices.Chunk(sortedKeys(keys), statementKeys) {
		found, err := s.posts(s.db.WithContext(ctx).Where(`site_id = ? AND post_id IN (SELECT p.post_id FROM published_posts p
			WHERE p.site_id = ? AND p.url_key IN ?) AND (url_key IN ? OR to_run = ?)`,
			siteID, siteID, keyBytes(portion), keyBytes(portion), models.Open).Order("post_id, from_run"))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (s *Store) posts(query *gorm.DB) ([]models.PublishedPost, error) {
	var rows []postRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read published posts: %w", err)
	}
	out := make([]models.PublishedPost, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].post())
	}
	return out, nil
}

// sweepPublished takes back what runs above seen staged of the plugin's inventory. Where none of them read it there is
// nothing to look for: no index leads from a run to its posts.
func (s *Store) sweepPublished(ctx context.Context, lease models.Lease, siteID, seen int64) error {
	var staged int64
	err := s.db.WithContext(ctx).Raw("SELECT COUNT(*) FROM plugin_inventories WHERE site_id = ? AND run > ?", siteID, seen).Scan(&staged).Error
	if err != nil {
		return fmt.Errorf("read staged plugin inventories: %w", err)
	}
	if staged == 0 {
		return nil
	}
	limit := ""
	if s.mysql() {
		limit = fmt.Sprintf(" LIMIT %d", sweepRows)
	}
	for _, statement := range []string{
		"DELETE FROM published_posts WHERE site_id = ? AND from_run > ?",
		"UPDATE published_posts SET to_run = 9223372036854775807 WHERE site_id = ? AND to_run > ? AND to_run < 9223372036854775807",
	} {
		for more := true; more; {
			err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
				result := tx.Exec(statement+limit, siteID, seen)
				more = limit != "" && result.RowsAffected == sweepRows
				return result.Error
			})
			if err != nil {
				return fmt.Errorf("sweep published posts: %w", err)
			}
		}
	}
	return s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		return tx.Exec("DELETE FROM plugin_inventories WHERE site_id = ? AND run > ?", siteID, seen).Error
	})
}

// SystemConfiguration gives what the system behind a site states of its URLs, models.ErrNotFound where nothing is known.
func (s *Store) SystemConfiguration(ctx context.Context, siteID int64) (models.SystemConfiguration, error) {
	p, err := s.PluginInventory(ctx, siteID, true)
	if err != nil {
		return models.SystemConfiguration{}, err
	}
	return models.SystemConfiguration{SiteID: siteID, Run: p.Run, ReadAt: p.ReadAt, System: p.System, Home: p.Home, SiteURL: p.SiteURL,
		PermalinkStructure: p.PermalinkStructure}, nil
}

// ConfiguredCanonicals gives the canonical URLs that the system states for pages which are published posts, as readers see
// them, by page. A page of which the system says nothing is left out.
func (s *Store) ConfiguredCanonicals(ctx context.Context, siteID int64, keys []models.Key) ([]models.ConfiguredCanonical, error) {
	p, err := s.PluginInventory(ctx, siteID, true)
	if errors.Is(err, models.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []models.ConfiguredCanonical
	for portion := range slices.Chunk(sortedKeys(keys), statementKeys) {
		found, err := s.posts(s.reads.WithContext(ctx).Where(`site_id = ? AND url_key IN ? AND status = ? AND from_run <= ? AND to_run > ?`,
			siteID, keyBytes(portion), models.PostPublished, p.Run, p.Run).Order("url_key, post_id"))
		if err != nil {
			return nil, err
		}
		for i := range found {
			c := models.ConfiguredCanonical{Key: found[i].Key, URL: found[i].URL, Canonical: found[i].Canonical, Explicit: found[i].Canonical != "",
				System: p.System, PostID: found[i].PostID, ReadAt: p.ReadAt}
			if !c.Explicit {
				c.Canonical = c.URL
			}
			out = append(out, c)
		}
	}
	return out, nil
}
