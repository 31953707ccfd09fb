package syncer

import (
	"context"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// windows finds the missing pages that left because a window moved on: a news sitemap holds two days, some plugins list
// their newest pages alone. They do not count as missing, however many they are.
func (r *run) windows(ctx context.Context, s *settlement) error {
	var may []place
	series := map[string]int{}
	byNumber := map[int32]*document{}
	for _, d := range r.documents {
		byNumber[d.Number] = d
		if d.Type == "urlset" && d.Verdict != models.VerdictGone {
			name, _ := seriesOf(d.URL)
			series[name]++
		}
	}
	for _, p := range s.missing {
		d := byNumber[p.document]
		if _, migrated := s.migrated[p]; migrated || d == nil || d.Verdict == models.VerdictGone {
			continue
		}
		name, _ := seriesOf(d.URL)
		if series[name] == 1 && newestOnly(&d.DocumentVersion) || d.previous != nil && slices.ContainsFunc(d.previous.Namespaces, isNews) {
			may = append(may, p)
		}
	}
	rows, err := r.rowsOf(ctx, may)
	if err != nil {
		return err
	}
	s.windowed = map[place]bool{}
	for _, row := range rows {
		at := place{row.Key, row.Document}
		d := byNumber[row.Document]
		if _, moved := s.renamed[at]; !moved && r.vouched[row.Key] == "" && windowLeft(row, d.previous, &d.DocumentVersion, d.diff) {
			s.windowed[at] = true
		}
	}
	return nil
}

func isNews(namespace string) bool { return strings.Contains(namespace, "news") }
