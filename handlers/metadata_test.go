package handlers_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

type metadataBody struct {
	Items []struct {
		Resource struct {
			ID    int32  `json:"sitemap_identifier"`
			Class string `json:"class"`
		} `json:"sitemap_resource"`
		Type   string `json:"sitemap_type"`
		Listed struct {
			Items    []models.Page
			Complete bool
		} `json:"listed_resources"`
		Children []struct {
			URL string `json:"sitemap_url"`
		} `json:"child_sitemaps"`
		Freshness struct {
			State string `json:"freshness_state"`
		}
		Confidence map[string]float64
	}
	Next string `json:"next_page_token"`
}

func (b metadataBody) ids() []int32 {
	var ids []int32
	for _, item := range b.Items {
		ids = append(ids, item.Resource.ID)
	}
	return ids
}

// ontologySite has an index and four documents, one of each freshness.
func ontologySite(f *fixture) {
	document := func(number int32, name, kind string, verdict models.Verdict, from int64, at time.Time) models.Document {
		d := models.Document{Number: number, URL: "https://example.com/" + name, FirstRun: 1}
		if number > 1 {
			d.Parent = 1
		}
		d.DocumentVersion = models.DocumentVersion{FromRun: from, Verdict: verdict, Type: kind, FetchedAt: at}
		return d
	}
	f.store.DocumentsAtFunc = func(int64, models.AsOf) ([]models.Document, error) {
		return []models.Document{
			document(1, "index.xml", "sitemapindex", models.VerdictUnchanged, 1, now),
			document(2, "a.xml", "urlset", models.VerdictComplete, 7, now),
			document(3, "b.xml", "urlset", models.VerdictPartial, 6, now.Add(-time.Hour)),
			document(4, "c.xml", "urlset", models.VerdictUnavailable, 5, now.Add(-2*time.Hour)),
			document(5, "d.xml", "none", "", 7, time.Time{}),
		}, nil
	}
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		if filter.Key != nil && filter.Document == 0 {
			return fn(&models.Page{URL: filter.URL, State: models.StateLive, Document: "https://example.com/a.xml", Listings: []string{"https://example.com/b.xml"}})
		}
		if filter.Document != 2 || filter.State != models.StateLive || filter.Language == "xx" {
			return nil
		}
		for _, name := range []string{"1", "2", "3"} {
			if err := fn(&models.Page{URL: "https://example.com/" + name, State: models.StateLive}); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestMetadata_EveryInputOfTheQueryModelIsAFilter(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ontologySite)
	for query, want := range map[string][]int32{
		"":                                      {1, 2, 3, 4, 5},
		"sitemap_identifier=3":                  {3},
		"sitemap_url=https://example.com/c.xml": {4},
		"sitemap_type=sitemapindex":             {1},
		"listed_url=https://example.com/1":      {2, 3},
		"lastmod_from=2026-01-01":               {2},
		"language=de":                           {2},
		"language=xx":                           nil,
		"media_extension=video":                 {2},
		"freshness_state=fresh":                 {1},
		"freshness_state=changed":               {2},
		"freshness_state=stale":                 {3},
		"freshness_state=unavailable":           {4},
		"freshness_state=current_unknown":       {5},
		"retrieval_time_from=" + url.QueryEscape(now.Add(-90*time.Minute).Format(time.RFC3339)):     {1, 2, 3},
		"retrieval_time_to=" + url.QueryEscape(now.Format(time.RFC3339)) + "&freshness_state=stale": {3},
		"sitemap_type=urlset&as_of=3": {2, 3, 4},
	} {
		r := f.get("/api/v1/sites/1/sitemap-metadata?" + query)
		wantStatus(t, r, 200)
		if diff := cmp.Diff(want, decode[metadataBody](t, r).ids()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	wantStatus(t, f.get("/api/v1/sites/1/sitemap-metadata?retrieval_time_from=never"), 422)
}

func TestMetadata_SaysHowFarItCanBeTrusted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ontologySite)
	body := decode[metadataBody](t, f.get("/api/v1/sites/1/sitemap-metadata?listed=2"))
	index, whole, partial := body.Items[0], body.Items[1], body.Items[2]
	if index.Resource.Class != "SitemapIndex" || len(index.Children) != 4 || whole.Resource.Class != "URLSetSitemap" || len(whole.Children) != 0 || body.Items[4].Resource.Class != "SitemapResource" {
		t.Errorf("%+v", body)
	}
	if len(whole.Listed.Items) != 2 || whole.Listed.Complete || !partial.Listed.Complete {
		t.Errorf("%+v %+v", whole.Listed, partial.Listed)
	}
	if whole.Confidence["parser_validated_sitemap"] != 0.99 || whole.Confidence["explicit_sitemap_metadata"] != 1 || whole.Confidence["inferred_site_membership"] != 0.85 || whole.Confidence["sitemap_only_resource_identity"] != 0.75 {
		t.Errorf("%v", whole.Confidence)
	}
	for name, score := range partial.Confidence {
		if score > 0.60 {
			t.Errorf("%s of a partial document: %v", name, score)
		}
	}
}

func TestMetadata_PagesAndLinkedData(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ontologySite)
	var ids []int32
	for token := ""; ; {
		body := decode[metadataBody](t, f.get("/api/v1/sites/1/sitemap-metadata?page_size=2&page_token="+token))
		ids = append(ids, body.ids()...)
		if token = body.Next; token == "" {
			break
		}
	}
	if diff := cmp.Diff([]int32{1, 2, 3, 4, 5}, ids); diff != "" {
		t.Error(diff)
	}
	r := f.get("/api/v1/sites/1/sitemap-metadata", "Accept", "application/ld+json")
	if ct := r.Header.Get("Content-Type"); ct != "application/ld+json" {
		t.Error(ct)
	}
	body := decode[map[string]any](t, r)
	first := body["items"].([]any)[0].(map[string]any)
	if first["@id"] != "https://example.com/index.xml" || first["@type"] != "SitemapIndex" || body["@context"] != "/api/v1/context.jsonld" {
		t.Errorf("%v", first)
	}
}
