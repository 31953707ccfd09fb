package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type documentRow struct {
	SiteID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Document int32 `gorm:"primaryKey;autoIncrement:false"`
	URLKey   []byte
	URL      string
	FirstRun int64
}

func (documentRow) TableName() string { return "documents" }

type versionRow struct {
	SiteID           int64 `gorm:"primaryKey;autoIncrement:false"`
	Document         int32 `gorm:"primaryKey;autoIncrement:false"`
	FromRun          int64 `gorm:"primaryKey;autoIncrement:false"`
	ToRun            int64
	Parent           int32
	Depth            int
	Discovery        string
	Verdict          string
	Reason           string
	Type             string
	Status           int
	FinalURL         string
	ContentType      string
	Encoding         string
	Compression      string
	Bytes            int64
	BytesInflated    int64
	Entries          int64
	Children         int64
	ForeignEntries   int64
	Duplicates       int64
	Generator        string
	Namespaces       string
	FetchedAt        time.Time
	ObservedAt       *time.Time
	LastmodRaw       *string
	Lastmod          *time.Time
	LastmodPrecision uint8
	LastmodZone      bool
	StaleSince       *time.Time
	Etag             string
	LastModified     string
	ByteHash         []byte
	SemanticHash     []byte
	FirstKey         []byte
	LastKey          []byte
	FindingsHash     []byte
	LastmodRecord    []byte
	LastmodTrust     float64
	LastmodShift     int64
	Validation       []byte
}

func (versionRow) TableName() string { return "document_versions" }

// documentVersion is a version with its document's own columns.
type documentVersion struct {
	Version  versionRow
	URLKey   []byte
	URL      string
	FirstRun int64
}

func newVersionRow(siteID, run int64, d *models.Document) (versionRow, error) {
	namespaces, err := json.Marshal(d.Namespaces)
	if err != nil {
		return versionRow{}, fmt.Errorf("encode namespaces: %w", err)
	}
	v := versionRow{SiteID: siteID, Document: d.Number, FromRun: run, ToRun: models.Open, Parent: d.Parent, Depth: d.Depth,
		Discovery: d.Discovery, Verdict: string(d.Verdict), Reason: d.Reason, Type: d.Type, Status: d.Status, FinalURL: d.FinalURL,
		ContentType: d.ContentType, Encoding: d.Encoding, Compression: d.Compression, Bytes: d.Bytes, BytesInflated: d.BytesInflated,
		Entries: d.Entries, Children: d.Children, ForeignEntries: d.Foreign, Duplicates: d.Duplicates, Generator: d.Generator,
		Namespaces: string(namespaces), FetchedAt: stored(d.FetchedAt), ObservedAt: storable(d.ObservedAt), StaleSince: micros(d.StaleSince),
		Etag: d.ETag, LastModified: d.LastModified, ByteHash: d.ByteHash, SemanticHash: d.SemanticHash,
		FindingsHash: d.FindingsHash, LastmodRecord: d.LastmodRecord, LastmodTrust: d.LastmodTrust, LastmodShift: d.LastmodShift,
		Validation: d.Validation}
	if d.FirstKey != (models.Key{}) || d.LastKey != (models.Key{}) {
		v.FirstKey, v.LastKey = d.FirstKey[:], d.LastKey[:]
	}
	if d.Lastmod != nil {
		raw := clip(d.Lastmod.Raw, maxLastmod)
		v.LastmodRaw, v.Lastmod = &raw, storable(d.Lastmod.Instant)
		v.LastmodPrecision, v.LastmodZone = uint8(d.Lastmod.Precision), d.Lastmod.Zone
	}
	return v, nil
}

func (row *documentVersion) document() (models.Document, error) {
	v := &row.Version
	d := models.Document{SiteID: v.SiteID, Number: v.Document, URL: row.URL, ObjectType: models.ObjectType(row.URL), Parent: v.Parent, Depth: v.Depth, Discovery: v.Discovery,
		FirstRun: row.FirstRun, DocumentVersion: models.DocumentVersion{FromRun: v.FromRun, Verdict: models.Verdict(v.Verdict), Reason: v.Reason,
			Type: v.Type, Status: v.Status, FinalURL: v.FinalURL, ContentType: v.ContentType, Encoding: v.Encoding, Compression: v.Compression,
			Bytes: v.Bytes, BytesInflated: v.BytesInflated, Entries: v.Entries, Children: v.Children, Foreign: v.ForeignEntries,
			Duplicates: v.Duplicates, Generator: v.Generator, FetchedAt: v.FetchedAt.UTC(),
			StaleSince: micros(v.StaleSince), ETag: v.Etag, LastModified: v.LastModified, ByteHash: v.ByteHash, SemanticHash: v.SemanticHash,
			FindingsHash: v.FindingsHash, LastmodRecord: v.LastmodRecord, LastmodTrust: v.LastmodTrust, LastmodShift: v.LastmodShift,
			Validation: v.Validation}}
	if v.ToRun != models.Open {
		d.ToRun = v.ToRun
	}
	if v.ObservedAt != nil {
		d.ObservedAt = v.ObservedAt.UTC()
	}
	copy(d.Key[:], row.URLKey)
	copy(d.FirstKey[:], v.FirstKey)
	copy(d.LastKey[:], v.LastKey)
	if v.LastmodRaw != nil {
		d.Lastmod = &models.Lastmod{Raw: *v.LastmodRaw, Precision: models.Precision(v.LastmodPrecision), Zone: v.LastmodZone}
		if v.Lastmod != nil {
			d.Lastmod.Instant = v.Lastmod.UTC()
		}
	}
	if err := json.Unmarshal([]byte(v.Namespaces), &d.Namespaces); err != nil {
		return d, fmt.Errorf("document %d: decode namespaces: %w", v.Document, err)
	}
	return d, nil
}

