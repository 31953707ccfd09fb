package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// LanguageCounts counts the live pages that declare an alternate for each language, the most frequent first; the count
// without a language is that of all pages with alternates. They are as many as Pages gives. It reads the whole inventory
// once, so callers keep the answer.
func (s *Store) LanguageCounts(ctx context.Context, siteID int64) ([]models.LanguageCount, error) {
	counts := map[string]int64{}
	r, err := s.pageReader(ctx, siteID, models.PageFilter{})
	if err != nil {
		return nil, fmt.Errorf("count languages: %w", err)
	}
	where, args := r.where()
	text := fmt.Sprintf("SELECT d.document, d.extensions FROM declarations d WHERE d.site_id = %d%s AND d.extensions IS NOT NULL AND %s", r.site.ID, where, s.bytesIn("d.extensions"))
	var block sql.RawBytes
	err = r.tally(ctx, text, append(args, blockOf("alternates")), func(rows *sql.Rows) error {
		var document int32
		if err := rows.Scan(&document, &block); err != nil {
			return err
		}
		var declared struct {
			Alternates json.RawMessage `json:"alternates"`
		}
		if r.reads(document) && json.Unmarshal(block, &declared) == nil {
			countLanguages(counts, declared.Alternates, 1)
		}
		return nil
	}, func(p *models.Page, by int64) { countLanguages(counts, p.Alternates, by) })
	if err != nil {
		return nil, fmt.Errorf("count languages of site %d: %w", siteID, err)
	}
	out := make([]models.LanguageCount, 0, len(counts))
	for language, n := range counts {
		if n > 0 {
			out = append(out, models.LanguageCount{Language: language, Pages: n})
		}
	}
	slices.SortFunc(out, func(a, b models.LanguageCount) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Language, b.Language))
	})
	return out, nil
}

// countLanguages adds one page, or takes it away.
func countLanguages(counts map[string]int64, alternates json.RawMessage, by int64) {
	var declared []struct {
		Hreflang string `json:"hreflang"`
	}
	if json.Unmarshal(alternates, &declared) != nil || len(declared) == 0 {
		return
	}
	counts[""] += by
	seen := map[string]bool{}
	for _, a := range declared {
		if language := strings.ToLower(a.Hreflang); language != "" && !seen[language] {
			seen[language] = true
			counts[language] += by
		}
	}
}

// extensionBlocks are the extensions that are counted, in the order of their columns.
var extensionBlocks = []string{"image", "video", "news", "alternates"}

// ExtensionCounts counts the live pages that declare each extension: as many as Pages gives. It reads the whole inventory
// once, so callers keep the answer.
func (s *Store) ExtensionCounts(ctx context.Context, siteID int64) (models.ExtensionCounts, error) {
	var out models.ExtensionCounts
	r, err := s.pageReader(ctx, siteID, models.PageFilter{})
	if err != nil {
		return out, fmt.Errorf("count extensions: %w", err)
	}
	into := []*int64{&out.Images, &out.Videos, &out.News, &out.Alternates}
	text := "SELECT d.document"
	var args []any
	for _, extension := range extensionBlocks {
		text += ", SUM(CASE WHEN " + s.bytesIn("d.extensions") + " THEN 1 ELSE 0 END)"
		args = append(args, blockOf(extension))
	}
	where, filters := r.where()
	text += fmt.Sprintf(" FROM declarations d WHERE d.site_id = %d%s AND d.extensions IS NOT NULL GROUP BY d.document", r.site.ID, where)
	err = r.tally(ctx, text, append(args, filters...), func(rows *sql.Rows) error {
		var document int32
		var n [4]int64
		if err := rows.Scan(&document, &n[0], &n[1], &n[2], &n[3]); err != nil || !r.reads(document) {
			return err
		}
		for i := range n {
			*into[i] += n[i]
		}
		return nil
	}, func(p *models.Page, by int64) {
		for i, extension := range extensionBlocks {
			if hasExtension(p, extension) {
				*into[i] += by
			}
		}
	})
	if err != nil {
		return out, fmt.Errorf("count extensions of site %d: %w", siteID, err)
	}
	return out, nil
}
