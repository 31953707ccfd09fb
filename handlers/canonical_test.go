package handlers_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// evidence is a reader that holds one line and two findings.
type evidence struct{ asked *models.CanonicalFilter }

func (e evidence) Canonical(_ context.Context, _ int64, f models.CanonicalFilter, fn func(*models.Canonical) error) error {
	if e.asked != nil {
		*e.asked = f
	}
	if f.After != "" {
		return nil
	}
	from := now.Add(-time.Hour)
	return fn(&models.Canonical{SourceURL: "https://example.com/a/", CanonicalURL: "https://example.com/b/", Identifier: "cr:1:2:html_link_element",
		Method: "html_link_element", Scope: "same_host", Status: "validated", Confidence: 0.97, Rule: "E3", Ruleset: "2026-11", Resolution: "chain",
		FinalURL: "https://example.com/b/", Depth: 1, Signals: json.RawMessage(`{"html_link":[]}`), Validation: json.RawMessage(`{"url_valid":true}`),
		Reading: "read", SourceStatus: 200, ValidFrom: &from, ObservedAt: &from, Provenance: json.RawMessage(`{"parser":"canonical-extract/2"}`), Cursor: "c"})
}

func (evidence) CanonicalAnswers(_ context.Context, _ int64, f models.CanonicalFilter, fn func(json.RawMessage) error) error {
	if f.Source != "https://example.com/a/" {
		return nil
	}
	return fn(json.RawMessage(`{"canonical_relationship":{"@type":"CanonicalURLMetadata"},"source_url":"https://example.com/a/"}`))
}

func (evidence) Audit(_ context.Context, _ int64, f models.AuditFilter, fn func(*models.Audited) error) error {
	for _, page := range []string{"https://example.com/a/", "https://example.com/b/"} {
		if page <= f.After {
			continue
		}
		err := fn(&models.Audited{ID: "sitemap-lists-noindex:" + page, Code: "sitemap-lists-noindex", Report: "S02", Severity: "error", Weight: "high", Page: page,
			Template: "/{slug}/", Text: "noindex in meta", FirstSeen: now, LastSeen: now, Confirmed: 2, State: "open", Do: "Take it out.", Cursor: page})
		if err != nil {
			return err
		}
	}
	return nil
}

func (evidence) AuditGroups(context.Context, int64, models.AuditFilter) ([]models.AuditGroup, error) {
	return []models.AuditGroup{{Code: "sitemap-lists-noindex", Severity: "error", Template: "/{slug}/", Pages: 2, Example: "https://example.com/a/"}}, nil
}

// Every input of the query model reaches the reader.
func TestCanonical_InputsAreFilters(t *testing.T) {
	t.Parallel()
	var asked models.CanonicalFilter
	f := newFixture(t, rich, func(f *fixture) { f.deps.Canonical = evidence{&asked} })
	r := f.request("GET", "/api/v1/sites/1/canonical?source_url=https://example.com/a/&canonical_url=https://example.com/b/&declaration_method=http_link_header&target_status=404"+
		"&redirect_target=https://example.com/c/&sitemap_signal=https://example.com/d/&og_url=https://example.com/e/&schema_url=https://example.com/f/"+
		"&as_of=2026-11-30T12:00:00Z&status=declared&resolution=chain&unlisted=true&page_size=7", "", "Authorization", "Bearer "+f.token)
	wantStatus(t, r, 200)
	want := models.CanonicalFilter{Source: "https://example.com/a/", Target: "https://example.com/b/", Method: "http_link_header", TargetStatus: 404,
		RedirectTarget: "https://example.com/c/", Sitemap: "https://example.com/d/", OpenGraph: "https://example.com/e/", Schema: "https://example.com/f/",
		At: now, Status: "declared", Resolution: "chain", Unlisted: true, Limit: 7}
	if asked != want {
		t.Errorf("%+v", asked)
	}
}

