package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// verified is a small site that was read and whose pages were looked at.
func verified(t *testing.T) (x exported, origin *sitetest.Site) {
	t.Helper()
	origin = sitetest.New(sitetest.Options{Posts: 3})
	if err := origin.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	x = exported{database: storetest.SQLite(t), home: origin.URL()}
	if code, _, errs := x.run(t, "sync", x.home); code != exitDone {
		t.Fatalf("sync: exit %d\n%s", code, errs)
	}
	if code, _, errs := x.run(t, "verify", x.home, "--pace", "0s"); code != exitDone {
		t.Fatalf("verify: exit %d\n%s", code, errs)
	}
	return x, origin
}

// served gives the HTTP side of a daemon on a database, as serve wires it; nothing runs behind it.
func served(t *testing.T, database string) *httptest.Server {
	t.Helper()
	s, err := store.Open(t.Context(), database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a := &app{config: config.Default(), log: slog.New(slog.DiscardHandler)}
	d := &daemon{app: a, store: s, client: a.client()}
	t.Cleanup(d.client.Close)
	if d.engine, err = a.engine(s, d.client, syncer.Options{}); err != nil {
		t.Fatal(err)
	}
	if d.pages, err = a.verifier(s, d.client, d.engine, nil); err != nil {
		t.Fatal(err)
	}
	server, err := handlers.New(d.dashboard(d.deps(prometheus.NewRegistry())))
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	return h
}

func get(t *testing.T, h *httptest.Server, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	r, err := h.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var text strings.Builder
	if err := r.Write(&text); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", path, r.Status, err, text.String())
	}
	return text.String()
}

func TestDashboard_ShowsThePagesCanonicalEvidence(t *testing.T) {
	t.Parallel()
	x, origin := verified(t)
	h := served(t, x.database)
	post := origin.PostURL(origin.PublishedPosts()[0])
	body := get(t, h, "/sites/1/page?url="+url.QueryEscape(post))
	for _, want := range []string{"Canonical evidence", "html_link_element", "E1", "0.98", "source_document", "ended_by"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page screen does not say %q", want)
		}
	}
}

func TestDashboard_AdvisesOnEveryFindingOnPages(t *testing.T) {
	t.Parallel()
	deps := (&daemon{app: &app{}, pages: nil}).dashboard(handlers.Deps{})
	for _, k := range canonical.FindingKinds() {
		r, ok := deps.RuleOf(models.AboutPages, k.Code)
		if !ok || r.Meaning != k.Meaning || r.Advice == "" || r.About != models.AboutPages || !strings.HasSuffix(r.Source, k.Report) {
			t.Errorf("%s: %+v, %v", k.Code, r, ok)
		}
	}
	for _, code := range []string{"fetch-timeout", "http-503", "http-418", "edge-stale", "charset-conflict", "xml-truncated"} {
		if r, ok := deps.RuleOf(models.AboutDocuments, code); !ok || r.About != models.AboutDocuments || r.Advice == "" || r.Cost == "" {
			t.Errorf("%s: %+v, %v", code, r, ok)
		}
	}
	if r, ok := deps.RuleOf(models.AboutDocuments, "no-such-code"); ok {
		t.Errorf("a rule of nothing: %+v", r)
	}
	if n := len(deps.Rules()); n < 200 {
		t.Errorf("%d rules", n)
	}
}

// The report's CSV has the columns of its NDJSON, in the catalogue's order.
func TestReport_HasTheSameColumnsInEveryFormat(t *testing.T) {
	t.Parallel()
	x, origin := verified(t)
	origin.Fail(sitetest.Path(origin.PostURL(origin.PublishedPosts()[0])), sitetest.NoIndex())
	if code, _, errs := x.run(t, "verify", x.home, "--pace", "0s"); code != exitDone {
		t.Fatalf("verify: exit %d\n%s", code, errs)
	}
	_, out, _ := x.run(t, "report", x.home, "-o", "csv")
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	if diff := cmp.Diff(canonical.FindingColumns, rows[0]); diff != "" {
		t.Errorf("columns (-catalogue +csv):\n%s", diff)
	}
	_, out, _ = x.run(t, "report", x.home, "-o", "ndjson")
	var line map[string]any
	if err := json.Unmarshal(out, &line); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, name := range rows[0] {
		if text := fmt.Sprint(line[name]); name == "line" || name == "offset" || name == "confirmed" {
			if n, _ := line[name].(float64); fmt.Sprint(int(n)) != rows[1][i] {
				t.Errorf("%s is %s in CSV and %v in NDJSON", name, rows[1][i], line[name])
			}
		} else if line[name] == nil || !strings.HasSuffix(name, "_seen") && text != rows[1][i] {
			t.Errorf("%s is %q in CSV and %q in NDJSON", name, rows[1][i], text)
		}
	}
	if len(line) != len(rows[0]) {
		t.Errorf("%d fields and %d columns", len(line), len(rows[0]))
	}
}
