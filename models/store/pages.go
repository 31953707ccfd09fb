package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

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
	// place is where a sorted reading goes on; gathered holds the rows of a portion until they are handed out in order.
	place    *sortedCursor
	gathered map[string]*models.Page
	// firstRun is the first run that ended when the filter says that pages were first seen, 0 for any.
	firstRun int64
	fn       func(*models.Page) error
	// A reading that may take only so long ends at its deadline and says where it came to.
	deadline time.Time
	came     string
}

// Pages streams the pages that a filter selects, in the order of their cursors. fn may keep the page.
func (s *Store) Pages(ctx context.Context, siteID int64, filter models.PageFilter, fn func(*models.Page) error) error {
	_, err := s.PagesWithin(ctx, siteID, filter, 0, fn)
	return err
}

// PagesWithin is Pages for somebody who waits: where few pages match it stops looking after the budget (0: never) and
// gives the cursor at which to look on, "" when it came to the end or to the filter's limit. It always gets further.
func (s *Store) PagesWithin(ctx context.Context, siteID int64, filter models.PageFilter, budget time.Duration, fn func(*models.Page) error) (string, error) {
	began := time.Now()
	r, err := s.pageReader(ctx, siteID, filter)
	if err != nil {
		return "", fmt.Errorf("read pages: %w", err)
	}
	if r.fn = fn; budget > 0 {
		r.deadline = began.Add(budget)
	}
	err = r.read(ctx)
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("read pages: %w", err)
	}
	return r.came, nil
}

// late ends a reading that has used up its time; at is how far it came.
func (r *pageReader) late(at pageCursor) error {
	if r.deadline.IsZero() || r.after != nil && *r.after == at || time.Now().Before(r.deadline) {
		return nil // the place where it began would be no progress
	}
	r.came = at.String()
	return errEnough
}

var lastKey = models.Key(bytes.Repeat([]byte{0xff}, 16))

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
	if err := r.begin(); err != nil {
		return nil, err
	}
	// Of one document or page, the other documents are looked up as they come.
	if r.views = map[int32]*documentView{}; filter.Key == nil {
		if r.views, r.order, err = m.documents(ctx, filter.Document); err != nil {
			return nil, err
		}
	} else if m.checked, err = m.last(ctx, m.run, true); err != nil {
		return nil, err
	}
	if filter.FirstFrom != nil {
		if r.firstRun, err = m.firstSince(ctx, *filter.FirstFrom); err != nil {
			return nil, err
		}
	}
	if r.cases, err = m.cases(ctx); err == nil && filter.Limit == 0 {
		err = r.cases.load(ctx)
	}
	return r, err
}

// begin reads the cursor behind which the caller wants pages.
func (r *pageReader) begin() error {
	if r.sorted() {
		return r.beginSorted()
	}
	if r.filter.After == "" {
		return nil
	}
	c, err := parsePageCursor(r.filter.After)
	r.after = &c
	return err
}

