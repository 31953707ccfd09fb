package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// portion is how many rows a stream reads at a time.
const portion = 1000

// listingsLimit is the largest Limit with which pages carry the other documents that list them; for whole inventories
// the look-ups would cost more than the rest.
const listingsLimit = 1000

// pageCursor names a page's place in the order of Pages: documents by number with gone ones last, then key; removed
// pages come after all documents, by key.
type pageCursor struct {
	removed  bool
	document int32
	key      models.Key
}

func (c pageCursor) String() string {
	if c.removed {
		return "r." + c.key.String()
	}
	return "d." + strconv.Itoa(int(c.document)) + "." + c.key.String()
}

func parsePageCursor(text string) (pageCursor, error) {
	bad := func() (pageCursor, error) {
		return pageCursor{}, models.Invalid("after", "give the cursor of a page as it was answered", "not a cursor: %q", text)
	}
	parts := strings.Split(text, ".")
	var c pageCursor
	switch {
	case len(parts) == 2 && parts[0] == "r":
		c.removed = true
	case len(parts) == 3 && parts[0] == "d":
		n, err := strconv.ParseInt(parts[1], 10, 32)
		if err != nil {
			return bad()
		}
		c.document = int32(n)
	default:
		return bad()
	}
	key, err := models.ParseKey(parts[len(parts)-1])
	if err != nil {
		return bad()
	}
	c.key = key
	return c, nil
}

// errEnough ends a stream when the caller has as many rows as it asked for.
var errEnough = errors.New("enough")

// pageReader is one call of Pages.
type pageReader struct {
	*moment
	filter models.PageFilter
	state  models.State
	views  map[int32]*documentView
	order  []int32
	cases  *cases
	after  *pageCursor
	given  int
	fn     func(*models.Page) error
}

// Pages streams the pages that a filter selects, in the order of their cursors. fn may keep the page.
func (s *Store) Pages(ctx context.Context, siteID int64, filter models.PageFilter, fn func(*models.Page) error) error {
	r, err := s.pageReader(ctx, siteID, filter)
	if err != nil {
		return fmt.Errorf("read pages: %w", err)
	}
	r.fn = fn
	err = r.read(ctx)
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read pages: %w", err)
	}
	return nil
}

func (s *Store) pageReader(ctx context.Context, siteID int64, filter models.PageFilter) (*pageReader, error) {
	m, err := s.at(ctx, siteID, filter.AsOf)
	if err != nil {
		return nil, err
	}
	r := &pageReader{moment: m, filter: filter, state: cmp.Or(filter.State, models.StateLive)}
	switch r.state {
	case models.StateLive, models.StateStale, models.StatePending, models.StateHeld, models.StateRemoved, models.StateForeign, models.StateAll:
	default:
		return nil, models.Invalid("state", "live, stale, pending, held, removed, foreign or all", "unknown state %q", filter.State)
	}
	if filter.After != "" {
		c, err := parsePageCursor(filter.After)
		if err != nil {
			return nil, err
		}
		r.after = &c
	}
	if r.views, r.order, err = m.documents(ctx, 0); err != nil {
		return nil, err
	}
	r.cases, err = m.cases(ctx)
	return r, err
}

func (r *pageReader) read(ctx context.Context) error {
	if err := r.store.indexPages(ctx, r.site.ID); err != nil {
		return err
	}
	if r.state != models.StateRemoved {
		read := r.scan
		switch {
		case r.filter.Key != nil:
			read = r.lookUp
		case (r.state == models.StatePending || r.state == models.StateHeld) && r.cases.all != nil:
			read = r.undecidedPages
		}
		if err := read(ctx); err != nil {
			return err
		}
	}
	if r.state == models.StateRemoved || r.state == models.StateAll {
		return r.removedPages(ctx)
	}
	return nil
}

