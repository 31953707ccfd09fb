package handlers

import (
	"bytes"
	"cmp"
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
	filterNames      = []string{"state", "as_of", "url", "contains", "prefix", "document", "lastmod_from", "lastmod_to", "language", "extension", "first_from"}
)

// inventoryPage shows the inventory; its parameters are the API's and the exports'.
func (s *Server) inventoryPage(c echo.Context) error {
	in, err := s.siteHere(c, "urls")
	if err != nil {
		return err
	}
	site := in.Site
	page := web.Inventory{InSite: in, Filter: map[string]string{"state": "live"}, States: filterStates, Extensions: filterExtensions, Run: site.CurrentRun}
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
	base := apiPrefix + sitePath(site.ID) + "/urls?"
	page.API = base + query.Encode()
	query.Set("format", formatCSV)
	page.CSV = base + query.Encode()
	query.Set("format", formatNDJSON)
	page.NDJSON = base + query.Encode()
	page.Exports = s.exportChoices(site, query)

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

var verdicts = []string{
	string(models.VerdictComplete), string(models.VerdictUnchanged), string(models.VerdictPartial), string(models.VerdictUnavailable),
	string(models.VerdictNotSitemap), string(models.VerdictGone),
}

func (s *Server) documentsPage(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "documents")
	if err != nil {
		return err
	}
	hash := filterHash(c.QueryParams(), c.Path()+number(in.Site.ID))
	at, err := readPosition(c.QueryParam("page_token"), hash)
	if err != nil {
		return err
	}
	if at.Run == 0 {
		at.Run = in.Site.CurrentRun
	}
	all, err := s.documents(ctx, in.Site, models.AsOf{Run: at.Run}, func(*models.Document) bool { return true })
	if err != nil {
		return err
	}
	if link := c.QueryParam("url"); link != "" {
		for i := range all {
			if all[i].URL == link || all[i].FinalURL == link {
				return c.Redirect(http.StatusSeeOther, sitePath(in.Site.ID)+"/documents/"+number(int64(all[i].Number)))
			}
		}
	}
	page := web.Documents{InSite: in}
	chosen := c.QueryParam("verdict")
	if !slices.Contains(verdicts, chosen) {
		chosen = ""
	}
	page.Verdicts = verdictChoices(c, all, chosen)
	shown := tree(all)
	if chosen != "" {
		shown = slices.DeleteFunc(shown, func(d models.Document) bool { return string(d.Verdict) != chosen })
	}
	start := min(max(int(at.Number), 0), len(shown))
	end := min(start+rowsOnPage, len(shown))
	page.Documents, page.Total = shown[start:end], len(shown)
	if end < len(shown) {
		page.Next = nextPath(c, encodePosition(position{Filter: hash, Run: at.Run, Number: int64(end)}))
	}
	return s.show(c, http.StatusOK, "documents", "Documents", page)
}

func verdictChoices(c echo.Context, all []models.Document, chosen string) []web.Choice {
	counts := map[string]int64{}
	for i := range all {
		counts[string(all[i].Verdict)]++
	}
	offered := choices(c, "verdict", chosen, verdicts...)
	offered[0].Count, offered[0].Counted = int64(len(all)), true
	kept := offered[:1]
	for _, choice := range offered[1:] {
		if choice.Count, choice.Counted = counts[choice.Name], true; choice.Count > 0 || choice.Chosen {
			kept = append(kept, choice)
		}
	}
	return kept
}

// tree puts documents below the index that lists them, each level in the order of its numbers.
func tree(all []models.Document) []models.Document {
	children := map[int32][]int{}
	known := map[int32]bool{}
	for i := range all {
		known[all[i].Number] = true
	}
	for i := range all {
		parent := all[i].Parent
		if !known[parent] || parent == all[i].Number {
			parent = 0
		}
		children[parent] = append(children[parent], i)
	}
	out := make([]models.Document, 0, len(all))
	placed := make([]bool, len(all))
	var place func(parent int32)
	place = func(parent int32) {
		for _, i := range children[parent] {
			if !placed[i] {
				placed[i] = true
				out = append(out, all[i])
				place(all[i].Number)
			}
		}
	}
	place(0)
	for i := range all { // indexes that list each other
		if !placed[i] {
			out = append(out, all[i])
		}
	}
	return out
}

func (s *Server) documentPage(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "documents")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(c.Param("document"), 10, 32)
	if err != nil {
		return notFound("document of this site")
	}
	versions, err := s.deps.Documents.DocumentHistory(ctx, in.Site.ID, int32(n))
	if isNotFound(err) || err == nil && len(versions) == 0 {
		return notFound("document of this site")
	}
	if err != nil {
		return err
	}
	for i := range versions {
		normalDocument(&versions[i])
	}
	slices.SortStableFunc(versions, func(a, b models.Document) int { return cmp.Compare(b.FromRun, a.FromRun) })
	page := web.DocumentPage{InSite: in, Document: versions[0], Versions: versions[:min(len(versions), 100)]}
	page.Findings, err = s.deps.Findings.Findings(ctx, in.Site.ID, models.FindingFilter{Run: in.Site.CurrentRun, Document: int32(n), Limit: 100})
	if err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "document", "Document", page)
}

