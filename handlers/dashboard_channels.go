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

// channelPages are the screens of channels, alerts and digests.
func (s *Server) channelPages(read, write, admin echo.MiddlewareFunc) {
	e := s.echo
	e.GET("/settings/channels", s.channelsPage, admin)
	e.POST("/settings/channels", s.addChannelPage, admin)
	e.GET("/settings/channels/:channel", s.channelPage, admin)
	e.POST("/settings/channels/:channel/:do", s.channelDo, admin)
	e.GET("/settings/alerts", s.alertsPage, read)
	e.POST("/settings/alerts", s.saveRulePage, write)
	e.POST("/settings/alerts/:rule/:do", s.ruleDo, write)
	e.GET("/digest", s.digestPage, read)
}

func (s *Server) channelRows(c echo.Context) ([]web.ChannelRow, error) {
	all, err := s.channelList(c.Request().Context())
	var rows []web.ChannelRow
	for _, one := range all {
		rows = append(rows, web.ChannelRow{Channel: one.Channel, Shown: one.Address, Waiting: one.Waiting})
	}
	return rows, err
}

func (s *Server) channelsPage(c echo.Context) error {
	return s.showChannels(c, http.StatusOK, web.Channels{})
}

func (s *Server) showChannels(c echo.Context, status int, page web.Channels) error {
	var err error
	if page.List, err = s.channelRows(c); err != nil {
		return err
	}
	if page.Sites, err = s.deps.Sites.Sites(c.Request().Context()); err != nil {
		return err
	}
	page.Types = models.EventTypes
	return s.show(c, status, "channels", "Channels", page)
}

// shownToPeople tells a mistake in a form from a failure of ours.
func shownToPeople(err error) bool {
	var invalid *models.InvalidError
	return errors.As(err, &invalid) || errors.Is(err, models.ErrConflict) || errors.Is(err, models.ErrNotFound)
}

func (s *Server) addChannelPage(c echo.Context) error {
	if s.deps.Desk == nil {
		return unavailable("telling others")
	}
	form, err := c.FormParams()
	if err != nil {
		return newProblem(http.StatusBadRequest, "the form could not be read")
	}
	address, name, digest, zone, types := form.Get("address"), form.Get("name"), form.Get("digest"), form.Get("time_zone"), form["type"]
	spec := models.ChannelSpec{Address: &address, Name: &name, Digest: &digest, TimeZone: &zone}
	if len(types) > 0 {
		spec.Types = &types
	}
	if id, err := strconv.ParseInt(form.Get("site"), 10, 64); err == nil {
		spec.SiteID = &id
	}
	made, key, err := s.deps.Desk.AddChannel(c.Request().Context(), spec)
	if shownToPeople(err) {
		return s.showChannels(c, http.StatusUnprocessableEntity, web.Channels{Problem: err.Error(), Address: address})
	}
	if err != nil {
		return err
	}
	page := web.ChannelPage{}
	if key != nil {
		page.Secret = key.Secret
	}
	return s.showChannel(c, http.StatusCreated, made, page)
}

func (s *Server) channelPage(c echo.Context) error {
	found, err := s.channel(c.Request().Context(), ChannelInput{Channel: c.Param("channel")})
	if err != nil {
		return err
	}
	return s.showChannel(c, http.StatusOK, found, web.ChannelPage{})
}

// showChannel reads the channel anew: what was just done to it may have changed it.
func (s *Server) showChannel(c echo.Context, status int, about models.Channel, page web.ChannelPage) error {
	rows, err := s.channelRows(c)
	if err != nil {
		return err
	}
	page.ChannelRow = web.ChannelRow{Channel: about, Shown: s.deps.Desk.Shown(&about)}
	for _, row := range rows {
		if row.ID == about.ID {
			page.ChannelRow = row
		}
	}
	hash := filterHash(c.QueryParams(), c.Path()+number(about.ID))
	outcome := c.QueryParam("outcome")
	log, err := s.attempts(c.Request().Context(), about.ID, models.AttemptFilter{Outcome: outcome}, c.QueryParam("page_token"), rowsOnPage, hash)
	if err != nil {
		return err
	}
	if page.Sites, err = s.deps.Sites.Sites(c.Request().Context()); err != nil {
		return err
	}
	if page.Form == nil {
		page.Form = storedChannel(&page.Channel)
	}
	page.Kinds = typeChoices(page.Form.Types)
	page.Attempts, page.Next = log.Items, nextPath(c, log.NextPageToken)
	page.Outcomes = choices(c, "outcome", outcome, models.AttemptDelivered, models.AttemptFailed, models.AttemptGivenUp)
	return s.show(c, status, "channel", about.Name, page)
}

