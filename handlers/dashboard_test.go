package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/sitemapd/sitemapd/handlers"
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
	f.store.DocumentHistoryFunc = func(int64, int32) ([]models.Document, error) { return f.store.DocumentsAtFunc(1, models.AsOf{}) }
	f.store.ExpectationHistoryFunc = func(int64, int64, int) ([]models.Expectation, error) {
		return []models.Expectation{{URL: bad, Kind: bad, PreviousURL: bad, Outcome: bad, Finding: bad, Text: bad, DecidedAt: &site.CreatedAt}}, nil
	}
	f.store.TokensFunc = func() ([]models.Token, error) {
		return []models.Token{{Name: bad, Prefix: bad, Scopes: []string{bad}, CreatedAt: now}}, nil
	}
	f.deps.Expectations = f.store
	f.deps.Reports = reportsOf{
		points: []models.RunPoint{{Run: 7, At: now, Verdict: models.Verdict(bad), Live: 1}, {Run: 6, At: now.AddDate(0, 0, -1), Live: 2}},
		groups: []models.FindingGroup{{Code: bad, Severity: bad, Text: bad, Count: 1}},
		counts: func() ([]models.LastmodCounts, error) { return nil, nil },
	}
	hostile := models.FindingRule{Code: bad, Severity: bad, Meaning: bad, Cost: bad, Advice: bad, Source: bad, KnownAs: bad}
	f.deps.RuleOf = func(string, string) (models.FindingRule, bool) { return hostile, true }
	f.deps.Rules = func() []models.FindingRule { return []models.FindingRule{hostile} }
	outbox := &office{bad: bad}
	f.deps.Channels, f.deps.AlertRules, f.deps.Desk = outbox, outbox, outbox
	f.deps.Canonical, f.deps.Audits = evidence{}, audits{bad, new([]models.Mute)}
	f.deps.Evidence = func(context.Context, int64, models.Key) ([]models.Canonical, error) {
		raw, _ := json.Marshal(map[string]string{bad: bad})
		return []models.Canonical{{SourceURL: bad, CanonicalURL: bad, Method: bad, Status: bad, Reason: bad, Rule: bad, FinalURL: bad, Resolution: bad, Signals: raw, Validation: raw}}, nil
	}
	f.walker.ProgressFunc = func(int64) (models.Progress, bool) {
		return models.Progress{Run: 7, Phase: bad, Document: bad, Verdict: bad}, true
	}
}

