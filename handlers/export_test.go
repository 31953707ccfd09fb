package handlers_test

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/handlers/client"
	"github.com/sitemapd/sitemapd/models"
)

// lines is an exporter of one URL a line.
type lines struct{}

func (lines) Formats() []handlers.ExportFormat {
	return []handlers.ExportFormat{{Name: "xlsx", ContentType: "application/x-lines", Extension: ".lines"}}
}

func (lines) Export(_ context.Context, w io.Writer, _, _ string, pages func(func(*models.Page) error) error) error {
	return pages(func(p *models.Page) error { _, err := io.WriteString(w, p.URL+"\n"); return err })
}

func TestExport_IsTheFilteredInventoryAtOneRun(t *testing.T) {
	t.Parallel()
	var asked models.PageFilter
	f := newFixture(t, rich, func(f *fixture) {
		f.deps.Export = lines{}
		f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
			asked = filter
			return fn(&models.Page{URL: "https://example.com/a/"})
		}
	})
	r := f.get("/api/v1/sites/1/export?format=xlsx&state=stale&contains=/blog/")
	if body := text(t, r); r.StatusCode != 200 || body != "https://example.com/a/\n" || r.Header.Get("Content-Type") != "application/x-lines" ||
		!strings.Contains(r.Header.Get("Content-Disposition"), "example.com.lines") {
		t.Errorf("%d %v %q", r.StatusCode, r.Header, body)
	}
	if asked.State != models.StateStale || asked.Contains != "/blog/" || asked.AsOf.Run != 7 {
		t.Errorf("%+v", asked)
	}
	wantStatus(t, f.get("/api/v1/sites/1/export?format=exe"), 422)
	wantStatus(t, f.get("/api/v1/sites/1/export"), 422)
	wantStatus(t, f.get("/api/v1/sites/1/export?format=parquet"), 422) // known, but not here
	wantStatus(t, f.get("/api/v1/sites/9/export?format=xlsx"), 404)
	wantStatus(t, f.request("GET", "/api/v1/sites/1/export?format=xlsx", ""), 401)
	base, _ := f.serve(t)
	var file bytes.Buffer
	c := &client.Client{Base: base, Token: f.token}
	if err := c.ExportURLs(t.Context(), "1", "xlsx", url.Values{"state": {"live"}}, &file); err != nil || file.String() != "https://example.com/a/\n" {
		t.Errorf("%q, %v", file.String(), err)
	}
}
