package handlers_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

func TestAPI_SmokeEveryRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store.RunFunc = func(_, id int64) (models.Run, error) { return models.Run{ID: id, Site: "example.com"}, nil }
	for _, target := range []string{"/livez", "/readyz", "/api/v1/sites", "/api/v1/sites/1", "/api/v1/sites/example.com", "/api/v1/sites/https:%2F%2Fexample.com%2Fwp-sitemap.xml",
		"/api/v1/sites/1/urls", "/api/v1/sites/1/changes", "/api/v1/sites/1/runs", "/api/v1/sites/1/runs/3", "/api/v1/sites/1/documents",
		"/api/v1/sites/1/findings", "/api/v1/sites/1/held", "/api/v1/sites/1/sitemap-metadata", "/api/v1/sites/1/deliveries", "/api/v1/sites/1/hook-keys", "/api/v1/tokens", "/api/v1/openapi.json", "/metrics"} {
		r := f.get(target)
		body := text(t, r)
		t.Logf("%s %d %.200s", target, r.StatusCode, body)
		if r.StatusCode != 200 {
			t.Errorf("%s: %d", target, r.StatusCode)
		}
	}
}
