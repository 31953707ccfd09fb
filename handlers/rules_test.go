package handlers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/handlers/client"
	"github.com/sitemapd/sitemapd/models"
)

func TestRules_AreExplained(t *testing.T) {
	t.Parallel()
	all := []models.FindingRule{
		{Code: "body-empty", About: models.AboutDocuments, Severity: models.SeverityError, Meaning: "the body is empty", Cost: "the document", Advice: "send an empty urlset", Source: "sitemaps.org protocol"},
		{Code: "canonical-missing", About: models.AboutPages, Severity: models.SeverityWarning, Meaning: "no canonical URL", Advice: "declare it", Source: "C01", KnownAs: "Missing"},
	}
	f := newFixture(t, func(f *fixture) { f.deps.Rules = func() []models.FindingRule { return all } })
	base, _ := f.serve(t)
	c := &client.Client{Base: base + "/", Token: f.token}
	if diff := cmp.Diff(all, collect(t, c.ListFindingRules(t.Context()))); diff != "" {
		t.Errorf("by the API (-want +got):\n%s", diff)
	}
	if body := text(t, f.get("/api/v1/finding-rules?about=pages")); strings.Contains(body, "body-empty") || !strings.Contains(body, "canonical-missing") {
		t.Errorf("about pages: %s", body)
	}
	body := text(t, f.get("/findings", "Accept", "text/html"))
	for _, want := range []string{`<tr id="body-empty">`, `<tr id="page-canonical-missing">`, "send an empty urlset", "Missing"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
