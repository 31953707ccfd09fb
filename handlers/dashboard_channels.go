package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
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
	e.POST("/settings/alerts", s.addRulePage, write)
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
	address, name, digest, types := form.Get("address"), form.Get("name"), form.Get("digest"), form["type"]
	spec := models.ChannelSpec{Address: &address, Name: &name, Digest: &digest}
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

func (s *Server) alertsPage(c echo.Context) error {
	return s.showAlerts(c, http.StatusOK, web.Alerts{})
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

// addRulePage adds the rule of the form, or says what it would have sent.
func (s *Server) addRulePage(c echo.Context) error {
	ctx := c.Request().Context()
	if s.deps.AlertRules == nil || s.deps.Desk == nil {
		return unavailable("alerts")
	}
	page := web.Alerts{Form: map[string]string{}, Chosen: map[int64]bool{}}
	for _, name := range []string{"trigger", "threshold", "hours", "severity", "code", "site", "filter", "name"} {
		page.Form[name] = strings.TrimSpace(c.FormValue(name))
	}
	channels := []int64{}
	form, err := c.FormParams()
	if err != nil {
		return newProblem(http.StatusBadRequest, "the form could not be read")
	}
	for _, text := range form["channel"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			channels, page.Chosen[id] = append(channels, id), true
		}
	}
	rule, err := s.typedRule(c, page.Form, channels)
	if err == nil && c.FormValue("do") == "preview" {
		page.Previewed = true
		page.Preview, err = s.deps.Desk.Preview(ctx, rule, s.deps.Now().AddDate(0, 0, -30))
		if err == nil {
			return s.showAlerts(c, http.StatusOK, page)
		}
	} else if err == nil {
		_, err = s.deps.AlertRules.SaveAlertRule(ctx, rule)
	}
	if shownToPeople(err) {
		page.Problem, page.Previewed = err.Error(), false
		return s.showAlerts(c, http.StatusUnprocessableEntity, page)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/settings/alerts?done=saved")
}

func (s *Server) typedRule(c echo.Context, form map[string]string, channels []int64) (models.AlertRule, error) {
	spec := models.AlertRuleSpec{Channels: &channels}
	for name, field := range map[string]**string{"trigger": &spec.Trigger, "severity": &spec.Severity, "code": &spec.Code, "filter": &spec.Filter, "name": &spec.Name} {
		if text := form[name]; text != "" {
			*field = &text
		}
	}
	if text := form["threshold"]; text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return models.AlertRule{}, models.Invalid("threshold", "", "%q is no number", text)
		}
		spec.Threshold = &n
	}
	if text := form["hours"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 8784 {
			return models.AlertRule{}, models.Invalid("within", "1 to 8784 hours", "%q is no number of hours", text)
		}
		within := time.Duration(n) * time.Hour
		spec.Within = &within
	}
	if id, err := strconv.ParseInt(form["site"], 10, 64); err == nil {
		spec.SiteID = &id
	}
	return s.deps.Desk.Rule(c.Request().Context(), models.AlertRule{}, spec)
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
