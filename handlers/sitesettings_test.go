package handlers_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/handlers/client"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/schedule"
)

// kept is a store of one site that is really changed.
func kept(f *fixture, site *models.Site) {
	f.store.FindSiteFunc = func(string) (models.Site, error) { return *site, nil }
	f.store.ChangeSiteFunc = func(_ int64, change func(*models.Site) error) (models.Site, error) {
		next := *site
		if err := change(&next); err != nil {
			return models.Site{}, err
		}
		*site = next
		return next, nil
	}
	f.deps.Defaults = models.Site{Schedule: "@hourly", TimeZone: "UTC", Settings: models.SiteSettings{Quiet: 10 * time.Second, MaxWait: time.Minute, ConfirmAfter: 2 * time.Minute}}
	f.deps.CheckSchedule = func(spec, zone string) ([]time.Time, error) {
		plan, err := schedule.Parse(spec, zone)
		if err != nil {
			return nil, err
		}
		return plan.NextN(now, 5), nil
	}
}

func (f *fixture) patch(target, body string, header ...string) *http.Response {
	return f.request("PATCH", target, body, append([]string{"Authorization", "Bearer " + f.token, "Content-Type", "application/json"}, header...)...)
}

func TestSiteSettings_ChangeWhatIsSaidAndNothingElse(t *testing.T) {
	t.Parallel()
	site := exampleSite
	site.Settings = models.SiteSettings{Quiet: time.Second, Username: "u", Password: "secret"}
	f := newFixture(t, func(f *fixture) { kept(f, &site) })
	want := site
	for _, c := range []struct {
		body   string
		change func(*models.Site)
	}{
		{`{}`, func(*models.Site) {}},
		{`{"preferred_scheme":"https","preferred_host":"WWW.Example.com","trailing_slash":"add"}`, func(s *models.Site) {
			s.Settings.PreferredScheme, s.Settings.PreferredHost, s.Settings.TrailingSlash = "https", "www.example.com", models.SlashAdd
		}},
		{`{"preferred_scheme":"","trailing_slash":"remove"}`, func(s *models.Site) {
			s.Settings.PreferredScheme, s.Settings.TrailingSlash = "", models.SlashRemove
		}},
		{`{"name":" New name "}`, func(s *models.Site) { s.Name = "New name" }},
		{`{"roots":["https://example.com/a.xml","https://example.com/wp-sitemap.xml"]}`, func(s *models.Site) {
			s.Root = "https://example.com/a.xml"
			s.Roots = []models.Root{{URL: s.Root, Discovery: "direct_URL"}, {URL: "https://example.com/wp-sitemap.xml", Discovery: "robots_txt"}}
		}},
		{`{"hosts":["CDN.Example.com","cdn.example.com","[::1]:8080"]}`, func(s *models.Site) { s.Settings.Hosts = []string{"cdn.example.com", "[::1]:8080"} }},
		{`{"hosts":[]}`, func(s *models.Site) { s.Settings.Hosts = nil }},
		{`{"confirm_after":"90s","release_after":"72h","quiet":"","max_wait":"2m"}`, func(s *models.Site) {
			s.Settings.ConfirmAfter, s.Settings.ReleaseAfter, s.Settings.Quiet, s.Settings.MaxWait = 90*time.Second, 72*time.Hour, 0, 2*time.Minute
		}},
		{`{"password":"other"}`, func(s *models.Site) { s.Settings.Password = "other" }},
		{`{"username":""}`, func(s *models.Site) { s.Settings.Username, s.Settings.Password = "", "" }},
		{`{"public_badges":true,"paused":true}`, func(s *models.Site) { s.Settings.PublicBadges, s.Paused = true, true }},
		{`{"schedule":"30 4 * * *","time_zone":"Europe/Vienna"}`, func(s *models.Site) {
			next := time.Date(2026, 12, 1, 3, 30, 0, 0, time.UTC)
			s.Schedule, s.TimeZone, s.NextDue = "30 4 * * *", "Europe/Vienna", &next
		}},
		{`{"schedule":"off"}`, func(s *models.Site) { s.Schedule, s.NextDue = "off", nil }},
		{`{"schedule":""}`, func(s *models.Site) { s.Schedule, s.NextDue = "", ptr(now) }},
	} {
		r := f.patch("/api/v1/sites/1/settings", c.body)
		if body := text(t, r); r.StatusCode != 200 || strings.Contains(body, "secret") || strings.Contains(body, `"other"`) {
			t.Fatalf("%s: %d %s", c.body, r.StatusCode, body)
		}
		c.change(&want)
		if diff := cmp.Diff(want, site); diff != "" {
			t.Fatalf("%s (-want +stored):\n%s", c.body, diff)
		}
	}
}