// maxLastmod is the longest lastmod text that is kept, in bytes; no date is longer than 40.
const maxLastmod = 1024

// clip cuts bytes.
func clip(text string, limit int) string {
	if len(text) > limit {
		return text[:limit]
	}
	return text
}

// stored gives a moment that both dialects keep; no moment at all becomes the epoch, since zero dates are refused.
func stored(t time.Time) time.Time {
	if p := storable(t); p != nil {
		return *p
	}
	return time.Unix(0, 0).UTC()
}

// storable gives nil for moments outside the years that DATETIME knows: sitemaps contain such rubbish.
func storable(t time.Time) *time.Time {
	u := t.UTC().Truncate(time.Microsecond)
	if t.IsZero() || u.Year() < 1 || u.Year() > 9999 {
		return nil
	}
	return &u
}

// Documents gives every document's version that readers see, gone ones included, by number.
func (s *Store) Documents(ctx context.Context, siteID int64) ([]models.Document, error) {
	list, err := s.versions(ctx, `SELECT `+versionColumns+` FROM sites s JOIN document_versions v ON v.site_id = s.id
		JOIN documents d ON d.site_id = v.site_id AND d.document = v.document
		WHERE s.id = ? AND v.from_run <= s.current_run AND v.to_run > s.current_run ORDER BY v.document`, siteID)
	for i := range list {
		list[i].ToRun = 0 // a run under way may have superseded it
	}
	return list, err
}

func (s *Store) versions(ctx context.Context, text string, args ...any) ([]models.Document, error) {
	rows, err := s.reads.WithContext(ctx).Raw(text, args...).Rows()
	out := []models.Document{}
	scanner := newVersionScanner()
	err = each(rows, err, func(rows *sql.Rows) error {
		if err := scanner.scan(rows); err != nil {
			return err
		}
		d, err := scanner.row.document()
		out = append(out, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	return out, nil
}

// SaveDocument stages a version of a document with its findings. It supersedes the version that readers see; one that
// the same run staged before is replaced. A document with Number 0 is new and gets its number.
func (s *Store) SaveDocument(ctx context.Context, lease models.Lease, siteID, run int64, d *models.Document, findings []models.Finding) error {
	saved := *d
	err := s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		saved = *d
		fresh, err := s.number(tx, siteID, run, &saved)
		if err != nil {
			return err
		}
		if !fresh {
			if err := supersede(tx, siteID, run, saved.Number); err != nil {
				return err
			}
		}
		row, err := newVersionRow(siteID, run, &saved)
		if err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		if err := saveFindings(tx, siteID, saved.Number, run, findings); err != nil {
			return err
		}
		return s.touch(tx, siteID, run, saved.Number)
	})
	if err != nil {
		return fmt.Errorf("save document %s: %w", d.URL, err)
	}
	saved.FromRun, saved.ToRun = run, 0
	*d = saved
	return nil
}

// number finds the document by its number or else its URL, or stores it as a new one. Numbers that a swept run used
// may come again: nobody saw them.
func (s *Store) number(tx *gorm.DB, siteID, run int64, d *models.Document) (fresh bool, err error) {
	query := tx.Where("site_id = ? AND document = ?", siteID, d.Number)
	if d.Number == 0 {
		query = tx.Where("site_id = ? AND url_key = ?", siteID, d.Key[:])
	}
	var row documentRow
	found := query.Limit(1).Find(&row)
	if found.Error != nil {
		return false, found.Error
	}
	if found.RowsAffected == 1 {
		d.Number, d.FirstRun = row.Document, row.FirstRun
		return false, nil
	}
	row = documentRow{SiteID: siteID, Document: d.Number, URLKey: d.Key[:], URL: d.URL, FirstRun: run}
	if d.Number == 0 {
		var last int32
		if err := tx.Raw("SELECT COALESCE(MAX(document), 0) FROM documents WHERE site_id = ?", siteID).Scan(&last).Error; err != nil {
			return false, err
		}
		row.Document = last + 1
	}
	if err := tx.Create(&row).Error; err != nil {
		if duplicate(err) && d.Number == 0 { // two new documents were saved at once
			return false, again(err)
		}
		return false, err
	}
	d.Number, d.FirstRun = row.Document, run
	return true, nil
}

// supersede ends the version that readers see and drops one that this run staged before.
func supersede(tx *gorm.DB, siteID, run int64, document int32) error {
	for _, text := range []string{
		"UPDATE document_versions SET to_run = ? WHERE site_id = ? AND document = ? AND to_run = 9223372036854775807 AND from_run < ?",
		"DELETE FROM document_versions WHERE from_run = ? AND site_id = ? AND document = ? AND from_run >= ?",
		"DELETE FROM findings WHERE from_run = ? AND site_id = ? AND document = ? AND from_run >= ?",
	} {
		if err := tx.Exec(text, run, siteID, document, run).Error; err != nil {
			return err
		}
	}
	return nil
}

// touch marks documents as ones that a run wrote to.
func (s *Store) touch(tx *gorm.DB, siteID, run int64, documents ...int32) error {
	text, args := s.insertIgnore()+" touched (site_id, run, document) VALUES (?, ?, ?)"+strings.Repeat(", (?, ?, ?)", len(documents)-1), []any(nil)
	for _, document := range documents {
		args = append(args, siteID, run, document)
	}
	return tx.Exec(text, args...).Error
}

// insertIgnore inserts rows of numbers and hashes unless they are there; there is nothing else for it to swallow.
func (s *Store) insertIgnore() string {
	if s.mysql() {
		return "INSERT IGNORE INTO"
	}
	return "INSERT OR IGNORE INTO"
}