func (r *pageReader) read(ctx context.Context) error {
	if err := r.store.indexPages(ctx, r.site.ID); err != nil {
		return err
	}
	if r.sorted() {
		return r.readSorted(ctx)
	}
	if r.state != models.StateRemoved {
		read := r.scan
		switch {
		case r.filter.Key != nil:
			read = r.lookUp
		case (r.state == models.StatePending || r.state == models.StateHeld) && r.cases.all != nil:
			read = r.undecidedPages
		case r.state == models.StatePending || r.state == models.StateHeld || r.state == models.StateStale && r.cases.all == nil:
			indexed, err := r.cases.indexed(ctx)
			if err != nil {
				return err
			}
			if indexed {
				read = r.scanCases
			}
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

// view gives a document as it is at the moment, nil for one that is not known then.
func (r *pageReader) view(ctx context.Context, number int32) (*documentView, error) {
	if d, known := r.views[number]; known || r.filter.Key == nil && r.filter.Document == 0 {
		return d, nil
	}
	views, _, err := r.documents(ctx, number)
	r.views[number] = views[number]
	return views[number], err
}

// passes reports whether the filter leaves out everything that a document declares.
func (r *pageReader) passes(number int32) bool {
	if r.filter.Document != 0 && r.filter.Document != number {
		return true
	}
	if r.filter.ObjectType == "" {
		return false
	}
	document := ""
	if d := r.views[number]; d != nil {
		document = d.URL
	}
	return !r.filter.Lists(document)
}

// where is the part of the filter that SQL decides. The columns belong to declarations d.
func (r *pageReader) where() (string, []any) {
	var text strings.Builder
	fmt.Fprintf(&text, " AND d.from_run <= %d AND d.to_run > %d", r.run, r.run)
	if r.state == models.StateForeign {
		text.WriteString(" AND d.role = 2")
	} else {
		text.WriteString(" AND d.role = 0")
	}
	f := r.filter
	switch f.Lastmod {
	case models.LastmodDeclared:
		text.WriteString(" AND d.lastmod IS NOT NULL")
	case models.LastmodNone:
		text.WriteString(" AND d.lastmod IS NULL")
	}
	address, args := r.address("d.url")
	text.WriteString(address)
	and := func(condition string, arg any) {
		text.WriteString(" AND " + condition)
		args = append(args, arg)
	}
	if f.LastmodFrom != nil {
		and("d.lastmod >= ?", r.store.bulkTime(*f.LastmodFrom))
	}
	if f.LastmodTo != nil {
		and("d.lastmod < ?", r.store.bulkTime(*f.LastmodTo))
	}
	if f.Extension != "" || f.Language != "" || f.Title != "" {
		text.WriteString(" AND d.extensions IS NOT NULL")
	}
	if part := blockOf(f.Extension); part != "" {
		and(r.store.bytesIn("d.extensions"), part)
	}
	if plainLanguage(f.Language) {
		and(r.store.anyCaseIn(), `%"hreflang":"`+strings.ToLower(f.Language)+`"%`)
	}
	if f.Title != "" {
		and(r.store.bytesIn("d.extensions"), `"title":`)
		if word := plainWord(f.Title); word != "" {
			and(r.store.anyCaseIn(), "%"+word+"%")
		}
	}
	if r.firstRun > 0 {
		and("d.first_run >= ?", r.firstRun)
	}
	return text.String(), args
}

// bytesIn is a condition that a column contains some bytes.
func (s *Store) bytesIn(column string) string {
	if s.mysql() {
		return "LOCATE(CAST(? AS BINARY), " + column + ") > 0"
	}
	return "instr(CAST(" + column + " AS BLOB), CAST(? AS BLOB)) > 0"
}

// address is what the filter asks of a column with an address.
func (r *pageReader) address(column string) (string, []any) {
	text, args := "", []any(nil)
	if r.filter.Contains != "" {
		text, args = " AND "+r.store.bytesIn(column), append(args, r.filter.Contains)
	}
	if prefix := r.filter.Prefix; prefix != "" {
		if r.store.mysql() {
			text += fmt.Sprintf(" AND LEFT(%s, %d) = CAST(? AS BINARY)", column, len(prefix))
		} else {
			text += fmt.Sprintf(" AND substr(CAST(%s AS BLOB), 1, %d) = CAST(? AS BLOB)", column, len(prefix))
		}
		args = append(args, prefix)
	}
	return text, args
}

// wanted decides the rest of the filter.
func (r *pageReader) wanted(p *models.Page) bool {
	f := r.filter
	switch {
	case r.state != models.StateAll && p.State != r.state,
		!within(p.FirstSeen, f.FirstFrom, nil),
		f.Reason != "" && !strings.Contains(strings.ToLower(p.Reason), strings.ToLower(f.Reason)),
		f.Language != "" && !hasLanguage(p, f.Language),
		f.Title != "" && !hasTitle(p, f.Title),
		!f.Lists(p.Document),
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
