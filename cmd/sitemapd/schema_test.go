package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

var update = flag.Bool("update", false, "write the JSON Schemas to docs/schema")

const schemaFolder = "../../docs/schema"

// schemaBase is where the files are published; references between them are relative.
const schemaBase = "https://raw.githubusercontent.com/sitemapd/sitemapd/main/docs/schema/"

// schemas are the published files and what each describes, by its name in the API's document.
var schemas = map[string]struct{ component, title string }{
	"document":         {"Document", "A sitemap file of a site with one of its versions"},
	"run":              {"Run", "One walk through the documents of a site"},
	"page":             {"Page", "A page as the inventory shows it"},
	"change":           {"Change", "One line of the change feed"},
	"sitemap-metadata": {"MetadataPage", "What is known of a site's sitemaps, by the sitemap ontology"},
}

// words are the values of fields that the API's document leaves open.
var words = map[string][]any{
	"Document.verdict":                {"complete", "partial", "unavailable", "not_a_sitemap", "unchanged", "gone"},
	"Document.type":                   {"urlset", "sitemapindex", "text", "feed", "none"},
	"Document.discovery_method":       {"robots_txt", "direct_URL", "sitemap_index", "linked_reference", "search_engine_submission"},
	"Run.verdict":                     {"complete", "partial", "unavailable", ""},
	"Run.cause":                       {"manual", "cron", "hook", "ping", "confirm", "recheck"},
	"Page.state":                      {"live", "stale", "pending", "held", "removed", "foreign"},
	"Page.freshness":                  {"current_unknown", "fresh", "stale", "changed", "unavailable"},
	"FreshnessReport.freshness_state": {"current_unknown", "fresh", "stale", "changed", "unavailable"},
	"SitemapResource.class":           {"URLSetSitemap", "SitemapIndex", "SitemapResource"},
	"Change.kind":                     {"added", "changed", "moved", "removed", "restored", "pending", "held", "stale", "fresh"},
	"Finding.severity":                {"error", "warning", "info"},
}

// components gives the schemas of the API's document, with the blocks described that it leaves open.
func components(t *testing.T) map[string]any {
	t.Helper()
	raw, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("#/components/schemas/"), []byte("#/$defs/")), &api); err != nil {
		t.Fatal(err)
	}
	all := api.Components.Schemas
	for at, values := range words {
		component, field, _ := strings.Cut(at, ".")
		property := all[component].(map[string]any)["properties"].(map[string]any)[field].(map[string]any)
		property["enum"] = values
	}
	page := all["Page"].(map[string]any)["properties"].(map[string]any)
	for name := range blocks()["$defs"].(map[string]any) {
		page[name] = map[string]any{"$ref": "extensions.json#/$defs/" + name}
	}
	for _, schema := range all {
		drop(schema)
	}
	return all
}

// drop takes out formats that JSON Schema does not know and what is no schema.
func drop(v any) {
	switch v := v.(type) {
	case map[string]any:
		if format, ok := v["format"].(string); ok && format != "date-time" {
			delete(v, "format")
		}
		for _, below := range v {
			drop(below)
		}
	case []any:
		for _, below := range v {
			drop(below)
		}
	}
}

// blocks describes the extension blocks from the reader's own types.
func blocks() map[string]any {
	defs := map[string]any{}
	extensions := reflect.TypeFor[sitemap.Extensions]()
	for i := range extensions.NumField() {
		name, _, _ := strings.Cut(extensions.Field(i).Tag.Get("json"), ",")
		defs[name] = describe(extensions.Field(i).Type)
	}
	return map[string]any{"title": "The extension blocks of a page", "$defs": defs}
}

func describe(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[sitemap.Text]():
		return map[string]any{"type": "string"}
	case reflect.TypeFor[sitemap.Number]():
		return map[string]any{"type": "number"}
	case reflect.TypeFor[sitemap.Flag]():
		return map[string]any{"type": "boolean"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": describe(t.Elem())}
	}
	properties := map[string]any{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		properties[name] = describe(t.Field(i).Type)
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": true}
}

// reachable puts the components that a schema refers to into defs.
func reachable(v any, all, defs map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && strings.HasPrefix(ref, "#/$defs/") {
			if name := strings.TrimPrefix(ref, "#/$defs/"); defs[name] == nil {
				defs[name] = all[name]
				reachable(all[name], all, defs)
			}
		}
		for _, below := range v {
			reachable(below, all, defs)
		}
	case []any:
		for _, below := range v {
			reachable(below, all, defs)
		}
	}
}

