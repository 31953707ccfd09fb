package handlers

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// exportNames are the formats as people know them.
var exportNames = map[string]string{"csv": "CSV", "ndjson": "NDJSON", "xlsx": "Excel", "parquet": "Parquet", "sitemap": "sitemap.xml", "sitemap-zip": "sitemaps.zip"}

// exportChoices links to the same pages in every format.
func (s *Server) exportChoices(site models.Site, query url.Values) []web.Choice {
	if s.deps.Export == nil {
		return nil
	}
	var all []web.Choice
	for _, f := range s.deps.Export.Formats() {
		name := exportNames[f.Name]
		if name == "" {
			name = f.Name
		}
		query.Set("format", f.Name)
		all = append(all, web.Choice{Name: name, Address: sitePath(site.ID) + "/export?" + query.Encode()})
	}
	return all
}

// exportFile streams the pages that the inventory's filter selects.
func (s *Server) exportFile(c echo.Context) error {
	ctx := c.Request().Context()
	if s.deps.Export == nil {
		return unavailable("exports")
	}
	site, err := s.siteOf(c)
	if err != nil {
		return err
	}
	filter, err := s.pageFilter(ctx, site, filterOf(c))
	if err != nil {
		return err
	}
	return s.writeExport(c, site, filter, c.QueryParam("format"))
}

// writeExport answers with a file of the pages that a filter selects, at one run however long it takes. Nothing is written
// when it gives an error.
func (s *Server) writeExport(c echo.Context, site models.Site, filter models.PageFilter, name string) error {
	ctx := c.Request().Context()
	var format ExportFormat
	for _, f := range s.deps.Export.Formats() {
		if f.Name == name {
			format = f
		}
	}
	if format.Name == "" {
		return newProblem(http.StatusUnprocessableEntity, "there is no such format; the inventory links to each of them")
	}
	var err error
	if filter.AsOf, err = s.fixed(ctx, site, filter.AsOf); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "private, no-cache")
	w := &movingWriter{c: c, start: func() {
		h.Set("Content-Type", format.ContentType)
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(site.Name) + format.Extension}))
		c.Response().WriteHeader(http.StatusOK)
	}}
	err = s.deps.Export.Export(ctx, w, format.Name, exportBase(site), func(emit func(*models.Page) error) error {
		return s.deps.Pages.Pages(ctx, site.ID, filter, emit)
	})
	switch {
	case err != nil && !w.begun:
		return err
	case err != nil:
		s.log.WarnContext(ctx, "export cut short", "site", site.ID, "format", format.Name, "error", err)
		panic(http.ErrAbortHandler) // the client must not take half of it for the whole
	case !w.begun:
		w.start()
	}
	return nil
}

// movingWriter begins the answer with the first byte and gives a long one more time while it moves.
type movingWriter struct {
	c     echo.Context
	start func()
	begun bool
	moved int
}

func (w *movingWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.begun = true
		w.start()
	}
	if w.moved += len(b); w.moved > 1<<20 {
		w.moved = 0
		extendDeadline(w.c.Response())
	}
	return w.c.Response().Write(b)
}

var _ io.Writer = (*movingWriter)(nil)

// exportBase is where a site's sitemaps live.
func exportBase(site models.Site) string {
	u, err := url.Parse(site.Home)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

// fileName keeps what every file system takes.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, ".-"); name == "" {
		return "pages"
	}
	return name[:min(len(name), 100)]
}

// evidence is what is known of a page's canonical URL, where that is looked after.
func (s *Server) evidence(ctx context.Context, siteID int64, link string) ([]models.Canonical, error) {
	if s.deps.Evidence == nil {
		return nil, nil
	}
	key, err := s.deps.KeyFor(link)
	if err != nil {
		return nil, nil
	}
	lines, err := s.deps.Evidence(ctx, siteID, key)
	if isNotFound(err) {
		return nil, nil
	}
	return lines, err
}
