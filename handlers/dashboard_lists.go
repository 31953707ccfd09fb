package handlers

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

var (
	filterStates     = []string{"live", "stale", "pending", "held", "removed", "foreign", "all"}
	filterExtensions = []string{"image", "video", "news", "alternates"}
	filterNames      = []string{"state", "as_of", "url", "contains", "prefix", "document", "object_type", "lastmod", "lastmod_from", "lastmod_to", "language", "title", "extension", "first_from", "segment"}
)

// inventoryPage shows the inventory; its parameters are the API's and the exports'.
func (s *Server) inventoryPage(c echo.Context) error {
	in, err := s.siteHere(c, "urls")
	if err != nil {
		return err
	}
	site := in.Site
	page := web.Inventory{InSite: in, Filter: map[string]string{"state": "live"}, States: filterStates, Extensions: filterExtensions, Run: site.CurrentRun}
	chooseColumns(c, &page)
	if page.Types, err = s.objectTypes(c.Request().Context(), site); err != nil {
		return err
	}
	if chosen := c.QueryParam("object_type"); chosen != "" && !slices.Contains(page.Types, chosen) {
		page.Types = append(slices.Clone(page.Types), chosen) // of another moment
	}
	query := url.Values{}
	for _, name := range filterNames {
		if value := c.QueryParam(name); value != "" {
			page.Filter[name] = value
			query.Set(name, value)
			page.Filtered = true
			page.Chips = append(page.Chips, web.Chip{Name: name, Value: value, Without: withParam(c, name, "")})
		}
	}
	for _, state := range filterStates {
		if state != string(models.StateForeign) {
			page.Quick = append(page.Quick, web.Choice{Name: state, Address: withParam(c, "state", state), Chosen: page.Filter["state"] == state})
		}
	}
	if err := s.segmentsOf(c, &page, query); err != nil {
		return err
	}
	s.chooseOrder(c, &page)
	asked := c.QueryParam(paramSort) != "" && page.Sort != ""
	if asked {
		query.Set(paramSort, page.Sort)
	}
	base := apiPrefix + sitePath(site.ID) + "/urls?"
	page.API = base + query.Encode()
	query.Set("format", formatCSV)
	page.CSV = base + query.Encode()
	query.Set("format", formatNDJSON)
	page.NDJSON = base + query.Encode()
	page.Exports = s.exportChoices(site, query)

	filter := filterOf(c)
	filter.Sort = page.Sort
	f, err := s.pageFilter(c.Request().Context(), site, filter)
	if err == nil {
		hash := filterHash(withoutLook(c.QueryParams()), c.Path()+number(site.ID))
		var read list[models.Page]
		if read, err = s.pagesPage(c.Request().Context(), site, f, c.QueryParam("page_token"), rowsOnPage, hash); err == nil {
			page.Pages, page.Next, page.Run = read.Items, nextPath(c, read.NextPageToken), read.Run
			page.Short = page.Next != "" && len(page.Pages) < rowsOnPage
			page.Sorting = page.Short && len(page.Pages) == 0 && asked
			page.Later = c.QueryParam("page_token") != ""
		}
	}
	// What was typed wrong is said beside the form, not instead of it.
	var invalid *models.InvalidError
	if errors.As(err, &invalid) {
		page.Problem = invalid.Error()
		return s.show(c, http.StatusUnprocessableEntity, "urls", "Inventory", page)
	}
	if err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "urls", "Inventory", page)
}