var dashboardPages = []string{
	"/", "/sites/1", "/sites/1/urls", "/sites/1/page?url=https://example.com/a", "/sites/1/changes", "/sites/1/runs/7", "/sites/1/documents",
	"/sites/1/findings", "/sites/1/findings?code=x", "/sites/1/held", "/sites/1/deliveries", "/sites/1/expectations", "/sites/1/runs",
	"/sites/1/documents/1", "/sites/1/reports", "/sites/1/stale", "/sites/1/stale?by=path", "/findings", "/sites/1/canonical", "/sites/1/settings", "/settings", "/sites/new", "/?q=a",
	"/settings/channels", "/settings/channels/3", "/settings/channels/3?outcome=failed", "/settings/alerts", "/settings/alerts?edit=4", "/digest",
	"/sites/1/urls?rows=dense&columns=state,lastmod,first_seen,last_seen,changefreq,priority,declares,freshness,confidence,document,reason,from_run", "/digest?days=30&site=1",
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

// ours reports whether a picture is one of the server's charts.
func ours(tag html.Token) bool {
	for _, a := range tag.Attr {
		if a.Key == "class" && (a.Val == "spark" || a.Val == "chart" || a.Val == "meter") {
			return true
		}
	}
	return false
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
		if tag.Data == "svg" && !ours(tag) {
			faults = append(faults, "element svg")
		}
		switch tag.Data {
		case "iframe", "object", "embed", "img", "base", "style", "math":
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

// reportsOf answers the dashboard's reports.
type reportsOf struct {
	points []models.RunPoint
	groups []models.FindingGroup
	counts func() ([]models.LastmodCounts, error)
}

func (r reportsOf) RunPoints(_ context.Context, _ int64, limit int) ([]models.RunPoint, error) {
	return r.points[:min(len(r.points), limit)], nil
}

func (r reportsOf) FindingGroups(context.Context, int64, int64) ([]models.FindingGroup, error) {
	return r.groups, nil
}

func (r reportsOf) ExtensionCounts(context.Context, int64) (models.ExtensionCounts, error) {
	return models.ExtensionCounts{Images: 41, Videos: 42, News: 43, Alternates: 44}, nil
}

func (r reportsOf) SectionCounts(_ context.Context, _ int64, bounds []time.Time, _ func(string) (models.Key, error)) (models.SectionCounts, error) {
	section := func(path string, depth, pages int) models.Section {
		at := make([]int64, len(bounds)+1)
		at[len(bounds)] = int64(pages)
		return models.Section{Path: "https://example.com" + path, Depth: depth, LastmodCounts: models.LastmodCounts{None: 1, At: at}}
	}
	all := []models.Section{section("/", 0, 9000), section("/<b>blog/", 1, 6000)}
	for i := range 250 {
		all = append(all, section(fmt.Sprintf("/<b>blog/%03d/", i), 2, i%20))
	}
	return models.SectionCounts{Sections: append(all, section("/shop/", 1, 700))}, nil
}

func (r reportsOf) LastmodCounts(context.Context, int64, []time.Time) ([]models.LastmodCounts, error) {
	return r.counts()
}

// settled asks for a page until everything in it is counted.
func settled(t *testing.T, f *fixture, path string) string {
	t.Helper()
	for {
		body := text(t, f.get(path, "Accept", "text/html"))
		if !strings.Contains(body, "The pages are being counted.") {
			return body
		}
		if t.Context().Err() != nil {
			t.Fatal("the counts never come")
		}
	}
}

func TestReports_DrawDaysHoursAndAges(t *testing.T) {
	t.Parallel()
	day := func(back int, hour int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-back, hour, 5, 0, 0, time.UTC)
	}
	f := newFixture(t, func(f *fixture) {
		f.deps.Reports = reportsOf{
			points: []models.RunPoint{ // newest first, and three days without a run
				{Run: 4, At: day(0, 9), Live: 1210, Added: 7, Changed: 2},
				{Run: 3, At: day(4, 10), Live: 1203, Removed: 4},
				{Run: 2, At: day(4, 9), Live: 1207, Added: 7},
				{Run: 1, At: day(60, 9), Live: 1200, Added: 1200, Baseline: true},
			},
			counts: func() ([]models.LastmodCounts, error) {
				return []models.LastmodCounts{{None: 11, At: []int64{12, 13, 14, 15, 16, 17, 0}}, {None: 1, At: []int64{0, 0, 1000, 0, 0, 0, 18}}}, nil
			},
		}
	})
	body := settled(t, f, "/sites/1/reports?days=30")
	for _, want := range []string{
		"<title>2026-11-26: 1,203</title>", "<title>2026-11-28: 1,203</title>", "<title>2026-11-30: 1,210</title>", // a day without a run stays where it was
		"<title>2026-11-26: +7</title>", "<title>2026-11-26: -4</title>", `<td class="h5">9</td>`, `<td class="h4">7</td>`,
		`<td class="h5" title="2026-11-30">9</td>`, `<td class="h4" title="2026-11-26">7</td>`, `<th scope="col" title="2026-11-23">11-23</th>`,
		`<a href="/sites/1/urls?extension=video">video</a></td><td class="n">42<`,
		`href="/sites/1/urls?lastmod_from=2026-10-31&amp;lastmod_to=2026-11-23">last 30 days</a></td><td class="n">13<`,
		`href="/sites/1/urls?lastmod_from=2026-08-30&amp;lastmod_to=2026-10-31">last 3 months</a></td><td class="n">1,014<`,
		`href="/sites/1/urls?lastmod_to=2024-11-30">older</a></td><td class="n">18<`, `href="/sites/1/urls?lastmod=none">declares none</a></td><td class="n">12<`,
		`href="/sites/1/urls?lastmod_to=-12m">12 months</a></td><td class="n">35<`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(body, "+1,200") {
		t.Error("the first run counts as additions")
	}
	if body := text(t, f.get("/sites/1/reports?days=90", "Accept", "text/html")); !strings.Contains(body, "<title>2026-10-01: 1,200</title>") {
		t.Error("90 days do not reach to the first run")
	}
}

func TestReports_SlowCountsDoNotHoldUpThePage(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	asked := make(chan struct{}, 10)
	f := newFixture(t, func(f *fixture) {
		f.deps.Reports = reportsOf{counts: func() ([]models.LastmodCounts, error) {
			asked <- struct{}{}
			<-release
			return []models.LastmodCounts{{At: []int64{77, 0, 0, 0, 0, 0, 0}}}, nil
		}}
	})
	for range 3 {
		if body := text(t, f.get("/sites/1/reports", "Accept", "text/html")); !strings.Contains(body, "The pages are being counted.") {
			t.Error("the page does not say that it counts")
		}
	}
	close(release)
	<-asked
	for !strings.Contains(text(t, f.get("/sites/1/reports", "Accept", "text/html")), `<td class="n">77</td>`) {
		if t.Context().Err() != nil {
			t.Fatal("the counts never come")
		}
	}
	if len(asked) != 0 {
		t.Error("counted more than once")
	}
}

// exportOf writes addresses, one a line.
type exportOf struct{ fail error }

func (exportOf) Formats() []handlers.ExportFormat {
	return []handlers.ExportFormat{{Name: "lines", ContentType: "text/plain", Extension: ".txt"}}
}

func (e exportOf) Export(_ context.Context, w io.Writer, _, base string, pages func(func(*models.Page) error) error) error {
	if e.fail != nil {
		return e.fail
	}
	return pages(func(p *models.Page) error {
		_, err := io.WriteString(w, base+" "+p.URL+"\n")
		return err
	})
}

func TestExport_HasWhatTheInventoryShows(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.Export = exportOf{} })
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		if filter.Contains != "blog" || filter.AsOf.Run != 7 {
			t.Errorf("filter %+v", filter)
		}
		return fn(&models.Page{URL: "https://example.com/blog"})
	}
	body := text(t, f.get("/sites/1/urls?contains=blog", "Accept", "text/html"))
	if !strings.Contains(body, `href="/sites/1/export?contains=blog&amp;format=lines"`) {
		t.Fatal("no link to the export")
	}
	r := f.get("/sites/1/export?contains=blog&format=lines")
	wantStatus(t, r, 200)
	if got := r.Header.Get("Content-Disposition"); got != "attachment; filename=example.com.txt" {
		t.Errorf("disposition %q", got)
	}
	if got := text(t, r); got != "https://example.com/ https://example.com/blog\n" {
		t.Errorf("%q", got)
	}
	wantStatus(t, f.get("/sites/1/export?format=no"), http.StatusUnprocessableEntity)
	refused := newFixture(t, func(f *fixture) {
		f.deps.Export = exportOf{models.Invalid("format", "choose another", "too many pages")}
	})
	wantStatus(t, refused.get("/sites/1/export?format=lines"), http.StatusUnprocessableEntity)
}

