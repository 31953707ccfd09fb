package storetest

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// lastmods: what is counted by lastmod, extension and language is what the lists have, whatever removals are undecided and documents unread.
func lastmods(t *testing.T, open func() *store.Store) {
	f := sortFixture(t, open())
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	bounds := []time.Time{day(5), day(3), day(2)}
	counted := func() []models.LastmodCounts {
		t.Helper()
		counts, err := f.Store.LastmodCounts(t.Context(), f.Site.ID, bounds)
		f.must(err)
		return counts
	}
	check := func(name string) {
		t.Helper()
		want := []models.LastmodCounts{}
		for number := range int32(12) {
			listed := func(filter models.PageFilter) int64 { filter.Document = number; return int64(len(f.Pages(filter))) }
			c := models.LastmodCounts{Document: number, URL: f.DocumentURL(number), None: listed(models.PageFilter{Lastmod: models.LastmodNone}),
				At: []int64{listed(models.PageFilter{LastmodFrom: &bounds[0]}), listed(models.PageFilter{LastmodFrom: &bounds[1], LastmodTo: &bounds[0]}),
					listed(models.PageFilter{LastmodFrom: &bounds[2], LastmodTo: &bounds[1]}), listed(models.PageFilter{LastmodTo: &bounds[2]})}}
			if number > 0 && listed(models.PageFilter{}) > 0 {
				want = append(want, c)
			}
		}
		same(t, name, want, counted())
		if len(want) < 4 {
			t.Errorf("%s: %d documents with pages", name, len(want))
		}
		listed := func(filter models.PageFilter) int64 { return int64(len(f.Pages(filter))) }
		extensions, err := f.Store.ExtensionCounts(t.Context(), f.Site.ID)
		f.must(err)
		same(t, name+": extensions", models.ExtensionCounts{Images: listed(models.PageFilter{Extension: "image"}), Videos: listed(models.PageFilter{Extension: "video"}),
			News: listed(models.PageFilter{Extension: "news"}), Alternates: listed(models.PageFilter{Extension: "alternates"})}, extensions)
		languages, err := f.Store.LanguageCounts(t.Context(), f.Site.ID)
		f.must(err)
		german := listed(models.PageFilter{Language: "de-at"})
		same(t, name+": languages", []models.LanguageCount{{Language: "", Pages: german}, {Language: "de-at", Pages: german}}, languages)
		if all := listed(models.PageFilter{Extension: "alternates", State: models.StateAll}); german == 0 || german == all || extensions.Images == extensions.News {
			t.Errorf("%s: nothing to tell apart: %d of %d, %+v", name, german, all, extensions)
		}
	}
	check("at first")
	if c := counted(); c[len(c)-1].None == 0 || c[len(c)-1].At[1] == 0 {
		t.Errorf("nothing to count: %+v", c)
	}
	_, err := f.Store.DecideRemovals(t.Context(), f.Site.ID, []models.Key{KeyOf("https://example.com/1/2")}, false)
	f.must(err)
	check("after a rejection")
	run := f.Begin()
	f.SaveDocument(run, 9, models.VerdictUnavailable)
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Finish(run)
	check("once another document cannot be read")
}
