package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// placesShown is how many places one answer names.
const placesShown = 40

// siteScreens are the screens of a site by the word that leads to them, and where they are under its address.
var siteScreens = []struct{ name, path string }{
	{"Summary", ""}, {"Inventory", "/urls"}, {"Changes", "/changes"}, {"Compare two moments", "/compare"}, {"Runs", "/runs"}, {"Documents", "/documents"},
	{"Findings", "/findings"}, {"Canonical", "/canonical"}, {"Language versions", "/hreflang"}, {"Held", "/held"}, {"Reports", "/reports"}, {"Stale content", "/stale"},
	{"Deliveries", "/deliveries"}, {"Settings of the site", "/settings"},
}

// goPage finds screens, sites and segments by words, which come in any order. Its form opens the first of them.
func (s *Server) goPage(c echo.Context) error {
	ctx := c.Request().Context()
	page := web.Go{Search: strings.TrimSpace(c.QueryParam("q")), From: c.QueryParam("from")}
	words := strings.Fields(strings.ToLower(page.Search))
	add := func(about, name, address string) {
		text := strings.ToLower(about + " " + name + " " + web.Text(name))
		for _, word := range words {
			if !strings.Contains(text, word) {
				return
			}
		}
		if len(page.Places) < placesShown {
			page.Places = append(page.Places, web.Destination{About: about, Name: name, Address: address})
		} else {
			page.More = true
		}
	}
	sites, err := s.deps.Sites.Sites(ctx)
	if err != nil {
		return err
	}
	for _, site := range sites { // the site that somebody comes from stands first, with its segments
		if number(site.ID) != page.From {
			continue
		}
		if err := s.placesOf(ctx, site, add); err != nil {
			return err
		}
	}
	who := principalOf(ctx)
	add("", "Overview", "/")
	if who.may(ScopeWrite) {
		add("", "Follow a site", "/sites/new")
	}
	for _, place := range [][2]string{{"Settings", "/settings"}, {"Alerts", "/settings/alerts"}, {"Digest", "/digest"}, {"API", "/docs"}} {
		add("", place[0], place[1])
	}
	if who.may(ScopeAdmin) {
		add("", "Channels", "/settings/channels")
	}
	for _, site := range sites {
		if number(site.ID) == page.From {
			continue
		}
		for _, screen := range siteScreens {
			if len(words) > 1 || screen.path == "" { // one word finds sites; a second one their screens
				add(site.Name, screen.name, sitePath(site.ID)+screen.path)
			}
		}
	}
	if c.QueryParam("open") != "" && len(page.Places) > 0 {
		return c.Redirect(http.StatusSeeOther, page.Places[0].Address)
	}
	return s.show(c, http.StatusOK, "go", "Go to", page)
}

func (s *Server) placesOf(ctx context.Context, site models.Site, add func(about, name, address string)) error {
	for _, screen := range siteScreens {
		add(site.Name, screen.name, sitePath(site.ID)+screen.path)
	}
	segments, err := s.segments(ctx, site)
	for _, segment := range segments {
		add(site.Name, segment.Name, sitePath(site.ID)+"/urls?"+url.Values{"segment": {segment.Name}}.Encode())
	}
	return err
}
