package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

var (
	diffKinds   = []string{models.KindAdded, models.KindChanged, models.KindMoved, models.KindRemoved, models.KindPending, models.KindHeld, models.KindStale, models.KindFresh}
	comparisons = []struct{ name, from string }{{"since yesterday", "-1d"}, {"in 7 days", "-7d"}, {"in 30 days", "-30d"}, {"in a year", "-365d"}}
)

// comparePage shows what differs between two moments: two runs, two times, or one of them and now.
func (s *Server) comparePage(c echo.Context) error {
	in, err := s.siteHere(c, "changes")
	if err != nil {
		return err
	}
	page := web.Compare{InSite: in, From: strings.TrimSpace(c.QueryParam("from")), To: strings.TrimSpace(c.QueryParam("to"))}
	for _, choice := range comparisons {
		page.Presets = append(page.Presets, web.Choice{Name: choice.name, Address: "?from=" + choice.from, Chosen: page.From == choice.from && page.To == ""})
	}
	if last := in.Site.CurrentRun; last > 1 {
		from := number(last - 1)
		page.Presets = slices.Insert(page.Presets, 0, web.Choice{Name: "by the last run", Address: "?from=" + from, Chosen: page.From == from && page.To == ""})
	}
	if page.From == "" {
		return s.show(c, http.StatusOK, "compare", "Compare two moments", page)
	}
	page.Asked = true
	status := http.StatusOK
	var invalid *models.InvalidError
	var pruned *models.PrunedError
	switch err := s.compare(c, &page); {
	case errors.As(err, &invalid):
		page.Problem, status = invalid.Error(), http.StatusUnprocessableEntity
	case errors.As(err, &pruned):
		page.Problem, status = pruned.Error(), http.StatusGone
	case err != nil:
		return err
	}
	return s.show(c, status, "compare", "Compare two moments", page)
}

func (s *Server) compare(c echo.Context, page *web.Compare) error {
	filter := diffInput{From: absolute(page.From, s.deps.Now()), To: absolute(page.To, s.deps.Now())}
	query := url.Values{"from": {filter.From}, "format": {formatCSV}}
	if filter.To != "" {
		query.Set("to", filter.To)
	}
	kind := c.QueryParam("kind")
	if slices.Contains(diffKinds, kind) {
		filter.Kinds = []string{kind}
		query.Set("kind", kind)
	} else {
		kind = ""
	}
	page.Kinds = choices(c, "kind", kind, diffKinds...)
	page.CSV = apiPrefix + sitePath(page.Site.ID) + "/diff?" + query.Encode()
	asked, err := filter.filter()
	if err != nil {
		return err
	}
	hash := filterHash(c.QueryParams(), c.Path()+number(page.Site.ID))
	read, err := s.diffPage(c.Request().Context(), page.Site.ID, asked, c.QueryParam("page_token"), rowsOnPage, hash)
	if err != nil {
		return err
	}
	page.Changes, page.Next = read.Items, nextPath(c, read.NextPageToken)
	page.Short = page.Next != "" && len(page.Changes) < rowsOnPage
	return nil
}

// absolute writes days before now (-7d) as the time that they mean; everything else stays as it was typed.
func absolute(text string, now time.Time) string {
	if at, ok := models.ParseMoment(text, now); ok && strings.HasPrefix(text, "-") {
		return at.Format(time.RFC3339)
	}
	return text
}
