package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

// picture is everything that can be read of a site, staged rows included.
type picture struct {
	Site      models.Site
	Documents []models.Document
	Listings  []models.Listing
	Removals  []models.Removal
	Removed   []models.Removal
	Findings  []models.Finding
	States    []string
	Changes   []models.Change
	Versions  []string
	Pending   []int64
	Runs      []string
}

// dump reads a site's picture. Runs from the number hide on are left out: they are under way.
func dump(f *Fixture, hide int64) picture {
	f.t.Helper()
	var p picture
	var err error
	ctx, s := f.t.Context(), f.Store
	p.Site, err = s.Site(ctx, f.Site.ID)
	f.must(err)
	p.Site.LastRun, p.Site.Agenda = 0, models.Agenda{} // the agenda tells of the run under way too
	p.Documents, err = s.Documents(ctx, f.Site.ID)
	f.must(err)
	p.Listings = f.Listed(1, 2, 3, 4, 5)
	p.Removals, err = s.Removals(ctx, f.Site.ID)
	f.must(err)
	p.Removed, err = s.Removed(ctx, f.Site.ID, nil)
	f.must(err)
	p.Findings, err = s.Findings(ctx, f.Site.ID, models.FindingFilter{})
	f.must(err)
	for _, page := range f.Pages(models.PageFilter{State: models.StateAll}) {
		to := int64(0)
		if page.ToRun != nil {
			to = *page.ToRun
		}
		p.States = append(p.States, fmt.Sprint(page.State, " ", page.URL, " ", page.Changefreq, " ", page.FromRun, "-", to, " ", page.Document, " ", page.Reason, " ", page.LastSeen))
	}
	p.Changes = f.Changes(models.ChangeFilter{Shifts: true})
	for number := range int32(5) {
		versions, err := s.DocumentHistory(ctx, f.Site.ID, number+1)
		if !errors.Is(err, models.ErrNotFound) {
			f.must(err)
		}
		for _, v := range versions {
			p.Versions = append(p.Versions, fmt.Sprint(v.Number, " ", v.FromRun, "-", v.ToRun, " ", v.Verdict, " ", v.ETag))
		}
	}
	pending, err := s.PendingTriggers(ctx, f.Site.ID)
	f.must(err)
	for _, t := range pending {
		p.Pending = append(p.Pending, t.ID)
	}
	runs, err := s.Runs(ctx, f.Site.ID, hide, 0)
	f.must(err)
	for _, r := range slices.Backward(runs) {
		p.Runs = append(p.Runs, fmt.Sprint(r.ID, " ", r.Verdict, " ", r.Current, " ", r.Error))
	}
	return p
}

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
