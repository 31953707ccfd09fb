package handlers

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// zoneCookie keeps the time zone in which somebody reads times, an IANA name; without it the browser's own is used.
const zoneCookie = "zone"

// zoneHere is the chosen zone, "" for the browser's own.
func zoneHere(c echo.Context) string {
	cookie, err := c.Request().Cookie(zoneCookie)
	if err != nil || !knownZone(cookie.Value) {
		return ""
	}
	return cookie.Value
}

// knownZone accepts names that browsers know as well; "Local" is the server's and says nothing to them.
func knownZone(name string) bool {
	if name == "" || len(name) > 60 || name == "Local" || strings.ContainsAny(name, "\"<>; ") {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

// chooseZone keeps the choice in a cookie of the browser. An unknown name is told and changes nothing.
func (s *Server) chooseZone(c echo.Context) error {
	cookie := &http.Cookie{Name: zoneCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: 365 * 24 * 3600, Value: strings.TrimSpace(c.FormValue("zone"))}
	switch {
	case cookie.Value == "":
		cookie.MaxAge = -1
	case !knownZone(cookie.Value):
		return newProblem(http.StatusUnprocessableEntity, "there is no such time zone; give an IANA name such as Europe/Vienna, UTC, or nothing for the browser's own")
	}
	c.SetCookie(cookie)
	return c.Redirect(http.StatusSeeOther, "/settings?done=saved")
}
