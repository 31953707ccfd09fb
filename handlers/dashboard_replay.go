package handlers

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"
)

// maxReplayed deliveries at a time: all that one page of the log shows.
const maxReplayed = rowsOnPage

// replayPage stores one accepted delivery anew.
func (s *Server) replayPage(c echo.Context) error {
	return s.replayAndLook(c, []string{c.Param("trigger")})
}

// replayChosenPage stores the chosen deliveries anew.
func (s *Server) replayChosenPage(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return newProblem(http.StatusBadRequest, "the form could not be read")
	}
	chosen := form["trigger"]
	switch {
	case len(chosen) == 0:
		return newProblem(http.StatusBadRequest, "choose at least one delivery")
	case len(chosen) > maxReplayed:
		return newProblem(http.StatusBadRequest, "these are more than a page of the log shows")
	}
	return s.replayAndLook(c, chosen)
}

// replayAndLook replays in the order in which the deliveries came. What is no delivery of the site is refused before anything is stored.
func (s *Server) replayAndLook(c echo.Context, chosen []string) error {
	ctx := c.Request().Context()
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(chosen))
	for _, text := range chosen {
		id, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			_, err = s.deps.Triggers.Trigger(ctx, site.ID, id)
		}
		if isNotFound(err) || id <= 0 {
			return notFound("accepted delivery of this site")
		}
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if _, err := s.replay(ctx, site, id); err != nil {
			return err
		}
	}
	return c.Redirect(http.StatusSeeOther, sitePath(site.ID)+"/deliveries?done=replayed")
}
