package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func TestSegment_IsTheSameFilterEverywhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	var pages []models.PageFilter
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, _ func(*models.Page) error) error {
		pages = append(pages, filter)
		return nil
	}
	var changes []models.ChangeFilter
	f.store.ChangesFunc = func(_ int64, filter models.ChangeFilter, _ func(*models.Change) error) error {
		changes = append(changes, filter)
		return nil
	}
	for _, target := range []string{"/api/v1/sites/1/urls?segment=blog", "/api/v1/sites/1/urls?segment=4&format=ndjson", "/sites/1/urls?segment=blog"} {
		wantStatus(t, f.get(target), 200)
	}
	for _, filter := range pages {
		if filter.Contains != "/blog/" || filter.State != models.StateAll {
			t.Errorf("pages asked for: %+v", filter)
		}
	}
	if len(pages) != 3 {
		t.Errorf("%d readings", len(pages))
	}
	for _, target := range []string{"/api/v1/sites/1/changes?segment=blog", "/sites/1/changes?segment=blog", "/sites/1/runs/7?segment=blog", "/feeds/1.atom?segment=blog&token=" + f.token} {
		changes = nil
		r := f.get(target)
		wantStatus(t, r, 200)
		if len(changes) == 0 {
			t.Errorf("%s read no changes", target)
		}
		for _, filter := range changes {
			if filter.Pages == nil || filter.Pages.Contains != "/blog/" {
				t.Errorf("%s: changes asked for: %+v", target, filter)
			}
		}
		if body := text(t, r); strings.HasPrefix(target, "/feeds") && strings.Contains(body, "<entry>") {
			t.Errorf("an entry of a run without changes of the segment: %s", body)
		}
	}
}

func TestSegment_GivesWayToWhatIsGivenBesideIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	var got models.PageFilter
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, _ func(*models.Page) error) error {
		got = filter
		return nil
	}
	wantStatus(t, f.get("/api/v1/sites/1/urls?segment=blog&state=live&prefix=https://example.com/"), 200)
	if got.State != models.StateLive || got.Contains != "/blog/" || got.Prefix != "https://example.com/" {
		t.Errorf("%+v", got)
	}
	wantStatus(t, f.get("/api/v1/sites/1/urls?segment=new+this+week"), 200)
	if want := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC); got.FirstFrom == nil || !got.FirstFrom.Equal(want) {
		t.Errorf("a preset's days count from today: %v", got.FirstFrom)
	}
	wantStatus(t, f.get("/api/v1/sites/1/urls?segment=nowhere"), 422)
	wantStatus(t, f.get("/api/v1/sites/1/changes?segment=nowhere"), 422)
	wantStatus(t, f.get("/sites/1/urls?segment=nowhere"), 422)
}

func TestSegment_IsKeptInOneSpelling(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	var saved models.Segment
	f.store.SaveSegmentFunc = func(g models.Segment) (models.Segment, error) { saved = g; return g, nil }
	wantStatus(t, f.post("/api/v1/sites/1/segments", `{"name":" shop ","filter":"?state=all&contains=/shop/&lastmod_to=-30d&prefix="}`), 201)
	if saved.Name != "shop" || saved.Filter != "contains=%2Fshop%2F&lastmod_to=-30d&state=all" || saved.SiteID != 1 || saved.ID != 0 {
		t.Errorf("%+v", saved)
	}
	wantStatus(t, f.post("/api/v1/sites/1/segments", `{"name":"blog","filter":"contains=/b/"}`), 201)
	if saved.ID != 4 {
		t.Errorf("a second blog: %+v", saved)
	}
	wantStatus(t, f.post("/api/v1/sites/1/segments", `{"name":"blog","filter":"contains=/b/","every_site":true}`), 201)
	if saved.ID != 0 || saved.SiteID != 0 {
		t.Errorf("blog of every site: %+v", saved)
	}
	for _, body := range []string{
		`{"name":"x","filter":"as_of=3&contains=a"}`, `{"name":"x","filter":"state="}`, `{"name":"x","filter":"lastmod_to=soon"}`, `{"name":"x","filter":"state=lively"}`,
		`{"name":" ","filter":"contains=a"}`, `{"name":"x","filter":"document=2","every_site":true}`, `{"name":"x","filter":"a=%zz"}`, `{"name":"x","filter":"state=live&state=all"}`,
	} {
		if r := f.post("/api/v1/sites/1/segments", body); r.StatusCode != 422 {
			t.Errorf("%s: %d %s", body, r.StatusCode, text(t, r))
		}
	}
	// The page's form does the same.
	saved = models.Segment{}
	form := url.Values{"name": {"shop"}, "filter": {"contains=/shop/"}}.Encode()
	r := f.request("POST", "/sites/1/segments", form, "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded")
	if r.StatusCode != http.StatusSeeOther || saved.Filter != "contains=%2Fshop%2F" || !strings.Contains(r.Header.Get("Location"), "segment=shop") {
		t.Errorf("%d to %q, saved %+v", r.StatusCode, r.Header.Get("Location"), saved)
	}
	wantStatus(t, f.request("POST", "/sites/1/segments/4/remove", "", "Authorization", "Bearer "+f.token), 303)
	wantStatus(t, f.request("POST", "/sites/1/segments/9/remove", "", "Authorization", "Bearer "+f.token), 404)
}
