package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func contains(text, part string) bool    { return strings.Contains(text, part) }
func hasPrefix(text, prefix string) bool { return strings.HasPrefix(text, prefix) }

// hasLanguage reports whether one of a page's alternates is for a language, whatever the case.
func hasLanguage(p *models.Page, language string) bool {
	if !bytes.Contains(bytes.ToLower(p.Alternates), bytes.ToLower([]byte(language))) {
		return false
	}
	var alternates []struct {
		Hreflang string `json:"hreflang"`
	}
	if json.Unmarshal(p.Alternates, &alternates) != nil {
		return false
	}
	for _, a := range alternates {
		if strings.EqualFold(a.Hreflang, language) {
			return true
		}
	}
	return false
}

// blockOf is a text that the extensions of every page with such a block contain, "" for an unknown one.
func blockOf(extension string) string {
	block := map[string]string{"image": "images", "video": "videos", "news": "news", "alternate": "alternates", "alternates": "alternates",
		"images": "images", "videos": "videos", "mobile": "mobile", "pagemap": "pagemap"}[strings.ToLower(extension)]
	if block == "" {
		return ""
	}
	return `"` + block + `":`
}

// plainLanguage reports whether a language is stored letter by letter as it is asked for, but for its case.
func plainLanguage(language string) bool {
	for _, c := range []byte(language) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return language != ""
}

// anyCaseIn is a condition that a page's extensions match a pattern of lower-case ASCII, in any case of letters.
func (s *Store) anyCaseIn() string {
	if s.mysql() {
		return "LOWER(CONVERT(d.extensions USING latin1)) LIKE ?"
	}
	return "CAST(d.extensions AS TEXT) LIKE ?" // which SQLite compares without regard to case
}

// firstSince gives the first run that ended at or after a moment; one more than all when none did.
func (m *moment) firstSince(ctx context.Context, at time.Time) (int64, error) {
	var run sql.NullInt64
	err := m.store.reads.WithContext(ctx).Raw("SELECT MIN(run) FROM runs WHERE site_id = ? AND finished_at >= ? AND "+finished, m.site.ID, stored(at)).Scan(&run).Error
	if err != nil {
		return 0, fmt.Errorf("read runs: %w", err)
	}
	if !run.Valid {
		return m.site.LastRun + 1, nil
	}
	return run.Int64, nil
}

// The first and the last moment that a lastmod is kept of.
var (
	firstMoment = time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC)
	lastMoment  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
)

// bulkTime is a moment as the handle for bulk reads compares it. The driver writes Go's zero time as 0000-00-00, which
// MySQL refuses even to compare with (error 1525; MariaDB does not), so what lies outside is the nearest that is kept.
func (s *Store) bulkTime(t time.Time) any {
	t = t.UTC().Truncate(time.Microsecond)
	switch {
	case !s.mysql():
		return t.UnixMicro()
	case t.Before(firstMoment):
		return firstMoment
	case t.After(lastMoment):
		return lastMoment
	}
	return t
}

