package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// sortedCursor names a page's place in a sorted list. The position is a short cut: the page itself is what counts.
type sortedCursor struct {
	sort     models.PageSort
	start    bool // nothing was given yet
	position int64
	place    orderPlace
}

// sorted cursors begin with this and the sort.
const sortedMark = "s."

func (c sortedCursor) String() string {
	if c.start {
		return sortedMark + c.sort.String()
	}
	return fmt.Sprintf("%s%s.%d.%d.%s", sortedMark, c.sort, c.position, c.place.document, c.place.key)
}

func parseSortedCursor(text string, sort models.PageSort) (*sortedCursor, error) {
	bad := models.Invalid("after", "start again without a cursor", "not a cursor of a list in this order: %q", text)
	c := &sortedCursor{sort: sort, start: true}
	rest, ok := strings.CutPrefix(text, c.String())
	if !ok {
		return nil, bad
	}
	if rest == "" {
		return c, nil
	}
	parts := strings.Split(rest, ".")
	if len(parts) != 4 || parts[0] != "" {
		return nil, bad
	}
	position, err1 := strconv.ParseInt(parts[1], 10, 64)
	document, err2 := strconv.ParseInt(parts[2], 10, 32)
	key, err3 := models.ParseKey(parts[3])
	if err1 != nil || err2 != nil || err3 != nil || position < 0 {
		return nil, bad
	}
	return &sortedCursor{sort: sort, position: position, place: orderPlace{document: int32(document), key: key}}, nil
}

// sorted reports whether pages are asked for in another order than that of the documents. One page has none.
func (r *pageReader) sorted() bool { return r.filter.Sort.By != "" && r.filter.Key == nil }

func (r *pageReader) beginSorted() error {
	if _, err := models.ParsePageSort(r.filter.Sort.String()); err != nil {
		return err
	}
	r.place = &sortedCursor{sort: r.filter.Sort, start: true}
	if r.filter.After == "" {
		return nil
	}
	c, err := parseSortedCursor(r.filter.After, r.filter.Sort)
	r.place = c
	return err
}

// readSorted gives pages in the order of a column. A caller who waits only so long for the sorting of a long list is sent
// away with the cursor that it came with.
func (r *pageReader) readSorted(ctx context.Context) error {
	o, err := r.list(ctx)
	if err != nil || o == nil {
		return err
	}
	position := int64(0)
	if !r.place.start {
		if position, err = r.resume(o); err != nil {
			return err
		}
	}
	want := statementKeys
	if r.filter.Limit > 0 {
		want = min(want, r.filter.Limit)
	}
	for first := true; position < o.length; first = false {
		if !first && r.out() {
			return nil
		}
		places := make([]orderPlace, 0, want)
		for i := position; i < o.length && len(places) < want; i++ {
			p, err := o.place(o.index(i, r.filter.Sort.Descending))
			if err != nil {
				return err
			}
			places = append(places, p)
		}
		if err := r.givePlaces(ctx, position, places); err != nil {
			return err
		}
		position += int64(len(places))
		*r.place = sortedCursor{sort: r.filter.Sort, position: position - 1, place: places[len(places)-1]}
		want = min(statementKeys, 2*want) // more than asked for once rows were read in vain
	}
	return nil
}

// out reports whether the caller's time is up, and keeps where to go on.
func (r *pageReader) out() bool {
	if r.deadline.IsZero() || time.Now().Before(r.deadline) {
		return false
	}
	r.came = r.place.String()
	return true
}

// list gives the sorted list, or nil when the caller's time was up before it was sorted.
func (r *pageReader) list(ctx context.Context) (*order, error) {
	name, err := r.orderName(ctx)
	if err != nil {
		return nil, err
	}
	text, args := r.orderText()
	o := r.store.orders.get(name, func(ctx context.Context, w *placeWriter) error {
		if err := r.store.readPlaces(ctx, text, args, w); err != nil {
			return fmt.Errorf("sort pages of site %d: %w", r.site.ID, err)
		}
		return nil
	})
	var late <-chan time.Time
	if !r.deadline.IsZero() {
		timer := time.NewTimer(max(time.Until(r.deadline), leastWait))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-o.done:
		return o, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late:
		r.came = r.place.String()
		return nil, nil
	}
}

