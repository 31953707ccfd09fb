package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// casesHeld is how many undecided removals a reader of whole inventories keeps in memory; more are looked up portion by
// portion.
const casesHeld = 20_000

// cases are the undecided removals at a moment. A reader of a few pages looks theirs up; one of all pages loads them first.
type cases struct {
	m   *moment
	all map[models.Key]*removalRow // nil: not loaded, or too many
}

func (m *moment) undecided(ctx context.Context) *gorm.DB {
	return m.store.reads.WithContext(ctx).Where("site_id = ? AND decided_run = ? AND valid_to > ? AND valid_from <= ?",
		m.site.ID, models.Open, m.run, m.run)
}

// cases finds out whether there are any at all; most sites have none.
func (m *moment) cases(ctx context.Context) (*cases, error) {
	var one []int64
	if err := m.undecided(ctx).Model(&removalRow{}).Limit(1).Pluck("from_run", &one).Error; err != nil {
		return nil, fmt.Errorf("read removals: %w", err)
	}
	c := &cases{m: m}
	if len(one) == 0 {
		c.all = map[models.Key]*removalRow{}
	}
	return c, nil
}

// load reads all of them unless they are too many.
func (c *cases) load(ctx context.Context) error {
	if c.all != nil {
		return nil
	}
	var rows []removalRow
	if err := c.m.undecided(ctx).Limit(casesHeld + 1).Find(&rows).Error; err != nil {
		return fmt.Errorf("read removals: %w", err)
	}
	if len(rows) > casesHeld {
		return nil
	}
	c.all = make(map[models.Key]*removalRow, len(rows))
	for i := range rows {
		c.all[models.Key(rows[i].URLKey)] = &rows[i]
	}
	return nil
}

// of gives the undecided cases of some pages.
func (c *cases) of(ctx context.Context, keys []models.Key) (map[models.Key]*removalRow, error) {
	if c.all != nil || len(keys) == 0 {
		return c.all, nil
	}
	var rows []removalRow
	if err := c.m.undecided(ctx).Where("url_key IN ?", keyBytes(keys)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read removals: %w", err)
	}
	found := make(map[models.Key]*removalRow, len(rows))
	for i := range rows {
		found[models.Key(rows[i].URLKey)] = &rows[i]
	}
	return found, nil
}

// indexed reports whether every undecided case at the moment is one of the versions that nothing has superseded: then
// they can be read in the order of the index by document. It is so at the current run unless one is under way.
func (c *cases) indexed(ctx context.Context) (bool, error) {
	var one []int64
	err := c.m.store.reads.WithContext(ctx).Model(&removalRow{}).Where("site_id = ? AND decided_run = ? AND valid_to > ? AND valid_to < ?",
		c.m.site.ID, models.Open, c.m.run, models.Open).Limit(1).Pluck("from_run", &one).Error
	if err != nil {
		return false, fmt.Errorf("read removals: %w", err)
	}
	return len(one) == 0, nil
}

// openCases selects those versions by the index removals_open.
func (c *cases) openCases() string {
	return fmt.Sprintf("site_id = %d AND decided_run = %d AND valid_to = %d", c.m.site.ID, models.Open, models.Open)
}

// documents gives the documents that have indexed cases.
func (c *cases) documents(ctx context.Context) (map[int32]bool, error) {
	out := map[int32]bool{}
	rows, err := c.m.store.query(ctx, "SELECT DISTINCT document FROM removals WHERE "+c.openCases())
	err = each(rows, err, func(rows *sql.Rows) error {
		var number int32
		err := rows.Scan(&number)
		out[number] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read documents of removals: %w", err)
	}
	return out, nil
}

// keys gives the pages of one document that have indexed cases, ascending, behind one key.
func (c *cases) keys(ctx context.Context, document int32, after *models.Key, limit int) ([]models.Key, error) {
	var out []models.Key
	text, args := "SELECT url_key, valid_from FROM removals WHERE "+c.openCases()+" AND document = "+strconv.Itoa(int(document)), []any{}
	if after != nil {
		text += " AND url_key > ?"
		args = append(args, after[:])
	}
	rows, err := c.m.store.query(ctx, text+" ORDER BY url_key LIMIT "+strconv.Itoa(limit), args...)
	err = eachKeyed(rows, err, func(key models.Key, _ int64) error {
		out = append(out, key)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read removals of document %d: %w", document, err)
	}
	return out, nil
}
