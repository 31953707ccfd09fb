package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// docsRoutes serves the API's document.
func (s *Server) docsRoutes(api *echo.Group) error {
	document, err := Document(s.api)
	if err != nil {
		return err
	}
	api.GET("/openapi.json", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/openapi+json", document)
	})
	return nil
}

// Document writes the OpenAPI document.
func Document(api huma.API) ([]byte, error) {
	document, err := json.MarshalIndent(api.OpenAPI(), "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the API's document: %w", err)
	}
	return document, nil
}
