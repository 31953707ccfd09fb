package handlers

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

const (
	rowsOnPage = 50
	runsOnPage = 25
)

// pageRoutes are the dashboard's: the same rights, filters and page tokens as the API's.
func (s *Server) pageRoutes() error {
	page := func(scope string) echo.MiddlewareFunc {
		return func(next echo.HandlerFunc) echo.HandlerFunc {
			return smallForms(s.authenticate(s.require(scope)(next)))
		}
	}
	read, run, write := page(ScopeRead), page(ScopeRun), page(ScopeWrite)
	e := s.echo
	e.GET("/", s.overviewPage, read)
	e.POST("/sites", s.addSitePage, write)
	e.GET("/sites/:site", s.sitePage, read)
	e.GET("/sites/:site/urls", s.inventoryPage, read)
	e.GET("/sites/:site/page", s.historyPage, read)
	e.GET("/sites/:site/changes", s.changesPageHTML, read)
	e.GET("/sites/:site/documents", s.documentsPage, read)
	e.GET("/sites/:site/findings", s.findingsPage, read)
	e.GET("/sites/:site/held", s.heldPage, read)
	e.POST("/sites/:site/held", s.decidePage, write)
	e.GET("/sites/:site/deliveries", s.deliveriesPageHTML, read)
	e.POST("/sites/:site/deliveries/:trigger/replay", s.replayPage, run)
	e.POST("/sites/:site/runs", s.startRunPage, run)
	e.GET("/sites/:site/runs/:run", s.runPage, read)
	e.POST("/sites/:site/runs/:run/stop", s.stopRunPage, run)
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

// show renders a page for whoever asks.
func (s *Server) show(c echo.Context, status int, page, title string, data any) error {
	who := principalOf(c.Request().Context())
	view := web.View{
		Title: title, Now: s.deps.Now().UTC(), Data: data,
		May: web.Rights{Run: who.may(ScopeRun), Write: who.may(ScopeWrite), Admin: who.may(ScopeAdmin)},
	}
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
	h.Set("Vary", "Cookie, HX-Request")
	return c.HTMLBlob(status, b.Bytes())
}

// renderProblem shows an error to a person.
func (s *Server) renderProblem(c echo.Context, p *Problem) error {
	return s.show(c, p.Status, "failure", p.Title, web.Failure{Status: p.Status, Title: p.Title, Detail: p.Detail, Hint: p.Hint, RequestID: p.RequestID})
}

func (s *Server) siteOf(c echo.Context) (models.Site, error) {
	return s.site(c.Request().Context(), SiteInput{Site: c.Param("site")})
}

func (s *Server) overviewPage(c echo.Context) error {
	sites, err := s.deps.Sites.Sites(c.Request().Context())
	if err != nil {
		return err
	}
	page := web.Overview{CanAdd: principalOf(c.Request().Context()).may(ScopeWrite)}
	for _, site := range sites {
		progress, running := s.deps.Engine.Progress(site.ID)
		page.Sites = append(page.Sites, web.SiteRow{Site: site, Running: running, Progress: progress})
	}
	return s.show(c, http.StatusOK, "overview", "Sites", page)
}

func (s *Server) addSitePage(c echo.Context) error {
	home := strings.TrimSpace(c.FormValue("home"))
	site, err := s.newSite(c.Request().Context(), &siteBody{Home: &home})
	if err != nil {
		return err
	}
	if site, err = s.deps.Sites.AddSite(c.Request().Context(), site); err != nil {
		return err
	}
	if _, err := s.startRun(c.Request().Context(), site, ""); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID))
}

func sitePath(id int64) string { return "/sites/" + number(id) }

func (s *Server) sitePage(c echo.Context) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	hash := filterHash(nil, c.Path()+number(site.ID))
	runs, err := s.runsPage(ctx, site.ID, c.QueryParam("page_token"), runsOnPage, hash)
	if err != nil {
		return err
	}
	held, err := s.held(ctx, site.ID)
	if err != nil {
		return err
	}
	page := web.SitePage{Site: site, Runs: runs.Items, Held: len(held), Next: nextPath(c, runs.NextPageToken)}
	page.Progress, page.Running = s.deps.Engine.Progress(site.ID)
	page.Stream = apiPrefix + sitePath(site.ID) + "/progress"
	if c.QueryParam("started") != "" {
		page.Message = "Stored: a run that starts from now on serves it."
	}
	return s.show(c, http.StatusOK, "site", site.Name, page)
}

// nextPath is the address of the same page with another page token.
func nextPath(c echo.Context, token string) string {
	if token == "" {
		return ""
	}
	query := url.Values{}
	for name, values := range c.QueryParams() {
		query[name] = values
	}
	query.Set("page_token", token)
	return "?" + query.Encode()
}

func (s *Server) startRunPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	if _, err := s.startRun(c.Request().Context(), site, ""); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"?started=1")
}

func (s *Server) stopRunPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	run, err := strconv.ParseInt(c.Param("run"), 10, 64)
	if err != nil {
		return notFound("run of this site")
	}
	if err := s.stopRun(site.ID, run); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID))
}

func (s *Server) runPage(c echo.Context) error {
	ctx := c.Request().Context()
	id, err := strconv.ParseInt(c.Param("run"), 10, 64)
	if err != nil {
		return notFound("run of this site")
	}
	site, run, err := s.run(ctx, RunInput{SiteInput: SiteInput{Site: c.Param("site")}, Run: id})
	if err != nil {
		return err
	}
	changes, err := s.changesPage(ctx, site.ID, models.ChangeFilter{Run: run.ID, After: c.QueryParam("after")}, rowsOnPage)
	if err != nil {
		return err
	}
	page := web.RunPage{Site: site, Run: run, Changes: changes.Items, Stream: apiPrefix + sitePath(site.ID) + "/runs/" + number(run.ID) + "/progress"}
	if progress, running := s.deps.Engine.Progress(site.ID); running && progress.Run == run.ID {
		page.Running, page.Progress = true, progress
	}
	if changes.More {
		page.Next = "?" + url.Values{"after": {changes.Cursor}}.Encode()
	}
	return s.show(c, http.StatusOK, "run", site.Name+": run "+number(run.ID), page)
}

func (s *Server) changesPageHTML(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	changes, err := s.changesPage(c.Request().Context(), site.ID, models.ChangeFilter{After: c.QueryParam("after")}, rowsOnPage)
	if err != nil {
		return err
	}
	page := web.Changes{Site: site, Changes: changes.Items}
	if changes.More {
		page.Next = "?" + url.Values{"after": {changes.Cursor}}.Encode()
	}
	return s.show(c, http.StatusOK, "changes", site.Name+": changes", page)
}
