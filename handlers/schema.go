package handlers

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// precision is how models.Precision looks in JSON.
type precision string

func (precision) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"year", "month", "day", "minute", "second", "fraction"}, Description: "How far the declared text went."}
}

// nanoseconds is how time.Duration looks in JSON.
type nanoseconds int64

func (nanoseconds) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Description: "Nanoseconds; 0 or absent for the daemon's default."}
}

// registerAliases tells the document how types of models write themselves.
func registerAliases(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[models.Precision](), reflect.TypeFor[precision]())
	registry.RegisterTypeAlias(reflect.TypeFor[time.Duration](), reflect.TypeFor[nanoseconds]())
}