// filterOf reads the inventory's filter from a page's address; words that the lists do not know are dropped.
func filterOf(c echo.Context) PagesFilter {
	in := PagesFilter{
		AsOfInput: AsOfInput{AsOf: c.QueryParam("as_of")}, URL: c.QueryParam("url"), Contains: c.QueryParam("contains"), Prefix: c.QueryParam("prefix"),
		ObjectType: c.QueryParam("object_type"), LastmodFrom: c.QueryParam("lastmod_from"), LastmodTo: c.QueryParam("lastmod_to"), Language: c.QueryParam("language"), Title: c.QueryParam("title"), FirstFrom: c.QueryParam("first_from"),
		Segment: c.QueryParam("segment"), Sort: c.QueryParam(paramSort),
	}
	if state := c.QueryParam("state"); slices.Contains(filterStates, state) {
		in.State = state
	}
	if extension := c.QueryParam("extension"); slices.Contains(filterExtensions, extension) {
		in.Extension = extension
	}
	if lastmod := c.QueryParam("lastmod"); lastmod == models.LastmodDeclared || lastmod == models.LastmodNone {
		in.Lastmod = lastmod
	}
	if n, err := strconv.ParseInt(c.QueryParam("document"), 10, 32); err == nil && n > 0 {
		in.Document = int32(n)
	}
	return in
}

func (s *Server) historyPage(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "urls")
	if err != nil {
		return err
	}
	link := c.QueryParam("url")
	states, err := s.history(ctx, in.Site, link)
	if err != nil {
		return err
	}
	page := web.PageView{InSite: in}
	for i := range states {
		state := web.State{Page: states[i], First: i == 0}
		if i > 0 {
			state.Changed = stateChanges(&states[i-1], &states[i])
		}
		page.States = append(page.States, state)
	}
	slices.Reverse(page.States)
	page.URL = page.States[0].URL
	if page.Evidence, err = s.evidence(ctx, in.Site.ID, link); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "page", "Page", page)
}

// stateChanges tells what one state of a page has that the one before it had not.
func stateChanges(before, after *models.Page) []models.FieldChange {
	var out []models.FieldChange
	add := func(field string, old, now any) {
		if !reflect.DeepEqual(old, now) {
			out = append(out, models.FieldChange{Field: field, Old: old, New: now})
		}
	}
	add("state", string(before.State), string(after.State))
	add("url", before.URL, after.URL)
	add("document", before.Document, after.Document)
	add("lastmod", rawLastmod(before), rawLastmod(after))
	add("changefreq", orNil(before.Changefreq), orNil(after.Changefreq))
	if !reflect.DeepEqual(before.Priority, after.Priority) {
		add("priority", before.Priority, after.Priority)
	}
	for _, block := range []struct {
		name     string
		old, now []byte
	}{{"alternates", before.Alternates, after.Alternates}, {"images", before.Images, after.Images}, {"videos", before.Videos, after.Videos}, {"news", before.News, after.News}} {
		if !bytes.Equal(block.old, block.now) {
			add(block.name, orNil(string(block.old)), orNil(string(block.now)))
		}
	}
	return out
}

func rawLastmod(p *models.Page) any {
	if p.Lastmod == nil {
		return nil
	}
	return p.Lastmod.Raw
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

const (
	heldShown   = 200
	heldCounted = 50_000 // more are not counted one by one
)

func (s *Server) heldPageHTML(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "held")
	if err != nil {
		return err
	}
	total, err := s.deps.Removals.CountHeld(ctx, in.Site.ID, heldCounted+1)
	if err != nil {
		return err
	}
	in.Held = total // the run's own count does not know decisions since
	page := web.Held{InSite: in, Total: total, Many: total > heldCounted, Counted: heldCounted}
	hash := filterHash(c.QueryParams(), c.Path()+number(in.Site.ID))
	part, removals, err := s.heldPage(ctx, in.Site, c.QueryParam("page_token"), heldShown, hash)
	if err != nil {
		return err
	}
	page.Removals, page.Next = removals, nextPath(c, part.NextPageToken)
	return s.show(c, http.StatusOK, "held", "Held removals", page)
}

