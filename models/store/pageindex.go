package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm"
)

const (
	// indexAtOnce rows or fewer go into the index by page together with their declarations.
	indexAtOnce = 200
	// indexRows bounds one transaction that indexes many.
	indexRows = 1_000_000
)

// pageIndex remembers, on SQLite, which staged documents are not in page_documents yet. An index of hashes that is kept
// row by row costs four times as much as the rows themselves (each insert lands on another leaf); written in key order
// after the rows it costs a fifth. Entries without a row do no harm, so a run that dies leaves nothing to mend: its
// unindexed rows are swept.
type pageIndex struct {
	mu       sync.Mutex
	building sync.Mutex
	waiting  map[int64]map[unindexed]int // by site: number of rows
}

type unindexed struct {
	document int32
	run      int64
}

func (x *pageIndex) note(site, run int64, document int32, rows int) {
	if rows <= indexAtOnce {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.waiting == nil {
		x.waiting = map[int64]map[unindexed]int{}
	}
	if x.waiting[site] == nil {
		x.waiting[site] = map[unindexed]int{}
	}
	x.waiting[site][unindexed{document, run}] += rows
}

func (x *pageIndex) forget(site int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.waiting, site)
}

func (x *pageIndex) take(site int64) map[unindexed]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	waiting := x.waiting[site]
	delete(x.waiting, site)
	return waiting
}

// indexPages brings a site's index by page up to date with what was staged. On MySQL there is nothing to do.
func (s *Store) indexPages(ctx context.Context, site int64) error {
	if s.mysql() {
		return nil
	}
	s.index.building.Lock()
	defer s.index.building.Unlock()
	waiting := s.index.take(site)
	if len(waiting) == 0 {
		return nil
	}
	todo := make([]unindexed, 0, len(waiting))
	for u := range waiting {
		todo = append(todo, u)
	}
	slices.SortFunc(todo, func(a, b unindexed) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.document, b.document))
	})
	for len(todo) > 0 {
		n, rows := 0, 0
		for n < len(todo) && todo[n].run == todo[0].run && (n == 0 || rows+waiting[todo[n]] <= indexRows) {
			rows += waiting[todo[n]]
			n++
		}
		if err := s.indexDocuments(ctx, site, todo[:n]); err != nil {
			for _, u := range todo { // the next caller tries again
				s.index.note(site, u.run, u.document, waiting[u])
			}
			return fmt.Errorf("index pages of site %d: %w", site, err)
		}
		todo = todo[n:]
	}
	return nil
}

func (s *Store) indexDocuments(ctx context.Context, site int64, group []unindexed) error {
	var list strings.Builder
	for i, u := range group {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprint(&list, u.document)
	}
	return s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Exec(`INSERT OR IGNORE INTO page_documents (site_id, url_key, document)
			SELECT site_id, url_key, document FROM declarations WHERE site_id = ? AND document IN (`+list.String()+`) AND from_run = ?
			ORDER BY site_id, url_key, document`, site, group[0].run).Error
	})
}
