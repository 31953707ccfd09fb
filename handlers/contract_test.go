package handlers_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// calls has one request of every operation; each must be answered as its document says.
var calls = []struct {
	name, method, path, body string
	status                   int
	stream                   bool
}{
	{name: "list-sites", method: "GET", path: "/sites"},
	{name: "get-site", method: "GET", path: "/sites/1"},
	{name: "add-site", method: "POST", path: "/sites", body: `{"home":"https://new.example/","schedule":"0 * * * *"}`, status: 201},
	{name: "change-site", method: "PATCH", path: "/sites/1", body: `{"paused":true}`},
	{name: "get-site-settings", method: "GET", path: "/sites/1/settings"},
	{name: "change-site-settings", method: "PATCH", path: "/sites/1/settings", body: `{"hosts":["CDN.example.com"],"confirm_after":"90s","username":"u","password":"p"}`},
	{name: "remove-site", method: "DELETE", path: "/sites/1", status: 204},
	{name: "list-urls", method: "GET", path: "/sites/1/urls?state=all&page_size=1&include=total"},
	{name: "export-urls", method: "GET", path: "/sites/1/export?format=xlsx", stream: true}, // TestExport_
	{name: "page-history", method: "GET", path: "/sites/1/history?url=https://example.com/a/"},
	{name: "list-changes", method: "GET", path: "/sites/1/changes?kind=changed,added"},
	{name: "list-segments", method: "GET", path: "/sites/1/segments"},
	{name: "save-segment", method: "POST", path: "/sites/1/segments", body: `{"name":"blog","filter":"contains=/blog/"}`, status: 201},
	{name: "remove-segment", method: "DELETE", path: "/sites/1/segments/4", status: 204},
	{name: "diff", method: "GET", path: "/sites/1/diff?from=3&to=2026-11-30T12:00:00Z&page_size=1"},
	{name: "list-documents", method: "GET", path: "/sites/1/documents"},
	{name: "document-history", method: "GET", path: "/sites/1/documents/2/history"},
	{name: "list-finding-rules", method: "GET", path: "/finding-rules?about=documents"},
	{name: "list-findings", method: "GET", path: "/sites/1/findings?page_size=1"},
	{name: "sitemap-metadata", method: "GET", path: "/sites/1/sitemap-metadata"},
	{name: "list-runs", method: "GET", path: "/sites/1/runs?page_size=2"},
	{name: "get-run", method: "GET", path: "/sites/1/runs/7"},
	{name: "start-run", method: "POST", path: "/sites/1/runs", status: 202},
	{name: "stop-run", method: "POST", path: "/sites/1/runs/8/stop", status: 204},
	{name: "get-trigger", method: "GET", path: "/sites/1/triggers/9"},
	{name: "watch-run", method: "GET", path: "/sites/1/runs/7/progress", stream: true},
	{name: "watch-site", method: "GET", path: "/sites/1/progress", stream: true},
	{name: "list-held", method: "GET", path: "/sites/1/held"},
	{name: "approve-held", method: "POST", path: "/sites/1/held/approve", body: `{"urls":["https://example.com/old/"]}`},
	{name: "reject-held", method: "POST", path: "/sites/1/held/reject", body: `{"all":true}`},
	{name: "list-deliveries", method: "GET", path: "/sites/1/deliveries"},
	{name: "replay-delivery", method: "POST", path: "/sites/1/deliveries/9/replay", status: 202},
	{name: "list-expectations", method: "GET", path: "/sites/1/expectations?page_size=1"},
	{name: "get-plugin-inventory", method: "GET", path: "/sites/1/plugin-inventory"},
	{name: "list-canonical", method: "GET", path: "/sites/1/canonical?status=validated&declaration_method=html_link_element&page_size=1"},
	{name: "canonical-metadata", method: "GET", path: "/sites/1/canonical-metadata?url=https://example.com/a/"},
	{name: "list-audit", method: "GET", path: "/sites/1/audit?code=sitemap-lists-noindex&page_size=1"},
	{name: "group-audit", method: "GET", path: "/sites/1/audit-groups"},
	{name: "get-verification", method: "GET", path: "/sites/1/verification"},
	{name: "list-incidents", method: "GET", path: "/sites/1/incidents?since=2026-11-01"},
	{name: "list-mutes", method: "GET", path: "/sites/1/mutes"},
	{name: "mute", method: "POST", path: "/sites/1/mutes", body: `{"code":"og-url-differs","place":"/{slug}/","until":"2027-01-01T00:00:00Z","note":"known"}`},
	{name: "unmute", method: "DELETE", path: "/sites/1/mutes?code=og-url-differs&place=/{slug}/", status: 204},
	{name: "list-hook-keys", method: "GET", path: "/sites/1/hook-keys"},
	{name: "rotate-hook-key", method: "POST", path: "/sites/1/hook-keys?overlap_seconds=60", status: 201},
	{name: "list-channels", method: "GET", path: "/channels"},
	{name: "add-channel", method: "POST", path: "/channels", body: `{"address":"https://example.com/in","types":["*"]}`, status: 201},
	{name: "get-channel", method: "GET", path: "/channels/ops"},
	{name: "change-channel", method: "PATCH", path: "/channels/3", body: `{"name":"ops"}`},
	{name: "remove-channel", method: "DELETE", path: "/channels/3", status: 204},
	{name: "test-channel", method: "POST", path: "/channels/3/test"},
	{name: "enable-channel", method: "POST", path: "/channels/3/enable", status: 204},
	{name: "disable-channel", method: "POST", path: "/channels/3/disable", status: 204},
	{name: "rotate-channel-secret", method: "POST", path: "/channels/3/secret?overlap_seconds=60", status: 201},
	{name: "list-attempts", method: "GET", path: "/channels/3/attempts?page_size=1&outcome=failed"},
	{name: "resend-event", method: "POST", path: "/channels/3/resend", body: `{"event":"evt_1"}`, status: 202},
	{name: "recover-channel", method: "POST", path: "/channels/3/recover", body: `{"since":"2026-11-01"}`, status: 202},
	{name: "list-alert-rules", method: "GET", path: "/alert-rules"},
	{name: "add-alert-rule", method: "POST", path: "/alert-rules", body: `{"trigger":"pages_removed","channels":[3]}`, status: 201},
	{name: "get-alert-rule", method: "GET", path: "/alert-rules/mass"},
	{name: "change-alert-rule", method: "PATCH", path: "/alert-rules/4", body: `{"threshold":10}`},
	{name: "remove-alert-rule", method: "DELETE", path: "/alert-rules/4", status: 204},
	{name: "silence-alert-rule", method: "POST", path: "/alert-rules/4/silence", body: `{"for_seconds":3600,"reason":"relaunch"}`},
	{name: "preview-alert-rule", method: "POST", path: "/alert-rules/preview", body: `{"trigger":"pages_removed","since":"2026-11-01"}`},
	{name: "list-alerts", method: "GET", path: "/alerts?site=1&page_size=1"},
	{name: "digest", method: "GET", path: "/digest?since=2026-11-01"},
	{name: "list-tokens", method: "GET", path: "/tokens"},
	{name: "create-token", method: "POST", path: "/tokens", body: `{"name":"ci","scopes":["read"],"expires_in_days":30}`, status: 201},
	{name: "revoke-token", method: "DELETE", path: "/tokens/1", status: 204},
	{name: "probe", method: "POST", path: "/probe", body: `{"url":"https://new.example/"}`, status: 501},
}

