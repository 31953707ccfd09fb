package handlers

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// precision is how models.Precision looks in JSON.
type precision string

func (precision) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"year", "month", "day", "minute", "second", "fraction"}, Description: "How far the declared text went."}
}

// registerAliases tells the document how types of models write themselves.
func registerAliases(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[models.Precision](), reflect.TypeFor[precision]())
}
