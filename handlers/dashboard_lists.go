package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

var (
	filterStates     = []string{"live", "stale", "pending", "held", "removed", "foreign", "all"}
	filterExtensions = []string{"image", "video", "news", "alternates"}
	filterNames      = []string{"state", "as_of", "url", "contains", "prefix", "document", "lastmod_from", "lastmod_to", "language", "extension", "first_from"}
)

// inventoryPage shows the inventory; its parameters are the API's and the exports'.
func (s *Server) inventoryPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	page := web.Inventory{Site: site, Filter: map[string]string{"state": "live"}, States: filterStates, Extensions: filterExtensions, Run: site.CurrentRun}
	query := url.Values{}
	for _, name := range filterNames {
		if value := c.QueryParam(name); value != "" {
			page.Filter[name] = value
			query.Set(name, value)
			page.Filtered = true
		}
	}
	base := apiPrefix + sitePath(site.ID) + "/urls?"
	page.API = base + query.Encode()
	query.Set("format", formatCSV)
	page.CSV = base + query.Encode()
	query.Set("format", formatNDJSON)
	page.NDJSON = base + query.Encode()

	f, err := s.pageFilter(filterOf(c))
	if err == nil {
		hash := filterHash(c.QueryParams(), c.Path()+number(site.ID))
		var read list[models.Page]
		if read, err = s.pagesPage(c.Request().Context(), site, f, c.QueryParam("page_token"), rowsOnPage, hash); err == nil {
			page.Pages, page.Next, page.Run = read.Items, nextPath(c, read.NextPageToken), read.Run
		}
	}
	// What was typed wrong is said beside the form, not instead of it.
	var invalid *models.InvalidError
	if errors.As(err, &invalid) {
		page.Problem = invalid.Error()
		return s.show(c, http.StatusUnprocessableEntity, "urls", site.Name+": inventory", page)
	}
	if err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "urls", site.Name+": inventory", page)
}

// filterOf reads the inventory's filter from a page's address; words that the lists do not know are dropped.
func filterOf(c echo.Context) PagesFilter {
	in := PagesFilter{
		AsOfInput: AsOfInput{AsOf: c.QueryParam("as_of")}, URL: c.QueryParam("url"), Contains: c.QueryParam("contains"), Prefix: c.QueryParam("prefix"),
		LastmodFrom: c.QueryParam("lastmod_from"), LastmodTo: c.QueryParam("lastmod_to"), Language: c.QueryParam("language"), FirstFrom: c.QueryParam("first_from"),
	}
	if state := c.QueryParam("state"); slices.Contains(filterStates, state) {
		in.State = state
	}
	if extension := c.QueryParam("extension"); slices.Contains(filterExtensions, extension) {
		in.Extension = extension
	}
	if n, err := strconv.ParseInt(c.QueryParam("document"), 10, 32); err == nil && n > 0 {
		in.Document = int32(n)
	}
	return in
}

func (s *Server) historyPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	link := c.QueryParam("url")
	states, err := s.history(c.Request().Context(), site, link)
	if err != nil {
		return err
	}
	slices.Reverse(states)
	return s.show(c, http.StatusOK, "page", site.Name+": page", web.PageView{Site: site, URL: states[0].URL, States: states})
}

func (s *Server) documentsPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	hash := filterHash(nil, c.Path()+number(site.ID))
	at, err := readPosition(c.QueryParam("page_token"), hash)
	if err != nil {
		return err
	}
	if at.Run == 0 {
		at.Run = site.CurrentRun
	}
	documents, err := s.deps.Documents.DocumentsAt(c.Request().Context(), site.ID, models.AsOf{Run: at.Run})
	if err != nil {
		return err
	}
	shown, next := cutDocuments(documents, at.Number, rowsOnPage, position{Filter: hash, Run: at.Run})
	return s.show(c, http.StatusOK, "documents", site.Name+": documents", web.Documents{Site: site, Documents: shown, Next: nextPath(c, next)})
}

func (s *Server) findingsPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	severity := c.QueryParam("severity")
	if severity != models.SeverityError && severity != models.SeverityWarning && severity != models.SeverityInfo {
		severity = ""
	}
	hash := filterHash(c.QueryParams(), c.Path()+number(site.ID))
	at, err := readPosition(c.QueryParam("page_token"), hash)
	if err != nil {
		return err
	}
	if at.Run == 0 {
		at.Run = site.CurrentRun
	}
	start := int(at.Number)
	findings, err := s.deps.Findings.Findings(c.Request().Context(), site.ID, models.FindingFilter{Run: at.Run, Severity: severity, Limit: start + rowsOnPage + 1})
	if err != nil {
		return err
	}
	page := web.Findings{Site: site, Severity: severity, Findings: findings[min(start, len(findings)):min(start+rowsOnPage, len(findings))]}
	if len(findings) > start+rowsOnPage {
		page.Next = nextPath(c, encodePosition(position{Filter: hash, Run: at.Run, Number: int64(start + rowsOnPage)}))
	}
	return s.show(c, http.StatusOK, "findings", site.Name+": findings", page)
}

func (s *Server) heldPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	held, err := s.held(c.Request().Context(), site.ID)
	if err != nil {
		return err
	}
	page := web.Held{Site: site, Total: len(held), Removals: held[:min(len(held), 200)]}
	page.Shown = len(page.Removals)
	return s.show(c, http.StatusOK, "held", site.Name+": held removals", page)
}

func (s *Server) decidePage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	choice := c.FormValue("decision")
	if choice != "approve" && choice != "reject" {
		return newProblem(http.StatusBadRequest, "approve or reject?")
	}
	// Deciding on everything means everything that was seen.
	held, err := s.held(c.Request().Context(), site.ID)
	if err != nil {
		return err
	}
	if c.FormValue("total") != strconv.Itoa(len(held)) {
		return newProblem(http.StatusConflict, "the list has changed since it was shown; look at it again")
	}
	if _, err := s.decide(c.Request().Context(), site, nil, true, choice == "approve"); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/held")
}

func (s *Server) deliveriesPageHTML(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	hash := filterHash(nil, c.Path()+number(site.ID))
	read, err := s.deliveriesPage(c.Request().Context(), site.ID, c.QueryParam("page_token"), "", rowsOnPage, hash)
	if err != nil {
		return err
	}
	page := web.Deliveries{Site: site, Next: nextPath(c, read.NextPageToken)}
	for _, d := range read.Items {
		page.Deliveries = append(page.Deliveries, web.Delivery{
			At: d.At, Result: d.Result, Cause: d.Cause, Dialect: d.Dialect, KeyID: d.KeyID, Status: d.Status, Trigger: d.Trigger, Run: d.Run,
			Bytes: d.Bytes, Hints: d.Hints,
		})
	}
	return s.show(c, http.StatusOK, "deliveries", site.Name+": deliveries", page)
}

func (s *Server) replayPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("trigger"), 10, 64)
	if err != nil {
		return notFound("accepted delivery of this site")
	}
	if _, err := s.replay(c.Request().Context(), site, id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/deliveries")
}
