package handlers_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

func TestGo_FindsScreensSitesAndSegmentsByWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	other := exampleSite
	other.ID, other.Name = 7, "<b>other</b> shop"
	f.store.SitesFunc = func() ([]models.Site, error) { return []models.Site{exampleSite, other}, nil }
	link := regexp.MustCompile(`<li><a href="([^"]*)">([^<]*)</a></li>`)
	found := func(query string) []string {
		page := text(t, f.get("/go?"+query))
		_, places, _ := strings.Cut(page, "data-places")
		var out []string
		for _, m := range link.FindAllStringSubmatch(places, -1) {
			out = append(out, m[2]+" "+m[1])
		}
		return out
	}
	for query, want := range map[string][]string{
		"q=reports+shop":     {"&lt;b&gt;other&lt;/b&gt; shop: Reports /sites/7/reports"},
		"q=SHOP":             {"&lt;b&gt;other&lt;/b&gt; shop: Summary /sites/7"},
		"q=reports&from=1":   {"example.com: Reports /sites/1/reports"},
		"q=year&from=1":      {"example.com: not changed for a year /sites/1/urls?segment=not&#43;changed&#43;for&#43;a&#43;year"},
		"q=nothing+of+this":  nil,
		"q=alerts":           {"Alerts /settings/alerts"},
		"q=%3Cscript%3E":     nil,
		"q=held&from=<":      nil,
		"q=digest&from=1234": {"Digest /digest"},
	} {
		if diff := cmp.Diff(want, found(query)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	if all := found("from=7"); len(all) < 20 || !strings.HasPrefix(all[0], "&lt;b&gt;other") || strings.Contains(strings.Join(all, "\n"), "<b>") {
		t.Errorf("from a site: %q", all)
	}
	if r := f.get("/go?open=1&q=documents&from=1"); r.StatusCode != 303 || r.Header.Get("Location") != "/sites/1/documents" {
		t.Errorf("the first is opened: %d %s", r.StatusCode, r.Header.Get("Location"))
	}
	if page := text(t, f.get("/go?open=1&q=no+such")); !strings.Contains(page, "Nothing has these words.") {
		t.Error("nothing is found in silence")
	}
}
