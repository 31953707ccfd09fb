package handlers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// terms of a JSON-LD context by name: the empty map means that what is below is JSON or a plain value.
func readTerms(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var file struct {
		Context map[string]any `json:"@context"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Context
}

// undefined names the keys of a value that mean nothing in a context.
func undefined(terms map[string]any, v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, undefined(terms, item, at+"[]")...)
		}
	case map[string]any:
		for name, value := range v {
			if strings.HasPrefix(name, "@") {
				continue
			}
			term, ok := terms[name]
			if !ok {
				out = append(out, at+"."+name)
				continue
			}
			below := terms
			if full, ok := term.(map[string]any); ok {
				if full["@type"] == "@json" {
					continue
				}
				if own, ok := full["@context"].(map[string]any); ok {
					below = map[string]any{}
					for _, scope := range []map[string]any{terms, own} {
						for name, term := range scope {
							below[name] = term
						}
					}
				}
			}
			out = append(out, undefined(below, value, at+"."+name)...)
		}
	}
	return out
}

func TestLinkedData_EveryTermIsInThePublishedContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	r := f.request("GET", "/api/v1/context.jsonld", "")
	served := text(t, r)
	if ct := r.Header.Get("Content-Type"); r.StatusCode != 200 || ct != "application/ld+json" {
		t.Fatalf("%d %s", r.StatusCode, ct)
	}
	published, err := os.ReadFile("../docs/context.jsonld")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(published), served); diff != "" {
		t.Errorf("docs/context.jsonld is not what is served:\n%s", diff)
	}
	terms := readTerms(t, []byte(served))
	for name, term := range terms {
		switch full, _ := term.(map[string]any); {
		case strings.HasPrefix(name, "@"), name == "sm", name == "xsd", name == "items":
		case full != nil && strings.HasPrefix(full["@id"].(string), "sm:"):
		case full == nil && strings.HasPrefix(term.(string), "sm:"):
		default:
			t.Errorf("%s is %v", name, term)
		}
	}
	body := decode[map[string]any](t, f.get("/api/v1/sites/1/sitemap-metadata?listed=10", "Accept", "application/ld+json"))
	if body["@context"] != "/api/v1/context.jsonld" {
		t.Errorf("context %v", body["@context"])
	}
	if missing := undefined(terms, body, ""); len(missing) > 0 {
		t.Errorf("not in the context: %v", missing)
	}
	for _, item := range body["items"].([]any) {
		if _, ok := terms[item.(map[string]any)["@type"].(string)]; !ok {
			t.Errorf("the class %v is not in the context", item.(map[string]any)["@type"])
		}
	}

	// What no fixture sets is in it all the same.
	d := readDocument(t, f)
	seen := map[string]bool{}
	var walk func(s *schema)
	walk = func(s *schema) {
		if s == nil {
			return
		}
		if s.Ref != "" {
			if name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); !seen[name] {
				seen[name] = true
				walk(d.Components.Schemas[name])
			}
			return
		}
		for name, below := range s.Properties {
			own := terms["listed_resources"].(map[string]any)["@context"].(map[string]any)
			if terms[name] == nil && own[name] == nil {
				t.Errorf("%s is not in the context", name)
			}
			walk(below)
		}
		walk(s.Items)
	}
	walk(d.Components.Schemas["MetadataPage"])
	if !seen["ProvenanceReport"] || !seen["Page"] {
		t.Errorf("walked through %v", seen)
	}
}

// publishedSchema gives a schema of docs/schema; references between the files are by their published addresses.
func publishedSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	files, err := filepath.Glob("../docs/schema/*.json")
	if err != nil {
		t.Fatal(err)
	}
	compiler, address := jsonschema.NewCompiler(), ""
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		id, _ := v.(map[string]any)["$id"].(string)
		if err := compiler.AddResource(id, v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if filepath.Base(file) == name+".json" {
			address = id
		}
	}
	schema, err := compiler.Compile(address)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return schema
}

// TestSchemas_AnswersAreValid holds answers against the published JSON Schemas with a validator that is not ours.
func TestSchemas_AnswersAreValid(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	for name, paths := range map[string][]string{
		"document":         {"/sites/1/documents", "/sites/1/documents/2/history"},
		"run":              {"/sites/1/runs", "/sites/1/runs/7"},
		"page":             {"/sites/1/urls?state=all", "/sites/1/history?url=https://example.com/a/"},
		"change":           {"/sites/1/changes"},
		"sitemap-metadata": {"/sites/1/sitemap-metadata?listed=10"},
	} {
		schema := publishedSchema(t, name)
		for _, path := range paths {
			r := f.get("/api/v1" + path)
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(text(t, r)))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			values := []any{v}
			if page, ok := v.(map[string]any); ok && name != "sitemap-metadata" && page["items"] != nil {
				values = page["items"].([]any)
			} else if list, ok := v.([]any); ok {
				values = list
			}
			if len(values) == 0 {
				t.Errorf("%s: nothing to validate", path)
			}
			for _, value := range values {
				if err := schema.Validate(value); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			if object, ok := slices.Clone(values)[0].(map[string]any); ok {
				for _, field := range []string{"url", "id", "kind", "run", "items"} {
					delete(object, field)
				}
				if schema.Validate(object) == nil {
					t.Errorf("%s: what lacks its identity is valid", name)
				}
			}
		}
	}
}