var severities = []string{models.SeverityError, models.SeverityWarning, models.SeverityInfo}

const findingsGrouped = 5000 // that are grouped where the store does not do it

func (s *Server) findingsPage(c echo.Context) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	page := web.Findings{Code: c.QueryParam("code")}
	var groups []models.FindingGroup
	if page.InSite, groups, err = s.inSite(ctx, site, "findings"); err != nil {
		return err
	}
	severity := c.QueryParam("severity")
	if !slices.Contains(severities, severity) {
		severity = ""
	}
	query := url.Values{"format": {formatCSV}}
	if severity != "" {
		query.Set("severity", severity)
	}
	if page.Code != "" {
		query.Set("code", page.Code)
	}
	page.CSV = apiPrefix + sitePath(site.ID) + "/findings?" + query.Encode()
	page.Severities = choices(c, "severity", severity, severities...)
	if page.Code != "" {
		page.Advice = s.advice(page.Code)
		return s.findingsOf(c, &page, severity)
	}
	if s.deps.Reports == nil {
		findings, err := s.deps.Findings.Findings(ctx, site.ID, models.FindingFilter{Run: site.CurrentRun, Limit: findingsGrouped})
		if err != nil {
			return err
		}
		groups = grouped(findings)
	}
	for i := range page.Severities {
		choice := &page.Severities[i]
		choice.Counted = true
		for _, g := range groups {
			if i == 0 || g.Severity == choice.Name {
				choice.Count += g.Count
			}
		}
	}
	for _, g := range groups {
		if severity == "" || g.Severity == severity {
			page.Groups = append(page.Groups, web.Group{FindingGroup: g, Advice: s.advice(g.Code)})
		}
	}
	return s.show(c, http.StatusOK, "findings", "Findings", page)
}

func grouped(findings []models.Finding) []models.FindingGroup {
	var groups []models.FindingGroup
	at := map[[2]string]int{}
	for _, f := range findings {
		key := [2]string{f.Code, f.Severity}
		i, there := at[key]
		if !there {
			i = len(groups)
			at[key] = i
			groups = append(groups, models.FindingGroup{Code: f.Code, Severity: f.Severity, Text: f.Text})
		}
		groups[i].Count++
	}
	slices.SortStableFunc(groups, func(a, b models.FindingGroup) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)), cmp.Compare(b.Count, a.Count))
	})
	return groups
}

func (s *Server) advice(code string) web.Advice {
	if s.deps.Advice == nil {
		return web.Advice{}
	}
	meaning, cost, advice, source, _ := s.deps.Advice(code)
	return web.Advice{Meaning: meaning, Cost: cost, Advice: advice, Source: source}
}

// findingsOf lists the findings of one code.
func (s *Server) findingsOf(c echo.Context, page *web.Findings, severity string) error {
	site := page.Site
	hash := filterHash(c.QueryParams(), c.Path()+number(site.ID))
	at, err := readPosition(c.QueryParam("page_token"), hash)
	if err != nil {
		return err
	}
	if at.Run == 0 {
		at.Run = site.CurrentRun
	}
	start := int(at.Number)
	filter := models.FindingFilter{Run: at.Run, Severity: severity, Code: page.Code, Limit: start + rowsOnPage + 1}
	findings, err := s.deps.Findings.Findings(c.Request().Context(), site.ID, filter)
	if err != nil {
		return err
	}
	page.Findings = findings[min(start, len(findings)):min(start+rowsOnPage, len(findings))]
	if len(findings) > start+rowsOnPage {
		page.Next = nextPath(c, encodePosition(position{Filter: hash, Run: at.Run, Number: int64(start + rowsOnPage)}))
	}
	return s.show(c, http.StatusOK, "findings", "Findings", *page)
}

const heldShown = 200

func (s *Server) heldPage(c echo.Context) error {
	in, err := s.siteHere(c, "held")
	if err != nil {
		return err
	}
	held, err := s.held(c.Request().Context(), in.Site.ID)
	if err != nil {
		return err
	}
	in.Held = int64(len(held)) // the run's own count does not know decisions since
	page := web.Held{InSite: in, Total: len(held), Removals: held[:min(len(held), heldShown)]}
	page.Shown = len(page.Removals)
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
	held, err := s.held(ctx, site.ID)
	if err != nil {
		return err
	}
	if c.FormValue("total") != strconv.Itoa(len(held)) {
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
		if _, err := s.startRun(ctx, site, ""); err != nil {
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
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/deliveries?done=replayed")
}
