package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Bounds of SectionCounts: on a site whose first directories are names of users, sections tell nothing and are many.
const (
	mostSections    = 20_000
	mostSubsections = 1000 // of one section; with more it shows none
)

// SectionCounts counts the live pages below each directory of the first two levels (https://example.com/, .../blog/,
// .../blog/2026/) between bounds that go back in time: as many as Pages gives for the path as prefix, in the order of
// paths. A directory is one that has a page below it. keyOf gives the identity of a URL. Like LastmodCounts it reads the
// whole inventory once, all addresses of it.
func (s *Store) SectionCounts(ctx context.Context, siteID int64, bounds []time.Time, keyOf func(url string) (models.Key, error)) (models.SectionCounts, error) {
	r, err := s.pageReader(ctx, siteID, models.PageFilter{})
	if err != nil {
		return models.SectionCounts{}, fmt.Errorf("count sections: %w", err)
	}
	c := sectionCounter{lastmodSteps: lastmodSteps{bounds: bounds}, all: map[string]*section{}}
	step, args := c.sql(s)
	where, filters := r.where()
	text := fmt.Sprintf("SELECT d.document, d.url, %s FROM declarations d WHERE d.site_id = %d%s", step, r.site.ID, where)
	var link sql.RawBytes
	err = r.tally(ctx, text, append(args, filters...), func(rows *sql.Rows) error {
		var document int32
		var step int
		if err := rows.Scan(&document, &link, &step); err != nil || !r.reads(document) {
			return err
		}
		c.add(link, step, 1)
		return nil
	}, func(p *models.Page, by int64) { c.add([]byte(p.URL), c.stepOf(p), by) })
	if err == nil {
		err = c.own(ctx, s, siteID, keyOf)
	}
	if err != nil {
		return models.SectionCounts{}, fmt.Errorf("count sections of site %d: %w", siteID, err)
	}
	return c.result(), nil
}

// lastmodSteps tells how old lastmods are: -1 for none, else the first bound that it is not before, the last step beyond all.
type lastmodSteps struct{ bounds []time.Time }

func (l lastmodSteps) sql(s *Store) (string, []any) {
	step := "CASE WHEN d.lastmod IS NULL THEN -1"
	var args []any
	for i, bound := range l.bounds {
		step += fmt.Sprintf(" WHEN d.lastmod >= ? THEN %d", i)
		args = append(args, s.bulkTime(bound))
	}
	return step + fmt.Sprintf(" ELSE %d END", len(l.bounds)), args
}

func (l lastmodSteps) stepOf(p *models.Page) int {
	if p.Lastmod == nil {
		return -1
	}
	step := slices.IndexFunc(l.bounds, func(bound time.Time) bool { return !p.Lastmod.Instant.Before(bound) })
	if step < 0 {
		return len(l.bounds)
	}
	return step
}

// section is one directory under way.
type section struct {
	counts []int64 // by step, those without a lastmod last
	below  int     // subsections
	wide   bool    // has more than are shown
}

type sectionCounter struct {
	lastmodSteps
	all map[string]*section
	cut bool
}

// column is where pages of a step are counted: those without a lastmod behind all others.
func (c *sectionCounter) column(step int) int {
	if step < 0 {
		return len(c.bounds) + 1
	}
	return step
}

// add counts a page in every directory above it.
func (c *sectionCounter) add(link []byte, step int, by int64) {
	var parent *section
	for depth, end := range directories(link) {
		if end < 0 {
			return
		}
		g := c.all[string(link[:end])]
		if g == nil {
			if parent != nil && (parent.wide || !c.room(link[:end], parent, depth)) {
				return
			}
			g = &section{counts: make([]int64, len(c.bounds)+2)}
			c.all[string(link[:end])] = g
		}
		g.counts[c.column(step)] += by
		parent = g
	}
}

// room reports whether a section can have one more below it. What is too wide loses all of them.
func (c *sectionCounter) room(path []byte, parent *section, depth int) bool {
	if len(c.all) >= mostSections {
		c.cut = true
		return false
	}
	if parent.below++; parent.below <= mostSubsections || depth == 1 {
		return true
	}
	parent.wide = true
	above := string(path[:bytes.LastIndexByte(path[:len(path)-1], '/')+1])
	for name := range c.all {
		if len(name) > len(above) && strings.HasPrefix(name, above) {
			delete(c.all, name)
		}
	}
	return false
}

// directories gives the ends of the first three directories of an address: that of its origin, and those of up to two
// segments of the path with something behind them; -1 where there is none.
func directories(link []byte) [3]int {
	ends := [3]int{-1, -1, -1}
	at := bytes.Index(link, []byte("://"))
	if at < 0 {
		return ends
	}
	at += len("://")
	path := link
	if end := bytes.IndexAny(link[at:], "?#"); end >= 0 {
		path = link[:at+end]
	}
	for i := range ends {
		slash := bytes.IndexByte(path[at:], '/')
		if slash < 0 || i > 0 && at+slash+1 == len(link) {
			break
		}
		at += slash + 1
		ends[i] = at
	}
	return ends
}

// own adds the pages at the directories themselves, which nothing behind the slash told from other pages.
func (c *sectionCounter) own(ctx context.Context, s *Store, siteID int64, keyOf func(url string) (models.Key, error)) error {
	paths := map[models.Key]string{}
	for path := range c.all {
		if strings.Count(path, "/") > 3 { // that of the origin is a page below itself
			key, err := keyOf(path)
			if err != nil {
				continue // no page can be there
			}
			paths[key] = path
		}
	}
	r, err := s.pageReader(ctx, siteID, models.PageFilter{})
	if err != nil {
		return err
	}
	r.fn = func(p *models.Page) error {
		if path := paths[p.Key]; path == p.URL {
			c.all[path].counts[c.column(c.stepOf(p))]++
		}
		return nil
	}
	where, filters := r.where()
	keys := make([]models.Key, 0, len(paths))
	for key := range paths {
		keys = append(keys, key)
	}
	for chunk := range slices.Chunk(sortedKeys(keys), statementKeys) {
		var rows []models.Declaration
		err := s.declarationsFrom(ctx, s.byPage(), s.pageColumn("site_id")+" = ? AND "+s.pageColumn("url_key")+" IN ("+marks(len(chunk))+")"+where,
			append(appendKeys([]any{siteID}, chunk, len(chunk)), filters...), func(d *models.Declaration) error {
				rows = append(rows, *d)
				return nil
			})
		if err == nil {
			err = r.give(ctx, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *sectionCounter) result() models.SectionCounts {
	out := models.SectionCounts{Cut: c.cut, Sections: make([]models.Section, 0, len(c.all))}
	for path, g := range c.all {
		section := models.Section{Path: path, Depth: strings.Count(path, "/") - 3, Wide: g.wide,
			LastmodCounts: models.LastmodCounts{None: g.counts[c.column(-1)], At: g.counts[:len(c.bounds)+1]}}
		if slices.ContainsFunc(g.counts, func(n int64) bool { return n != 0 }) {
			out.Sections = append(out.Sections, section)
		}
	}
	slices.SortFunc(out.Sections, func(a, b models.Section) int { return strings.Compare(a.Path, b.Path) })
	return out
}
