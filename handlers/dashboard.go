package handlers

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

const (
	rowsOnPage = 50
	runsOnPage = 25
	trendRuns  = 60 // of a small line
)

// pageRoutes are the dashboard's: the same rights, filters and page tokens as the API's.
func (s *Server) pageRoutes() error {
	page := func(scope string) echo.MiddlewareFunc {
		return func(next echo.HandlerFunc) echo.HandlerFunc {
			return smallForms(s.authenticate(s.require(scope)(next)))
		}
	}
	read, run, write, admin := page(ScopeRead), page(ScopeRun), page(ScopeWrite), page(ScopeAdmin)
	e := s.echo
	e.GET("/", s.overviewPage, read)
	e.GET("/go", s.goPage, read)
	e.GET("/findings", s.rulesPage, read)
	e.GET("/sites/new", s.newSiteForm, write)
	e.POST("/sites/new", s.probePage, write)
	e.POST("/sites", s.addSitePage, write)
	e.GET("/sites/:site", s.sitePage, read)
	e.GET("/sites/:site/urls", s.inventoryPage, read)
	e.POST("/sites/:site/segments", s.saveSegmentPage, write)
	e.POST("/sites/:site/segments/:segment/remove", s.removeSegmentPage, write)
	e.GET("/sites/:site/export", s.exportFile, read)
	e.GET("/sites/:site/page", s.historyPage, read)
	e.GET("/sites/:site/changes", s.changesPageHTML, read)
	e.GET("/sites/:site/compare", s.comparePage, read)
	e.GET("/sites/:site/hreflang", s.hreflangPage, read)
	e.GET("/sites/:site/documents", s.documentsPage, read)
	e.GET("/sites/:site/documents/:document", s.documentPage, read)
	e.GET("/sites/:site/findings", s.findingsPage, read)
	e.GET("/sites/:site/canonical", s.canonicalPage, read)
	e.POST("/sites/:site/mutes", s.mutePage, write)
	e.GET("/sites/:site/held", s.heldPageHTML, read)
	e.POST("/sites/:site/held", s.decidePage, write)
	e.GET("/sites/:site/reports", s.reportsPage, read)
	e.GET("/sites/:site/stale", s.stalePage, read)
	e.GET("/sites/:site/deliveries", s.deliveriesPageHTML, read)
	e.GET("/sites/:site/expectations", s.expectationsPage, read)
	e.POST("/sites/:site/deliveries/replay", s.replayChosenPage, run)
	e.POST("/sites/:site/deliveries/:trigger/replay", s.replayPage, run)
	e.GET("/sites/:site/runs", s.runsPageHTML, read)
	e.POST("/sites/:site/runs", s.startRunPage, run)
	e.GET("/sites/:site/runs/:run", s.runPage, read)
	e.POST("/sites/:site/runs/:run/stop", s.stopRunPage, run)
	e.GET("/sites/:site/settings", s.siteSettingsPage, read)
	e.POST("/sites/:site/settings", s.saveSiteSettings, write)
	e.POST("/sites/:site/hook-keys", s.rotateKeyPage, admin)
	e.POST("/sites/:site/remove", s.removeSitePage, write)
	e.GET("/settings", s.settingsPage, read)
	e.POST("/settings/tokens", s.makeTokenPage, admin)
	e.POST("/settings/tokens/:token/revoke", s.revokeTokenPage, admin)
	e.POST("/theme", s.chooseTheme, smallForms, fromHere)
	e.POST("/zone", s.chooseZone, smallForms, fromHere)
	s.channelPages(read, write, admin)
	s.accountRoutes()

	files := http.StripPrefix("/static/", http.FileServerFS(web.Static()))
	e.GET("/static/*", echo.WrapHandler(files), func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set("Cache-Control", "public, max-age=300")
			return next(c)
		}
	})
	return nil
}

// smallForms bounds what a form may send.
func smallForms(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Request().Body = http.MaxBytesReader(c.Response().Writer, c.Request().Body, maxForm)
		return next(c)
	}
}

const maxForm = 64 << 10

// done are the things that a page may say were just done; an address can name no other text.
var done = map[string]string{
	"started": "Stored: a run that starts from now on serves it.", "stopped": "The run was asked to stop.", "added": "The site is followed; its first run begins.",
	"decided": "Decided. What was approved goes with the next run that misses it too.", "saved": "Saved.", "replayed": "Stored once more: the next run serves what was chosen.",
	"revoked": "The token is not valid any more.", "removed": "The site is not followed any more.",
	"channel-removed": "The channel is removed; nobody is told there any more.", "resent": "Asked for; it is sent again within seconds.",
	"muted": "Kept out of reports until then.", "unmuted": "Heard again.",
	"segment-saved": "Saved. The segment is a filter of inventory, changes, exports, API and feed.", "segment-removed": "The segment is forgotten; its pages are as they were.",
}

