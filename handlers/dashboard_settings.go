package handlers

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

const keyOverlap = 24 * time.Hour // of an old secret with its successor

func (s *Server) siteSettingsPage(c echo.Context) error {
	in, err := s.siteHere(c, "settings")
	if err != nil {
		return err
	}
	return s.showSiteSettings(c, http.StatusOK, web.SiteSettings{InSite: in, Schedule: in.Site.Schedule, TimeZone: in.Site.TimeZone})
}

// moreSettings reads the folded part of the form into a body, and gives it as typed. An empty password changes nothing.
func (s *Server) moreSettings(c echo.Context, body *siteBody) *web.MoreSettings {
	if c.FormValue("more") == "" {
		return nil
	}
	typed := func(name string, into **string) string {
		text := strings.TrimSpace(c.FormValue(name))
		*into = &text
		return text
	}
	more := &web.MoreSettings{Hosts: c.FormValue("hosts"), ConfirmAfter: typed("confirm_after", &body.ConfirmAfter), ReleaseAfter: typed("release_after", &body.ReleaseAfter),
		Quiet: typed("quiet", &body.Quiet), MaxWait: typed("max_wait", &body.MaxWait), Username: typed("username", &body.Username), PublicBadges: c.FormValue("public_badges") != "",
		PreferredScheme: typed("preferred_scheme", &body.PreferredScheme), PreferredHost: typed("preferred_host", &body.PreferredHost),
		TrailingSlash: typed("trailing_slash", &body.TrailingSlash)}
	more.Retention = strings.TrimSpace(c.FormValue("retention"))
	retention := fromDays(more.Retention)
	body.Retention = &retention
	hosts := strings.Fields(more.Hosts)
	more.Tags = c.FormValue("tags")
	tags := strings.Split(more.Tags, ",")
	body.Tags = &tags
	body.Hosts, body.PublicBadges = &hosts, &more.PublicBadges
	if password := c.FormValue("password"); password != "" {
		body.Password = &password
	}
	return more
}

// storedSettings writes the folded part of the form as it is stored; empty is the daemon's own.
func storedSettings(site *models.Site) *web.MoreSettings {
	text := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	g := &site.Settings
	return &web.MoreSettings{Hosts: strings.Join(g.Hosts, "\n"), Tags: strings.Join(g.Tags, ", "), ConfirmAfter: text(g.ConfirmAfter), ReleaseAfter: text(g.ReleaseAfter), Quiet: text(g.Quiet),
		MaxWait: text(g.MaxWait), Retention: daysOf(g.Retention), Username: g.Username, PublicBadges: g.PublicBadges,
		PreferredScheme: g.PreferredScheme, PreferredHost: g.PreferredHost, TrailingSlash: g.TrailingSlash}
}

// showSiteSettings adds what the form shows besides what was typed.
func (s *Server) showSiteSettings(c echo.Context, status int, page web.SiteSettings) error {
	site := page.Site
	if page.More == nil {
		page.More = storedSettings(&site)
	}
	page.KeepAll = daysOf(s.deps.Defaults.Settings.Retention)
	page.HasPassword, page.Defaults = site.Settings.Password != "", s.deps.Defaults.Settings
	var roots []string
	for _, root := range site.Roots {
		roots = append(roots, root.URL)
	}
	if page.Roots == "" {
		page.Roots = strings.Join(roots, "\n")
	}
	if page.Schedule != "" && s.deps.CheckSchedule != nil && page.Problem == "" {
		next, err := s.deps.CheckSchedule(page.Schedule, page.TimeZone)
		if err != nil {
			page.Problem, status = err.Error(), http.StatusUnprocessableEntity
		}
		page.Next = next[:min(len(next), 5)]
	}
	base := s.deps.PublicURL
	if base == "" {
		base = c.Scheme() + "://" + c.Request().Host
	}
	page.Hook = base + "/hooks/" + number(site.ID)
	page.MayKeys = principalOf(c.Request().Context()).may(ScopeAdmin)
	if page.MayKeys {
		keys, err := s.deps.HookKeys.HookKeys(c.Request().Context(), site.ID)
		if err != nil {
			return err
		}
		for _, k := range keys {
			page.Keys = append(page.Keys, s.webKey(site, k, ""))
		}
	}
	return s.show(c, status, "sitesettings", "Settings of the site", page)
}

func (s *Server) webKey(site models.Site, k models.HookKey, hook string) web.HookKey {
	shown := s.shownKey(site, k, hook != "")
	out := web.HookKey{ID: shown.ID, Secret: shown.Secret, NotBefore: shown.NotBefore, NotAfter: shown.NotAfter}
	if hook != "" {
		if token, err := HookToken(k.Secret); err == nil {
			out.TokenURL = hook + "/" + token
		}
	}
	return out
}

