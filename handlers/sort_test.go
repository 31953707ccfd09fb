package handlers_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

// pagesAsked answers with so many pages and keeps what was asked of the store.
func pagesAsked(f *fixture, rows int) *[]models.PageFilter {
	asked := &[]models.PageFilter{}
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		*asked = append(*asked, filter)
		for i := range rows {
			if err := fn(&models.Page{URL: fmt.Sprintf("https://example.com/%d", i), State: models.StateLive, Cursor: fmt.Sprintf("s.%s.%d", filter.Sort, i)}); err != nil {
				return err
			}
		}
		return nil
	}
	return asked
}

func TestSort_GoesToTheStoreAndIsBoundToItsTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	asked := pagesAsked(f, 3)
	first := decode[pageBody](t, f.get("/api/v1/sites/1/urls?sort=-lastmod&page_size=2"))
	if (*asked)[0].Sort != (models.PageSort{By: models.SortLastmod, Descending: true}) || len(first.Items) != 2 || first.Next == "" {
		t.Fatalf("%+v %+v", *asked, first)
	}
	wantStatus(t, f.get("/api/v1/sites/1/urls?sort=-lastmod&page_size=2&page_token="+first.Next), 200)
	if after := (*asked)[1].After; after != "s.-lastmod.1" {
		t.Errorf("goes on behind %q", after)
	}
	for _, query := range []string{"sort=lastmod", "sort=url", "", "sort=-lastmod&contains=x"} {
		r := f.get("/api/v1/sites/1/urls?" + query + "&page_token=" + first.Next)
		if body := text(t, r); r.StatusCode != 422 || r.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "another filter or order") {
			t.Errorf("a token of -lastmod with %q: %d %s", query, r.StatusCode, body)
		}
	}
	for _, sort := range []string{"size", "--url", "URL"} {
		if r := f.get("/api/v1/sites/1/urls?sort=" + sort); r.StatusCode != 422 || !strings.Contains(text(t, r), "sort") {
			t.Errorf("sort=%s: %d", sort, r.StatusCode)
		}
	}
	n := len(*asked)
	for _, format := range []string{"csv", "ndjson"} {
		text(t, f.get("/api/v1/sites/1/urls?sort=priority&format="+format))
	}
	if got := (*asked)[n:]; len(got) != 2 || got[0].Sort.By != models.SortPriority || got[1].Sort.By != models.SortPriority {
		t.Errorf("streams are asked for as %+v", got)
	}
}

func TestSort_HeadsOfColumnsAreLinksThatSayHowItIsSorted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	asked := pagesAsked(f, 1)
	head := regexp.MustCompile(`<th scope="col"(?: class="n")?(?: aria-sort="(\w+)")?><a href="([^"]*)">([^<]*)`)
	heads := func(address string) map[string]string {
		out := map[string]string{}
		for _, m := range head.FindAllStringSubmatch(text(t, f.get(address)), -1) {
			out[m[3]] = m[1] + " " + m[2]
		}
		return out
	}
	for address, want := range map[string]map[string]string{
		"/sites/1/urls": {"Page": "ascending ?sort=-url", "Lastmod (declared)": " ?sort=-lastmod", "First seen": " ?sort=-first_seen"},
		"/sites/1/urls?sort=-lastmod&contains=x&columns=lastmod,priority,from_run": {
			"Page": " ?columns=lastmod%2Cpriority%2Cfrom_run&amp;contains=x&amp;sort=url", "Lastmod (declared)": "descending ?columns=lastmod%2Cpriority%2Cfrom_run&amp;contains=x&amp;sort=lastmod",
			"priority": " ?columns=lastmod%2Cpriority%2Cfrom_run&amp;contains=x&amp;sort=-priority", "So since run": " ?columns=lastmod%2Cpriority%2Cfrom_run&amp;contains=x&amp;sort=-changed"},
		"/sites/1/urls?sort=lastmod":   {"Page": " ?sort=url", "Lastmod (declared)": "ascending ?sort=-lastmod", "First seen": " ?sort=-first_seen"},
		"/sites/1/urls?sort=documents": {"Page": " ?sort=url", "Lastmod (declared)": " ?sort=-lastmod", "First seen": " ?sort=-first_seen"},
	} {
		if diff := cmp.Diff(want, heads(address)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", address, diff)
		}
	}
	page := text(t, f.get("/sites/1/urls?sort=-changed&state=all"))
	for _, part := range []string{`<option value="-changed" selected>`, "format=csv&amp;sort=-changed&amp;state=all", `href="/api/v1/sites/1/urls?sort=-changed&amp;state=all"`, `<a href="/sites/1/urls?sort=-changed">`} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s", part)
		}
	}
	if page := text(t, f.get("/sites/1/urls?sort=%3Cscript%3E")); !strings.Contains(page, "cannot sort by") || strings.Contains(page, "<script>") {
		t.Errorf("an unknown order: %.2000s", page)
	}
	n := len(*asked)
	text(t, f.get("/sites/1/urls"))
	if got := (*asked)[n].Sort; got != (models.PageSort{By: models.SortURL}) {
		t.Errorf("a small inventory is sorted by %q", got)
	}
}

// A large inventory comes at once, in the order of its documents, unless somebody asks for another.
func TestSort_LargeInventoriesAreNotSortedUnasked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	asked := pagesAsked(f, 1)
	site := exampleSite
	site.Live = 20_001
	f.store.FindSiteFunc = func(string) (models.Site, error) { return site, nil }
	text(t, f.get("/sites/1/urls"))
	if (*asked)[0].Sort != (models.PageSort{}) {
		t.Errorf("%+v", (*asked)[0].Sort)
	}
	f.store.PagesLeft, f.store.PagesFunc = "s.url", nil
	if page := text(t, f.get("/sites/1/urls?sort=url")); !strings.Contains(page, "are being sorted") || !strings.Contains(page, "data-onward") {
		t.Errorf("while it is sorted: %.3000s", page)
	}
}