// show renders a page for whoever asks.
func (s *Server) show(c echo.Context, status int, page, title string, data any) error {
	who := principalOf(c.Request().Context())
	view := web.View{
		Title: title, Now: s.deps.Now().UTC(), Data: data, Path: c.Request().URL.Path, Done: done[c.QueryParam("done")],
		May: web.Rights{Run: who.may(ScopeRun), Write: who.may(ScopeWrite), Admin: who.may(ScopeAdmin)},
	}
	if cookie, err := c.Request().Cookie(themeCookie); err == nil && slices.Contains(themes, cookie.Value) {
		view.Theme = cookie.Value
	}
	view.Zone = zoneHere(c)
	if who != nil {
		view.Local = who.Kind == "local"
		if who.Kind == "session" {
			view.User = who.Name
		}
	}
	var b bytes.Buffer
	if err := web.Render(&b, page, view); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Content-Security-Policy", pageCSP)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Cookie")
	return c.HTMLBlob(status, b.Bytes())
}

const themeCookie = "theme"

var themes = []string{"dark", "light"}

// chooseTheme keeps what somebody likes to look at in a cookie of their browser.
func (s *Server) chooseTheme(c echo.Context) error {
	cookie := &http.Cookie{Name: themeCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 365 * 24 * 3600, Value: c.FormValue("theme")}
	if !slices.Contains(themes, cookie.Value) {
		cookie.Value, cookie.MaxAge = "", -1
	}
	c.SetCookie(cookie)
	return c.Redirect(http.StatusSeeOther, ownPath(c.FormValue("next")))
}

// renderProblem shows an error to a person.
func (s *Server) renderProblem(c echo.Context, p *Problem) error {
	return s.show(c, p.Status, "failure", p.Title, web.Failure{Status: p.Status, Title: p.Title, Detail: p.Detail, Hint: p.Hint, RequestID: p.RequestID})
}

func (s *Server) siteOf(c echo.Context) (models.Site, error) {
	return s.site(c.Request().Context(), SiteInput{Site: c.Param("site")})
}

// siteHere is siteOf with what every page about a site shows.
func (s *Server) siteHere(c echo.Context, tab string) (web.InSite, error) {
	site, err := s.siteOf(c)
	if err != nil {
		return web.InSite{}, err
	}
	in, _, err := s.inSite(c.Request().Context(), site, tab)
	return in, err
}

// inSite gathers the state of a site by small queries: its newest runs and the number of findings by code.
func (s *Server) inSite(ctx context.Context, site models.Site, tab string) (web.InSite, []models.FindingGroup, error) {
	in := s.walked(site, tab)
	runs, err := s.deps.Runs.Runs(ctx, site.ID, 0, 5)
	if err != nil {
		return in, nil, err
	}
	for i := range runs {
		if runs[i].ID == site.CurrentRun {
			in.Last, in.Held = &runs[i], runs[i].Counts.Held
		}
	}
	if in.Last == nil && site.CurrentRun > 0 {
		run, err := s.deps.Runs.Run(ctx, site.ID, site.CurrentRun)
		if err != nil && !isNotFound(err) {
			return in, nil, err
		}
		if err == nil {
			in.Last, in.Held = &run, run.Counts.Held
		}
	}
	if err := s.unread(ctx, &in); err != nil {
		return in, nil, err
	}
	groups, err := s.countFindings(ctx, &in)
	return in, groups, err
}

// walked is what is known of a site without a query: the site itself, and the walk under way.
func (s *Server) walked(site models.Site, tab string) web.InSite {
	in := web.InSite{Site: site, Tab: tab, Stream: apiPrefix + sitePath(site.ID) + "/progress"}
	in.Progress, in.Running = s.deps.Engine.Progress(site.ID)
	return in
}

func (s *Server) countFindings(ctx context.Context, in *web.InSite) ([]models.FindingGroup, error) {
	groups, err := s.findingGroups(ctx, in.Site)
	for _, g := range groups {
		if g.Severity == models.SeverityError {
			in.Errors += g.Count
		}
	}
	return groups, err
}

func (s *Server) findingGroups(ctx context.Context, site models.Site) ([]models.FindingGroup, error) {
	if s.deps.Reports == nil || site.CurrentRun == 0 {
		return nil, nil
	}
	return s.reports.groups.get(ctx, site.ID, site.CurrentRun, s.deps.Now(), groupsKept, func(ctx context.Context) ([]models.FindingGroup, error) {
		return s.deps.Reports.FindingGroups(ctx, site.ID, site.CurrentRun)
	})
}

// trend is the number of listed pages over the last runs, oldest first.
func (s *Server) trend(ctx context.Context, site models.Site) ([]web.Point, error) {
	if s.deps.Reports == nil {
		return nil, nil
	}
	runs, err := s.reports.trends.get(ctx, site.ID, site.CurrentRun, s.deps.Now(), trendKept, func(ctx context.Context) ([]models.RunPoint, error) {
		return s.deps.Reports.RunPoints(ctx, site.ID, trendRuns)
	})
	if err != nil {
		return nil, err
	}
	var points []web.Point
	for _, r := range slices.Backward(runs) {
		points = append(points, web.Point{Label: r.At.Format("2006-01-02 15:04"), Value: r.Live})
	}
	return points, nil
}

