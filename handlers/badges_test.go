package handlers_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

func badges(site *models.Site, run *models.Run) func(*fixture) {
	return func(f *fixture) {
		f.store.FindSiteFunc = func(name string) (models.Site, error) {
			if name == "1" || name == site.Name {
				return *site, nil
			}
			return models.Site{}, models.ErrNotFound
		}
		f.store.RunFunc = func(_, id int64) (models.Run, error) {
			if id != site.CurrentRun {
				return models.Run{}, models.ErrNotFound
			}
			return *run, nil
		}
	}
}

func TestBadges_AreForEverybodyOnlyWhereTheSiteSaysSo(t *testing.T) {
	t.Parallel()
	site, run := exampleSite, models.Run{Verdict: models.VerdictComplete, FinishedAt: ptr(now)}
	f := newFixture(t, badges(&site, &run))
	anonymous := func(path string, header ...string) *http.Response { return f.request("GET", path, "", header...) }
	wantStatus(t, anonymous("/badges/1/status.svg"), 404)
	wantStatus(t, anonymous("/badges/9/status.svg"), 404)
	r := f.get("/badges/1/status.svg")
	if body := text(t, r); r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Cache-Control"), "private,") || !strings.Contains(body, "complete") {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, body)
	}
	site.Settings.PublicBadges = true
	r = anonymous("/badges/example.com/status.svg")
	wantStatus(t, r, 200)
	if r.Header.Get("Content-Type") != "image/svg+xml; charset=utf-8" || r.Header.Get("Cache-Control") != "public, max-age=300" ||
		r.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || r.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("%v", r.Header)
	}
	wantStatus(t, anonymous("/badges/1/status.svg", "If-None-Match", r.Header.Get("ETag")), 304)
	run.Verdict = models.VerdictPartial
	wantStatus(t, anonymous("/badges/1/status.svg", "If-None-Match", r.Header.Get("ETag")), 200)
	wantStatus(t, anonymous("/badges/1/other.svg"), 404)
}

func TestBadges_SayWhatTheRunSaid(t *testing.T) {
	t.Parallel()
	site, run := exampleSite, models.Run{}
	site.Settings.PublicBadges, site.Live = true, 1234567
	f := newFixture(t, badges(&site, &run))
	for _, c := range []struct {
		kind   string
		change func()
		want   string
	}{
		{"pages", func() {}, "pages: 1,234,567"},
		{"status", func() {}, "sitemap: not read yet"},
		{"last-sync", func() {}, "last sync: never"},
		{"last-sync", func() { run.FinishedAt, run.Verdict = ptr(now), models.VerdictComplete }, "last sync: 2026-11-30 12:00 UTC"},
		{"status", func() {}, "sitemap: complete"},
		{"status", func() { run.Verdict = models.VerdictUnavailable }, "sitemap: unavailable"},
		{"status", func() { run.Counts.Held = 12 }, "sitemap: 12 removals held"},
		{"status", func() { site.Paused = true }, "sitemap: paused"},
		{"status", func() { site.Paused, run.Counts.Held, run.Verdict = false, 0, `"><script>&`+"\x01" }, "sitemap: \"><script>& "},
	} {
		c.change()
		body := text(t, f.request("GET", "/badges/1/"+c.kind+".svg", ""))
		title, elements := "", map[string]bool{}
		for d := xml.NewDecoder(strings.NewReader(body)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in %s", c.kind, err, body)
			}
			if start, ok := token.(xml.StartElement); ok {
				elements[start.Name.Local] = true
				if start.Name.Local == "title" {
					_ = d.DecodeElement(&title, &start)
				}
			}
		}
		if title != c.want || elements["script"] {
			t.Errorf("%s: %q, want %q; %v", c.kind, title, c.want, elements)
		}
	}
}
