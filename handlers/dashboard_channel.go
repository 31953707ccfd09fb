package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// storedChannel writes a channel as its form shows it. The address may hold a secret, so it is typed anew or stays.
func storedChannel(about *models.Channel) *web.ChannelForm {
	return &web.ChannelForm{Name: about.Name, SiteID: about.SiteID, Types: about.Types, Digest: about.Digest, TimeZone: about.TimeZone}
}

// typeChoices offers the types of events, with those patterns ("*", "held.*") that a channel has besides.
func typeChoices(chosen []string) []web.Choice {
	var all []web.Choice
	for _, name := range models.EventTypes {
		all = append(all, web.Choice{Name: name, Chosen: slices.Contains(chosen, name)})
	}
	for _, name := range chosen {
		if !slices.Contains(models.EventTypes, name) {
			all = append(all, web.Choice{Name: name, Chosen: true})
		}
	}
	if !slices.Contains(chosen, "*") {
		all = append(all, web.Choice{Name: "*"})
	}
	return all
}

// changeChannelPage changes what a person says of a channel; its queue, its log and its secrets stay.
func (s *Server) changeChannelPage(c echo.Context, about models.Channel) error {
	if err := changeable(about.Origin); err != nil {
		return err
	}
	form, err := c.FormParams()
	if err != nil {
		return newProblem(http.StatusBadRequest, "the form could not be read")
	}
	typed := web.ChannelForm{Name: strings.TrimSpace(form.Get("name")), Address: strings.TrimSpace(form.Get("address")), Types: form["type"],
		Digest: strings.TrimSpace(form.Get("digest")), TimeZone: strings.TrimSpace(form.Get("time_zone"))}
	typed.SiteID, _ = strconv.ParseInt(form.Get("site"), 10, 64)
	types := append([]string{}, typed.Types...)
	spec := models.ChannelSpec{Name: &typed.Name, SiteID: &typed.SiteID, Types: &types}
	if typed.Address != "" {
		spec.Address = &typed.Address
	}
	if typed.Digest != about.Digest || typed.TimeZone != about.TimeZone { // else the next one stays planned
		spec.Digest, spec.TimeZone = &typed.Digest, &typed.TimeZone
	}
	if typed.Name == "" {
		err = models.Invalid("name", "", "a channel needs a name")
	} else {
		_, err = s.deps.Desk.ChangeChannel(c.Request().Context(), about.ID, spec)
	}
	if shownToPeople(err) {
		return s.showChannel(c, http.StatusUnprocessableEntity, about, web.ChannelPage{Problem: err.Error(), Form: &typed})
	}
	if err != nil {
		return err
	}
	s.log.InfoContext(c.Request().Context(), "channel changed", "channel", about.ID, "by", principalName(c.Request().Context()))
	return c.Redirect(http.StatusSeeOther, "/settings/channels/"+number(about.ID)+"?done=saved")
}
