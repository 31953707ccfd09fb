package store

import (
	"context"
	"strconv"

	"github.com/sitemapd/sitemapd/models"
)

// both is what the two moments say of some pages.
type both struct {
	then, now         map[models.Key]*models.Declaration
	caseThen, caseNow map[models.Key]*removalRow
	ended             map[models.Key]*removalRow // the last case that ended the page between them
	taken             map[models.Key]bool        // took the place of a page that the earlier moment lists
}

// pages compares pages of which the document is the one to tell.
func (d *differ) pages(ctx context.Context, number int32, keys []models.Key) error {
	if len(keys) == 0 {
		return nil
	}
	x, err := d.look(ctx, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		before, after := x.then[key], x.now[key]
		if after != nil && after.Document != number || after == nil && (before == nil || before.Document != number) {
			continue // another document tells
		}
		for part, c := range d.compare(x, key) {
			if err := d.emit(diffCursor{d.from.run, d.to.run, number, key, part}, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *differ) look(ctx context.Context, keys []models.Key) (*both, error) {
	var x both
	var err error
	if x.then, err = d.declared(ctx, keys, d.from.run); err != nil {
		return nil, err
	}
	if x.now, err = d.declared(ctx, keys, d.to.run); err != nil {
		return nil, err
	}
	if x.caseThen, err = d.undecided[0].of(ctx, keys); err != nil {
		return nil, err
	}
	if x.caseNow, err = d.undecided[1].of(ctx, keys); err != nil {
		return nil, err
	}
	if x.ended, err = d.ended(ctx, keys); err != nil {
		return nil, err
	}
	x.taken, err = d.taken(ctx, &x)
	return &x, err
}

// compare gives a page's rows, one or two.
func (d *differ) compare(x *both, key models.Key) []models.Change {
	before, after := x.then[key], x.now[key]
	switch {
	case before == nil && x.taken[key]:
		return nil // told by the page whose place it took
	case before == nil:
		return []models.Change{{Kind: models.KindAdded, URL: after.URL}}
	case after == nil:
		return []models.Change{*left(before, x.ended[key])}
	}
	var out []models.Change
	c := changed(before, after)
	if c == nil && d.filter.Shifts && before.Document != after.Document {
		c = shifted(before, after)
	}
	if c != nil {
		out = append(out, *c)
	}
	was, _ := d.state(0, before, x.caseThen[key])
	is, reason := d.state(1, after, x.caseNow[key])
	if was == is {
		return out
	}
	kind := map[models.State]string{models.StateLive: models.KindFresh, models.StateStale: models.KindStale,
		models.StatePending: models.KindPending, models.StateHeld: models.KindHeld}[is]
	return append(out, models.Change{Kind: kind, URL: after.URL, Reason: reason})
}

func (d *differ) state(i int, row *models.Declaration, c *removalRow) (models.State, string) {
	m := []*moment{d.from, d.to}[i]
	return stateOf(d.views[i][row.Document], of(row.Document, c), m.run)
}

// declared gives the declarations of pages at a run, in whichever document.
func (d *differ) declared(ctx context.Context, keys []models.Key, run int64) (map[models.Key]*models.Declaration, error) {
	s, out, at := d.store(), map[models.Key]*models.Declaration{}, strconv.FormatInt(run, 10)
	err := s.declarationsFrom(ctx, s.byPage(), s.pageColumn("site_id")+" = ? AND "+s.pageColumn("url_key")+
		" IN ("+marks(len(keys))+") AND d.from_run <= "+at+" AND d.to_run > "+at+" AND d.role = 0",
		appendKeys([]any{d.from.site.ID}, keys, len(keys)), func(row *models.Declaration) error {
			out[row.Key] = row
			return nil
		})
	return out, err
}
