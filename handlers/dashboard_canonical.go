package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// auditGroupsShown of the findings on pages; all of them are in the export.
const auditGroupsShown = 50

// canonicalPage shows how far a site's pages are verified, what is wrong with them, and what is muted.
func (s *Server) canonicalPage(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "canonical")
	if err != nil {
		return err
	}
	page := web.CanonicalScreen{InSite: in, CSV: apiPrefix + sitePath(in.Site.ID) + "/audit?format=" + formatCSV}
	if s.deps.Audits == nil || s.deps.Canonical == nil {
		return s.show(c, http.StatusOK, "canonical", "Canonical", page)
	}
	page.Known = true
	page.State, _, page.Counting = s.verified(ctx, in.Site)
	var groups []models.AuditGroup
	switch known, counting := s.faults(ctx, in.Site); {
	case known != nil:
		groups = *known
	case counting:
		page.Grouping = true
	default: // it failed; the error is to be seen
		if groups, err = s.deps.Canonical.AuditGroups(ctx, in.Site.ID, models.AuditFilter{Limit: auditGroupsShown + 1}); err != nil {
			return err
		}
	}
	page.More = len(groups) > auditGroupsShown
	for _, g := range groups[:min(len(groups), auditGroupsShown)] {
		page.Groups = append(page.Groups, web.AuditGroup{AuditGroup: g, Rule: s.advice(models.AboutPages, g.Code)})
	}
	if page.Incidents, err = s.deps.Audits.Incidents(ctx, in.Site.ID, s.deps.Now().AddDate(0, -1, 0)); err != nil {
		return err
	}
	if page.Mutes, err = s.deps.Audits.Mutes(ctx, in.Site.ID); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "canonical", "Canonical", page)
}

// mutePage mutes a code, or lets it be heard again, and shows the screen anew.
func (s *Server) mutePage(c echo.Context) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	if s.deps.Audits == nil {
		return unavailable("the audit of pages")
	}
	m := models.Mute{Code: c.FormValue("code"), Place: c.FormValue("place"), Note: c.FormValue("note")}
	said := "muted"
	if c.FormValue("decision") == "unmute" {
		said, err = "unmuted", s.unmute(ctx, site, m)
	} else {
		days, wrong := strconv.Atoi(c.FormValue("days"))
		if wrong != nil || days < 0 || days > 3650 {
			return newProblem(http.StatusBadRequest, "for how many days? 0 is for ever")
		}
		if days > 0 {
			until := s.deps.Now().UTC().Add(time.Duration(days) * 24 * time.Hour)
			m.Until = &until
		}
		_, err = s.mute(ctx, site, m)
	}
	var invalid *models.InvalidError
	if errors.As(err, &invalid) {
		return newProblem(http.StatusBadRequest, invalid.Error())
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/canonical?done="+said)
}