func (s *Server) overviewPage(c echo.Context) error {
	ctx := c.Request().Context()
	sites, err := s.deps.Sites.Sites(ctx)
	if err != nil {
		return err
	}
	runs, err := s.deps.Runs.CurrentRuns(ctx)
	if err != nil {
		return err
	}
	page := web.Overview{CanAdd: principalOf(ctx).may(ScopeWrite), Search: c.QueryParam("q"), Tag: c.QueryParam("tag"), Grouped: c.QueryParam("group") == "tag",
		Tags: tagsOf(sites)}
	for _, site := range sites {
		if needle := strings.ToLower(page.Search); !site.Tagged(page.Tag) || !strings.Contains(strings.ToLower(site.Name+" "+site.Home), needle) {
			continue
		}
		row := web.SiteRow{InSite: s.walked(site, "")}
		if run, ok := runs[site.ID]; ok {
			row.Last, row.Held = &run, run.Counts.Held
		}
		groups, err := s.countFindings(ctx, &row.InSite)
		if err != nil {
			return err
		}
		if row.Trend, err = s.trend(ctx, site); err != nil {
			return err
		}
		for _, g := range groups {
			if g.Severity == models.SeverityWarning {
				row.Warnings += g.Count
			}
		}
		page.Add(&row)
		page.Sites = append(page.Sites, row)
	}
	page.Groups = groupsOf(&page)
	return s.show(c, http.StatusOK, "overview", "Overview", page)
}

func (s *Server) newSiteForm(c echo.Context) error {
	return s.show(c, http.StatusOK, "newsite", "Follow a site", web.NewSite{Home: c.QueryParam("home")})
}

const (
	probeTimeout = 40 * time.Second
	previewPages = 20
)

// probePage looks for the sitemaps of a home page and shows every try. Nothing is kept.
func (s *Server) probePage(c echo.Context) error {
	page := web.NewSite{Home: strings.TrimSpace(c.FormValue("home"))}
	if !strings.Contains(page.Home, "://") && page.Home != "" {
		page.Home = "https://" + page.Home
	}
	if !isWebURL(page.Home) {
		page.Problem = "Give an absolute http or https address, such as https://example.com/."
		return s.show(c, http.StatusUnprocessableEntity, "newsite", "Follow a site", page)
	}
	if s.deps.Discover == nil { // the first run finds them
		return s.addSitePage(c)
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), probeTimeout)
	defer cancel()
	found, err := s.discover(ctx, page.Home, true)
	if err != nil {
		page.Problem = err.Error()
	}
	page.Probed, page.Generator, page.Name = err == nil, found.probe.Generator, found.site.Name
	for _, candidate := range found.probe.Candidates {
		place := web.Place{URL: candidate.URL, Discovery: candidate.Discovery, Root: candidate.Root, Verdict: candidate.Verdict, Reason: candidate.Reason,
			Status: candidate.Status, Entries: candidate.Entries, Children: candidate.Children, Chosen: candidate.Chosen}
		if place.Chosen && s.deps.Preview != nil {
			// What cannot be previewed can still be followed.
			place.First, _ = s.deps.Preview(ctx, place.URL, previewPages)
		}
		page.Places = append(page.Places, place)
	}
	page.Probed = page.Probed || len(page.Places) > 0
	return s.show(c, http.StatusOK, "newsite", "Follow a site", page)
}

func (s *Server) addSitePage(c echo.Context) error {
	home, name := strings.TrimSpace(c.FormValue("home")), strings.TrimSpace(c.FormValue("name"))
	body := siteBody{Home: &home}
	if name != "" {
		body.Name = &name
	}
	form, err := c.FormParams()
	if err != nil {
		return newProblem(http.StatusBadRequest, "the form could not be read")
	}
	body.Roots = form["root"]
	site, err := s.newSite(c.Request().Context(), &body)
	if err != nil {
		return err
	}
	if site, err = s.deps.Sites.AddSite(c.Request().Context(), site); err != nil {
		return err
	}
	if _, err := s.startRun(c.Request().Context(), site, "", false); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"?done=added")
}

func sitePath(id int64) string { return "/sites/" + number(id) }

// nextPath is the address of the same page with another page token.
func nextPath(c echo.Context, token string) string {
	if token == "" {
		return ""
	}
	return withParam(c, "page_token", token)
}

// withParam is the address of the same page with one parameter set, or taken away by "", and from its beginning.
func withParam(c echo.Context, name, value string) string {
	query := url.Values{}
	for name, values := range c.QueryParams() {
		if name != "done" {
			query[name] = values
		}
	}
	query.Del("page_token")
	query.Del("before")
	query.Del("after")
	query.Del(name)
	if value != "" {
		query.Set(name, value)
	}
	return "?" + query.Encode()
}

// choices offers the values of one parameter, the first of them being everything.
func choices(c echo.Context, name, chosen string, values ...string) []web.Choice {
	all := []web.Choice{{Name: "all", Address: withParam(c, name, ""), Chosen: chosen == ""}}
	for _, v := range values {
		all = append(all, web.Choice{Name: v, Address: withParam(c, name, v), Chosen: chosen == v})
	}
	return all
}
