package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"github.com/sitemapd/sitemapd/models"
)

const open = "9223372036854775807"

// query runs a read of many rows. Numbers stand in its text, so that MySQL answers in its text protocol, which is
// three times faster to read than the binary one.
func (s *Store) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return s.bulk.QueryContext(ctx, text, args...)
}

// each calls fn for every row and closes the rows.
func each(rows *sql.Rows, err error, fn func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err below says what went wrong
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

const listingColumns = "d.url_key, d.fingerprint, d.document, d.from_run, d.first_run, d.role"

// listingScanner reads listings without an allocation for each.
type listingScanner struct {
	key, fingerprint, document, from, first, role sql.RawBytes
	into                                          []any
}

func (l *listingScanner) scan(rows *sql.Rows, out *models.Listing) error {
	if l.into == nil {
		l.into = []any{&l.key, &l.fingerprint, &l.document, &l.from, &l.first, &l.role}
	}
	if err := rows.Scan(l.into...); err != nil {
		return err
	}
	copy(out.Key[:], l.key)
	copy(out.Fingerprint[:], l.fingerprint)
	out.Document, out.FromRun, out.FirstRun = int32(digits(l.document)), digits(l.from), digits(l.first)
	out.Role = models.Role(digits(l.role))
	return nil
}

// digits reads a number that a database wrote and that cannot be negative.
func digits(text []byte) int64 {
	var n int64
	for _, c := range text {
		n = n*10 + int64(c-'0')
	}
	return n
}

// Listings gives the open rows of one document, those staged in this run included, ascending by key. fn must not
// keep the connection waiting for long.
func (s *Store) Listings(ctx context.Context, siteID int64, document int32, fn func(models.Listing) error) error {
	rows, err := s.query(ctx, "SELECT "+listingColumns+" FROM declarations d WHERE d.site_id = "+strconv.FormatInt(siteID, 10)+
		" AND d.document = "+strconv.Itoa(int(document))+" AND d.to_run = "+open+" ORDER BY d.url_key")
	var scanner listingScanner
	var l models.Listing
	err = each(rows, err, func(rows *sql.Rows) error {
		if err := scanner.scan(rows, &l); err != nil {
			return err
		}
		return fn(l)
	})
	if err != nil {
		return fmt.Errorf("read listings of document %d: %w", document, err)
	}
	return nil
}

// byPage is the FROM clause that finds rows of declarations d by (d.site_id, p.url_key).
func (s *Store) byPage() string {
	if s.mysql() {
		return "declarations d FORCE INDEX (declarations_page)"
	}
	return "page_documents p CROSS JOIN declarations d ON d.site_id = p.site_id AND d.document = p.document AND d.url_key = p.url_key"
}

// pageColumn names the indexed column of byPage.
func (s *Store) pageColumn(column string) string {
	if s.mysql() {
		return "d." + column
	}
	return "p." + column
}

// sortedKeys gives keys ascending, each once.
func sortedKeys(keys []models.Key) []models.Key {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b models.Key) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(keys)
}

// Elsewhere gives all open rows of pages, staged ones included and foreign ones not, ascending by key, then document.
func (s *Store) Elsewhere(ctx context.Context, siteID int64, keys []models.Key) ([]models.Listing, error) {
	if err := s.indexPages(ctx, siteID); err != nil {
		return nil, err
	}
	out := make([]models.Listing, 0, len(keys))
	for portion := range slices.Chunk(sortedKeys(keys), statementKeys) {
		var err error
		if out, err = s.openListings(ctx, siteID, portion, out); err != nil {
			return nil, fmt.Errorf("look pages up: %w", err)
		}
	}
	return out, nil
}

