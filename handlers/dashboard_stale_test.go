package handlers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

func TestStale_AddsUpByTypeAndDocument(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) {
		f.deps.Reports = reportsOf{counts: func() ([]models.LastmodCounts, error) {
			return []models.LastmodCounts{
				{Document: 2, URL: "https://example.com/wp-sitemap-posts-post-1.xml", None: 1, At: []int64{1, 0, 0, 0, 2, 3, 4}},
				{Document: 3, URL: "https://example.com/wp-sitemap-posts-post-2.xml", At: []int64{0, 0, 0, 0, 0, 0, 1000}},
				{Document: 4, URL: "https://example.com/wp-sitemap-users-1.xml", None: 7, At: []int64{0, 0, 0, 0, 0, 0, 0}},
				{Document: 5, URL: "https://example.com/own.xml", At: []int64{0, 0, 0, 5, 0, 0, 0}},
			}, nil
		}}
	})
	body := settled(t, f, "/sites/1/stale")
	for _, want := range []string{
		`href="/sites/1/urls?lastmod_to=-3m">1,014</a>`, `href="/sites/1/urls?lastmod_to=-24m">1,004</a>`, `href="/sites/1/urls">1,023</a>`,
		`href="/sites/1/urls?lastmod_to=-12m&amp;object_type=post">1,007</a>`, `href="/sites/1/urls?lastmod=none&amp;object_type=author">7</a>`,
		`href="/sites/1/urls?lastmod_to=-3m&amp;object_type=none">5</a>`, `href="/sites/1/urls?object_type=post">1,011</a>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("by type lacks %s", want)
		}
	}
	body = settled(t, f, "/sites/1/stale?by=document")
	second, first := strings.Index(body, `href="/sites/1/documents/3"`), strings.Index(body, `href="/sites/1/documents/2"`)
	if second < 0 || first < second {
		t.Error("the document with the most old pages is not first")
	}
	if want := `href="/sites/1/urls?document=2&amp;lastmod_to=-6m">9</a>`; !strings.Contains(body, want) {
		t.Errorf("by document lacks %s", want)
	}
	body = settled(t, f, "/sites/1/stale?by=path")
	for _, want := range []string{
		`href="/sites/1/urls?prefix=https%3A%2F%2Fexample.com%2F">`, `href="/sites/1/urls?lastmod_to=-24m&amp;prefix=https%3A%2F%2Fexample.com%2Fshop%2F">700</a>`,
		`&lt;b&gt;blog/019/`, "53 further rows have fewer pages.",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("by path lacks %s", want)
		}
	}
	if n := strings.Count(body, "<tr>"); n != 2+200 || strings.Contains(body, "blog/000/") {
		t.Errorf("%d rows, or not the largest", n)
	}
}

func TestStale_SaysThatPagesCouldNotBeCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) {
		f.deps.Reports = reportsOf{counts: func() ([]models.LastmodCounts, error) { return nil, errors.New("the database is away") }}
	})
	for _, path := range []string{"/sites/1/stale", "/sites/1/reports"} {
		if body := settled(t, f, path); !strings.Contains(body, "could not be counted") || strings.Contains(body, "No page yet") || strings.Contains(body, "is away") {
			t.Errorf("%s: does not say it, or too much", path)
		}
	}
}
