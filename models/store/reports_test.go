package store_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// reported is a site of two runs: three pages with lastmods and one without, and findings of a document's two versions.
func reported(t *testing.T, dsn string) *storetest.Fixture {
	t.Helper()
	f := storetest.NewFixture(t, handles(t, dsn)())
	at := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	var rows []models.Declaration
	for i := range 4 {
		page := storetest.Page(fmt.Sprintf("https://example.com/%d", i), "a")
		page.Lastmod = nil
		if i > 0 {
			page.Lastmod = &models.Lastmod{Raw: "x", Instant: at.AddDate(0, 0, -10*i), Precision: models.PrecisionSecond, Zone: true}
		}
		rows = append(rows, page)
	}
	rows[0].Extensions = []byte(`{"alternates":[{"hreflang":"DE","href":"a"},{"hreflang":"de","href":"b"},{"hreflang":"x-default","href":"a"}],"images":[{"loc":"i"}]}`)
	rows[1].Extensions = []byte(`{"alternates":[{"hreflang":"de","href":"a"}]}`)
	rows[2].Extensions = []byte(`{"images":[{"loc":"\"alternates\":"}]}`)
	bad := models.Finding{Code: "bare-ampersand", Severity: models.SeverityWarning, Text: "first"}
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete, bad, bad, bad)
	f.Stage(run, 1, nil, rows)
	run.Baseline, run.Counts = true, models.Counts{Live: 4, Added: 4}
	f.Finish(run)
	run = f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete, bad, models.Finding{Code: "xml-truncated", Severity: models.SeverityError, Text: "cut"})
	f.SaveDocument(run, 2, models.VerdictComplete, bad)
	run.Counts = models.Counts{Live: 4, Changed: 1, Removed: 2}
	f.Finish(run)
	return f
}

func reportsOn(t *testing.T, dsn string) {
	f := reported(t, dsn)
	ctx := t.Context()
	points, err := f.Store.RunPoints(ctx, f.Site.ID, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 2 || points[0].Run != 2 || points[0].Removed != 2 || points[1].Added != 4 || !points[1].Baseline || points[1].At.Location() != time.UTC {
		t.Errorf("points %+v", points)
	}
	if points, err = f.Store.RunPoints(ctx, f.Site.ID, 1); err != nil || len(points) != 1 {
		t.Errorf("%d points of at most one, %v", len(points), err)
	}
	groups, err := f.Store.FindingGroups(ctx, f.Site.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []models.FindingGroup{
		{Code: "xml-truncated", Severity: "error", Count: 1, Documents: 1, Text: "cut"},
		{Code: "bare-ampersand", Severity: "warning", Count: 2, Documents: 2, Text: "first"},
	}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("at run 2 (-want +got):\n%s", diff)
	}
	if groups, err = f.Store.FindingGroups(ctx, f.Site.ID, 1); err != nil || len(groups) != 1 || groups[0].Count != 3 {
		t.Errorf("at run 1: %+v, %v", groups, err)
	}
	// A bound belongs to the younger side.
	day := func(back int) time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC).AddDate(0, 0, -back) }
	counts, err := f.Store.LastmodCounts(ctx, f.Site.ID, []time.Time{day(10), day(20).Add(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]models.LastmodCounts{{Document: 1, URL: f.DocumentURL(1), None: 1, At: []int64{1, 0, 2}}}, counts); diff != "" {
		t.Errorf("lastmods (-want +got):\n%s", diff)
	}
	languages, err := f.Store.LanguageCounts(ctx, f.Site.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]models.LanguageCount{{Language: "", Pages: 2}, {Language: "de", Pages: 2}, {Language: "x-default", Pages: 1}}, languages); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	empty := storetest.NewSite(t, f.Store, "empty.example")
	if counts, err = f.Store.LastmodCounts(ctx, empty.Site.ID, []time.Time{day(0)}); err != nil || len(counts) != 0 {
		t.Errorf("no page: %+v, %v", counts, err)
	}
}

func TestReports_SQLite(t *testing.T) {
	t.Parallel()
	reportsOn(t, storetest.SQLite(t))
}

func TestReports_MySQL(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Server) == "" {
		t.Skip(storetest.Server + " is not set")
	}
	reportsOn(t, storetest.MySQL(t))
}
