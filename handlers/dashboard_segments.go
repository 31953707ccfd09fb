package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// segmentChoices offers a site's segments as a filter of the page that is shown.
func (s *Server) segmentChoices(c echo.Context, site models.Site) ([]web.Choice, error) {
	all, err := s.segments(c.Request().Context(), site)
	if err != nil {
		return nil, err
	}
	chosen := c.QueryParam("segment")
	out := make([]web.Choice, 0, len(all))
	for i := range all {
		choice := web.Choice{Name: all[i].Name, Chosen: chosen == all[i].Name}
		choice.Address = withParam(c, "segment", all[i].Name)
		if choice.Chosen {
			choice.Address = withParam(c, "segment", "")
		}
		out = append(out, choice)
	}
	return out, nil
}

// segmentsOf tells the inventory which segments there are, which one is chosen, and what a new one would hold.
func (s *Server) segmentsOf(c echo.Context, page *web.Inventory, given url.Values) error {
	var err error
	if page.Segments, err = s.segmentChoices(c, page.Site); err != nil {
		return err
	}
	chosen := given.Get("segment")
	if chosen != "" {
		if g, err := s.segment(c.Request().Context(), page.Site, chosen); err == nil {
			page.Segment = &g
		}
	}
	kept := url.Values{}
	for name, values := range given {
		if name != "segment" {
			kept[name] = values
		}
	}
	if kept, err = s.segmented(c.Request().Context(), page.Site, chosen, kept); err != nil {
		return nil //nolint:nilerr // the list itself says that there is no such segment
	}
	if clean, err := models.CleanFilter(kept.Encode(), s.deps.Now()); err == nil && s.deps.Segments != nil {
		page.Saves = clean
	}
	return nil
}

func (s *Server) saveSegmentPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	g, err := s.saveSegment(c.Request().Context(), site, c.FormValue("name"), c.FormValue("filter"), c.FormValue("every_site") != "")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/urls?"+url.Values{"segment": {g.Name}, "done": {"segment-saved"}}.Encode())
}

func (s *Server) removeSegmentPage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("segment"), 10, 64)
	if err != nil {
		return notFound("segment of this site")
	}
	if err := s.removeSegment(c.Request().Context(), site, id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/urls?done=segment-removed")
}

// narrowed puts into a change filter whose changes a page's address asks for, and gives that as the page shows and keeps it.
func (s *Server) narrowed(c echo.Context, site models.Site, filter *models.ChangeFilter) (web.Narrow, url.Values, error) {
	in := PagesFilter{Segment: c.QueryParam("segment"), Contains: strings.TrimSpace(c.QueryParam("contains")), Prefix: c.QueryParam("prefix")}
	shown, query := web.Narrow{}, url.Values{}
	for _, part := range [][2]string{{"segment", in.Segment}, {"contains", in.Contains}, {"prefix", in.Prefix}} {
		if part[1] != "" {
			query.Set(part[0], part[1])
			shown.Chips = append(shown.Chips, web.Chip{Name: part[0], Value: part[1], Without: withParam(c, part[0], "")})
		}
	}
	var err error
	if filter.Pages, err = s.pagesOf(c.Request().Context(), site, in); err != nil {
		return shown, query, err
	}
	shown.Contains, shown.Segment, shown.Kind = in.Contains, in.Segment, c.QueryParam("kind")
	all, err := s.segments(c.Request().Context(), site)
	for i := range all {
		shown.Segments = append(shown.Segments, all[i].Name)
	}
	return shown, query, err
}