// where is the part of the filter that SQL decides. The columns belong to declarations d.
func (r *pageReader) where() (string, []any) {
	var text strings.Builder
	var args []any
	fmt.Fprintf(&text, " AND d.from_run <= %d AND d.to_run > %d", r.run, r.run)
	if r.state == models.StateForeign {
		text.WriteString(" AND d.role = 2")
	} else {
		text.WriteString(" AND d.role = 0")
	}
	f := r.filter
	and := func(condition string, arg any) {
		text.WriteString(" AND " + condition)
		args = append(args, arg)
	}
	bytesIn, url := "instr(CAST(d.url AS BLOB), CAST(? AS BLOB)) > 0", "substr(CAST(d.url AS BLOB), 1, %d) = CAST(? AS BLOB)"
	if r.store.mysql() {
		bytesIn, url = "LOCATE(CAST(? AS BINARY), d.url) > 0", "LEFT(d.url, %d) = CAST(? AS BINARY)"
	}
	if f.Contains != "" {
		and(bytesIn, f.Contains)
	}
	if f.Prefix != "" {
		and(fmt.Sprintf(url, len(f.Prefix)), f.Prefix)
	}
	if f.LastmodFrom != nil {
		and("d.lastmod >= ?", r.store.bulkTime(*f.LastmodFrom))
	}
	if f.LastmodTo != nil {
		and("d.lastmod < ?", r.store.bulkTime(*f.LastmodTo))
	}
	if f.Extension != "" || f.Language != "" {
		text.WriteString(" AND d.extensions IS NOT NULL")
	}
	return text.String(), args
}

// wanted decides the rest of the filter.
func (r *pageReader) wanted(p *models.Page) bool {
	f := r.filter
	switch {
	case r.state != models.StateAll && p.State != r.state,
		!within(p.FirstSeen, f.FirstFrom, nil),
		f.Language != "" && !hasLanguage(p, f.Language),
		f.Extension != "" && !hasExtension(p, f.Extension):
		return false
	}
	return true
}

func hasExtension(p *models.Page, name string) bool {
	switch strings.TrimSuffix(strings.ToLower(name), "s") {
	case "image":
		return len(p.Images) > 0
	case "video":
		return len(p.Videos) > 0
	case "new": // news
		return len(p.News) > 0
	case "alternate":
		return len(p.Alternates) > 0
	case "mobile":
		return len(p.Mobile) > 0
	case "pagemap":
		return len(p.PageMap) > 0
	}
	return false
}

// scan reads document after document, each in portions by key.
func (r *pageReader) scan(ctx context.Context) error {
	if r.after != nil && r.after.removed {
		return nil
	}
	skip := r.after != nil
	for _, number := range r.order {
		var key *models.Key
		if skip {
			if number != r.after.document {
				continue
			}
			skip, key = false, &r.after.key
		}
		if r.filter.Document != 0 && number != r.filter.Document {
			continue
		}
		if d := r.views[number]; r.state == models.StateLive && !d.good || r.state == models.StateStale && d.good && len(r.cases.all) == 0 && r.cases.all != nil {
			continue
		}
		if err := r.scanDocument(ctx, number, key); err != nil {
			return err
		}
	}
	return nil
}

func (r *pageReader) scanDocument(ctx context.Context, number int32, after *models.Key) error {
	where, filters := r.where()
	want := portion
	if r.filter.Limit > 0 {
		want = min(portion, r.filter.Limit-r.given)
	}
	for ; ; want = min(portion, 2*want) { // more than asked for once rows were read in vain
		args := []any{r.site.ID, number}
		from := ""
		if after != nil {
			from = " AND d.url_key > ?"
			args = append(args, after[:])
		}
		rows := make([]models.Declaration, 0, want)
		err := r.store.declarations(ctx, "d.site_id = ? AND d.document = ?"+from+where+" ORDER BY d.url_key LIMIT "+strconv.Itoa(want),
			append(args, filters...), func(d *models.Declaration) error {
				rows = append(rows, *d)
				return nil
			})
		if err != nil {
			return err
		}
		if err := r.give(ctx, rows); err != nil {
			return err
		}
		if len(rows) < want {
			return nil
		}
		after = &rows[len(rows)-1].Key
	}
}

