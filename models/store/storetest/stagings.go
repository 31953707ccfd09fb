package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// staging makes what a run writes of a numbered document.
func (f *Fixture) staging(run models.Run, number int32, reason string, close []models.Key, add ...models.Declaration) models.Staging {
	url := f.DocumentURL(number)
	d := models.Document{Number: number, URL: url, Key: KeyOf(url), Depth: 1, Discovery: "sitemap_index", FirstRun: 1}
	d.Verdict, d.Type, d.Reason, d.FetchedAt, d.ObservedAt = models.VerdictComplete, "urlset", reason, f.At(run.ID), f.At(run.ID)
	slices.SortFunc(add, func(a, b models.Declaration) int { return strings.Compare(string(a.Key[:]), string(b.Key[:])) })
	slices.SortFunc(close, func(a, b models.Key) int { return strings.Compare(string(a[:]), string(b[:])) })
	return models.Staging{Document: &d, Findings: []models.Finding{{Code: "because-" + reason, Severity: models.SeverityInfo}}, Close: close, Add: add}
}

// stagings are differences of three documents of shelf: changed, appeared, ended, and a page that two documents list.
func stagings(f *Fixture, run models.Run, reason string) []models.Staging {
	page := func(i int) string { return fmt.Sprintf("https://example.com/%d", i) }
	return []models.Staging{
		f.staging(run, 1, reason, []models.Key{KeyOf(page(0)), KeyOf(page(3)), KeyOf(page(6))}, Page(page(0), "2"), Page(page(3), "2"), Page(pageD, "1")),
		f.staging(run, 2, reason, []models.Key{KeyOf(page(1))}),
		f.staging(run, 3, reason, []models.Key{KeyOf(page(2)), KeyOf(page(5))}, Page(page(2), "2"), Page(page(5), "2"), Page(page(4), "1"), Page(pageD, "1")),
	}
}

// shelf is a site of three documents after one run.
func shelf(t *testing.T, s *store.Store) *Fixture {
	t.Helper()
	f := NewFixture(t, s)
	run := f.Begin()
	for number := range int32(3) {
		f.SaveDocument(run, number+1, models.VerdictComplete)
		var add []models.Declaration
		for i := range 30 {
			if i%3 == int(number) {
				add = append(add, Page(fmt.Sprintf("https://example.com/%d", i), "1"))
			}
		}
		f.Stage(run, number+1, nil, add)
	}
	f.Finish(run)
	return f
}

func together(t *testing.T, open func() *store.Store) {
	f := shelf(t, open())
	run := f.Begin()
	before := dump(f, run.ID)
	takeBack := func() {
		t.Helper()
		for number := range int32(3) {
			f.must(f.Store.Unstage(t.Context(), f.Lease, f.Site.ID, run.ID, number+1))
		}
		same(t, "taken back", before, dump(f, run.ID))
	}
	for _, x := range stagings(f, run, "first") { // the way that is known to be right
		f.must(f.Store.SaveDocument(t.Context(), f.Lease, f.Site.ID, run.ID, x.Document, x.Findings))
		f.Stage(run, x.Document.Number, x.Close, x.Add)
	}
	want := dump(f, run.ID)
	takeBack()
	stage := func(all []models.Staging) {
		t.Helper()
		f.must(f.Store.StageDocuments(t.Context(), f.Lease, f.Site.ID, run.ID, all))
	}
	stage(nil)
	for range 3 { // twice more, as after commits whose answers were lost
		stage(stagings(f, run, "first"))
		same(t, "staged together", want, dump(f, run.ID))
	}
	takeBack()
	f.SaveDocument(run, 1, models.VerdictPartial, models.Finding{Code: "earlier", Severity: models.SeverityError})
	stage(stagings(f, run, "first"))
	same(t, "staged over a version of this run", want, dump(f, run.ID))
	takeBack()
	all := stagings(f, run, "first")
	for i := range 5000 { // too many for one transaction
		all[1].Add = append(all[1].Add, Page(fmt.Sprintf("https://example.com/many/%d", i), "1"))
	}
	slices.SortFunc(all[1].Add, func(a, b models.Declaration) int { return strings.Compare(string(a.Key[:]), string(b.Key[:])) })
	stage(all)
	if n := len(f.Listed(2)); n != 9+5000 {
		t.Errorf("%d rows in the large document, want %d", n, 9+5000)
	}
	takeBack()
	stage(stagings(f, run, "first"))
	f.Begin() // sweeps it
	same(t, "after the sweep", before, dump(f, run.ID))
	run = f.Begin()
	stage(stagings(f, run, "second"))
	f.Finish(run)
	counts := map[string]int{}
	for _, c := range f.Changes(models.ChangeFilter{Run: run.ID}) {
		counts[c.Kind]++
	}
	same(t, "changes", map[string]int{models.KindAdded: 3, models.KindChanged: 4, models.KindRemoved: 2}, counts)
	if pages, _ := f.Store.Elsewhere(t.Context(), f.Site.ID, []models.Key{KeyOf(pageD)}); len(pages) != 2 {
		t.Errorf("the new page is found in %d documents, want 2", len(pages))
	}
}
