package handlers_test

import (
	"net/url"
	"regexp"
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
	// Times are in it without scripts too; what else the page says stays.
	pattern := regexp.MustCompile(`<time datetime="2026-11-30T11:59:00Z"[^>]*>[^<]*</time>`)
	for zone, want := range map[string]string{"": `<time datetime="2026-11-30T11:59:00Z">2026-11-30 11:59:00 UTC</time>`,
		"Asia/Tokyo": `<time datetime="2026-11-30T11:59:00Z" title="2026-11-30 11:59:00 UTC">2026-11-30 20:59:00</time>`} {
		if got := pattern.FindString(text(t, f.get("/sites/1/runs", "Cookie", "zone="+zone))); got != want {
			t.Errorf("in %q: %s", zone, got)
		}
	}
	if page := text(t, f.get("/settings", "Cookie", "zone=Mars/Olympus")); strings.Contains(page, "data-zone") {
		t.Error("an unknown zone is used")
	}
}
