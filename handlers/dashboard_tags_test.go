package handlers_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

// tagged are three sites of two groups; one carries no tag.
func tagged(f *fixture) {
	f.store.SitesFunc = func() ([]models.Site, error) {
		var sites []models.Site
		for i, tags := range [][]string{{"clients", "de"}, nil, {"clients"}} {
			site := exampleSite
			site.ID, site.Name, site.Live = int64(i+1), string(rune('a'+i))+".example", int64(10*(i+1))
			site.Settings.Tags = tags
			sites = append(sites, site)
		}
		return sites, nil
	}
}

var siteName = regexp.MustCompile(`<a href="/sites/\d">([abc])\.example</a>|<th scope="rowgroup">(?:<a href="/\?tag=[^"]*">)?([^<]*)`)

// The overview's table, its groups and sites in their order.
func portfolio(t *testing.T, f *fixture, address string) string {
	t.Helper()
	var out []string
	for _, m := range siteName.FindAllStringSubmatch(text(t, f.get(address)), -1) {
		out = append(out, strings.TrimSpace(m[1]+m[2]))
	}
	return strings.Join(out, " ")
}

func TestOverview_ShowsGroupsOfSites(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich, tagged)
	got := map[string]string{}
	want := map[string]string{"/": "a b c", "/?tag=clients": "a c", "/?tag=De": "a", "/?tag=none": "", "/?group=tag": "clients a c de a without a tag b",
		"/?group=tag&tag=de": "de a", "/?tag=clients&q=c.ex": "c"}
	for address := range want {
		got[address] = portfolio(t, f, address)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	page := text(t, f.get("/?group=tag"))
	if !strings.Contains(page, `<td class="n" data-label="Pages">40</td>`) { // of 10 and 30
		t.Errorf("the group's pages are not added: %.3000s", page)
	}
	if page := text(t, f.get("/?tag="+url.QueryEscape(`"><script>`))); strings.Contains(page, "<script>") {
		t.Error("a tag in the address is not escaped")
	}
}

func TestSites_OfOneGroup(t *testing.T) {
	t.Parallel()
	f := newFixture(t, tagged)
	if got := text(t, f.get("/api/v1/sites?tag=clients")); strings.Count(got, `"name"`) != 2 || strings.Contains(got, "b.example") {
		t.Errorf("%s", got)
	}
	if got := text(t, f.get("/api/v1/sites?tag=de&format=csv")); !strings.HasSuffix(strings.TrimSpace(got), `"clients, de"`) {
		t.Errorf("%s", got)
	}
}

func TestTags_AreSetAndRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var saved []string
	f.store.SaveSiteFunc = func(s models.Site) error { saved = s.Settings.Tags; return nil }
	for body, want := range map[string]int{`{"tags":["  Big   Clients","de","DE",""]}`: 200, `{"tags":["<b>"]}`: 422, `{"tags":["` + strings.Repeat("x", 41) + `"]}`: 422,
		`{"tags":["1","2","3","4","5","6","7","8","9","10","11"]}`: 422} {
		saved = nil
		r := f.request("PATCH", "/api/v1/sites/1", body, "Authorization", "Bearer "+f.token, "Content-Type", "application/json")
		if answer := text(t, r); r.StatusCode != want || want == 422 && (saved != nil || !strings.Contains(answer, "body.tags")) {
			t.Errorf("%s: %d %s", body, r.StatusCode, answer)
		}
		if want == 200 && strings.Join(saved, "|") != "big clients|de" {
			t.Errorf("saved %q", saved)
		}
	}
	r := f.request("POST", "/sites/1/settings", url.Values{"name": {"example.com"}, "home": {"https://example.com/"}, "roots": {exampleSite.Root}, "more": {"1"}, "tags": {"de, Clients"}}.Encode(),
		"Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded")
	if r.StatusCode != 303 || strings.Join(saved, "|") != "clients|de" {
		t.Errorf("the form: %d, saved %q", r.StatusCode, saved)
	}
}

// A run says how many in a row were not complete, what was unchanged and what was received.
func TestRuns_SayHowManyFailedInARow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	f.store.RunsFunc = func(_, _ int64, _ int) (out []models.Run, _ error) {
		at := now
		for i, verdict := range []models.Verdict{models.VerdictPartial, models.VerdictUnavailable, "", models.VerdictComplete, models.VerdictPartial} {
			run := models.Run{ID: int64(9 - i), Verdict: verdict, StartedAt: now, FinishedAt: &at, Bytes: 4096, Documents: models.RunDocuments{Read: 2, Unchanged: 7}}
			if verdict == "" {
				run.Error = "disk full"
			}
			out = append(out, run)
		}
		return out, nil
	}
	page := text(t, f.get("/sites/1/runs"))
	for _, want := range []string{"3 in a row", "2 in a row", "7 unchanged", "4,096 B"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list of runs does not say %q: %.4000s", want, page)
		}
	}
	if strings.Contains(page, "1 in a row") {
		t.Error("one is no row")
	}
}
