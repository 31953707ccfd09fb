package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// languageStore answers the report on language versions.
type languageStore interface {
	// LanguageCounts counts pages by declared language, the most frequent first; "" are all pages with alternates. It may
	// take seconds.
	LanguageCounts(ctx context.Context, siteID int64) ([]models.LanguageCount, error)
	// Listed gives the rows of pages that are valid at a run.
	Listed(ctx context.Context, siteID, run int64, keys []models.Key) ([]models.Declaration, error)
}

const (
	matrixRows      = 30
	matrixLanguages = 12 // columns; further languages are counted in the last one
	xDefault        = "x-default"
)

// Verdicts of one cell of the matrix.
const (
	cellNone     = ""         // the page declares nothing for the language
	cellSelf     = "self"     // the page itself
	cellAnswered = "answered" // the other version names this page, too
	cellUnheard  = "unheard"  // the other version is listed and does not name this page
	cellUnlisted = "unlisted" // no document of the site lists the other version
)

// alternate is one language version that a page declares.
type alternate struct {
	Hreflang string `json:"hreflang"`
	Href     string `json:"href"`
}

// hreflangPage is the matrix of pages and languages: which versions each page declares, and whether those answer.
func (s *Server) hreflangPage(c echo.Context) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	page := web.Hreflang{Contains: strings.TrimSpace(c.QueryParam("contains"))}
	var groups []models.FindingGroup
	if page.InSite, groups, err = s.inSite(ctx, site, "reports"); err != nil {
		return err
	}
	for _, g := range groups {
		if strings.HasPrefix(g.Code, "hreflang-") || strings.HasPrefix(g.Code, "alternate-") {
			page.Faults = append(page.Faults, web.Group{FindingGroup: g, Rule: s.advice(models.AboutDocuments, g.Code)})
		}
	}
	if s.deps.Languages == nil || site.CurrentRun == 0 {
		return s.show(c, http.StatusOK, "hreflang", "Language versions", page)
	}
	counts, at, counting := s.reports.languages.of(ctx, s, site.ID, countsKept, func(ctx context.Context) ([]models.LanguageCount, error) {
		return s.deps.Languages.LanguageCounts(ctx, site.ID)
	})
	page.Counting = counting && counts == nil
	if counts != nil {
		page.Counted = &at
		for _, n := range *counts {
			if n.Language == "" {
				page.Pages = n.Pages
				continue
			}
			query := url.Values{"language": {n.Language}}
			page.Languages = append(page.Languages, web.Language{Name: n.Language, Pages: n.Pages, Address: sitePath(site.ID) + "/urls?" + query.Encode()})
		}
	}
	if err := s.matrix(c, &page); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "hreflang", "Language versions", page)
}

// matrix fills the rows of one page of the report.
func (s *Server) matrix(c echo.Context, page *web.Hreflang) error {
	ctx := c.Request().Context()
	hash := filterHash(c.QueryParams(), c.Path()+number(page.Site.ID))
	filter, err := s.pageFilter(ctx, page.Site, PagesFilter{Extension: "alternates", Contains: page.Contains})
	if err != nil {
		return err
	}
	read, err := s.pagesPage(ctx, page.Site, filter, c.QueryParam("page_token"), matrixRows, hash)
	if err != nil {
		return err
	}
	page.Next = nextPath(c, read.NextPageToken)
	page.Short = page.Next != "" && len(read.Items) < matrixRows
	declared := make([][]alternate, len(read.Items))
	used := map[string]int{}
	for i := range read.Items {
		_ = json.Unmarshal(read.Items[i].Alternates, &declared[i]) // what cannot be read declares nothing
		for j := range declared[i] {
			declared[i][j].Hreflang = strings.ToLower(declared[i][j].Hreflang)
			used[declared[i][j].Hreflang]++
		}
	}
	page.Columns = columnsOf(used)
	answers, err := s.answers(ctx, page.Site, read.Run, declared)
	if err != nil {
		return err
	}
	for i := range read.Items {
		row := web.MatrixRow{URL: read.Items[i].URL, Cells: make([]web.MatrixCell, len(page.Columns))}
		for _, a := range declared[i] {
			at := slices.Index(page.Columns, a.Hreflang)
			if at < 0 {
				row.Further++
				continue
			}
			row.Cells[at] = web.MatrixCell{Verdict: s.answered(read.Items[i].Key, a, answers), URL: a.Href}
		}
		page.Further = page.Further || row.Further > 0
		page.Rows = append(page.Rows, row)
	}
	return nil
}

// columnsOf gives the languages with columns of their own: x-default first, then the most used, each name once.
func columnsOf(used map[string]int) []string {
	var all []string
	for name := range used {
		if name != "" && name != xDefault {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if used[a] != used[b] {
			return used[b] - used[a]
		}
		return strings.Compare(a, b)
	})
	all = all[:min(len(all), matrixLanguages-1)]
	slices.Sort(all)
	return append([]string{xDefault}, all...)
}

// answers looks the other versions up: what each of them declares, by its key. Versions that no document lists are missing.
func (s *Server) answers(ctx context.Context, site models.Site, run int64, declared [][]alternate) (map[models.Key][]alternate, error) {
	var keys []models.Key
	for _, all := range declared {
		for _, a := range all {
			if key, err := s.deps.KeyFor(a.Href); err == nil {
				keys = append(keys, key)
			}
		}
	}
	out := map[models.Key][]alternate{}
	if len(keys) == 0 {
		return out, nil
	}
	rows, err := s.deps.Languages.Listed(ctx, site.ID, run, keys)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		var says struct {
			Alternates []alternate `json:"alternates"`
		}
		_ = json.Unmarshal(rows[i].Extensions, &says) // a page without any is listed all the same
		out[rows[i].Key] = append(out[rows[i].Key], says.Alternates...)
	}
	return out, nil
}

// answered judges one declared version of a page.
func (s *Server) answered(page models.Key, a alternate, answers map[models.Key][]alternate) string {
	key, err := s.deps.KeyFor(a.Href)
	if err != nil {
		return cellUnlisted
	}
	if key == page {
		return cellSelf
	}
	back, listed := answers[key]
	if !listed {
		return cellUnlisted
	}
	for _, b := range back {
		if other, err := s.deps.KeyFor(b.Href); err == nil && other == page {
			return cellAnswered
		}
	}
	return cellUnheard
}
