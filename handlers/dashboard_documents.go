package handlers

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

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
		page.Rule = s.advice(models.AboutDocuments, page.Code)
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
			page.Groups = append(page.Groups, web.Group{FindingGroup: g, Rule: s.advice(models.AboutDocuments, g.Code)})
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
