package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/sitemapd/sitemapd/models"
)

// hostile are texts that a site could publish to run a script at whoever looks.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `</title><svg onload=alert(1)>`,
	"java\tscript:alert(1)", `data:text/html,<script>alert(1)</script>`, `https://example.com/"onfocus="alert(1)`, `{{.}}<!--`, `]]><script>`,
	"\u2028</script><script>alert(1)//", `https://example.com/?q=<iframe srcdoc="<script>alert(1)</script>">`, `JaVaScRiPt:alert(1)`, ` javascript:alert(1)`,
}

// poisoned answers every read with hostile text in every field that a site or sender controls.
func poisoned(f *fixture, bad string) {
	block := func(name string) json.RawMessage {
		b, _ := json.Marshal([]map[string]string{{name: bad, "title": bad, "caption": bad}})
		return b
	}
	site := exampleSite
	site.Name, site.Home, site.Root, site.Schedule, site.TimeZone = bad, bad, bad, bad, bad
	lastmod := &models.Lastmod{Raw: bad, Instant: now}
	page := models.Page{
		URL: bad, State: models.State(bad), Document: bad, Lastmod: lastmod, Changefreq: bad, Alternates: block("href"), Images: block("loc"),
		Videos: block("content_loc"), News: block("title"), Freshness: bad, Reason: bad, MovedTo: bad, Listings: []string{bad},
	}
	finding := models.Finding{Code: bad, Severity: bad, Document: bad, Page: bad, Text: bad, Rule: bad, Line: 3}
	f.store.FindSiteFunc = func(string) (models.Site, error) { return site, nil }
	f.store.SitesFunc = func() ([]models.Site, error) { return []models.Site{site}, nil }
	f.store.PagesFunc = func(_ int64, _ models.PageFilter, fn func(*models.Page) error) error { return fn(&page) }
	f.store.PageHistoryFunc = func(int64, models.Key) ([]models.Page, error) { return []models.Page{page}, nil }
	f.store.ChangesFunc = func(_ int64, _ models.ChangeFilter, fn func(*models.Change) error) error {
		return fn(&models.Change{Cursor: bad, Kind: bad, URL: bad, Reason: bad, Fields: []models.FieldChange{{Field: bad, Old: bad, New: map[string]string{bad: bad}}}})
	}
	f.store.RunsFunc = func(int64, int64, int) ([]models.Run, error) {
		return []models.Run{{ID: 7, Cause: bad, Verdict: models.Verdict(bad), Reason: bad, Error: bad, Site: bad}}, nil
	}
	f.store.RunFunc = func(int64, int64) (models.Run, error) {
		return models.Run{ID: 7, Cause: bad, Verdict: models.Verdict(bad), Reason: bad, Error: bad, Findings: []models.Finding{finding}}, nil
	}
	f.store.DocumentsAtFunc = func(int64, models.AsOf) ([]models.Document, error) {
		d := models.Document{Number: 1, URL: bad, Parent: 1, Discovery: bad}
		d.Verdict, d.Reason, d.Type, d.FinalURL, d.Generator, d.ContentType, d.Encoding = models.Verdict(bad), bad, bad, bad, bad, bad, bad
		d.Namespaces, d.Lastmod = []string{bad}, lastmod
		return []models.Document{d}, nil
	}
	f.store.FindingsFunc = func(int64, models.FindingFilter) ([]models.Finding, error) { return []models.Finding{finding}, nil }
	f.store.RemovalsFunc = func(int64) ([]models.Removal, error) {
		return []models.Removal{{URL: bad, Stage: models.StageHeld, Reason: bad, MovedTo: bad}}, nil
	}
	f.store.TriggersFunc = func(_, before int64, _ int) ([]models.Trigger, error) {
		return []models.Trigger{{ID: 1, Dialect: bad, Kind: bad, Hints: []models.Hint{{Event: bad, URL: bad, PostType: bad}}}}, nil
	}
	f.walker.ProgressFunc = func(int64) (models.Progress, bool) {
		return models.Progress{Run: 7, Phase: bad, Document: bad, Verdict: bad}, true
	}
}

var dashboardPages = []string{
	"/", "/sites/1", "/sites/1/urls", "/sites/1/page?url=https://example.com/a", "/sites/1/changes", "/sites/1/runs/7", "/sites/1/documents",
	"/sites/1/findings", "/sites/1/held", "/sites/1/deliveries",
}