// leastWait keeps a caller without any time from asking on and on.
const leastWait = 20 * time.Millisecond

// resume gives the position behind the cursor's page.
func (r *pageReader) resume(o *order) (int64, error) {
	descending := r.filter.Sort.Descending
	if at := r.place.position; at < o.length {
		p, err := o.place(o.index(at, descending))
		if err != nil || p == r.place.place {
			return at + 1, err
		}
	}
	i, err := o.find(r.place.place)
	switch {
	case err != nil:
		return 0, err
	case i < 0:
		return 0, models.Invalid("after", "start again without a cursor", "the list has changed since: its page is no longer in it")
	case descending:
		return o.length - i, nil
	}
	return (i-o.unknown+o.length)%o.length + 1, nil
}

// givePlaces reads the pages of a portion and hands them out in its order; from is the position of the first.
func (r *pageReader) givePlaces(ctx context.Context, from int64, places []orderPlace) error {
	r.gathered = make(map[string]*models.Page, len(places))
	wanted := make(map[orderPlace]bool, len(places))
	var listed, gone []models.Key
	for _, p := range places {
		if wanted[p] = true; p.document < 0 {
			gone = append(gone, p.key)
		} else {
			listed = append(listed, p.key)
		}
	}
	err := r.gatherListed(ctx, listed, wanted)
	if err == nil && len(gone) > 0 {
		var rows []removalRow
		if err = r.ended(ctx).Where("url_key IN ?", keyBytes(gone)).Find(&rows).Error; err == nil {
			err = r.giveRemoved(ctx, rows)
		}
	}
	if err != nil {
		return err
	}
	gathered := r.gathered
	r.gathered = nil
	for i, p := range places {
		at := pageCursor{removed: p.document < 0, document: p.document, key: p.key}
		page := gathered[at.String()]
		if page == nil {
			continue
		}
		page.Cursor = sortedCursor{sort: r.filter.Sort, position: from + int64(i), place: p}.String()
		if err := r.pass(page); err != nil {
			return err
		}
	}
	return nil
}

func (r *pageReader) gatherListed(ctx context.Context, keys []models.Key, wanted map[orderPlace]bool) error {
	if len(keys) == 0 {
		return nil
	}
	where, filters := r.where()
	keys = sortedKeys(keys)
	args := append(appendKeys([]any{r.site.ID}, keys, len(keys)), filters...)
	rows := make([]models.Declaration, 0, len(keys))
	err := r.store.declarationsFrom(ctx, r.store.byPage(), r.store.pageColumn("site_id")+" = ? AND "+r.store.pageColumn("url_key")+" IN ("+marks(len(keys))+")"+where,
		args, func(d *models.Declaration) error {
			if wanted[orderPlace{document: d.Document, key: d.Key}] {
				rows = append(rows, *d)
			}
			return nil
		})
	if err != nil {
		return err
	}
	return r.give(ctx, rows)
}

// orderName names the list by what decides which rows it has. Where that is declarations alone, runs that wrote none share it.
func (r *pageReader) orderName(ctx context.Context) (string, error) {
	same := *r
	if r.state == models.StateLive || r.state == models.StateForeign {
		var wrote sql.NullInt64
		err := r.store.reads.WithContext(ctx).Raw("SELECT MAX(run) FROM touched WHERE site_id = ? AND run <= ?", r.site.ID, r.run).Scan(&wrote).Error
		if err != nil {
			return "", fmt.Errorf("read runs: %w", err)
		}
		same.moment = r.with(wrote.Int64)
	}
	text, args := same.orderText()
	return fmt.Sprint(r.site.keptFrom, text, args), nil
}
