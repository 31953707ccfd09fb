package handlers_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
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
		Reading: "read", SourceStatus: 200, ValidFrom: &from, ObservedAt: &from, Provenance: json.RawMessage(`{"parser":"canonical-extract/1"}`), Cursor: "c"})
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
