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

// LanguageCounts counts the pages of the current run that declare an alternate for each language, the most frequent
// first; the count without a language is that of all pages with alternates. It reads the whole inventory once, so callers
// keep the answer.
func (s *Store) LanguageCounts(ctx context.Context, siteID int64) ([]models.LanguageCount, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return nil, err
	}
	has := "instr(extensions, CAST(? AS BLOB)) > 0"
	if s.mysql() {
		has = "LOCATE(CAST(? AS BINARY), extensions) > 0"
	}
	rows, err := s.query(ctx, "SELECT extensions FROM declarations WHERE site_id = ? AND from_run <= ? AND to_run > ? AND role = ? AND extensions IS NOT NULL AND "+has,
		siteID, site.CurrentRun, site.CurrentRun, int(models.RoleDeclaration), blockOf("alternates"))
	counts := map[string]int64{}
	var block sql.RawBytes
	err = each(rows, err, func(rows *sql.Rows) error {
		if err := rows.Scan(&block); err != nil {
			return err
		}
		var declared struct {
			Alternates []struct {
				Hreflang string `json:"hreflang"`
			} `json:"alternates"`
		}
		if json.Unmarshal(block, &declared) != nil || len(declared.Alternates) == 0 {
			return nil
		}
		counts[""]++
		seen := map[string]bool{}
		for _, a := range declared.Alternates {
			if language := strings.ToLower(a.Hreflang); language != "" && !seen[language] {
				seen[language] = true
				counts[language]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count languages of site %d: %w", siteID, err)
	}
	out := make([]models.LanguageCount, 0, len(counts))
	for language, n := range counts {
		out = append(out, models.LanguageCount{Language: language, Pages: n})
	}
	slices.SortFunc(out, func(a, b models.LanguageCount) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Language, b.Language))
	})
	return out, nil
}
