package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type findingRow struct {
	SiteID   int64 `gorm:"primaryKey;autoIncrement:false"`
	Document int32 `gorm:"primaryKey;autoIncrement:false"`
	FromRun  int64 `gorm:"primaryKey;autoIncrement:false"`
	Seq      int   `gorm:"primaryKey;autoIncrement:false"`
	Code     string
	Severity string
	Source   string
	Page     string
	Line     int
	Position int64
	Text     string
	Rule     string
}

func (findingRow) TableName() string { return "findings" }

func (r *findingRow) finding() models.Finding {
	return models.Finding{Code: r.Code, Severity: r.Severity, Document: r.Source, Page: r.Page, Line: r.Line, Offset: r.Position,
		Text: r.Text, Rule: r.Rule, FromRun: r.FromRun}
}

// findingsBatch rows of twelve columns stay far below every limit of placeholders.
const findingsBatch = 200

func saveFindings(tx *gorm.DB, siteID int64, document int32, run int64, findings []models.Finding) error {
	rows := make([]findingRow, 0, min(len(findings), findingsBatch))
	for i, f := range findings {
		rows = append(rows, findingRow{SiteID: siteID, Document: document, FromRun: run, Seq: i, Code: f.Code, Severity: f.Severity,
			Source: f.Document, Page: f.Page, Line: f.Line, Position: f.Offset, Text: f.Text, Rule: f.Rule})
		if len(rows) == findingsBatch || i == len(findings)-1 {
			if err := tx.Create(&rows).Error; err != nil {
				return fmt.Errorf("save findings: %w", err)
			}
			rows = rows[:0]
		}
	}
	return nil
}

// SaveRunFindings stages what is wrong with a site or a run as a whole; it replaces what the run said before.
func (s *Store) SaveRunFindings(ctx context.Context, lease models.Lease, siteID, run int64, findings []models.Finding) error {
	return s.fenced(ctx, lease, func(tx *gorm.DB, _ int) error {
		if err := tx.Exec("DELETE FROM findings WHERE site_id = ? AND document = 0 AND from_run = ?", siteID, run).Error; err != nil {
			return fmt.Errorf("save findings of run %d: %w", run, err)
		}
		return saveFindings(tx, siteID, 0, run, findings)
	})
}

// mostFound is how many findings a stored run carries; Findings gives them all.
const mostFound = 100

// foundIn fills in what runs found: findings of each run as a whole, then those that documents had from that run on, then those of
// pages that come of looking across documents, where they are other than before; up to mostFound. What a document had before
// and kept is not said again.
func (s *Store) foundIn(ctx context.Context, siteID int64, runs []models.Run) error {
	at := make(map[int64]*models.Run, len(runs))
	numbers := make([]int64, len(runs))
	for i := range runs {
		runs[i].Findings, numbers[i], at[runs[i].ID] = []models.Finding{}, runs[i].ID, &runs[i]
	}
	for portion := range slices.Chunk(numbers, statementKeys) {
		var rows []findingRow
		err := s.reads.WithContext(ctx).Raw(`SELECT * FROM findings WHERE site_id = ? AND document = 0 AND from_run IN ?
			UNION ALL SELECT f.* FROM touched t JOIN findings f ON f.site_id = t.site_id AND f.document = t.document AND f.from_run = t.run
			WHERE t.site_id = ? AND t.run IN ? AND t.document <> 0 AND f.code <> '' ORDER BY document, seq`, siteID, portion, siteID, portion).Scan(&rows).Error
		if err != nil {
			return fmt.Errorf("read findings of runs: %w", err)
		}
		pages := slices.IndexFunc(rows, func(r findingRow) bool { return r.Document >= 0 }) // those before it are of pages, and go last
		if pages < 0 {
			pages = 0
		}
		rows = append(rows[pages:], rows[:pages]...)
		for i := range rows {
			if run := at[rows[i].FromRun]; len(run.Findings) < mostFound {
				run.Findings = append(run.Findings, rows[i].finding())
			}
		}
	}
	return nil
}

// Findings gives what is wrong at one run: findings of pages that come of looking across documents, findings of the run as
// a whole, then of the document versions visible at it, by document and place.
func (s *Store) Findings(ctx context.Context, siteID int64, filter models.FindingFilter) ([]models.Finding, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return nil, err
	}
	run := filter.Run
	if run > site.LastRun || run < 0 {
		return nil, notFound("run", run)
	}
	if run == 0 || run > site.CurrentRun {
		run = site.CurrentRun
	}
	var where strings.Builder
	args := []any{siteID, run, run, run, run, run}
	and := func(text string, arg any) {
		where.WriteString(" AND " + text)
		args = append(args, arg)
	}
	if filter.Document != 0 {
		and("f.document IN (?)", []int32{filter.Document, -filter.Document})
	}
	if filter.Severity != "" {
		and("f.severity = ?", filter.Severity)
	}
	if filter.Code != "" {
		and("f.code = ?", filter.Code)
	}
	limit := ""
	if filter.Limit > 0 {
		limit = fmt.Sprintf(" LIMIT %d", filter.Limit)
	}
	var rows []findingRow
	err = s.reads.WithContext(ctx).Raw(`SELECT f.* FROM findings f LEFT JOIN document_versions v
		ON v.site_id = f.site_id AND v.document = f.document AND v.from_run = f.from_run
		WHERE f.site_id = ? AND ((f.document = 0 AND f.from_run = ?) OR (v.from_run <= ? AND v.to_run > ?) OR `+across+")"+where.String()+
		" ORDER BY f.document, f.from_run, f.seq"+limit, args...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read findings of site %d: %w", siteID, err)
	}
	out := make([]models.Finding, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].finding())
	}
	return out, nil
}
