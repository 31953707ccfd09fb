package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// urls gives the URLs of pages without the host.
func urls(pages []models.Page) []string {
	out := []string{}
	for _, p := range pages {
		out = append(out, strings.TrimPrefix(p.URL, "https://example.com"))
	}
	slices.Sort(out)
	return out
}

func filters(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	day := func(d int) *models.Lastmod {
		at := time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC)
		return &models.Lastmod{Raw: at.Format(time.DateOnly), Instant: at, Precision: models.PrecisionDay}
	}
	page := func(path string, lastmod *models.Lastmod, extensions string) models.Declaration {
		d := Page("https://example.com"+path, "")
		d.Lastmod, d.Extensions = lastmod, []byte(extensions)
		return d
	}
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, []models.Declaration{page("/a", day(1), `{"images":[{"loc":"x","title":"GRÖSSE \"neu\""}]}`), page("/ä%_", day(2), ""),
		page("/B", nil, `{"alternates":[{"hreflang":"de-AT","href":"x"}]}`)})
	f.Finish(run)
	run = f.Begin()
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Stage(run, 2, nil, []models.Declaration{page("/b/c", day(3), `{"videos":[{}],"news":{"title":"de"}}`), page("/b/d", day(4), "")})
	removed := Case(run, 1, "https://example.com/a", models.StageRemoved)
	removed.DecidedRun = run.ID
	f.SaveRemovals(run, removed)
	f.Stage(run, 1, []models.Key{KeyOf("https://example.com/a")}, nil)
	f.Finish(run)
	from, to, first := day(2).Instant, day(4).Instant, f.At(2)
	for name, test := range map[string]struct {
		filter models.PageFilter
		want   []string
	}{
		"live":             {models.PageFilter{}, []string{"/B", "/b/c", "/b/d", "/ä%_"}},
		"all":              {models.PageFilter{State: models.StateAll}, []string{"/B", "/a", "/b/c", "/b/d", "/ä%_"}},
		"removed":          {models.PageFilter{State: models.StateRemoved}, []string{"/a"}},
		"stale":            {models.PageFilter{State: models.StateStale}, []string{}},
		"contains bytes":   {models.PageFilter{Contains: "/b"}, []string{"/b/c", "/b/d"}},
		"contains signs":   {models.PageFilter{Contains: "%_"}, []string{"/ä%_"}},
		"prefix":           {models.PageFilter{Prefix: "https://example.com/ä"}, []string{"/ä%_"}},
		"prefix, case":     {models.PageFilter{Prefix: "https://EXAMPLE.com"}, []string{}},
		"removed contains": {models.PageFilter{State: models.StateAll, Contains: "/a"}, []string{"/a"}},
		"document":         {models.PageFilter{Document: 2}, []string{"/b/c", "/b/d"}},
		"removed document": {models.PageFilter{Document: 1, State: models.StateAll}, []string{"/B", "/a", "/ä%_"}},
		"lastmod":          {models.PageFilter{LastmodFrom: &from, LastmodTo: &to}, []string{"/b/c", "/ä%_"}},
		"object type":      {models.PageFilter{ObjectType: "post"}, []string{"/b/c", "/b/d"}},
		"other type":       {models.PageFilter{ObjectType: "pos", State: models.StateAll}, []string{}},
		"no object type":   {models.PageFilter{ObjectType: models.NoObjectType, State: models.StateAll}, []string{"/B", "/a", "/ä%_"}},
		"type, document":   {models.PageFilter{ObjectType: "post", Document: 1, State: models.StateAll}, []string{}},
		"no lastmod":       {models.PageFilter{Lastmod: models.LastmodNone, State: models.StateAll}, []string{"/B"}},
		"any lastmod":      {models.PageFilter{Lastmod: models.LastmodDeclared, State: models.StateAll}, []string{"/a", "/b/c", "/b/d", "/ä%_"}},
		"language":         {models.PageFilter{Language: "DE-at"}, []string{"/B"}},
		"no language":      {models.PageFilter{Language: "de"}, []string{}},
		"title":            {models.PageFilter{Title: "DE"}, []string{"/b/c"}},
		"title's letters":  {models.PageFilter{Title: "grösse", State: models.StateAll}, []string{"/a"}},
		"title's signs":    {models.PageFilter{Title: `"NEU"`, State: models.StateAll}, []string{"/a"}},
		"no title":         {models.PageFilter{Title: "de-at", State: models.StateAll}, []string{}},
		"image":            {models.PageFilter{Extension: "image", State: models.StateAll}, []string{"/a"}},
		"video":            {models.PageFilter{Extension: "video"}, []string{"/b/c"}},
		"news":             {models.PageFilter{Extension: "news"}, []string{"/b/c"}},
		"alternates":       {models.PageFilter{Extension: "alternates"}, []string{"/B"}},
		"first seen":       {models.PageFilter{FirstFrom: &first}, []string{"/b/c", "/b/d"}},
		"as of a run":      {models.PageFilter{AsOf: models.AsOf{Run: 1}, State: models.StateAll}, []string{"/B", "/a", "/ä%_"}},
		"as of a time":     {models.PageFilter{AsOf: models.AsOf{Time: f.At(2).Add(-time.Second)}}, []string{"/B", "/a", "/ä%_"}},
	} {
		whole := f.Pages(test.filter)
		same(t, name, test.want, urls(whole))
		n, err := f.Store.CountPages(t.Context(), f.Site.ID, test.filter)
		if err != nil || n != int64(len(whole)) {
			t.Errorf("%s: counted %d, %v; read %d", name, n, err, len(whole))
		}
		var paged []models.Page
		for size := range 3 {
			paged = paged[:0]
			filter := test.filter
			filter.Limit = size + 1
			for {
				part := f.Pages(filter)
				paged = append(paged, part...)
				if len(part) < filter.Limit {
					break
				}
				filter.After = part[len(part)-1].Cursor
			}
			same(t, fmt.Sprintf("%s by %d", name, size+1), whole, paged)
		}
	}
	for _, of := range []struct {
		key  models.Key
		kind string
		want int
	}{{KeyOf("https://example.com/b/c"), "post", 1}, {KeyOf("https://example.com/b/c"), "none", 0}, {KeyOf("https://example.com/a"), "none", 1}, {KeyOf("https://example.com/a"), "post", 0}} {
		if got := f.Pages(models.PageFilter{Key: &of.key, ObjectType: of.kind, State: models.StateAll}); len(got) != of.want {
			t.Errorf("one page, %s: %q", of.kind, urls(got))
		}
	}
	for _, bad := range []models.PageFilter{{State: "gone"}, {After: "x"}, {After: "d.1.zz"}} {
		var invalid *models.InvalidError
		if err := f.Store.Pages(t.Context(), f.Site.ID, bad, nil); !errors.As(err, &invalid) {
			t.Errorf("%+v is refused as %v", bad, err)
		}
	}
	if err := f.Store.Pages(t.Context(), f.Site.ID, models.PageFilter{AsOf: models.AsOf{Run: 3}}, nil); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a run that never was: %v", err)
	}
	stop := errors.New("stop")
	if err := f.Store.Pages(t.Context(), f.Site.ID, models.PageFilter{}, func(*models.Page) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the caller's error comes back: %v", err)
	}
}

