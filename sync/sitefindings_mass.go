package syncer

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// brief stands for a page in the tables of a whole site: a false meeting of two of them (one in 2^64 pairs) at most hides
// or proposes a page, it makes no finding.
func brief(key models.Key) uint64 { return binary.BigEndian.Uint64(key[:8]) }

// pair stands for one page naming another.
func pair(from, to models.Key) uint64 { return brief(from)*0x9e3779b97f4a7c15 ^ brief(to) }

// suspects chooses the pages to judge after a run that wrote much of the inventory: it reads once what names language
// versions into tables of 8 bytes for each link, and again to choose, of each document and for each reason, as many pages
// as are kept. Without language versions nothing of that is read. The stored sets are made anew.
func (a *across) suspects(ctx context.Context) error {
	keys := a.traces.shared
	if !a.mass {
		err := a.o.Store.SharedKeys(ctx, a.site.ID, func(key models.Key) error {
			keys = append(keys, key)
			return nil
		})
		if err != nil {
			return fmt.Errorf("find pages with several listings: %w", err)
		}
	}
	if err := a.disagreeing(ctx, keys); err != nil {
		return err
	}
	if !a.hasAlternates() {
		return nil
	}
	var links []uint64
	var defaults []struct{ page, target uint64 }
	err := a.extended(ctx, func(_ int32, key models.Key, p *acrossPage) {
		for _, v := range p.versions {
			if v.own {
				links = append(links, pair(key, v.key))
			}
		}
		if x := p.xDefault(); x != nil {
			defaults = append(defaults, struct{ page, target uint64 }{brief(key), brief(x.key)})
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(links)
	targets := make(map[uint64]uint64, len(defaults))
	for _, x := range defaults {
		targets[x.page] = x.target
	}
	counts := map[string]int{}
	var last int32
	return a.extended(ctx, func(number int32, key models.Key, p *acrossPage) {
		if number != last {
			last = number
			clear(counts)
		}
		reason := suspicion(key, p, links, targets)
		if counts[reason]++; reason != "" && counts[reason] <= acrossFindings {
			a.again[key] = true
		}
	})
}

func suspicion(key models.Key, p *acrossPage, links []uint64, targets map[uint64]uint64) string {
	x := p.xDefault()
	for _, v := range p.versions {
		if !v.own || v.key == key {
			continue
		}
		if _, back := slices.BinarySearch(links, pair(v.key, key)); !back {
			return sitemap.HreflangNoReturn
		}
		if target, ok := targets[brief(v.key)]; ok && x != nil && target != brief(x.key) {
			return sitemap.HreflangXDefaults
		}
	}
	if x == nil {
		return sitemap.HreflangNoXDefault
	}
	return ""
}

// extended reads the declarations that name language versions, document by document.
func (a *across) extended(ctx context.Context, fn func(document int32, key models.Key, p *acrossPage)) error {
	for _, d := range sortedByNumber(a.documents) {
		if d.Verdict == models.VerdictGone || d.Type == typeIndex {
			continue
		}
		err := a.o.Store.Extended(ctx, a.site.ID, a.record.ID, d.Number, func(row *models.Declaration) error {
			if versions := a.versionsOf(row); len(versions) > 0 {
				fn(d.Number, row.Key, &acrossPage{versions: versions})
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("look across documents: %w", err)
		}
	}
	return nil
}

// disagreeing chooses, of pages in ascending order, those that documents say different things of.
func (a *across) disagreeing(ctx context.Context, keys []models.Key) error {
	counts := map[int32]int{}
	for portion := range slices.Chunk(keys, lookupKeys) {
		rows, err := a.o.Store.Elsewhere(ctx, a.site.ID, portion)
		if err != nil {
			return fmt.Errorf("look for pages elsewhere: %w", err)
		}
		for i := 1; i < len(rows); i++ {
			one, other := rows[i-1], rows[i]
			if one.Key != other.Key || one.Fingerprint == other.Fingerprint {
				continue
			}
			if counts[one.Document]++; counts[one.Document] <= acrossFindings {
				a.again[one.Key] = true
			}
		}
	}
	return nil
}