func TestPage_LinksKeepTheirAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	link := "https://example.com/a b?x=1&y=ü#z"
	f.store.PagesFunc = func(_ int64, _ models.PageFilter, fn func(*models.Page) error) error {
		return fn(&models.Page{URL: link, State: models.StateLive})
	}
	document, err := html.Parse(f.get("/sites/1/urls", "Accept", "text/html").Body)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for node := range document.Descendants() {
		for _, a := range node.Attr {
			if u, err := url.Parse(a.Val); err == nil && u.Path == "/sites/1/page" {
				found = true
				if got := u.Query().Get("url"); got != link {
					t.Errorf("links to %q", got)
				}
			}
		}
	}
	if !found {
		t.Error("no link to the page")
	}
}

func TestTheme_IsKeptByACookieAndNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	form := func(body string) *http.Response {
		return f.request("POST", "/theme", body, "Content-Type", "application/x-www-form-urlencoded")
	}
	r := form("theme=dark&next=/sites/1")
	wantStatus(t, r, http.StatusSeeOther)
	if r.Header.Get("Location") != "/sites/1" || r.Cookies()[0].Value != "dark" {
		t.Errorf("%v", r.Header)
	}
	if r := form("theme=%22><script>&next=//evil.example/"); r.Cookies()[0].Value != "" || r.Header.Get("Location") != "/" {
		t.Errorf("%v", r.Header)
	}
	if body := text(t, f.get("/", "Accept", "text/html", "Cookie", "theme=dark")); !strings.Contains(body, `data-theme="dark"`) {
		t.Error("the theme is not used")
	}
	if body := text(t, f.get("/", "Accept", "text/html", "Cookie", "theme=x")); strings.Contains(body, "data-theme") {
		t.Error("an unknown theme is used")
	}
}

