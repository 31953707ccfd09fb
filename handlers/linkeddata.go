package handlers

import (
	_ "embed" // the context is a part of the program
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"
)

// contextPath is where the names of the linked data are explained. Readers resolve it against the address of what they read
// (JSON-LD 1.1, section 3.1).
const contextPath = apiPrefix + "/context.jsonld"

//go:embed context.jsonld
var linkedContext []byte

// contextRoute serves the context to anybody: it holds no secret.
func (s *Server) contextRoute(api *echo.Group) {
	api.GET("/context.jsonld", func(c echo.Context) error {
		c.Response().Header().Set("Access-Control-Allow-Origin", "*")
		return c.Blob(http.StatusOK, mediaJSONLD, linkedContext)
	})
}

// jsonLD gives the same document with names that mean something outside.
func jsonLD(page metadataPage) (map[string]any, error) {
	text, err := json.Marshal(page)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	out["@context"] = contextPath
	items, _ := out["items"].([]any)
	for i, item := range items {
		if node, ok := item.(map[string]any); ok {
			node["@id"], node["@type"] = page.Items[i].URL, page.Items[i].Resource.Class
		}
	}
	return out, nil
}