func (s *Store) openListings(ctx context.Context, siteID int64, keys []models.Key, out []models.Listing) ([]models.Listing, error) {
	args := append(make([]any, 0, len(keys)+1), siteID)
	args = appendKeys(args, keys, len(keys))
	rows, err := s.query(ctx, "SELECT "+listingColumns+" FROM "+s.byPage()+" WHERE "+s.pageColumn("site_id")+" = ? AND "+
		s.pageColumn("url_key")+" IN ("+marks(len(keys))+") AND d.to_run = "+open+" AND d.role <> 2 ORDER BY d.url_key, d.document", args...)
	var scanner listingScanner
	err = each(rows, err, func(rows *sql.Rows) error {
		var l models.Listing
		if err := scanner.scan(rows, &l); err != nil {
			return err
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

// SharedKeys gives, ascending, the pages that have more than one open row, foreign ones not counted. It is one ordered
// scan of the index by page.
func (s *Store) SharedKeys(ctx context.Context, siteID int64, fn func(models.Key) error) error {
	if err := s.indexPages(ctx, siteID); err != nil {
		return err
	}
	site := strconv.FormatInt(siteID, 10)
	text := "SELECT url_key FROM page_documents WHERE site_id = " + site + " GROUP BY url_key HAVING COUNT(*) > 1 ORDER BY url_key"
	if s.mysql() {
		text = "SELECT url_key FROM declarations FORCE INDEX (declarations_page) WHERE site_id = " + site + " AND to_run = " + open +
			" GROUP BY url_key HAVING COUNT(*) > 1 ORDER BY url_key"
	}
	var candidates []models.Key
	judge := func() error {
		listings, err := s.openListings(ctx, siteID, candidates, nil)
		if err != nil {
			return err
		}
		for i := 1; i < len(listings); i++ {
			if listings[i].Key == listings[i-1].Key && (i < 2 || listings[i-2].Key != listings[i].Key) {
				if err := fn(listings[i].Key); err != nil {
					return err
				}
			}
		}
		candidates = candidates[:0]
		return nil
	}
	rows, err := s.query(ctx, text)
	var key sql.RawBytes
	err = each(rows, err, func(rows *sql.Rows) error {
		if err := rows.Scan(&key); err != nil {
			return err
		}
		candidates = append(candidates, models.Key(key))
		if len(candidates) < statementKeys {
			return nil
		}
		return judge()
	})
	if err == nil && len(candidates) > 0 {
		err = judge()
	}
	if err != nil {
		return fmt.Errorf("find pages with several listings: %w", err)
	}
	return nil
}

// Rows gives the full open rows of pages in one document, ascending by key.
func (s *Store) Rows(ctx context.Context, siteID int64, document int32, keys []models.Key) ([]models.Declaration, error) {
	out := make([]models.Declaration, 0, len(keys))
	for portion := range slices.Chunk(sortedKeys(keys), statementKeys) {
		args := append(make([]any, 0, len(portion)+2), siteID, document)
		args = appendKeys(args, portion, len(portion))
		err := s.declarations(ctx, "d.site_id = ? AND d.document = ? AND d.url_key IN ("+marks(len(portion))+") AND d.to_run = "+open+
			" ORDER BY d.url_key", args, func(d *models.Declaration) error {
			out = append(out, *d)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read rows of document %d: %w", document, err)
		}
	}
	return out, nil
}

const fullColumns = "d.document, d.url_key, d.from_run, d.to_run, d.first_run, d.role, d.url, d.lastmod_raw, d.lastmod, " +
	"d.lastmod_precision, d.lastmod_zone, d.changefreq, d.priority, d.extensions, d.fingerprint"

// declarations reads full rows of the table by its primary key.
func (s *Store) declarations(ctx context.Context, where string, args []any, fn func(*models.Declaration) error) error {
	return s.declarationsFrom(ctx, "declarations d", where, args, fn)
}

func (s *Store) declarationsFrom(ctx context.Context, from, where string, args []any, fn func(*models.Declaration) error) error {
	rows, err := s.query(ctx, "SELECT "+fullColumns+" FROM "+from+" WHERE "+where, args...)
	var (
		key, fingerprint, extensions sql.RawBytes
		raw                          sql.NullString
		lastmod                      instant
		priority                     sql.NullFloat64
		precision, role              uint8
		zone                         bool
	)
	return each(rows, err, func(rows *sql.Rows) error {
		var d models.Declaration
		if err := rows.Scan(&d.Document, &key, &d.FromRun, &d.ToRun, &d.FirstRun, &role, &d.URL, &raw, &lastmod, &precision, &zone,
			&d.Changefreq, &priority, &extensions, &fingerprint); err != nil {
			return err
		}
		copy(d.Key[:], key)
		copy(d.Fingerprint[:], fingerprint)
		d.Role = models.Role(role)
		if raw.Valid {
			d.Lastmod = &models.Lastmod{Raw: raw.String, Instant: lastmod.Time, Precision: models.Precision(precision), Zone: zone}
		}
		if priority.Valid {
			value := priority.Float64
			d.Priority = &value
		}
		if len(extensions) > 0 {
			d.Extensions = bytes.Clone(extensions)
		}
		return fn(&d)
	})
}

// CountListed counts the declarations (no duplicates, no foreign ones) that documents list, staged ones included.
func (s *Store) CountListed(ctx context.Context, siteID int64, documents []int32) (int64, error) {
	var total int64
	for _, document := range documents {
		var n int64
		err := s.bulk.QueryRowContext(ctx, "SELECT COUNT(*) FROM declarations WHERE site_id = "+strconv.FormatInt(siteID, 10)+
			" AND document = "+strconv.Itoa(int(document))+" AND to_run = "+open+" AND role = 0").Scan(&n)
		if err != nil {
			return 0, fmt.Errorf("count pages of document %d: %w", document, err)
		}
		total += n
	}
	return total, nil
}