func carried(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	priority := 0.0
	full := Page(pageA, "daily")
	full.Priority = &priority
	full.Extensions = []byte(`{"alternates":[{"hreflang":"de","href":"u"}],"images":[{"loc":"i"}],"videos":[{"player_loc":"p"}],"news":{"title":"t"},"mobile":{},"pagemap":[{"type":"x"}]}`)
	bare := Page(pageB, "")
	bare.Lastmod = nil
	twin := Page(pageA, "weekly")
	twin.Role = models.RoleDuplicate
	run := f.Begin()
	d := f.SaveDocument(run, 1, models.VerdictComplete)
	d.LastmodTrust = 0.5
	f.must(f.Store.SaveDocument(t.Context(), f.Lease, f.Site.ID, run.ID, &d, nil))
	f.Stage(run, 1, nil, []models.Declaration{full, bare})
	f.SaveDocument(run, 2, models.VerdictComplete)
	f.Stage(run, 2, nil, []models.Declaration{twin})
	f.Finish(run)
	f.Finish(f.Begin())
	run = f.Begin()
	f.SaveDocument(run, 1, models.VerdictUnavailable)
	f.Finish(run)
	get := func(url string, run int64) models.Page {
		t.Helper()
		p := f.Pages(models.PageFilter{State: models.StateAll, Key: new(KeyOf(url)), AsOf: models.AsOf{Run: run}})
		if len(p) != 1 {
			t.Fatalf("%d pages for %s", len(p), url)
		}
		p[0].Cursor = ""
		return p[0]
	}
	want := models.Page{URL: pageA, State: models.StateLive, Document: f.DocumentURL(1), Lastmod: full.Lastmod, Changefreq: "daily", Priority: &priority,
		Alternates: []byte(`[{"hreflang":"de","href":"u"}]`), Images: []byte(`[{"loc":"i"}]`), Videos: []byte(`[{"player_loc":"p"}]`), News: []byte(`{"title":"t"}`),
		Mobile: []byte(`{}`), PageMap: []byte(`[{"type":"x"}]`), FirstSeen: f.At(1), LastSeen: f.At(2), FromRun: 1, Freshness: "fresh", Key: full.Key,
		Confidence: models.Confidence{Listing: 0.99, Lastmod: 0.45, Membership: 0.85, Identity: 0.75}, Listings: []string{f.DocumentURL(2)}}
	same(t, "a page with everything, at run 2", want, get(pageA, 2))
	want.State, want.Freshness, want.Reason = models.StateStale, "unavailable", "because it is unavailable"
	want.Confidence = models.Confidence{Listing: 0.60, Lastmod: 0.60, Membership: 0.60, Identity: 0.60}
	same(t, "the same once its document cannot be read", want, get(pageA, 3))
	same(t, "a page with nothing", models.Page{URL: pageB, State: models.StateLive, Document: f.DocumentURL(1), FirstSeen: f.At(1), LastSeen: f.At(2), FromRun: 1,
		Freshness: "fresh", Key: bare.Key, Confidence: models.Confidence{Listing: 0.99, Membership: 0.85, Identity: 0.75}}, get(pageB, 2))
}