// files are the published schemas by file name.
func files(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := components(t)
	out := map[string]map[string]any{"extensions": blocks()}
	for name, s := range schemas {
		schema := maps.Clone(all[s.component].(map[string]any))
		defs := map[string]any{}
		reachable(schema, all, defs)
		if schema["title"] = s.title; len(defs) > 0 {
			schema["$defs"] = defs
		}
		out[name] = schema
	}
	for name, schema := range out {
		schema["$schema"], schema["$id"] = "https://json-schema.org/draft/2020-12/schema", schemaBase+name+".json"
	}
	return out
}

// TestSchemas_AreWhatTheAPIsDocumentSays holds docs/schema against docs/openapi.json and the reader's types; -update writes it.
func TestSchemas_AreWhatTheAPIsDocumentSays(t *testing.T) {
	t.Parallel()
	for name, schema := range files(t) {
		var b bytes.Buffer
		out := json.NewEncoder(&b)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		if err := out.Encode(schema); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(schemaFolder, name+".json")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		stored, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(stored), b.String()); diff != "" {
			t.Errorf("%s is old; rewrite it with: go test ./cmd/sitemapd -run Schemas -update\n%.2000s", path, diff)
		}
	}
}

// strict gives a validator that refuses properties that a schema does not name: everything that is printed is described.
func strict(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for file, schema := range files(t) {
		raw, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.ReplaceAll(raw, []byte(`"additionalProperties":true`), []byte(`"additionalProperties":false`))
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(schemaBase+file+".json", v); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile(schemaBase + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSchemas_WhatTheProgramPrintsIsValid(t *testing.T) {
	t.Parallel()
	x := everything(t)
	if code, _, errs := x.run(t, "sync", x.home); code != exitDone {
		t.Fatalf("sync: exit %d\n%s", code, errs)
	}
	for command, name := range map[string]string{
		"urls HOME --state all": "page", "export HOME --format ndjson": "page", "history HOME HOME/plain": "page",
		"changes HOME --run 1": "change", "runs HOME": "run", "documents HOME": "document",
	} {
		args := strings.Fields(strings.ReplaceAll(command, "HOME", x.home))
		if !slices.Contains(args, "--format") {
			args = append(args, "-o", "ndjson")
		}
		code, out, errs := x.run(t, args...)
		if code != exitDone || len(bytes.TrimSpace(out)) == 0 {
			t.Errorf("%s: exit %d, %d bytes\n%s", command, code, len(out), errs)
			continue
		}
		schema := strict(t, name)
		for line := range bytes.Lines(out) {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %s%v", command, line, err)
			}
		}
	}
	if strict(t, "page").Validate(map[string]any{"url": "https://example.org/", "state": "lost"}) == nil {
		t.Error("anything is valid")
	}
}

// TestSchemas_EverythingIsEverything: the sitemap that the tests of exports and schemas use has every field of every
// extension, so that none is lost between sitemap, database and export unseen.
func TestSchemas_EverythingIsEverything(t *testing.T) {
	t.Parallel()
	x := everything(t)
	_, out, _ := x.run(t, "urls", x.home, "-o", "ndjson")
	seen := map[string]bool{}
	for line := range bytes.Lines(out) {
		var page map[string]any
		if err := json.Unmarshal(line, &page); err != nil {
			t.Fatal(err)
		}
		for name := range blocks()["$defs"].(map[string]any) {
			note(page[name], name, seen)
		}
	}
	var missing []string
	for name, block := range blocks()["$defs"].(map[string]any) {
		for _, field := range fields(block.(map[string]any), name) {
			if !seen[field] {
				missing = append(missing, field)
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no page has %s", strings.Join(missing, ", "))
	}
}

// note marks the paths of a value, fields the paths of its schema.
func note(v any, at string, seen map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			note(below, at+"."+name, seen)
		}
	case []any:
		for _, below := range v {
			note(below, at, seen)
		}
	case nil:
	default:
		seen[at] = true
	}
}

func fields(schema map[string]any, at string) []string {
	if items, ok := schema["items"].(map[string]any); ok {
		return fields(items, at)
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return []string{at}
	}
	var out []string
	for name, below := range properties {
		out = append(out, fields(below.(map[string]any), at+"."+name)...)
	}
	return out
}
