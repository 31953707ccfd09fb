package storetest

import (
	"fmt"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// across: sets of findings about pages come and go with runs, and a run that dies leaves none.
func across(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	find := func(code, page string) models.Finding {
		return models.Finding{Code: code, Severity: models.SeverityWarning, Document: f.DocumentURL(1), Page: page, Text: "ü", Rule: "r"}
	}
	save := func(run models.Run, document int32, findings ...models.Finding) {
		t.Helper()
		f.must(s.SaveSiteFindings(ctx, f.Lease, f.Site.ID, run.ID, document, findings))
	}
	at := func(filter models.FindingFilter) []string {
		t.Helper()
		list, err := s.Findings(ctx, f.Site.ID, filter)
		f.must(err)
		var out []string
		for _, x := range list {
			out = append(out, x.Code+" "+x.Page)
		}
		return out
	}
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete, models.Finding{Code: "own", Severity: models.SeverityInfo})
	f.SaveDocument(run, 2, models.VerdictComplete)
	save(run, 1, find("x", pageA), find("x", pageB))
	save(run, 2, find("y", pageC))
	same(t, "before the run is seen", nil, at(models.FindingFilter{}))
	f.Finish(run)
	first := []string{"y " + pageC, "x " + pageA, "x " + pageB, "own "}
	same(t, "run 1", first, at(models.FindingFilter{}))

	run = f.Begin() // dies
	save(run, 1, find("z", pageA))
	save(run, 2)
	same(t, "while a run is under way", first, at(models.FindingFilter{}))
	run = f.Begin()
	save(run, 1, find("lost", pageA))
	save(run, 1, find("z", pageB)) // again, in the same run
	f.Finish(run)
	same(t, "after the next run", []string{"y " + pageC, "z " + pageB, "own "}, at(models.FindingFilter{}))

	run = f.Begin()
	save(run, 2)
	f.Finish(run)
	same(t, "an empty set", []string{"z " + pageB, "own "}, at(models.FindingFilter{}))
	same(t, "run 1 later", first, at(models.FindingFilter{Run: 1}))
	same(t, "of one document", []string{"x " + pageA, "x " + pageB, "own "}, at(models.FindingFilter{Run: 1, Document: 1}))
	same(t, "of one code, bounded", []string{"x " + pageA}, at(models.FindingFilter{Run: 1, Code: "x", Limit: 1}))
	runs, err := s.Runs(ctx, f.Site.ID, 0, 0)
	f.must(err)
	said := map[int64][]string{}
	for i := range runs {
		for _, x := range runs[i].Findings {
			said[runs[i].ID] = append(said[runs[i].ID], x.Code+" "+x.Page)
		}
	}
	same(t, "what runs found", map[int64][]string{1: {"own ", "y " + pageC, "x " + pageA, "x " + pageB}, 3: {"z " + pageB}}, said)
	sets, err := s.SiteFindings(ctx, f.Site.ID)
	f.must(err)
	if len(sets) != 1 || len(sets[1]) != 1 || sets[1][0].Page != pageB || sets[1][0].Text != "ü" {
		t.Errorf("sets %+v", sets)
	}
	groups, err := s.FindingGroups(ctx, f.Site.ID, 1)
	f.must(err)
	same(t, "groups", "[x 2 y 1 own 1]", fmt.Sprint(counted(groups)))
	if err := s.SaveSiteFindings(ctx, f.Lease, f.Site.ID, run.ID, 0, nil); err == nil {
		t.Error("a set of no document is saved")
	}
}

func counted(groups []models.FindingGroup) []string {
	var out []string
	for _, g := range groups {
		out = append(out, fmt.Sprint(g.Code, " ", g.Count))
	}
	return out
}

// listed: what all documents say of a page, at any run.
func listed(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	plain, rich, twice, foreign := Page(pageA, "1"), Page(pageB, "1"), Page(pageA, "2"), Page(pageC, "1")
	rich.Extensions = []byte(`{"alternates":[{"hreflang":"de","href":"u"}]}`)
	twice.Role, foreign.Role = models.RoleDuplicate, models.RoleForeign
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Stage(run, 1, nil, []models.Declaration{plain, rich})
	f.Stage(run, 2, nil, []models.Declaration{twice, foreign})
	keys := []models.Key{KeyOf(pageB), KeyOf(pageA), KeyOf(pageC), KeyOf(pageD), KeyOf(pageA)}
	at := func(run int64) map[string]int {
		t.Helper()
		rows, err := s.Listed(ctx, f.Site.ID, run, keys)
		f.must(err)
		out := map[string]int{}
		for i, row := range rows {
			out[fmt.Sprint(row.URL, " in ", row.Document, " ", string(row.Extensions))]++
			if i > 0 && rows[i-1].Key == row.Key && rows[i-1].Document > row.Document {
				t.Errorf("run %d: not by document", run)
			}
		}
		return out
	}
	want := map[string]int{pageA + " in 1 ": 1, pageA + " in 2 ": 1, pageB + " in 1 " + string(rich.Extensions): 1}
	same(t, "what the run staged", want, at(run.ID))
	f.Finish(run)
	run = f.Begin()
	f.Stage(run, 1, []models.Key{KeyOf(pageB)}, nil)
	same(t, "while the second run is under way", want, at(run.ID-1))
	same(t, "as the second run sees it", map[string]int{pageA + " in 1 ": 1, pageA + " in 2 ": 1}, at(run.ID))
	for number, want := range map[int64]int{run.ID - 1: 1, run.ID: 0} {
		n := 0
		f.must(s.Extended(ctx, f.Site.ID, number, 1, func(d *models.Declaration) error {
			if n++; d.URL != pageB {
				t.Errorf("%s has no extensions", d.URL)
			}
			return nil
		}))
		if n != want {
			t.Errorf("run %d: %d pages with extensions, want %d", number, n, want)
		}
	}
}
