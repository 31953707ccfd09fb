package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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
	// The sums keep SQLite, which knows no figures of the table, from walking through all undecided cases by their index.
	err := c.m.store.reads.WithContext(ctx).Where("site_id = ? AND url_key IN ? AND decided_run + 0 = ? AND valid_to + 0 > ? AND valid_from + 0 <= ?",
		c.m.site.ID, keyBytes(keys), models.Open, c.m.run, c.m.run).Find(&rows).Error
	if err != nil {
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
	if c.m.run != c.m.site.CurrentRun {
		return false, nil
	}
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

// documents gives the documents that have indexed cases which give their page a state.
func (c *cases) documents(ctx context.Context, state models.State) (map[int32]bool, error) {
	out := map[int32]bool{}
	for _, as := range standing[state] {
		rows, err := c.m.store.query(ctx, fmt.Sprintf("SELECT DISTINCT document FROM removals WHERE %s AND stage = '%s' AND ruling = %d", c.openCases(), as.stage, as.ruling))
		err = each(rows, err, func(rows *sql.Rows) error {
			var number int32
			err := rows.Scan(&number)
			out[number] = true
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read documents of removals: %w", err)
		}
	}
	return out, nil
}

// standing are the stages and rulings of undecided cases by the state that they give their page (see stateOf).
var standing = map[models.State][]struct {
	stage  string
	ruling int
}{
	models.StateHeld:    {{models.StageHeld, 0}},
	models.StatePending: {{models.StagePending, 0}, {models.StagePending, approved}, {models.StageHeld, approved}},
	models.StateStale:   {{models.StageLeftWindow, 0}, {models.StageLeftWindow, approved}, {models.StageLeftWindow, rejected}},
}

// keys gives the pages of one document whose indexed cases give them a state, ascending, behind one key.
func (c *cases) keys(ctx context.Context, state models.State, document int32, after *models.Key, limit int) ([]models.Key, error) {
	var out []models.Key
	for _, as := range standing[state] {
		text := fmt.Sprintf("SELECT url_key, valid_from FROM removals WHERE %s AND stage = '%s' AND ruling = %d AND document = %d", c.openCases(), as.stage, as.ruling, document)
		var args []any
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
	}
	slices.SortFunc(out, compareKeys)
	return out[:min(len(out), limit)], nil
}
