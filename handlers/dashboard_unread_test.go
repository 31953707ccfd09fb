package handlers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Every screen of a site says which documents could not be read and what is kept of them, until they are read again.
func TestDashboard_NamesDocumentsThatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	for _, stale := range []int64{0, 7} {
		f := newFixture(t, rich)
		asked := 0
		f.store.DocumentsAtFunc = func(int64, models.AsOf) (out []models.Document, _ error) {
			asked++
			since := now.Add(-3 * time.Hour)
			for i, verdict := range []models.Verdict{models.VerdictComplete, models.VerdictUnavailable, models.VerdictPartial, models.VerdictGone, models.VerdictUnavailable, models.VerdictUnavailable} {
				d := models.Document{Number: int32(i + 1), URL: fmt.Sprintf("https://example.com/%d.xml", i+1)}
				d.Verdict, d.Entries, d.StaleSince, d.Type = verdict, int64(100*(i+1)), &since, "urlset"
				out = append(out, d)
			}
			return out, nil
		}
		runs := f.store.RunsFunc
		f.store.RunsFunc = func(site, before int64, limit int) ([]models.Run, error) {
			list, err := runs(site, before, limit)
			for i := range list {
				list[i].ID, list[i].Counts.Stale, list[i].Documents.Failed = exampleSite.CurrentRun, stale, 0
			}
			return list, err
		}
		page := text(t, f.get("/sites/1/held"))
		told := strings.Contains(page, "https://example.com/6.xml") && strings.Contains(page, "600 entries are kept as they were") && strings.Contains(page, "1 more could not be read")
		if told != (stale > 0) || strings.Contains(page, "https://example.com/1.xml") || strings.Contains(page, "https://example.com/4.xml") {
			t.Errorf("%d stale pages: %.3000s", stale, page)
		}
		if asked != map[int64]int{0: 0, 7: 1}[stale] {
			t.Errorf("%d stale pages: documents were read %d times", stale, asked)
		}
	}
}