// document is the part of OpenAPI that the tests read.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	OperationID string
	Summary     string
	Tags        []string
	Security    []map[string][]string
	Responses   map[string]struct {
		Content map[string]struct{ Schema *schema }
	}
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	Properties map[string]*schema
	Required   []string
	Items      *schema
	Additional any `json:"additionalProperties"`
}

func (d *document) operations() map[string]operation {
	all := map[string]operation{}
	for _, methods := range d.Paths {
		for _, op := range methods {
			all[op.OperationID] = op
		}
	}
	return all
}

// check says where a value does not fit its schema. Properties that the schema does not know are faults too:
// what is sent is what is documented.
func (d *document) check(s *schema, v any, at string) []string {
	if s == nil {
		return []string{at + ": no schema"}
	}
	if s.Ref != "" {
		return d.check(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], v, at)
	}
	var types []string
	switch t := s.Type.(type) {
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			types = append(types, one.(string))
		}
	}
	if len(types) > 0 && !slices.Contains(types, typeOf(v)) && (typeOf(v) != "integer" || !slices.Contains(types, "number")) {
		return []string{fmt.Sprintf("%s: %s, documented as %v", at, typeOf(v), types)}
	}
	if len(s.Enum) > 0 && v != nil && !slices.Contains(s.Enum, v) {
		return []string{fmt.Sprintf("%s: %v is not one of %v", at, v, s.Enum)}
	}
	var faults []string
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			faults = append(faults, d.check(s.Items, item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		if len(s.Properties) == 0 {
			if free, ok := s.Additional.(map[string]any); ok && free["type"] == "number" {
				for name, value := range v {
					if _, ok := value.(float64); !ok {
						faults = append(faults, at+"."+name+": no number")
					}
				}
			}
			return faults
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				faults = append(faults, at+"."+name+": missing")
			}
		}
		for name, value := range v {
			if s.Properties[name] == nil {
				faults = append(faults, at+"."+name+": not documented")
				continue
			}
			if p := s.Properties[name]; p.Ref != "" || p.Type != nil {
				faults = append(faults, d.check(p, value, at+"."+name)...)
			}
		}
	}
	return faults
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func readDocument(t *testing.T, f *fixture) *document {
	t.Helper()
	d := decode[document](t, f.request("GET", "/api/v1/openapi.json", ""))
	return &d
}

