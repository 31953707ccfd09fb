package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
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

// bulkTime is a moment as the handle for bulk reads compares it.
func (s *Store) bulkTime(t time.Time) any {
	t = t.UTC().Truncate(time.Microsecond)
	if s.mysql() {
		return t
	}
	return t.UnixMicro()
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
	return r.cases.all != nil && f.Key == nil && f.FirstFrom == nil && f.Language == "" && f.Extension == "" &&
		(r.state == models.StateLive || r.state == models.StateStale || r.state == models.StateForeign)
}

// count counts rows by document and takes off those whose state an undecided removal changes.
func (r *pageReader) count(ctx context.Context) (int64, error) {
	where, args := r.where()
	of := ""
	if r.filter.Document != 0 {
		of = fmt.Sprintf(" AND d.document = %d", r.filter.Document)
	}
	var total int64
	rows, err := r.store.query(ctx, fmt.Sprintf("SELECT d.document, COUNT(*) FROM declarations d WHERE d.site_id = %d%s%s GROUP BY d.document",
		r.site.ID, of, where), args...)
	err = each(rows, err, func(rows *sql.Rows) error {
		var document int32
		var n int64
		if err := rows.Scan(&document, &n); err != nil {
			return err
		}
		d := r.views[document]
		if r.state == models.StateForeign || (d != nil && d.good) == (r.state == models.StateLive) {
			total += n
		}
		return nil
	})
	if err != nil || r.state == models.StateForeign || len(r.cases.all) == 0 {
		return total, err
	}
	// What a case makes of a page in place of its document's state.
	state := r.state
	r.state = models.StateAll
	r.fn = func(p *models.Page) error {
		before := models.StateLive
		if d := r.views[r.cases.all[p.Key].Document]; d == nil || !d.good {
			before = models.StateStale
		}
		if before == state && p.State != state {
			total--
		}
		if before != state && p.State == state {
			total++
		}
		return nil
	}
	return total, r.undecidedPages(ctx)
}