func TestSettings_SecretsAreShownToAdministratorsAndOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reader, readerText, err := handlers.NewToken("reader", []string{handlers.ScopeRead}, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	known := f.store.TokenByHashFunc
	f.store.TokenByHashFunc = func(hash [32]byte) (models.Token, error) {
		if hash == reader.Hash {
			return reader, nil
		}
		return known(hash)
	}
	secret := f.key.Secret()
	f.store.RotateHookKeyFunc = func(int64, time.Duration) (models.HookKey, error) {
		return models.HookKey{ID: "key-2", Secret: secret, NotBefore: now}, nil
	}
	page := func(token, target string) string {
		return text(t, f.request("GET", target, "", "Authorization", "Bearer "+token, "Accept", "text/html"))
	}
	if body := page(readerText, "/sites/1/settings"); strings.Contains(body, "key-1") || strings.Contains(body, "Make a new secret") {
		t.Error("a reader sees secrets")
	}
	if body := page(readerText, "/settings"); strings.Contains(body, "Make a token") {
		t.Error("a reader sees tokens")
	}
	if body := page(f.token, "/sites/1/settings"); !strings.Contains(body, "key-1") || strings.Contains(html.UnescapeString(body), secret) {
		t.Error("the settings should name the secret and not show it")
	}
	post := func(token string) *http.Response {
		return f.request("POST", "/sites/1/hook-keys", "", "Authorization", "Bearer "+token, "Accept", "text/html")
	}
	wantStatus(t, post(readerText), http.StatusForbidden)
	if body := text(t, post(f.token)); !strings.Contains(html.UnescapeString(body), secret) {
		t.Error("the new secret is not shown")
	}
}

func TestSettings_RefuseAScheduleAndKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) {
		f.deps.CheckSchedule = func(spec, _ string) ([]time.Time, error) {
			if spec == "never" {
				return nil, errors.New("this fires never")
			}
			return []time.Time{now.Add(time.Hour), now.Add(2 * time.Hour)}, nil
		}
	})
	var saved []models.Site
	f.store.SaveSiteFunc = func(site models.Site) error { saved = append(saved, site); return nil }
	form := func(body string) *http.Response {
		return f.request("POST", "/sites/1/settings", body, "Authorization", "Bearer "+f.token, "Accept", "text/html", "Content-Type", "application/x-www-form-urlencoded")
	}
	const rest = "&name=example.com&home=https://example.com/&roots=https://example.com/wp-sitemap.xml"
	r := form("do=save&schedule=never" + rest)
	wantStatus(t, r, http.StatusUnprocessableEntity)
	if body := text(t, r); !strings.Contains(body, "this fires never") || !strings.Contains(body, `value="never"`) {
		t.Error("the page does not say what is wrong")
	}
	if body := text(t, form("do=preview&schedule=@hourly"+rest)); strings.Count(body, "<li><time") != 2 {
		t.Error("no preview of the next runs")
	}
	if len(saved) != 0 {
		t.Fatalf("saved %+v", saved)
	}
	wantStatus(t, form("do=save&schedule=@hourly&paused=1"+rest), http.StatusSeeOther)
	if len(saved) != 1 || !saved[0].Paused || saved[0].Schedule != "@hourly" || !saved[0].NextDue.Equal(now.Add(time.Hour)) || saved[0].Roots[0].Discovery != "robots_txt" {
		t.Errorf("saved %+v", saved)
	}
}
