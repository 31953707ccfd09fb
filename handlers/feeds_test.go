package handlers_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

type atom struct {
	ID      string `xml:"id"`
	Updated string `xml:"updated"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Content string `xml:"content"`
	} `xml:"entry"`
}

func TestFeed_HasTheRunsThatChangedSomething(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	finished := now
	f.store.RunsFunc = func(int64, int64, int) ([]models.Run, error) {
		return []models.Run{
			{ID: 9}, // under way
			{ID: 8, FinishedAt: &finished, Counts: models.Counts{Live: 5, Unchanged: 5}},
			{ID: 7, FinishedAt: &finished, Counts: models.Counts{Live: 5, Added: 2, Removed: 1}},
			{ID: 1, FinishedAt: ptr(finished.Add(-time.Hour)), Counts: models.Counts{Live: 4, Added: 4}, Baseline: true},
		}, nil
	}
	f.store.ChangesFunc = func(_ int64, filter models.ChangeFilter, fn func(*models.Change) error) error {
		if filter.Run != 7 {
			t.Errorf("changes of run %d read", filter.Run)
		}
		return fn(&models.Change{Kind: "added", URL: `https://example.com/<script>alert("x")</script>`})
	}
	r := f.request("GET", "/feeds/1.atom?token="+f.token, "")
	wantStatus(t, r, 200)
	if ct := r.Header.Get("Content-Type"); ct != "application/atom+xml; charset=utf-8" {
		t.Error(ct)
	}
	body := text(t, r)
	var feed atom
	if err := xml.Unmarshal([]byte(body), &feed); err != nil {
		t.Fatal(err)
	}
	if len(feed.Entries) != 2 || feed.Entries[0].Title != "example.com: 2 added, 1 removed" || feed.Entries[1].Title != "example.com: first run, 4 pages" {
		t.Fatalf("%+v", feed)
	}
	if feed.ID != "tag:example.com,2026-11-30:sitemapd/1/changes" || feed.Entries[0].ID != "tag:example.com,2026-11-30:sitemapd/1/run/7" || feed.Updated != "2026-11-30T12:00:00Z" {
		t.Errorf("%+v", feed)
	}
	// The content is HTML in XML: it is escaped once for each.
	if strings.Contains(feed.Entries[0].Content, "<script") || !strings.Contains(feed.Entries[0].Content, "&lt;script&gt;") {
		t.Error(feed.Entries[0].Content)
	}
	wantStatus(t, f.request("GET", "/feeds/1.atom?token="+f.token, "", "If-None-Match", r.Header.Get("ETag")), 304)
	wantStatus(t, f.request("GET", "/feeds/1.atom", ""), 401)
	wantStatus(t, f.request("GET", "/feeds/1.atom?token=smd_wrong", ""), 401)
	wantStatus(t, f.get("/feeds/1.rss"), 404)
	wantStatus(t, f.get("/feeds/2.atom"), 404)
	wantStatus(t, f.get("/feeds/example.com.atom"), 200)
	wantStatus(t, f.request("GET", "/api/v1/sites?token="+f.token, ""), 401) // the address is good for feeds alone
}

func TestFeed_OfEverySiteHasTheNewestOfEach(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := exampleSite
	other.ID, other.Name = 2, "other.example"
	f.store.SitesFunc = func() ([]models.Site, error) { return []models.Site{exampleSite, other}, nil }
	f.store.FindSiteFunc = func(string) (models.Site, error) { return models.Site{}, models.ErrNotFound }
	f.store.RunsFunc = func(site, _ int64, _ int) ([]models.Run, error) {
		at := now.Add(-time.Duration(site) * time.Minute)
		return []models.Run{{ID: 7, FinishedAt: &at, Counts: models.Counts{Added: site}, Baseline: false}}, nil
	}
	f.store.ChangesFunc = func(int64, models.ChangeFilter, func(*models.Change) error) error { return nil }
	r := f.request("GET", "/feeds/all.atom?token="+f.token, "")
	wantStatus(t, r, 200)
	var feed atom
	if err := xml.Unmarshal([]byte(text(t, r)), &feed); err != nil {
		t.Fatal(err)
	}
	if len(feed.Entries) != 2 || feed.Entries[0].Title != "example.com: 1 added" || feed.Entries[1].Title != "other.example: 2 added" || !strings.HasSuffix(feed.ID, "/instance") {
		t.Errorf("%+v", feed)
	}
	wantStatus(t, f.request("GET", "/feeds/none.atom?token="+f.token, ""), 404)
}
