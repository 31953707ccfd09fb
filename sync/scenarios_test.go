package syncer_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// scenario is a site that changes between runs, written down as files: a bug report becomes one of these. site.test
// stands for the test server's address; a path that a step does not name answers 404 with HTML.
type scenario struct {
	Why   string
	Root  string
	Steps []struct {
		Do        string
		Responses map[string]struct {
			Status  int
			Headers map[string]string
			Body    string
			Base64  string `json:"body_base64"`
		}
		Expect map[string]json.RawMessage
	}
}

// stage serves one step of a scenario at a time.
type stage struct {
	mu    sync.Mutex
	serve http.HandlerFunc
	asked int
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	serve := s.serve
	s.asked++
	s.mu.Unlock()
	serve(w, r)
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scenarios/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s scenario
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			play(t, s)
		})
	}
}

func play(t *testing.T, s scenario) {
	st := &stage{}
	server := httptest.NewServer(st)
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	local := func(text string) string { return strings.ReplaceAll(text, "site.test", host) }
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "s.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Backoff: time.Millisecond, PageDelay: -1})
	t.Cleanup(client.Close)
	engine, err := syncer.New(syncer.Options{Store: db, Web: client, Owner: "test", Policy: syncer.Policy{ConfirmAfter: time.Nanosecond}})
	if err != nil {
		t.Fatal(err)
	}
	root := local(s.Root)
	site, err := db.AddSite(t.Context(), models.Site{Name: "s", Home: server.URL + "/", Root: root, Roots: []models.Root{{URL: root, Discovery: "direct_URL"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range s.Steps {
		st.mu.Lock()
		st.asked = 0
		st.serve = func(w http.ResponseWriter, r *http.Request) {
			answer, ok := step.Responses[r.URL.RequestURI()]
			if !ok {
				http.Error(w, "<!doctype html><html><body>not here</body></html>", http.StatusNotFound)
				return
			}
			body := []byte(local(answer.Body))
			if answer.Base64 != "" {
				body, _ = base64.StdEncoding.DecodeString(answer.Base64)
			}
			for name, value := range answer.Headers {
				w.Header().Set(name, local(value))
			}
			if w.Header().Get("Content-Length") == "" {
				w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			}
			w.WriteHeader(answer.Status)
			_, _ = w.Write(body)
		}
		st.mu.Unlock()
		if strings.Contains(step.Do, "approved") || strings.Contains(step.Do, "seen again") {
			if _, err := db.DecideRemovals(t.Context(), site.ID, nil, true); err != nil {
				t.Fatal(err)
			}
		}
		run, err := engine.Run(t.Context(), syncer.Request{SiteID: site.ID, Cause: models.CauseManual})
		if err != nil {
			t.Fatalf("step %d (%s): %v", i+1, step.Do, err)
		}
		got := outcome(t, db, run, host, st.asked)
		for name, raw := range step.Expect {
			var want any
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if problem := compare(name, want, got); problem != "" {
				t.Errorf("step %d (%s): %s: %s", i+1, step.Do, name, problem)
			}
		}
	}
}

// outcome gathers what scenarios may expect, URLs as paths.
func outcome(t *testing.T, db *store.Store, run models.Run, host string, asked int) map[string]any {
	t.Helper()
	path := func(url string) string {
		_, rest, _ := strings.Cut(url, host)
		return rest
	}
	got := map[string]any{"verdict": string(run.Verdict), "issues": len(run.Findings), "requests": asked}
	lists := map[string][]string{}
	fields := map[string]any{}
	err := db.Changes(t.Context(), 1, models.ChangeFilter{Run: run.ID}, func(c *models.Change) error {
		lists[c.Kind] = append(lists[c.Kind], path(c.URL))
		var names []any
		for _, f := range c.Fields {
			names = append(names, f.Field)
			if c.Kind == models.KindChanged && f.InstantChanged != nil && *f.InstantChanged {
				lists["changed_instant"] = append(lists["changed_instant"], path(c.URL))
			}
		}
		if c.Kind == models.KindChanged {
			fields[path(c.URL)] = names
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Pages(t.Context(), 1, models.PageFilter{State: models.StateAll}, func(p *models.Page) error {
		lists["is "+string(p.State)] = append(lists["is "+string(p.State)], path(p.URL))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got["lists"], got["changed_fields"] = lists, fields
	return got
}

// compare tells how an expectation failed, "" when it holds.
func compare(name string, want any, got map[string]any) string {
	lists := got["lists"].(map[string][]string)
	sorted := func(kinds ...string) []any {
		var out []string
		for _, kind := range kinds {
			out = append(out, lists[kind]...)
		}
		slices.Sort(out)
		all := []any{}
		for _, s := range out {
			all = append(all, s)
		}
		return all
	}
	if list, ok := want.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	gone := sorted("is removed", "is pending", "is held")
	within := func(all []any) string {
		for _, one := range want.([]any) {
			if !slices.Contains(all, one) {
				return cmp.Diff(want, any(all))
			}
		}
		return ""
	}
	number := func(n int) string { return cmp.Diff(want, any(float64(n))) }
	switch name {
	case "verdict":
		return cmp.Diff(want, got["verdict"])
	case "added", "removed", "changed", "changed_instant":
		return cmp.Diff(want, any(sorted(name)))
	case "changed_fields":
		return cmp.Diff(want, any(got["changed_fields"].(map[string]any)))
	case "live", "stale":
		return cmp.Diff(want, any(sorted("is "+name)))
	case "live_or_low_confidence":
		return within(sorted("is live", "is stale"))
	case "removed_or_pending":
		return within(gone)
	case "added_count":
		return number(len(lists["added"]))
	case "live_count":
		return number(len(lists["is live"]))
	case "removed_after_policy":
		return number(len(lists["is removed"]))
	case "held":
		n := len(lists["is held"])
		if want.(float64) < 10 { // a handful may as well wait for the second walk
			n += len(lists["is pending"])
		}
		return number(n)
	case "membership_changed": // must not have
		for _, one := range want.([]any) {
			if slices.Contains(sorted("added", "removed"), one) {
				return one.(string) + " was added or removed"
			}
		}
		return ""
	case "issues":
		if got["issues"].(int) == 0 {
			return "no finding"
		}
		return ""
	}
	return "is no expectation that the test knows"
}