func TestDashboard_HostileTextNeverBecomesMarkup(t *testing.T) {
	t.Parallel()
	for _, bad := range hostile {
		f := newFixture(t, func(f *fixture) { poisoned(f, bad) })
		targets := dashboardPages
		for _, name := range []string{"contains", "prefix", "language", "as_of", "lastmod_from", "state", "document"} {
			targets = append(targets, "/sites/1/urls?"+name+"="+url.QueryEscape(bad))
		}
		targets = append(targets, "/sites/1/urls?page_token="+url.QueryEscape(bad), "/sites/"+url.PathEscape(bad)+"/runs/x")
		for _, target := range targets {
			r := f.get(target, "Accept", "text/html")
			body := text(t, r)
			if ct := r.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/html") {
				t.Errorf("%s: content type %q", target, ct)
			}
			if csp := r.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: policy %q", target, csp)
			}
			for _, fault := range markupFaults(body) {
				t.Errorf("%s with %q: %s", target, bad, fault)
			}
		}
	}
}

// markupFaults finds what our templates never write: scripts of others, handlers, styles, foreign schemes.
func markupFaults(body string) []string {
	var faults []string
	tokens := html.NewTokenizer(strings.NewReader(body))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return faults
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag := tokens.Token()
		switch tag.Data {
		case "iframe", "object", "embed", "svg", "img", "base", "style", "math":
			faults = append(faults, "element "+tag.Data)
		}
		for _, a := range tag.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc":
				faults = append(faults, "attribute "+a.Key)
			case tag.Data == "script" && a.Key == "src" && value != "/static/app.js":
				faults = append(faults, "script "+a.Val)
			case a.Key == "href" || a.Key == "src" || a.Key == "action" || a.Key == "formaction":
				u, err := url.Parse(value)
				if err != nil || (u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https") {
					faults = append(faults, a.Key+" "+a.Val)
				}
			}
		}
		if tag.Data == "script" && len(tag.Attr) == 0 {
			faults = append(faults, "inline script")
		}
	}
}

func TestDashboard_ShowsSitesRunsAndProgressWithoutScripts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	finished := now.Add(-time.Minute)
	f.store.RunsFunc = func(_, before int64, limit int) ([]models.Run, error) {
		return []models.Run{{ID: 7, Cause: "cron", Verdict: models.VerdictComplete, StartedAt: finished.Add(-3 * time.Second), FinishedAt: &finished, Counts: models.Counts{Live: 1234567, Added: 5}}}, nil
	}
	f.walker.ProgressFunc = func(int64) (models.Progress, bool) {
		return models.Progress{SiteID: 1, Run: 8, Phase: "walking", Documents: 3, Known: 9, Pages: 6000}, true
	}
	body := text(t, f.get("/sites/1", "Accept", "text/html"))
	for _, want := range []string{"1,234,567", "3s", `href="/sites/1/runs/7"`, "walking", `value="3"`, `max="9"`, `data-progress="/api/v1/sites/1/progress"`, `action="/sites/1/runs/8/stop"`, "Refresh"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestDashboard_FilterAndExportsShareTheirParameters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var filters []models.PageFilter
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		filters = append(filters, filter)
		return fn(&models.Page{URL: "https://example.com/a", State: models.StateStale, Cursor: "c"})
	}
	body := text(t, f.get("/sites/1/urls?state=stale&contains=blog&extension=news", "Accept", "text/html"))
	want := "/api/v1/sites/1/urls?contains=blog&amp;extension=news&amp;format=csv&amp;state=stale"
	if !strings.Contains(body, want) {
		t.Fatalf("no export link %s", want)
	}
	wantStatus(t, f.get(strings.ReplaceAll(want, "&amp;", "&")), 200)
	for _, filter := range filters {
		if filter.State != models.StateStale || filter.Contains != "blog" || filter.Extension != "news" {
			t.Errorf("filter %+v", filter)
		}
	}
	if len(filters) != 2 {
		t.Errorf("%d readings", len(filters))
	}
}

func TestDashboard_DecidesOnlyOnWhatWasSeen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	f.store.RemovalsFunc = func(int64) ([]models.Removal, error) {
		return []models.Removal{{URL: "https://example.com/a", Stage: models.StageHeld}, {URL: "https://example.com/b", Stage: models.StageHeld}, {Stage: models.StagePending}}, nil
	}
	decisions := 0
	f.store.DecideRemovalsFunc = func(_ int64, keys []models.Key, approve bool) (int64, error) {
		if keys != nil || !approve {
			t.Errorf("keys %v, approve %v", keys, approve)
		}
		decisions++
		return 2, nil
	}
	form := func(total string) *http.Response {
		return f.request("POST", "/sites/1/held", "decision=approve&total="+total, "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded")
	}
	wantStatus(t, form("3"), http.StatusConflict)
	wantStatus(t, form("2"), http.StatusSeeOther)
	if decisions != 1 {
		t.Errorf("%d decisions", decisions)
	}
}