// lookUp reads one page by its key.
func (r *pageReader) lookUp(ctx context.Context) error {
	where, args := r.where()
	var rows []models.Declaration
	err := r.store.declarationsFrom(ctx, r.store.byPage(), r.store.pageColumn("site_id")+" = ? AND "+r.store.pageColumn("url_key")+" = ?"+where+
		" ORDER BY d.document", append([]any{r.site.ID, r.filter.Key[:]}, args...), func(d *models.Declaration) error {
		at := pageCursor{document: d.Document, key: d.Key}
		if (r.filter.Document == 0 || d.Document == r.filter.Document) && (r.after == nil || !r.after.removed && r.after.document < at.document) {
			rows = append(rows, *d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.give(ctx, rows)
}

// undecidedPages reads pages by their cases, which are few where rows are many.
func (r *pageReader) undecidedPages(ctx context.Context) error {
	if r.after != nil && r.after.removed {
		return nil
	}
	keys := map[int32][]models.Key{}
	for key, c := range r.cases.all {
		if r.filter.Document == 0 || c.Document == r.filter.Document {
			keys[c.Document] = append(keys[c.Document], key)
		}
	}
	where, filters := r.where()
	skip := r.after != nil
	for _, number := range r.order {
		of := sortedKeys(keys[number])
		if skip {
			if number != r.after.document {
				continue
			}
			skip = false
			at, found := slices.BinarySearchFunc(of, r.after.key, func(a, b models.Key) int { return bytes.Compare(a[:], b[:]) })
			if found {
				at++
			}
			of = of[at:]
		}
		for chunk := range slices.Chunk(of, statementKeys) {
			args := append([]any{r.site.ID, number}, filters...)
			var rows []models.Declaration
			err := r.store.declarations(ctx, "d.site_id = ? AND d.document = ?"+where+" AND d.url_key IN ("+marks(len(chunk))+") ORDER BY d.url_key",
				appendKeys(args, chunk, len(chunk)), func(d *models.Declaration) error {
					rows = append(rows, *d)
					return nil
				})
			if err != nil {
				return err
			}
			if err := r.give(ctx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// give hands rows out as pages.
func (r *pageReader) give(ctx context.Context, rows []models.Declaration) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]models.Key, len(rows))
	for i := range rows {
		keys[i] = rows[i].Key
	}
	cases, err := r.cases.of(ctx, keys)
	if err != nil {
		return err
	}
	others, err := r.others(ctx, keys)
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		c := cases[row.Key]
		if c != nil && c.Document != row.Document {
			c = nil
		}
		p, err := r.listed(ctx, row, r.views[row.Document], c)
		if err != nil {
			return err
		}
		for _, number := range others[row.Key] {
			if d := r.views[number]; d != nil && number != row.Document {
				p.Listings = append(p.Listings, d.URL)
			}
		}
		p.Cursor = pageCursor{document: row.Document, key: row.Key}.String()
		if err := r.hand(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *pageReader) hand(p *models.Page) error {
	if !r.wanted(p) {
		return nil
	}
	if err := r.fn(p); err != nil {
		return err
	}
	if r.given++; r.given == r.filter.Limit {
		return errEnough
	}
	return nil
}

// others gives the documents that list pages at the moment, when the answer is short enough to afford it.
func (r *pageReader) others(ctx context.Context, keys []models.Key) (map[models.Key][]int32, error) {
	if r.filter.Key == nil && (r.filter.Limit == 0 || r.filter.Limit > listingsLimit) {
		return nil, nil
	}
	out := map[models.Key][]int32{}
	for chunk := range slices.Chunk(sortedKeys(keys), statementKeys) {
		args := appendKeys([]any{r.site.ID}, chunk, len(chunk))
		rows, err := r.store.query(ctx, "SELECT d.url_key, d.document FROM "+r.store.byPage()+" WHERE "+r.store.pageColumn("site_id")+" = ? AND "+
			r.store.pageColumn("url_key")+" IN ("+marks(len(chunk))+") AND d.from_run <= "+strconv.FormatInt(r.run, 10)+" AND d.to_run > "+
			strconv.FormatInt(r.run, 10)+" AND d.role < 2 ORDER BY d.url_key, d.document", args...)
		err = eachKeyed(rows, err, func(key models.Key, document int64) error {
			out[key] = append(out[key], int32(document))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
