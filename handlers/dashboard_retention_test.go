package handlers_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// History that is forgotten does not come back: the form takes a shorter time only from somebody who says so.
func TestSettingsForm_ForgetsHistoryOnlyWhenThatIsConfirmed(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		own, all time.Duration
		typed    string
		forget   bool
		status   int
		want     time.Duration
	}{
		"first limit":                    {0, 0, "400d", false, 422, 0},
		"first limit, confirmed":         {0, 0, "400d", true, 303, 400 * day},
		"hours":                          {0, 0, "36h", true, 303, 36 * time.Hour},
		"shorter":                        {400 * day, 0, "30d", false, 422, 0},
		"longer":                         {30 * day, 0, "400d", false, 303, 400 * day},
		"for ever":                       {30 * day, 0, "", false, 303, 0},
		"the daemon's, which is shorter": {400 * day, 30 * day, "", false, 422, 0},
		"as it was":                      {30 * day, 0, "30d", false, 303, 30 * day},
		"less than a day":                {0, 0, "2h", true, 422, 0},
		"no duration":                    {0, 0, "a year", true, 422, 0},
		"negative":                       {0, 0, "-3d", true, 422, 0},
	} {
		var saved []models.Site
		f := newFixture(t, rich, func(f *fixture) {
			site := exampleSite
			site.Settings.Retention = test.own
			f.store.FindSiteFunc = func(string) (models.Site, error) { return site, nil }
			f.store.SaveSiteFunc = func(s models.Site) error { saved = append(saved, s); return nil }
			f.deps.Defaults.Settings.Retention = test.all
		})
		form := url.Values{"name": {"example.com"}, "home": {"https://example.com/"}, "roots": {exampleSite.Root}, "schedule": {"*/15 * * * *"}, "more": {"1"}, "retention": {test.typed}}
		if test.forget {
			form.Set("forget", "1")
		}
		r := f.request("POST", "/sites/1/settings", form.Encode(), "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded")
		page := text(t, r)
		if r.StatusCode != test.status || (len(saved) == 1) != (test.status == 303) || len(saved) == 1 && saved[0].Settings.Retention != test.want {
			t.Errorf("%s: status %d, saved %+v", name, r.StatusCode, saved)
		}
		if asks := strings.Contains(page, `name="forget"`); asks != (test.status == 422 && !test.forget) {
			t.Errorf("%s: it asks for a word of confirmation: %v", name, asks)
		}
		if test.status == 422 && !strings.Contains(page, `name="retention" value="`+test.typed+`"`) {
			t.Errorf("%s: what was typed is gone", name)
		}
	}
	f := newFixture(t, rich, func(f *fixture) { f.deps.Defaults.Settings.Retention = 90 * day })
	if page := text(t, f.get("/sites/1/settings")); !strings.Contains(page, "nothing brings it back") || !strings.Contains(page, `placeholder="90d"`) {
		t.Errorf("the form does not say what is lost, or what holds: %.6000s", page)
	}
}