// CountPages counts the pages that Pages would give without After and Limit. Where SQL can decide the whole filter no
// page is built.
func (s *Store) CountPages(ctx context.Context, siteID int64, filter models.PageFilter) (int64, error) {
	filter.After, filter.Limit = "", 0
	r, err := s.pageReader(ctx, siteID, filter)
	if err != nil {
		return 0, fmt.Errorf("count pages: %w", err)
	}
	var n int64
	r.fn = func(*models.Page) error { n++; return nil }
	if r.countable() {
		n, err = r.count(ctx)
	} else {
		err = r.read(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("count pages: %w", err)
	}
	return n, nil
}

// countable reports whether states follow from documents and a few cases, and the rest of the filter from columns.
func (r *pageReader) countable() bool {
	f := r.filter
	if f.Key != nil || f.FirstFrom != nil || f.Language != "" || f.Title != "" || f.Extension != "" || f.Reason != "" {
		return false
	}
	switch r.state {
	case models.StateAll, models.StateForeign:
		return true
	case models.StateLive, models.StateStale:
		return r.cases.all != nil
	}
	return false
}

// count adds up rows by document and corrects those whose state an undecided removal changes.
func (r *pageReader) count(ctx context.Context) (int64, error) {
	counts, err := r.countRows(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for document, n := range counts {
		if r.passes(document) {
			continue
		}
		d := r.views[document]
		if r.state == models.StateAll || r.state == models.StateForeign || (d != nil && d.good) == (r.state == models.StateLive) {
			total += n
		}
	}
	switch {
	case r.state == models.StateAll:
		r.fn = func(*models.Page) error { total++; return nil }
		return total, r.removedPages(ctx)
	case r.state == models.StateForeign || len(r.cases.all) == 0:
		return total, nil
	}
	return total, r.corrected(ctx, func(_ *models.Page, by int64) { total += by })
}

// tally counts the live pages of a reader without a limit, all of them: rows by a statement, whose first column is the
// document and in which those of documents that were not read well do not count (see reads), and by page what undecided
// removals take away or add; page by page where those are too many.
func (r *pageReader) tally(ctx context.Context, text string, args []any, row func(*sql.Rows) error, page func(p *models.Page, by int64)) error {
	if !r.countable() {
		r.fn = func(p *models.Page) error { page(p, 1); return nil }
		return r.read(ctx)
	}
	rows, err := r.store.query(ctx, text, args...)
	if err = each(rows, err, row); err != nil || len(r.cases.all) == 0 {
		return err
	}
	return r.corrected(ctx, page)
}

// reads reports whether the pages of a document are live, as far as it depends on the document.
func (r *pageReader) reads(document int32) bool {
	d := r.views[document]
	return d != nil && d.good
}

// corrected tells by how much, 1 or -1, pages change a count of rows whose state an undecided removal changes.
func (r *pageReader) corrected(ctx context.Context, fn func(p *models.Page, by int64)) error {
	state := r.state
	r.state = models.StateAll
	r.fn = func(p *models.Page) error {
		before := models.StateLive
		if d := r.views[r.cases.all[p.Key].Document]; d == nil || !d.good {
			before = models.StateStale
		}
		if before == state && p.State != state {
			fn(p, -1)
		}
		if before != state && p.State == state {
			fn(p, 1)
		}
		return nil
	}
	return r.undecidedPages(ctx)
}

// countRows counts the rows that a filter selects by document. Rows at a finished run never change, so the answer to
// the same question is kept.
func (r *pageReader) countRows(ctx context.Context) (map[int32]int64, error) {
	where, args := r.where()
	of := ""
	if r.filter.Document != 0 {
		of = fmt.Sprintf(" AND d.document = %d", r.filter.Document)
	}
	text := fmt.Sprintf("SELECT d.document, COUNT(*) FROM declarations d WHERE d.site_id = %d%s%s GROUP BY d.document", r.site.ID, of, where)
	question := fmt.Sprint(text, args)
	if counts := r.store.counts.get(question); counts != nil {
		return counts, nil
	}
	counts := map[int32]int64{}
	rows, err := r.store.query(ctx, text, args...)
	err = each(rows, err, func(rows *sql.Rows) error {
		var document int32
		var n int64
		err := rows.Scan(&document, &n)
		counts[document] = n
		return err
	})
	if err != nil {
		return nil, err
	}
	r.store.counts.put(question, counts)
	return counts, nil
}

// countCache keeps the last answers. Purged sites leave it by age.
type countCache struct {
	mu    sync.Mutex
	all   map[string]map[int32]int64
	order []string
}

const countsKept = 32

func (c *countCache) get(question string) map[int32]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[question]
}

func (c *countCache) put(question string, counts map[int32]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]map[int32]int64{}
	}
	if c.all[question] == nil {
		c.order = append(c.order, question)
	}
	c.all[question] = counts
	if len(c.order) > countsKept {
		delete(c.all, c.order[0])
		c.order = c.order[1:]
	}
}
