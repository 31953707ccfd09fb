package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// Sums are kept beside the rows that they describe, for the current state alone. Whatever changes open rows without new
// sums casts doubt on the keys that it touched, or forgets the sums, in the same transaction; a sweep and Unstage forget
// those of the run that they take back. Doubt too much costs reading, never truth.

// sumsRow is one document's sums.
type sumsRow struct {
	SiteID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Document int32 `gorm:"primaryKey;autoIncrement:false"`
	Run      int64
	Sums     []byte
	Doubts   string
}

func (sumsRow) TableName() string { return "document_sums" }

const (
	// mostDoubts keys or fewer are doubted one by one; beyond that the sums are forgotten.
	mostDoubts = 200
	// doubtsBytes bounds what gathers over the runs in which a document itself did not change.
	doubtsBytes = 8192
)

// Sums gives the sums of up to n documents from a number on, by number. Documents without are left out.
func (s *Store) Sums(ctx context.Context, siteID int64, from int32, n int) ([]models.DocumentSums, error) {
	rows, err := s.query(ctx, "SELECT document, sums, doubts FROM document_sums WHERE site_id = "+strconv.FormatInt(siteID, 10)+
		" AND document >= "+strconv.Itoa(int(from))+" AND document < "+strconv.Itoa(int(from)+n)+" ORDER BY document")
	var out []models.DocumentSums
	err = each(rows, err, func(rows *sql.Rows) error {
		var x models.DocumentSums
		var doubts string
		if err := rows.Scan(&x.Document, &x.Sums, &doubts); err != nil {
			return err
		}
		if x.Doubts, err = hex.DecodeString(doubts); err != nil {
			return nil // not ours: as good as no sums
		}
		out = append(out, x)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read sums of documents: %w", err)
	}
	return out, nil
}

// SaveSums stages sums of documents whose rows this run staged before. Those without Sums are left alone.
func (s *Store) SaveSums(ctx context.Context, lease models.Lease, siteID, run int64, all []models.DocumentSums) error {
	if len(all) == 0 {
		return nil
	}
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error { return putSums(tx, siteID, run, all) })
	if err != nil {
		return fmt.Errorf("save sums of documents: %w", err)
	}
	return nil
}

func putSums(tx *gorm.DB, siteID, run int64, all []models.DocumentSums) error {
	var args []any
	n := 0
	for i := range all {
		if all[i].Sums != nil {
			args = append(args, siteID, all[i].Document, run, all[i].Sums)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	conn, err := raw(tx)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(tx.Statement.Context, "REPLACE INTO document_sums (site_id, document, run, sums, doubts) VALUES (?, ?, ?, ?, '')"+
		strings.Repeat(", (?, ?, ?, ?, '')", n-1), args...)
	return err
}

// doubt tells the sums of a document that rows of some keys change.
func (s *Store) doubt(tx *gorm.DB, siteID int64, document int32, ended []models.Key, begun []models.Declaration) error {
	if len(ended)+len(begun) > mostDoubts {
		return forgetSums(tx, siteID, document)
	}
	var text strings.Builder
	for i := range ended {
		text.WriteString(hex.EncodeToString(ended[i][:2]))
	}
	for i := range begun {
		text.WriteString(hex.EncodeToString(begun[i].Key[:2]))
	}
	joined := "doubts || ?"
	if s.mysql() {
		joined = "CONCAT(doubts, ?)"
	}
	doubted := tx.Exec("UPDATE document_sums SET doubts = "+joined+" WHERE site_id = ? AND document = ? AND LENGTH(doubts) < ?",
		text.String(), siteID, document, doubtsBytes)
	if doubted.Error != nil || doubted.RowsAffected > 0 {
		return doubted.Error
	}
	return forgetSums(tx, siteID, document)
}

func forgetSums(tx *gorm.DB, siteID int64, documents ...int32) error {
	return tx.Exec("DELETE FROM document_sums WHERE site_id = ? AND document IN ?", siteID, documents).Error
}

// ListingsIn is Listings for some ranges of pages, which ascend and do not overlap.
func (s *Store) ListingsIn(ctx context.Context, siteID int64, document int32, ranges []models.KeyRange, fn func(models.Listing) error) error {
	for len(ranges) > 0 {
		n := min(len(ranges), statementKeys/2)
		if err := s.listingsIn(ctx, siteID, document, ranges[:n], fn); err != nil {
			return fmt.Errorf("read listings of document %d: %w", document, err)
		}
		ranges = ranges[n:]
	}
	return nil
}

func (s *Store) listingsIn(ctx context.Context, siteID int64, document int32, ranges []models.KeyRange, fn func(models.Listing) error) error {
	args := make([]any, 0, 2*len(ranges))
	for i := range ranges {
		args = append(args, ranges[i].From[:], ranges[i].To[:])
	}
	where := " d.site_id = " + strconv.FormatInt(siteID, 10) + " AND d.document = " + strconv.Itoa(int(document)) + " AND d.to_run = " + open
	var text string
	if s.mysql() {
		text = "SELECT " + listingColumns + " FROM declarations d FORCE INDEX (PRIMARY) WHERE" + where + " AND (d.url_key BETWEEN ? AND ?" +
			strings.Repeat(" OR d.url_key BETWEEN ? AND ?", len(ranges)-1) + ") ORDER BY d.url_key"
	} else { // SQLite would read every row for an OR of ranges
		text = "WITH r(a, b) AS (VALUES (?, ?)" + strings.Repeat(", (?, ?)", len(ranges)-1) + ") SELECT " + listingColumns +
			" FROM r CROSS JOIN declarations d WHERE" + where + " AND d.url_key BETWEEN r.a AND r.b"
	}
	rows, err := s.query(ctx, text, args...)
	var scanner listingScanner
	var l models.Listing
	return each(rows, err, func(rows *sql.Rows) error {
		if err := scanner.scan(rows, &l); err != nil {
			return err
		}
		return fn(l)
	})
}