func (s *Server) saveSiteSettings(c echo.Context) error {
	ctx := c.Request().Context()
	in, err := s.siteHere(c, "settings")
	if err != nil {
		return err
	}
	site := in.Site
	page := web.SiteSettings{InSite: in, Schedule: strings.TrimSpace(c.FormValue("schedule")), TimeZone: strings.TrimSpace(c.FormValue("time_zone"))}
	if c.FormValue("do") == "preview" {
		return s.showSiteSettings(c, http.StatusOK, page)
	}
	name, home, paused := c.FormValue("name"), strings.TrimSpace(c.FormValue("home")), c.FormValue("paused") != ""
	body := siteBody{Name: &name, Home: &home, Schedule: &page.Schedule, TimeZone: &page.TimeZone, Paused: &paused}
	page.More = s.moreSettings(c, &body)
	roots := strings.Fields(c.FormValue("roots"))
	if !slices.Equal(roots, rootsOf(site)) { // keeps how each was found
		body.Roots = roots
	}
	if strings.TrimSpace(name) == "" {
		err = models.Invalid("name", "", "a site needs a name")
	} else {
		err = body.apply(s, &site)
	}
	if err == nil && s.forgetsMore(in.Site, site) && c.FormValue("forget") == "" {
		page.Forgets = true
		err = models.Invalid("retention", "", "history that is older will be gone for good: confirm it below")
	}
	if err == nil {
		if site.Schedule != in.Site.Schedule || site.TimeZone != in.Site.TimeZone {
			site.NextDue = s.nextDue(site)
		}
		err = s.deps.Sites.SaveSite(ctx, site)
	}
	var invalid *models.InvalidError
	if errors.As(err, &invalid) || errors.Is(err, models.ErrConflict) {
		page.Problem = err.Error()
		page.Site.Home, page.Site.Paused, page.Roots = home, paused, strings.Join(roots, "\n")
		return s.showSiteSettings(c, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/settings?done=saved")
}

// nextDue is when a changed schedule fires first, nil for never. Without one of its own the site is due at once: the
// daemon plans by its own schedule from there.
func (s *Server) nextDue(site models.Site) *time.Time {
	now := s.deps.Now().UTC()
	if site.Schedule == "" || s.deps.CheckSchedule == nil {
		return &now
	}
	next, err := s.deps.CheckSchedule(site.Schedule, site.TimeZone)
	if err != nil || len(next) == 0 {
		return nil
	}
	at := next[0].UTC()
	return &at
}

func rootsOf(site models.Site) []string {
	var roots []string
	for _, root := range site.Roots {
		roots = append(roots, root.URL)
	}
	return roots
}

// rotateKeyPage makes a secret and shows it in its answer alone: it is in no address and no log.
func (s *Server) rotateKeyPage(c echo.Context) error {
	in, err := s.siteHere(c, "settings")
	if err != nil {
		return err
	}
	key, err := s.deps.HookKeys.RotateHookKey(c.Request().Context(), in.Site.ID, keyOverlap)
	if err != nil {
		return err
	}
	base := s.deps.PublicURL
	if base == "" {
		base = c.Scheme() + "://" + c.Request().Host
	}
	fresh := s.webKey(in.Site, key, base+"/hooks/"+number(in.Site.ID))
	return s.showSiteSettings(c, http.StatusOK, web.SiteSettings{InSite: in, Schedule: in.Site.Schedule, TimeZone: in.Site.TimeZone, Fresh: &fresh})
}

func (s *Server) removeSitePage(c echo.Context) error {
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	if c.FormValue("name") != site.Name {
		return newProblem(http.StatusUnprocessableEntity, "the name that was typed is not the site's; nothing was done")
	}
	if err := s.deps.Sites.RemoveSite(c.Request().Context(), site.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/?done=removed")
}

func (s *Server) settingsPage(c echo.Context) error {
	return s.showSettings(c, http.StatusOK, web.Settings{})
}

func (s *Server) showSettings(c echo.Context, status int, page web.Settings) error {
	ctx := c.Request().Context()
	var err error
	if page.Sites, err = s.deps.Sites.Sites(ctx); err != nil {
		return err
	}
	page.Version, page.Keeps, page.Scopes = s.deps.Version, s.deps.Tokens != nil, scopeOrder
	if page.Keeps && principalOf(ctx).may(ScopeAdmin) {
		if page.Tokens, err = s.deps.Tokens.Tokens(ctx); err != nil {
			return err
		}
	}
	return s.show(c, status, "settings", "Settings", page)
}

// makeTokenPage makes a token and shows it in its answer alone.
func (s *Server) makeTokenPage(c echo.Context) error {
	ctx := c.Request().Context()
	if s.deps.Tokens == nil {
		return unavailable("token storage")
	}
	now := s.deps.Now().UTC()
	var expires *time.Time
	if days, err := strconv.Atoi(c.FormValue("days")); err == nil && days > 0 && days <= 3650 {
		at := now.AddDate(0, 0, days)
		expires = &at
	} else if c.FormValue("days") != "" {
		return s.showSettings(c, http.StatusUnprocessableEntity, web.Settings{Problem: "A token is valid for 1 to 3650 days."})
	}
	token, text, err := NewToken(strings.TrimSpace(c.FormValue("name")), []string{c.FormValue("scope")}, now, expires)
	if err != nil {
		return s.showSettings(c, http.StatusUnprocessableEntity, web.Settings{Problem: err.Error()})
	}
	if token, err = s.deps.Tokens.SaveToken(ctx, token); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "token made", "token", token.ID, "scopes", token.Scopes, "by", principalName(ctx))
	return s.showSettings(c, http.StatusOK, web.Settings{Fresh: text})
}

func (s *Server) revokeTokenPage(c echo.Context) error {
	ctx := c.Request().Context()
	id, err := strconv.ParseInt(c.Param("token"), 10, 64)
	if err != nil || s.deps.Tokens == nil {
		return notFound("token")
	}
	if err := s.deps.Tokens.RevokeToken(ctx, id, s.deps.Now()); isNotFound(err) {
		return notFound("token")
	} else if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/settings?done=revoked")
}
