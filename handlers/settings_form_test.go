package handlers_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func TestSettingsForm_ChangesWhatItShows(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	var saved []models.Site
	f.store.SaveSiteFunc = func(s models.Site) error { saved = append(saved, s); return nil }
	send := func(form url.Values) int {
		t.Helper()
		for name, value := range map[string]string{"name": "example.com", "home": "https://example.com/", "roots": exampleSite.Root, "schedule": "*/15 * * * *"} {
			form.Set(name, value)
		}
		r := f.request("POST", "/sites/1/settings", form.Encode(), "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded")
		if body := text(t, r); r.StatusCode == 422 && !strings.Contains(body, `value="soon"`) {
			t.Errorf("what was typed is gone: %.4000s", body)
		}
		return r.StatusCode
	}
	if status := send(url.Values{"more": {"1"}, "hosts": {"cdn.example.com\n www.example.com"}, "confirm_after": {"5m"}, "quiet": {"3s"}, "max_wait": {"30s"}, "username": {"u"},
		"password": {"p"}, "public_badges": {"1"}}); status != 303 {
		t.Fatalf("status %d", status)
	}
	g := saved[0].Settings
	if len(g.Hosts) != 2 || g.ConfirmAfter != 5*time.Minute || g.Quiet != 3*time.Second || g.MaxWait != 30*time.Second || g.Username != "u" || g.Password != "p" || !g.PublicBadges {
		t.Errorf("saved %+v", g)
	}
	if status := send(url.Values{"more": {"1"}, "confirm_after": {"soon"}}); status != 422 || len(saved) != 1 {
		t.Errorf("status %d, saved %d times", status, len(saved))
	}
	if status := send(url.Values{}); status != 303 || saved[1].Settings.ConfirmAfter != exampleSite.Settings.ConfirmAfter {
		t.Errorf("a form without the folded part changed it: %+v", saved[1].Settings)
	}
	if page := text(t, f.get("/sites/1/settings")); !strings.Contains(page, `name="confirm_after"`) || strings.Contains(page, "one is stored") {
		t.Errorf("%.6000s", page)
	}
}