func TestAudit_IsPagedAndComesAsCSV(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	page := decode[struct {
		Items         []models.Audited
		NextPageToken string `json:"next_page_token"`
	}](t, f.request("GET", "/api/v1/sites/1/audit?page_size=1", "", "Authorization", "Bearer "+f.token))
	if len(page.Items) != 1 || page.NextPageToken == "" {
		t.Fatalf("%+v", page)
	}
	next := decode[struct{ Items []models.Audited }](t, f.request("GET", "/api/v1/sites/1/audit?page_size=1&page_token="+page.NextPageToken, "", "Authorization", "Bearer "+f.token))
	if len(next.Items) != 1 || next.Items[0].Page == page.Items[0].Page {
		t.Errorf("%+v", next)
	}
	rows, err := csv.NewReader(strings.NewReader(text(t, f.request("GET", "/api/v1/sites/1/audit?format=csv", "", "Authorization", "Bearer "+f.token)))).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][1] != "code" || rows[1][1] != "sitemap-lists-noindex" {
		t.Errorf("%v, %v", rows, err)
	}
	if n := strings.Count(text(t, f.request("GET", "/api/v1/sites/1/canonical?format=ndjson", "", "Authorization", "Bearer "+f.token)), "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// audits says one word wherever a text is kept, and keeps mutes.
type audits struct {
	word  string
	muted *[]models.Mute
}

func (a audits) Verification(context.Context, int64) (models.Verification, error) {
	since := now.Add(-3 * time.Hour)
	return models.Verification{At: now, Pages: 4, Verified: 3, Statuses: map[string]int64{"validated": 3, "unknown": 1}, Resolutions: map[string]int64{"self": 2, "loop": 1, "none": 1},
		Conflicts: map[string]int64{"html_vs_http": 1}, Waiting: map[string]int64{"hook": 0, "clock": 1}, Due: 1, OldestDue: &since, Host: a.word, Budget: 2000, Spent: 17,
		GraphAudit: &models.GraphAudit{At: since, Seconds: 0.5, URLs: 3, Differences: 1, Examples: []string{a.word}}}, nil
}

func (a audits) Incidents(context.Context, int64, time.Time) ([]models.Incident, error) {
	text, _ := json.Marshal([]string{a.word})
	return []models.Incident{{StartedAt: now, LastSeen: now, What: a.word, Pages: 60, Looked: 70, Examples: text}}, nil
}

func (a audits) Mutes(context.Context, int64) ([]models.Mute, error) {
	return append([]models.Mute{{Code: "canonical-relative", Place: a.word, Note: a.word, CreatedAt: now}}, *a.muted...), nil
}

func (a audits) Mute(_ context.Context, _ int64, m models.Mute) (models.Mute, error) {
	if m.Code != "og-url-differs" {
		return m, models.Invalid("code", "", "no such finding")
	}
	m.CreatedAt = now
	*a.muted = append(*a.muted, m)
	return m, nil
}

func (a audits) Unmute(_ context.Context, _ int64, m models.Mute) error {
	if m.Code != "og-url-differs" {
		return models.ErrNotFound
	}
	*a.muted = nil
	return nil
}

// groups counts how often the findings were counted.
type groups struct {
	evidence
	counted *atomic.Int64
}

func (g groups) AuditGroups(ctx context.Context, site int64, f models.AuditFilter) ([]models.AuditGroup, error) {
	g.counted.Add(1)
	return g.evidence.AuditGroups(ctx, site, f)
}

// The findings of a site are not counted for everybody who looks, but anew when some are muted, and for a filter.
func TestFaults_AreCountedOnceForAllWhoLook(t *testing.T) {
	t.Parallel()
	counted := &atomic.Int64{}
	f := newFixture(t, rich, func(f *fixture) { f.deps.Canonical = groups{counted: counted} })
	first := text(t, f.get("/api/v1/sites/1/audit-groups"))
	for range 3 {
		if again := text(t, f.get("/api/v1/sites/1/audit-groups")); again != first || !strings.Contains(again, `"code"`) {
			t.Errorf("%s, then %s", first, again)
		}
	}
	if page := text(t, f.get("/sites/1/canonical", "Accept", "text/html")); !strings.Contains(page, "sitemap-lists-noindex") {
		t.Errorf("%.4000s", page)
	}
	if n := counted.Load(); n != 1 {
		t.Errorf("counted %d times", n)
	}
	wantStatus(t, f.get("/api/v1/sites/1/audit-groups?code=sitemap-lists-noindex"), 200)
	wantStatus(t, f.request("POST", "/sites/1/mutes", "code=og-url-differs&days=1", "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded"), 303)
	wantStatus(t, f.get("/api/v1/sites/1/audit-groups"), 200)
	if n := counted.Load(); n != 3 {
		t.Errorf("counted %d times after a mute and a filter", n)
	}
}

// What is muted and heard again in the dashboard reaches the store as it was chosen, and only with the right to write.
func TestDashboard_MutesAndUnmutes(t *testing.T) {
	t.Parallel()
	kept := new([]models.Mute)
	f := newFixture(t, rich, func(f *fixture) { f.deps.Audits = audits{"absent", kept} })
	post := func(token, body string) *http.Response {
		return f.request("POST", "/sites/1/mutes", body, "Authorization", "Bearer "+token, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	}
	wantStatus(t, post(f.token, "code=og-url-differs&place=/{slug}/&days=30"), http.StatusSeeOther)
	if until := now.AddDate(0, 0, 30); len(*kept) != 1 || (*kept)[0].Place != "/{slug}/" || !(*kept)[0].Until.Equal(until) {
		t.Errorf("%+v", *kept)
	}
	wantStatus(t, post(f.token, "code=og-url-differs&days=soon"), http.StatusBadRequest)
	wantStatus(t, post(f.token, "code=nonsense&days=1"), http.StatusBadRequest)
	wantStatus(t, post(f.token, "decision=unmute&code=og-url-differs&place=/{slug}/"), http.StatusSeeOther)
	if len(*kept) != 0 {
		t.Errorf("%+v", *kept)
	}
	wantStatus(t, post(f.token, "decision=unmute&code=nonsense"), http.StatusNotFound)
	page := text(t, f.get("/sites/1/canonical", "Accept", "text/html"))
	for _, want := range []string{"of 4 pages verified", "of 2,000 looks spent today", "html_vs_http", "sitemap-lists-noindex", "60 of 70 pages", "canonical-relative", "for ever"} {
		if !strings.Contains(page, want) {
			t.Errorf("the screen does not say %q", want)
		}
	}
}