// channelDo does what a button on a channel's page says.
func (s *Server) channelDo(c echo.Context) error {
	ctx := c.Request().Context()
	about, err := s.channel(ctx, ChannelInput{Channel: c.Param("channel")})
	if err != nil {
		return err
	}
	word := "saved"
	switch c.Param("do") {
	case "test":
		attempt, err := s.deps.Desk.Test(ctx, about.ID)
		if err != nil {
			return err
		}
		return s.showChannel(c, http.StatusOK, about, web.ChannelPage{Tested: &attempt})
	case "secret":
		if about.Kind != models.ChannelWebhook {
			return newProblem(http.StatusUnprocessableEntity, "webhooks alone are signed")
		}
		key, err := s.deps.Channels.RotateChannelKey(ctx, about.ID, "", keyOverlap)
		if err != nil {
			return err
		}
		return s.showChannel(c, http.StatusOK, about, web.ChannelPage{Secret: key.Secret})
	case "change":
		return s.changeChannelPage(c, about)
	case "enable", "disable":
		err = s.switchChannel(ctx, about.ID, c.Param("do") == "enable")
	case "recover":
		days, wrong := strconv.Atoi(c.FormValue("days"))
		if wrong != nil || days < 1 || days > 365 {
			return newProblem(http.StatusUnprocessableEntity, "give a number of days from 1 to 365")
		}
		_, err = s.deps.Channels.Recover(ctx, about.ID, s.deps.Now().AddDate(0, 0, -days), s.deps.Now())
		word = "resent"
	case "resend":
		if err = s.deps.Channels.Resend(ctx, about.ID, c.FormValue("event"), s.deps.Now()); isNotFound(err) {
			return notFound("event")
		}
		word = "resent"
	case "remove":
		if c.FormValue("name") != about.Name {
			return newProblem(http.StatusUnprocessableEntity, "the name that was typed is not the channel's; nothing was done")
		}
		if err := s.deps.Channels.RemoveChannel(ctx, about.ID); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, "/settings/channels?done=channel-removed")
	default:
		return notFound("page")
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/settings/channels/"+number(about.ID)+"?done="+word)
}

// alertsPage shows the rules, and in its form the one that somebody wants to change.
func (s *Server) alertsPage(c echo.Context) error {
	page := web.Alerts{}
	if edit := c.QueryParam("edit"); edit != "" && principalOf(c.Request().Context()).may(ScopeWrite) {
		rule, err := s.ruleToChange(c, edit)
		if err != nil {
			return err
		}
		storedRule(&page, &rule)
	}
	return s.showAlerts(c, http.StatusOK, page)
}

func (s *Server) showAlerts(c echo.Context, status int, page web.Alerts) error {
	ctx := c.Request().Context()
	rules, err := s.ruleList(ctx)
	if err != nil {
		return err
	}
	if page.Sites, err = s.deps.Sites.Sites(ctx); err != nil {
		return err
	}
	page.Names = map[int64]string{}
	for _, site := range page.Sites {
		page.Names[site.ID] = site.Name
	}
	called := map[int64]string{}
	if s.deps.Channels != nil {
		if page.Channels, err = s.deps.Channels.Channels(ctx); err != nil {
			return err
		}
	}
	for _, channel := range page.Channels {
		called[channel.ID] = channel.Name
	}
	for _, r := range rules {
		row := web.RuleRow{AlertRule: r.AlertRule, Open: r.Open}
		for _, id := range r.Channels {
			if name, ok := called[id]; ok {
				row.Told = append(row.Told, name)
			}
		}
		page.Rules = append(page.Rules, row)
	}
	past, err := s.alerts(ctx, 0, c.QueryParam("page_token"), rowsOnPage, filterHash(c.QueryParams(), c.Path()))
	if err != nil {
		return err
	}
	page.Alerts, page.Next, page.Triggers = past.Items, nextPath(c, past.NextPageToken), models.AlertTriggers
	if page.Form == nil {
		page.Form = map[string]string{}
	}
	return s.show(c, status, "alerts", "Alerts", page)
}

// ruleDo does what a button beside a rule says.
func (s *Server) ruleDo(c echo.Context) error {
	ctx := c.Request().Context()
	rule, err := s.rule(ctx, RuleInput{Rule: c.Param("rule")})
	if err != nil {
		return err
	}
	switch c.Param("do") {
	case "silence":
		hours, wrong := strconv.Atoi(c.FormValue("hours"))
		if wrong != nil || hours < 0 || hours > 8784 {
			return newProblem(http.StatusUnprocessableEntity, "give a number of hours from 1 to 8784")
		}
		_, err = s.silence(ctx, rule, time.Duration(hours)*time.Hour, "by "+principalName(ctx))
	case "remove":
		err = s.deps.AlertRules.RemoveAlertRule(ctx, rule.ID, s.deps.Now())
	default:
		return notFound("page")
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/settings/alerts?done=saved")
}

func (s *Server) digestPage(c echo.Context) error {
	ctx := c.Request().Context()
	if s.deps.Desk == nil {
		return unavailable("digests")
	}
	days, err := strconv.Atoi(c.QueryParam("days"))
	if err != nil || days < 1 || days > 365 {
		days = 7
	}
	site, err := s.siteOrAll(ctx, c.QueryParam("site"))
	if err != nil {
		return err
	}
	now := s.deps.Now()
	page := web.Digest{Days: choices(c, "days", strconv.Itoa(days), "7", "30", "90", "365")[1:]}
	for i := range page.Days {
		page.Days[i].Name += " days"
	}
	if page.Digest, page.Lines, err = s.deps.Desk.Digest(ctx, site, now.AddDate(0, 0, -days), now); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "digest", "Digest", page)
}
