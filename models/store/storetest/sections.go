package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// sections: a directory counts what a list with its path as prefix has.
func sections(t *testing.T, open func() *store.Store) {
	f := lists(t, open())
	run := f.Begin()
	day := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	var rows []models.Declaration
	for i, path := range []string{"/", "/1/", "/2/", "/about/", "/a/b/c/d", "/a/b/", "/a/b/c/", "/a/x", "/1/?p=/q/r/s", "/?p=/q/r", "/a/b#/c/d", "/ä/ö/ü", "/s//t", "/A/b/c"} {
		d := Page("https://example.com"+path, "1")
		if d.Lastmod = nil; i%2 == 0 {
			at := day.AddDate(0, 0, -i)
			d.Lastmod = &models.Lastmod{Raw: at.Format(time.DateOnly), Instant: at, Precision: models.PrecisionDay}
		}
		rows = append(rows, d)
	}
	rows = append(rows, Page("https://shop.example.com/a/b/c", "1"))
	for i := range 1003 {
		rows = append(rows, Page(fmt.Sprintf("https://example.com/wide/%d/x", i), "1"))
	}
	f.SaveDocument(run, 5, models.VerdictComplete)
	f.Stage(run, 5, nil, rows)
	f.SaveRemovals(run, Case(run, 5, "https://example.com/a/b/c/", models.StagePending), Case(run, 5, "https://example.com/1/", models.StageHeld))
	f.Finish(run)

	bounds := []time.Time{day, day.AddDate(0, 0, -5)}
	got, err := f.Store.SectionCounts(t.Context(), f.Site.ID, bounds, func(url string) (models.Key, error) {
		if strings.HasSuffix(url, "/s//") {
			return models.Key{}, models.Invalid("url", "", "not a page")
		}
		return KeyOf(url), nil
	})
	f.must(err)
	paths := map[string]bool{}
	for _, s := range got.Sections {
		listed := func(filter models.PageFilter) int64 { filter.Prefix = s.Path; return int64(len(f.Pages(filter))) }
		same(t, s.Path, models.LastmodCounts{None: listed(models.PageFilter{Lastmod: models.LastmodNone}), At: []int64{listed(models.PageFilter{LastmodFrom: &bounds[0]}),
			listed(models.PageFilter{LastmodFrom: &bounds[1], LastmodTo: &bounds[0]}), listed(models.PageFilter{LastmodTo: &bounds[1]})}}, s.LastmodCounts)
		if paths[s.Path] = true; s.Depth != strings.Count(s.Path, "/")-3 || s.Wide != strings.HasSuffix(s.Path, "/wide/") {
			t.Errorf("%s: depth %d, wide %v", s.Path, s.Depth, s.Wide)
		}
	}
	want := map[string]bool{}
	for _, path := range []string{"/", "/1/", "/3/", "/4/", "/a/", "/a/b/", "/ä/", "/ä/ö/", "/s/", "/s//", "/A/", "/A/b/", "/wide/"} {
		want["https://example.com"+path] = true
	}
	for _, path := range []string{"/", "/a/", "/a/b/"} {
		want["https://shop.example.com"+path] = true
	}
	same(t, "sections", want, paths) // nothing below /2/ is live: its document was not read
	if got.Cut {
		t.Error("nothing was cut")
	}
}
