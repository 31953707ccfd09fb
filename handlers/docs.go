package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/swaggerui"
)

// docsRoutes serves the API's document, and the page that shows it to people. Neither holds a secret,
// so neither asks who is there.
func (s *Server) docsRoutes(api *echo.Group) error {
	document, err := s.Document()
	if err != nil {
		return err
	}
	api.GET("/openapi.json", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/openapi+json", document)
	})
	s.contextRoute(api)
	s.echo.GET("/docs", func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", pageCSP)
		return c.HTMLBlob(http.StatusOK, swaggerui.Page())
	})
	s.echo.GET("/docs/:file", func(c echo.Context) error {
		err := swaggerui.Serve(c.Response(), c.Request(), c.Param("file"))
		if errors.Is(err, fs.ErrNotExist) {
			return notFound("file of the documentation")
		}
		return err
	})
	return nil
}

// Document is the API's OpenAPI 3.1 document.
func (s *Server) Document() ([]byte, error) {
	document, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the API's document: %w", err)
	}
	return append(document, '\n'), nil
}
