package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func segments(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx := t.Context()
	created := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	save := func(site int64, name, filter string) models.Segment {
		t.Helper()
		g, err := f.Store.SaveSegment(ctx, models.Segment{SiteID: site, Name: name, Filter: filter, CreatedAt: created})
		f.must(err)
		return g
	}
	blog, old := save(f.Site.ID, "blog", "prefix=https%3A%2F%2Fexample.com%2Fblog%2F"), save(0, "old", "lastmod_to=-365d")
	save(f.Site.ID+1, "of another site", "contains=x")
	if blog.ID == 0 || old.ID == blog.ID {
		t.Errorf("ids %d and %d", blog.ID, old.ID)
	}
	got, err := f.Store.Segments(ctx, f.Site.ID)
	f.must(err)
	same(t, "segments of a site", []models.Segment{blog, old}, got)

	for _, again := range []models.Segment{{SiteID: f.Site.ID, Name: "blog", Filter: "contains=x"}, {ID: old.ID, SiteID: 0, Name: "old", Filter: "contains=y"}} {
		_, err := f.Store.SaveSegment(ctx, again)
		if again.ID == 0 && !errors.Is(err, models.ErrConflict) || again.ID != 0 && err != nil {
			t.Errorf("a second %s: %v", again.Name, err)
		}
	}
	if _, err := f.Store.SaveSegment(ctx, models.Segment{ID: blog.ID, SiteID: 0, Name: "taken over", Filter: "contains=y"}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a site's segment changed as one of every site: %v", err)
	}
	if err := f.Store.RemoveSegment(ctx, 0, blog.ID); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a site's segment removed as one of every site: %v", err)
	}
	f.must(f.Store.RemoveSegment(ctx, f.Site.ID, blog.ID))
	got, err = f.Store.Segments(ctx, f.Site.ID)
	f.must(err)
	old.Filter = "contains=y"
	same(t, "segments afterwards", []models.Segment{old}, got)
}

func narrowed(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.SaveDocument(run, 2, models.VerdictComplete)
	german := Page("https://example.com/de/a", "1")
	german.Extensions = []byte(`{"alternates":[{"href":"https://example.com/en/a","hreflang":"en"}]}`)
	f.Stage(run, 1, nil, []models.Declaration{german, Page("https://example.com/b", "1")})
	f.Stage(run, 2, nil, []models.Declaration{Page("https://example.com/de/c", "1")})
	f.Finish(run)
	run = f.Begin()
	left := KeyOf("https://example.com/b")
	c := Case(run, 1, "https://example.com/b", models.StageHeld)
	f.SaveRemovals(run, c)
	f.SaveDocument(run, 2, models.VerdictUnavailable)
	f.Finish(run)

	first := f.At(1)
	later := first.Add(time.Second)
	for name, test := range map[string]struct {
		filter models.PageFilter
		want   []string
	}{
		"address":           {models.PageFilter{Contains: "/de/"}, []string{"1 added https://example.com/de/a", "1 added https://example.com/de/c", "2 stale https://example.com/de/c"}},
		"start of address":  {models.PageFilter{Prefix: "https://example.com/b"}, []string{"1 added https://example.com/b", "2 held https://example.com/b"}},
		"one page":          {models.PageFilter{Key: &left}, []string{"1 added https://example.com/b", "2 held https://example.com/b"}},
		"document":          {models.PageFilter{Document: 2}, []string{"1 added https://example.com/de/c", "2 stale https://example.com/de/c"}},
		"a case's document": {models.PageFilter{Document: 1, Contains: "/b"}, []string{"1 added https://example.com/b", "2 held https://example.com/b"}},
		"language":          {models.PageFilter{Language: "EN"}, []string{"1 added https://example.com/de/a"}},
		"object type":       {models.PageFilter{ObjectType: "post"}, []string{"1 added https://example.com/de/c", "2 stale https://example.com/de/c"}},
		"a case's type":     {models.PageFilter{ObjectType: models.NoObjectType, Contains: "/b"}, []string{"1 added https://example.com/b", "2 held https://example.com/b"}},
		"no lastmod":        {models.PageFilter{Lastmod: models.LastmodNone}, []string{}},
		"extension":         {models.PageFilter{Extension: "alternates"}, []string{"1 added https://example.com/de/a"}},
		"title":             {models.PageFilter{Title: "nothing"}, []string{}},
		"lastmod":           {models.PageFilter{LastmodTo: &german.Lastmod.Instant, Contains: "/de/a"}, []string{}},
		"first seen":        {models.PageFilter{FirstFrom: &first, Contains: "/de/a"}, []string{"1 added https://example.com/de/a"}},
		"first seen later":  {models.PageFilter{FirstFrom: &later}, []string{}},
	} {
		filter := test.filter
		got := told(f.Changes(models.ChangeFilter{Pages: &filter}))
		sortTexts(got)
		same(t, name, test.want, got)
	}
	// The limit counts what is given, and the cursor goes on behind it.
	filter := models.PageFilter{Contains: "/de/"}
	part := f.Changes(models.ChangeFilter{Pages: &filter, Limit: 2})
	rest := f.Changes(models.ChangeFilter{Pages: &filter, After: part[len(part)-1].Cursor})
	if len(part) != 2 || len(rest) != 1 {
		t.Errorf("%q then %q", told(part), told(rest))
	}
}
