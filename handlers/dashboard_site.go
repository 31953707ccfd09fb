package handlers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

var changeKinds = []string{
	models.KindAdded, models.KindChanged, models.KindMoved, models.KindRemoved, models.KindRestored, models.KindPending, models.KindHeld, models.KindStale, models.KindFresh,
}

const (
	runsAtGlance    = 10
	changesAtGlance = 10
	changesOfRun    = 20 // of one run in the feed that people read
	runsSearched    = 200
)

func (s *Server) sitePage(c echo.Context) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	page := web.SitePage{}
	if page.InSite, page.Groups, err = s.inSite(ctx, site, "site"); err != nil {
		return err
	}
	page.Groups = page.Groups[:min(len(page.Groups), 5)]
	if page.Trend, err = s.trend(ctx, site); err != nil {
		return err
	}
	runs, err := s.deps.Runs.Runs(ctx, site.ID, 0, runsSearched/4)
	if err != nil {
		return err
	}
	page.Runs = runs[:min(len(runs), runsAtGlance)]
	enough := time.Now().Add(readingTime)
	for _, run := range runs {
		if !moved(&run) || len(page.Changes) == changesAtGlance || time.Now().After(enough) {
			continue
		}
		read, err := s.changesPage(ctx, site.ID, models.ChangeFilter{Run: run.ID}, changesAtGlance-len(page.Changes))
		if err != nil {
			return err
		}
		page.Changes = append(page.Changes, read.Items...)
	}
	return s.show(c, http.StatusOK, "site", site.Name, page)
}

// moved reports whether a run has changes to show; those of a first run are the whole site.
func moved(run *models.Run) bool {
	n := run.Counts
	return run.FinishedAt != nil && run.Error == "" && !run.Baseline && n.Added+n.Changed+n.Moved+n.Removed+n.Restored+n.Pending+n.Held+n.Stale > 0
}

func (s *Server) runsPageHTML(c echo.Context) error {
	in, err := s.siteHere(c, "runs")
	if err != nil {
		return err
	}
	hash := filterHash(nil, c.Path()+number(in.Site.ID))
	runs, err := s.runsPage(c.Request().Context(), in.Site.ID, c.QueryParam("page_token"), runsOnPage, hash)
	if err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "runs", "Runs", web.Runs{InSite: in, Runs: runs.Items, Next: nextPath(c, runs.NextPageToken)})
}

func (s *Server) startRunPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	if _, err := s.startRun(c.Request().Context(), site, "", c.FormValue("only") == onlyFailed); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"?done=started")
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
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"?done=stopped")
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
	in, _, err := s.inSite(ctx, site, "runs")
	if err != nil {
		return err
	}
	page := web.RunPage{InSite: in, Run: run}
	if in.Running && in.Progress.Run == run.ID {
		page.Under, page.Stream = true, apiPrefix+sitePath(site.ID)+"/runs/"+number(run.ID)+"/progress"
	}
	filter := models.ChangeFilter{Run: run.ID, After: c.QueryParam("after")}
	narrow, query, err := s.narrowed(c, site, &filter)
	if err != nil {
		return err
	}
	page.Narrow = narrow
	kind := c.QueryParam("kind")
	if slices.Contains(changeKinds, kind) {
		filter.Kinds = []string{kind}
	} else {
		kind = ""
	}
	changes, err := s.changesPage(ctx, site.ID, filter, rowsOnPage)
	if err != nil {
		return err
	}
	page.Changes, page.Kinds = changes.Items, runKinds(c, &run, kind)
	if changes.More {
		page.Next, page.Short = withParam(c, "after", changes.Cursor), len(changes.Items) < rowsOnPage
	}
	query.Set("run", number(run.ID))
	query.Set("format", formatCSV)
	if kind != "" {
		query.Set("kind", kind)
	}
	page.CSV = apiPrefix + sitePath(site.ID) + "/changes?" + query.Encode()
	return s.show(c, http.StatusOK, "run", "Run "+number(run.ID), page)
}

// runKinds offers the kinds of changes that a run has, with their numbers where it counted them.
func runKinds(c echo.Context, run *models.Run, chosen string) []web.Choice {
	counts := map[string]int64{models.KindAdded: run.Counts.Added, models.KindChanged: run.Counts.Changed, models.KindMoved: run.Counts.Moved,
		models.KindRemoved: run.Counts.Removed, models.KindRestored: run.Counts.Restored}
	all := choices(c, "kind", chosen, changeKinds...)
	kept := all[:1]
	for _, choice := range all[1:] {
		n, counted := counts[choice.Name]
		if counted && n == 0 && !choice.Chosen {
			continue
		}
		choice.Count, choice.Counted = n, counted
		kept = append(kept, choice)
	}
	return kept
}

// changesPageHTML shows changes by run, the newest first; the feed itself goes forward.
func (s *Server) changesPageHTML(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "changes")
	if err != nil {
		return err
	}
	var filter models.ChangeFilter
	narrow, query, err := s.narrowed(c, in.Site, &filter)
	if err != nil {
		return err
	}
	page := web.Changes{InSite: in, Narrow: narrow, Atom: "/feeds/" + number(in.Site.ID) + ".atom"}
	if segment := query.Get("segment"); segment != "" {
		page.Atom += "?" + url.Values{"segment": {segment}}.Encode()
	}
	kind := c.QueryParam("kind")
	if slices.Contains(changeKinds, kind) {
		filter.Kinds = []string{kind}
		query.Set("kind", kind)
	} else {
		kind = ""
	}
	page.Kinds = choices(c, "kind", kind, changeKinds...)
	base := apiPrefix + sitePath(in.Site.ID) + "/changes?"
	query.Set("format", formatCSV)
	page.CSV = base + query.Encode()
	query.Set("format", formatNDJSON)
	page.NDJSON = base + query.Encode()
	before, _ := strconv.ParseInt(c.QueryParam("before"), 10, 64)
	last, err := s.recentChanges(ctx, &page, max(before, 0), filter)
	if err != nil {
		return err
	}
	if last > 1 {
		page.Next = withParam(c, "before", number(last))
	}
	return s.show(c, http.StatusOK, "changes", "Changes", page)
}

// recentChanges fills a page from the runs before one, and gives the run before which the next page goes on, 0 at the end.
// It looks at a bounded number of runs: quiet sites have many without changes.
func (s *Server) recentChanges(ctx context.Context, page *web.Changes, before int64, filter models.ChangeFilter) (int64, error) {
	runs, err := s.deps.Runs.Runs(ctx, page.Site.ID, before, runsSearched)
	if err != nil {
		return 0, err
	}
	shown, read := 0, 0
	enough := time.Now().Add(readingTime)
	for i := range runs {
		run := &runs[i]
		if !moved(run) && !run.Baseline || run.ID > page.Site.CurrentRun {
			continue
		}
		if page.Short = time.Now().After(enough); page.Short || shown >= rowsOnPage || read == rowsOnPage {
			return run.ID + 1, nil
		}
		read++
		filter.Run = run.ID
		part, err := s.changesPage(ctx, page.Site.ID, filter, changesOfRun)
		if err != nil {
			return 0, err
		}
		if len(part.Items) > 0 {
			page.Days = append(page.Days, web.RunChanges{Run: *run, Changes: part.Items, More: part.More})
			shown += len(part.Items)
		}
	}
	if len(runs) == runsSearched {
		return runs[len(runs)-1].ID, nil
	}
	return 0, nil
}