func (s *Server) decidePage(c echo.Context) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	choice := c.FormValue("decision")
	switch choice {
	case "approve-chosen", "reject-chosen":
		form, err := c.FormParams()
		if err != nil || len(form["url"]) == 0 {
			return newProblem(http.StatusBadRequest, "choose at least one page")
		}
		return s.decideAndLook(c, site, form["url"], choice == "approve-chosen")
	case "approve", "reject":
	default:
		return newProblem(http.StatusBadRequest, "approve or reject?")
	}
	// Deciding on everything means everything that was seen.
	total, err := s.deps.Removals.CountHeld(ctx, site.ID, heldCounted+1)
	if err != nil {
		return err
	}
	if c.FormValue("total") != number(total) {
		return newProblem(http.StatusConflict, "the list has changed since it was shown; look at it again")
	}
	return s.decideAndLook(c, site, nil, choice == "approve")
}

// decideAndLook decides on some pages, or on all with none named. What was approved is carried out by a run, so one is asked for.
func (s *Server) decideAndLook(c echo.Context, site models.Site, urls []string, approve bool) error {
	ctx := c.Request().Context()
	if _, err := s.decide(ctx, site, urls, len(urls) == 0, approve); err != nil {
		return err
	}
	if approve {
		if _, err := s.startRun(ctx, site, "", false); err != nil {
			return err
		}
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/held?done=decided")
}

var (
	results  = []string{models.DeliveryAccepted, models.DeliveryDuplicate, models.DeliveryIgnored, models.DeliveryRejected}
	outcomes = []string{models.OutcomeOpen, models.OutcomeMet, models.OutcomeExpired, models.OutcomeSuperseded}
)

func (s *Server) deliveriesPageHTML(c echo.Context) error {
	in, err := s.siteHere(c, "deliveries")
	if err != nil {
		return err
	}
	result := c.QueryParam("result")
	if !slices.Contains(results, result) {
		result = ""
	}
	hash := filterHash(c.QueryParams(), c.Path()+number(in.Site.ID))
	read, err := s.deliveriesPage(c.Request().Context(), in.Site.ID, c.QueryParam("page_token"), result, rowsOnPage, hash)
	if err != nil {
		return err
	}
	page := web.Deliveries{InSite: in, Results: choices(c, "result", result, results...), Next: nextPath(c, read.NextPageToken)}
	for _, d := range read.Items {
		page.Deliveries = append(page.Deliveries, web.Delivery{
			At: d.At, Result: d.Result, Cause: d.Cause, Dialect: d.Dialect, KeyID: d.KeyID, Status: d.Status, Trigger: d.Trigger, Run: d.Run,
			Bytes: d.Bytes, Hints: d.Hints,
		})
	}
	return s.show(c, http.StatusOK, "deliveries", "Deliveries", page)
}

// expectationsRead bounds how many are looked through for one outcome.
const expectationsRead = 1000

func (s *Server) expectationsPage(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "deliveries")
	if err != nil {
		return err
	}
	outcome := c.QueryParam("outcome")
	if !slices.Contains(outcomes, outcome) {
		outcome = ""
	}
	page := web.Expectations{InSite: in, Outcomes: choices(c, "outcome", outcome, outcomes...)}
	if s.deps.Expectations == nil {
		return s.show(c, http.StatusOK, "expectations", "Expectations", page)
	}
	hash := filterHash(c.QueryParams(), c.Path()+number(in.Site.ID))
	at, err := readPosition(c.QueryParam("page_token"), hash)
	if err != nil {
		return err
	}
	limit := int(at.Run) + rowsOnPage + 1
	if outcome != "" {
		limit = expectationsRead
	}
	all, err := s.deps.Expectations.ExpectationHistory(ctx, in.Site.ID, at.Number, limit)
	if err != nil {
		return err
	}
	if outcome != "" {
		all = slices.DeleteFunc(all, func(e models.Expectation) bool { return e.Outcome != outcome })
		page.Expectations = all[:min(len(all), 4*rowsOnPage)]
		return s.show(c, http.StatusOK, "expectations", "Expectations", page)
	}
	at.Filter = hash
	shown, next := cutExpectations(all, at, rowsOnPage)
	page.Expectations, page.Next = shown, nextPath(c, next)
	return s.show(c, http.StatusOK, "expectations", "Expectations", page)
}
