package handlers_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestZone_IsAChoiceOfTheBrowser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	choose := func(zone string) (int, string) {
		r := f.request("POST", "/zone", url.Values{"zone": {zone}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		cookies := r.Cookies()
		if len(cookies) == 0 {
			return r.StatusCode, "none"
		}
		return r.StatusCode, cookies[0].Value
	}
	for zone, want := range map[string]string{"Europe/Vienna": "Europe/Vienna", " UTC ": "UTC", "": "", "Mars/Olympus": "none", "Local": "none", `"><script>`: "none"} {
		status, kept := choose(zone)
		if kept != want || (status == 303) != (want != "none") || want == "none" && status != 422 {
			t.Errorf("%q: status %d, kept %q", zone, status, kept)
		}
	}
	page := text(t, f.get("/settings", "Cookie", "zone=Europe/Vienna"))
	if !strings.Contains(page, `data-zone="Europe/Vienna"`) || !strings.Contains(page, `name="zone" value="Europe/Vienna"`) {
		t.Errorf("the zone is not used: %.3000s", page)
	}
	if page := text(t, f.get("/settings", "Cookie", "zone=Mars/Olympus")); strings.Contains(page, "data-zone") {
		t.Error("an unknown zone is used")
	}
}
