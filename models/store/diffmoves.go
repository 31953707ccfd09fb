package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// hops bounds how often a page is followed that moved again and again.
const hops = 8

// migration is one page that a move of the whole site put in the place of another.
type migration struct{ to, from models.Key }

func compareMigrations(a, b migration) int {
	if order := compareKeys(a.to, b.to); order != 0 {
		return order
	}
	return compareKeys(a.from, b.from)
}

// sources gives the pages in whose place one was put between the moments.
func (d *differ) sources(key models.Key) []migration {
	at, _ := slices.BinarySearchFunc(d.migrated, migration{to: key}, compareMigrations)
	end := at
	for end < len(d.migrated) && d.migrated[end].to == key {
		end++
	}
	return d.migrated[at:end]
}

// movedTo gives the page in whose favour a case ended another one.
func movedTo(c *removalRow) (models.Key, bool) {
	if c == nil || len(c.MovedKey) != len(models.Key{}) {
		return models.Key{}, false
	}
	return models.Key(c.MovedKey), true
}

// ended gives the last cases that ended pages between the moments. Of a page that moved several times, where it is now:
// it is followed as long as the page that took its place is not listed.
func (d *differ) ended(ctx context.Context, keys []models.Key) (map[models.Key]*removalRow, error) {
	out, err := d.endedOnce(ctx, keys)
	if err != nil {
		return nil, err
	}
	for range hops {
		next := map[models.Key][]*removalRow{}
		var targets []models.Key
		for _, c := range out {
			if target, ok := movedTo(c); ok {
				next[target] = append(next[target], c)
				targets = append(targets, target)
			}
		}
		further, err := d.endedOnce(ctx, sortedKeys(targets))
		if err != nil {
			return nil, err
		}
		if err := d.withoutListed(ctx, further); err != nil {
			return nil, err
		}
		moved := false
		for target, f := range further {
			for _, c := range next[target] {
				if _, on := movedTo(f); on && f.DecidedRun > c.DecidedRun {
					c.MovedTo, c.MovedKey, c.DecidedRun, moved = f.MovedTo, f.MovedKey, f.DecidedRun, true
				}
			}
		}
		if !moved {
			break
		}
	}
	return out, nil
}

// withoutListed takes away the cases of pages that the later moment lists again.
func (d *differ) withoutListed(ctx context.Context, ended map[models.Key]*removalRow) error {
	keys := make([]models.Key, 0, len(ended))
	for key := range ended {
		keys = append(keys, key)
	}
	for chunk := range slices.Chunk(sortedKeys(keys), statementKeys) {
		listed, err := d.declared(ctx, chunk, d.to.run)
		if err != nil {
			return err
		}
		for key := range listed {
			delete(ended, key)
		}
	}
	return nil
}

func (d *differ) endedOnce(ctx context.Context, keys []models.Key) (map[models.Key]*removalRow, error) {
	out := make(map[models.Key]*removalRow, len(keys))
	for chunk := range slices.Chunk(keys, statementKeys) {
		var rows []removalRow
		err := d.store().reads.WithContext(ctx).Where("site_id = ? AND url_key IN ? AND decided_run > ? AND decided_run <= ? AND stage IN ?",
			d.from.site.ID, keyBytes(chunk), d.from.run, d.to.run, removedStages).Order("decided_run").Find(&rows).Error
		if err != nil {
			return nil, fmt.Errorf("read removals: %w", err)
		}
		for i := range rows {
			out[models.Key(rows[i].URLKey)] = &rows[i]
		}
	}
	return out, nil
}

// readMigrated notes where moves of the whole site put pages between the moments.
func (d *differ) readMigrated(ctx context.Context) error {
	var moved []removalRow
	err := d.store().reads.WithContext(ctx).Select("url_key", "moved_key").Where("site_id = ? AND decided_run > ? AND decided_run <= ? AND stage = ? AND moved_key IS NOT NULL",
		d.from.site.ID, d.from.run, d.to.run, models.StageMigrated).Find(&moved).Error
	if err != nil {
		return fmt.Errorf("read migrated pages: %w", err)
	}
	d.migrated = make([]migration, len(moved))
	for i := range moved {
		d.migrated[i] = migration{to: models.Key(moved[i].MovedKey), from: models.Key(moved[i].URLKey)}
	}
	slices.SortFunc(d.migrated, compareMigrations)
	d.migrated = slices.Compact(d.migrated)
	return nil
}

// taken gives the pages that moves of the whole site put in the place of pages that the earlier moment lists and the later
// one does not: these tell of it, once. A page whose site moved there and back, and that was removed in its old place
// afterwards, tells of its removal instead, so whoever took its place meanwhile is an addition.
func (d *differ) taken(ctx context.Context, x *both) (map[models.Key]bool, error) {
	if len(d.migrated) == 0 {
		return nil, nil
	}
	before := d.places(x)
	out := map[models.Key]bool{}
	listed, ended := map[models.Key]bool{}, map[models.Key]*removalRow{}
	for chunk := range slices.Chunk(before, statementKeys) {
		then, err := d.declared(ctx, chunk, d.from.run)
		if err != nil {
			return nil, err
		}
		for key := range then {
			listed[key] = true
		}
		last, err := d.endedOnce(ctx, chunk)
		if err != nil {
			return nil, err
		}
		if err := d.withoutListed(ctx, last); err != nil {
			return nil, err
		}
		for key, c := range last {
			ended[key] = c
		}
	}
	for source := range listed {
		seen := map[models.Key]bool{}
		for at := source; !seen[at]; { // from place to place, as long as the site's moves are what became of it last
			seen[at] = true
			c := ended[at]
			to, ok := movedTo(c)
			if !ok || c.Stage != models.StageMigrated {
				break
			}
			out[to] = true
			at = to
		}
	}
	return out, nil
}

// places gives the pages in whose place those were put that the later moment alone lists, and the places of these.
func (d *differ) places(x *both) []models.Key {
	seen := map[models.Key]bool{}
	var level, all []models.Key
	for key := range x.now {
		if x.then[key] == nil {
			level = append(level, key)
		}
	}
	for n := 0; n < hops && len(level) > 0; n++ {
		var next []models.Key
		for _, key := range level {
			for _, m := range d.sources(key) {
				if !seen[m.from] {
					seen[m.from] = true
					next = append(next, m.from)
				}
			}
		}
		all, level = append(all, next...), next
	}
	slices.SortFunc(all, compareKeys)
	return all
}