func TestAPI_AnswersAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, rich)
			d := readDocument(t, f)
			op, ok := d.operations()[call.name]
			if !ok {
				t.Fatal("not in the document")
			}
			if call.stream {
				return // TestSSE
			}
			if call.status == 0 {
				call.status = 200
			}
			r := f.request(call.method, "/api/v1"+call.path, call.body, "Authorization", "Bearer "+f.token, "Content-Type", "application/json")
			wantStatus(t, r, call.status)
			body, _ := io.ReadAll(r.Body)
			response, ok := op.Responses[fmt.Sprint(call.status)]
			if !ok && call.status != 501 {
				t.Fatalf("status %d is not documented", call.status)
			}
			if call.status == 204 {
				if len(body) != 0 {
					t.Errorf("204 with %q", body)
				}
				return
			}
			if call.status == 501 {
				return
			}
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				t.Fatal(err)
			}
			media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
			for _, fault := range d.check(response.Content[media].Schema, v, "body") {
				t.Error(fault)
			}
			golden(t, call.name+".json", body)
		})
	}
}

// fleeting parts of an answer: request ids and secrets made by chance.
var fleeting = regexp.MustCompile(`("request_id": "|smd_)[0-9A-Za-z_-]+`)

func golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	got := fleeting.ReplaceAll(out.Bytes(), []byte("${1}…"))
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), rewrite with -update if meant:\n%s", path, diff)
	}
}

func TestAPI_DocumentListsExactlyTheRoutes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := readDocument(t, f)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %q", d.OpenAPI)
	}
	documented := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			documented[strings.ToUpper(method)+" /api/v1"+path] = true
			if op.Summary == "" || len(op.Tags) == 0 || len(op.Security) != 1 {
				t.Errorf("%s has no summary, tag or scope", op.OperationID)
			}
		}
	}
	served := map[string]bool{}
	for _, route := range f.server.Routes() {
		if strings.HasPrefix(route, "GET /api/v1/openapi.json") || strings.HasPrefix(route, "GET /api/v1/context.jsonld") || !strings.Contains(route, " /api/v1/") {
			continue
		}
		served[regexp.MustCompile(`:(\w+)`).ReplaceAllString(route, "{$1}")] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(served))); diff != "" {
		t.Errorf("(-documented +served)\n%s", diff)
	}
	called := map[string]bool{}
	for _, call := range calls {
		called[call.name] = true
	}
	for id := range d.operations() {
		if !called[id] {
			t.Errorf("%s is not tried by any test", id)
		}
	}
}

func TestAPI_DocumentInTheRepositoryIsTheOneServed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.Version = "" })
	served := text(t, f.request("GET", "/api/v1/openapi.json", ""))
	path := filepath.Join("..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(path, []byte(served), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(stored), served); diff != "" {
		t.Errorf("docs/openapi.json is old; rewrite it with: go test ./handlers -run Repository -update\n%.2000s", diff)
	}
}