func TestSiteSettings_RefuseWhatCannotBeAndKeepWhatWas(t *testing.T) {
	t.Parallel()
	site := exampleSite
	f := newFixture(t, func(f *fixture) { kept(f, &site) })
	for body, place := range map[string]string{
		`{"name":"   "}`:                "body.name",
		`{"name":"17"}`:                 "body.name",
		`{"home":"ftp://example.com/"}`: "body.home",
		`{"roots":[]}`:                  "body.roots",
		`{"roots":["https://a.example/","javascript:x"]}`: "body.roots[1]",
		`{"hosts":["a.example","https://b.example/"]}`:    "body.hosts[1]",
		`{"hosts":["*.example.com"]}`:                     "body.hosts[0]",
		`{"schedule":"every day"}`:                        "body.schedule",
		`{"schedule":"0 0 30 2 *"}`:                       "body.schedule",
		`{"time_zone":"Mars/Olympus"}`:                    "body.time_zone",
		`{"confirm_after":"soon"}`:                        "body.confirm_after",
		`{"confirm_after":"721h"}`:                        "body.confirm_after",
		`{"preferred_scheme":"ftp"}`:                      "body.preferred_scheme",
		`{"preferred_host":"example.com/x"}`:              "body.preferred_host",
		`{"trailing_slash":"maybe"}`:                      "body.trailing_slash",
		`{"release_after":"-1h"}`:                         "body.release_after",
		`{"quiet":"25h"}`:                                 "body.quiet",
		`{"max_wait":"5s"}`:                               "body.max_wait", // the daemon's quiet is 10 s
		`{"quiet":"2s","max_wait":"1s"}`:                  "body.max_wait",
		`{"username":"u"}`:                                "body.username",
		`{"password":"p"}`:                                "body.username",
		`{"color":"red"}`:                                 "body.color",
		`{"paused":"yes"}`:                                "body.paused",
	} {
		r := f.patch("/api/v1/sites/1/settings", body)
		problem := text(t, r)
		if r.StatusCode != 422 || r.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(problem, `"location":"`+place+`"`) {
			t.Errorf("%s: %d %s", body, r.StatusCode, problem)
		}
	}
	if diff := cmp.Diff(exampleSite, site); diff != "" {
		t.Errorf("a refused change was stored:\n%s", diff)
	}
}

func TestSiteSettings_TagNamesTheSettingsAlone(t *testing.T) {
	t.Parallel()
	site := exampleSite
	f := newFixture(t, func(f *fixture) { kept(f, &site) })
	const target = "/api/v1/sites/1/settings"
	first := f.get(target)
	tag := first.Header.Get("ETag")
	if body := text(t, first); !strings.Contains(body, `"defaults":{"schedule":"@hourly"`) || !strings.Contains(body, `"next":["2026-11-30T12:15:00Z"`) {
		t.Errorf("%s", body)
	}
	wantStatus(t, f.get(target, "If-None-Match", tag), 304)
	site.CurrentRun, site.Live, site.NextDue = 8, 4, ptr(now) // a run ends
	if r := f.get(target); r.Header.Get("ETag") != tag {
		t.Error("the tag changes with a run")
	}
	r := f.patch(target, `{"paused":true}`, "If-Match", tag)
	wantStatus(t, r, 200)
	if r.Header.Get("ETag") == tag || r.Header.Get("ETag") != f.get(target).Header.Get("ETag") {
		t.Error("the answer's tag is not that of the next reading")
	}
	r = f.patch(target, `{"paused":false}`, "If-Match", tag)
	wantStatus(t, r, http.StatusPreconditionFailed)
	if !strings.Contains(text(t, r), "/problems/precondition-failed") || !site.Paused {
		t.Error("a change that was decided on an old copy is not refused")
	}
	site.Settings.Password = "x"
	if f.get(target).Header.Get("ETag") == r.Header.Get("ETag") {
		t.Error("a new password has the old tag")
	}
}

func TestSiteSettings_NeedTheScopeToWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	wantStatus(t, f.request("PATCH", "/api/v1/sites/1/settings", `{}`, "Content-Type", "application/json"), 401)
	wantStatus(t, f.get("/api/v1/sites/9/settings"), 404)
}

func TestClient_ReadsAndChangesSettings(t *testing.T) {
	t.Parallel()
	site := exampleSite
	f := newFixture(t, func(f *fixture) { kept(f, &site) })
	base, _ := f.serve(t)
	c, ctx := &client.Client{Base: base, Token: f.token}, context.Background()
	read, err := c.GetSiteSettings(ctx, "1")
	if err != nil || read.Schedule != "*/15 * * * *" || read.Defaults["quiet"] != "10s" || len(read.Next) != 5 {
		t.Fatalf("%+v, %v", read, err)
	}
	changed, err := c.ChangeSiteSettings(ctx, "1", read.ETag, client.Settings{Hosts: &[]string{"b.example"}, Quiet: ptr("1s")})
	if err != nil || !reflect.DeepEqual(changed.Hosts, []string{"b.example"}) || site.Settings.Quiet != time.Second || changed.ETag == read.ETag {
		t.Fatalf("%+v, %v", changed, err)
	}
	var problem *client.Problem
	if _, err := c.ChangeSiteSettings(ctx, "1", read.ETag, client.Settings{}); !errors.As(err, &problem) || problem.Status != 412 {
		t.Errorf("%v", err)
	}
}