// refused has requests that a client gets wrong, and the status and words by which it finds out.
func TestAPI_RefusesWithReasons(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich, func(f *fixture) {
		f.deps.CheckSchedule = func(spec, _ string) ([]time.Time, error) {
			if spec == "bad" {
				return nil, fmt.Errorf("want five fields")
			}
			return nil, nil
		}
	})
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		method, path, body string
		status             int
		words              string
	}{
		{"GET", "/nothing", "", 404, "Not Found"},
		{"DELETE", "/sites", "", 405, "Method Not Allowed"},
		{"GET", "/sites/9", "", 404, "no such site"},
		{"GET", "/sites/1/runs/99", "", 404, "no such run"},
		{"GET", "/sites/1/runs/0", "", 422, "expected number >= 1"},
		{"GET", "/sites/1/runs/x", "", 422, "invalid integer"},
		{"GET", "/sites/1/urls?state=dead", "", 422, "query.state"},
		{"GET", "/sites/1/urls?page_size=0", "", 422, "query.page_size"},
		{"GET", "/sites/1/urls?page_size=1001", "", 422, "query.page_size"},
		{"GET", "/sites/1/urls?colour=red", "", 422, "query.colour"},
		{"GET", "/sites/1/urls?as_of=yesterday", "", 422, "query.as_of"},
		{"GET", "/sites/1/urls?as_of=99", "", 422, "there is no run 99 yet"},
		{"GET", "/sites/1/urls?lastmod_from=soon", "", 422, "query.lastmod_from"},
		{"GET", "/sites/1/urls?url=mailto:a", "", 422, "query.url"},
		{"GET", "/sites/1/urls?contains=" + long, "", 422, "query.contains"},
		{"GET", "/sites/1/urls?page_token=zzz", "", 422, "query.page_token"},
		{"GET", "/sites/1/urls?page_token=1e30", "", 422, "query.page_token"},
		{"GET", "/sites/1/urls?format=xml", "", 422, "query.format"},
		{"GET", "/sites/1/canonical?status=good", "", 422, "query.status"},
		{"GET", "/sites/1/canonical?as_of=soon", "", 422, "query.as_of"},
		{"GET", "/sites/1/canonical-metadata?url=https://example.com/none/", "", 404, "canonical"},
		{"GET", "/sites/1/audit?since=soon", "", 422, "query.since"},
		{"GET", "/sites/1/audit?url=mailto:a", "", 422, "query.url"},
		{"GET", "/sites/1/incidents?since=soon", "", 422, "query.since"},
		{"POST", "/sites/1/mutes", `{"code":"nonsense"}`, 422, "code"},
		{"GET", "/sites/1/changes?kind=exploded", "", 422, "query.kind"},
		{"GET", "/sites/1/history", "", 422, "query.url"},
		{"GET", "/sites/1/documents?type=pdf", "", 422, "query.type"},
		{"POST", "/sites/1/held/approve", `{}`, 422, "say which"},
		{"POST", "/sites/1/held/approve", `{"all":true,"urls":["https://example.com/"]}`, 422, "say which"},
		{"POST", "/sites/1/held/approve", `{"urls":[]}`, 422, "say which"},
		{"POST", "/sites/1/held/approve", `{"everything":true}`, 422, "body.everything"},
		{"POST", "/sites/1/held/approve", `{`, 400, ""},
		{"POST", "/sites/1/held/approve", ``, 400, "request body is required"},
		{"POST", "/sites", `{"home":"javascript:alert(1)"}`, 422, "absolute http"},
		{"POST", "/sites", `{"name":"x"}`, 422, "a home page or a root is needed"},
		{"POST", "/sites", `{"home":"https://user:pw@example.com/"}`, 422, "absolute http"},
		{"POST", "/sites", `{"home":"https://new.example/","schedule":"bad"}`, 422, "want five fields"},
		{"POST", "/sites", `{"home":"https://new.example/","name":"example.com"}`, 409, "exists already"},
		{"POST", "/tokens", `{"name":"x","scopes":["god"]}`, 422, "body.scopes"},
		{"POST", "/tokens", `{"name":"x","scopes":[]}`, 422, "body.scopes"},
		{"DELETE", "/tokens/7", "", 404, "no such token"},
		{"POST", "/sites/1/runs/7/stop", "", 409, "not under way"},
	} {
		r := f.request(c.method, "/api/v1"+c.path, c.body, "Authorization", "Bearer "+f.token, "Content-Type", "application/json")
		body := text(t, r)
		if r.StatusCode != c.status || !strings.Contains(body, c.words) {
			t.Errorf("%s %.80s %s: %d %s", c.method, c.path, c.body, r.StatusCode, body)
			continue
		}
		if ct := r.Header.Get("Content-Type"); ct != "application/problem+json" || !strings.Contains(body, `"request_id"`) {
			t.Errorf("%s %.80s: %s %s", c.method, c.path, ct, body)
		}
	}
}
