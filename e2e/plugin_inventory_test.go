package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

type inventoryPage struct {
	Home       string            `json:"home"`
	SiteURL    string            `json:"site_url"`
	Permalinks string            `json:"permalink_structure"`
	System     map[string]string `json:"system"`
	Seq        int               `json:"seq"`
	Items      []struct {
		ID          int    `json:"id"`
		URL         string `json:"url"`
		Type        string `json:"type"`
		Status      string `json:"status"`
		ModifiedGMT string `json:"modified_gmt"`
		Canonical   string `json:"canonical"`
		Noindex     bool   `json:"noindex"`
		Password    bool   `json:"password"`
	} `json:"items"`
	NextAfterID *int `json:"next_after_id"`
}

// inventory asks for one page of the signed list.
func (s site) inventory(t *testing.T, after, limit int, key string, at time.Time) (inventoryPage, int) {
	t.Helper()
	query := fmt.Sprintf("inventory?after_id=%d&limit=%d", after, limit)
	request, err := http.NewRequest(http.MethodGet, s.url+"wp-json/sitemapd/v1/"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("webhook-id", "msg_1")
		request.Header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
		request.Header.Set("webhook-signature", "v1,bm9wZQ== "+sign(key, "msg_1", at.Unix(), query))
		request.Header.Set("X-Test-Seo", "yoast")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var p inventoryPage
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, &p); err != nil {
			t.Fatalf("%v: %.300s", err, body)
		}
	}
	return p, response.StatusCode
}

func TestPlugin_InventoryIsSignedAndComplete(t *testing.T) {
	s, r := withPlugin(t)
	now := time.Now()
	if _, status := s.inventory(t, 0, 100, secretBytes, now); status != http.StatusNotFound {
		t.Errorf("switched off it answers %d, want 404", status)
	}
	s.set(t, "configure", r.server.URL, secret, "inventory")
	for name, refused := range map[string]struct {
		key string
		at  time.Time
	}{
		"unsigned":     {"", now},
		"other secret": {otherBytes, now},
		"too old":      {secretBytes, now.Add(-301 * time.Second)},
		"of tomorrow":  {secretBytes, now.Add(time.Hour)},
	} {
		if _, status := s.inventory(t, 0, 100, refused.key, refused.at); status != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401", name, status)
		}
	}
	want := s.list(t)
	found := 0
	for after := 0; ; {
		p, status := s.inventory(t, after, 77, secretBytes, time.Now())
		if status != http.StatusOK || p.Home != s.url {
			t.Fatalf("status %d, home %q", status, p.Home)
		}
		for _, item := range p.Items {
			if _, is := want[item.URL]; !is || item.Status != "publish" || item.ID <= after {
				t.Errorf("%+v is not what WordPress lists", item)
			}
			after = item.ID
			found++
		}
		if p.NextAfterID == nil {
			break
		}
		after = *p.NextAfterID
	}
	var posts struct{ Value int }
	s.do(t, &posts, "count")
	if found != posts.Value {
		t.Errorf("%d posts in the inventory, %d in the database", found, posts.Value)
	}
}

func TestPlugin_InventorySaysWhatTheSystemStates(t *testing.T) {
	s, r := withPlugin(t)
	s.set(t, "configure", r.server.URL, secret, "inventory")
	entered, hidden := s.act(t, "publish", "Entered canonical"), s.act(t, "publish", "Kept from search")
	s.set(t, "meta", id(entered), "_yoast_wpseo_canonical", "https://elsewhere.example/original/")
	s.set(t, "meta", id(hidden), "_yoast_wpseo_meta-robots-noindex", "1")
	first := min(entered.ID, hidden.ID) - 1
	p, status := s.inventory(t, first, 10, secretBytes, time.Now())
	if status != http.StatusOK || len(p.Items) != 2 || p.SiteURL != s.url || p.Permalinks != "/%postname%/" || p.System["wordpress"] != os.Getenv("SITEMAPD_TEST_WP_VERSION") || p.System["seo"] != "yoast" {
		t.Fatalf("status %d: %+v", status, p)
	}
	for _, item := range p.Items {
		if want := (item.ID == entered.ID); want != (item.Canonical == "https://elsewhere.example/original/") || item.Noindex == want || item.Password {
			t.Errorf("%+v", item)
		}
	}
	for _, post := range []post{entered, hidden} {
		s.act(t, "delete", id(post))
	}
}

// The daemon's own commands against the real plugin: what one full run misses and the list has no more is removed at once,
// a changed slug is a move, and a publish that the sitemap of a cache does not show yet is told. No hook arrives.
func TestPlugin_InventoryCorroboratesRuns(t *testing.T) {
	for database, d := range programs(t) {
		t.Run(database, func(t *testing.T) {
			s, _ := withPlugin(t)
			gone, slugged := s.act(t, "publish", "To be deleted"), s.act(t, "publish", "To be renamed")
			if r := d.sync(t, s.url); r.Verdict != "complete" {
				t.Fatalf("first run: %+v", r)
			}
			var hook struct {
				Secrets []struct {
					Secret string `json:"secret"`
				} `json:"secrets"`
			}
			out, _ := d.run(t, "hook", "secret", s.url, "-o", "json")
			if err := json.Unmarshal(out, &hook); err != nil {
				t.Fatal(err)
			}
			s.set(t, "configure", "http://127.0.0.1:9/hooks/1", hook.Secrets[0].Secret, "inventory") // nobody listens there
			once := func() models.Run {
				t.Helper()
				var run models.Run
				out, _ := d.run(t, "sync", s.url, "-o", "json")
				if err := json.Unmarshal(out, &run); err != nil {
					t.Fatalf("%v in %s", err, out)
				}
				return run
			}
			reading := func() models.PluginInventory {
				t.Helper()
				var p models.PluginInventory
				out, _ := d.run(t, "hook", "inventory", s.url, "-o", "json")
				if err := json.Unmarshal(out, &p); err != nil {
					t.Fatalf("%v in %s", err, out)
				}
				return p
			}
			once()
			if p := reading(); p.Outcome != models.PublishedComplete || !p.Steady || p.Posts < 200 || p.NotDeclared != 0 || p.DeclaredGone != 0 || !strings.HasPrefix(p.System, "wordpress ") {
				t.Fatalf("the first reading: %+v", p)
			}
			s.act(t, "delete", id(gone))
			moved := s.act(t, "slug", id(slugged), "renamed-without-a-word")
			r := once()
			if r.Counts.Removed != 1 || r.Counts.Moved != 1 || r.Counts.Pending != 0 {
				t.Errorf("one run after a deletion and a rename: %+v, want both decided at once", r.Counts)
			}
			s.set(t, "configure", "http://127.0.0.1:9/hooks/1", secret, "inventory") // another secret
			s.act(t, "delete", id(slugged))
			if r := once(); r.Counts.Removed == 0 { // its author or category may go with it
				t.Errorf("with a wrong secret: %+v, want %s removed by its own 404", r.Counts, moved.URL)
			}
			if out, _ := d.run(t, "history", s.url, moved.URL, "-o", "ndjson"); !strings.Contains(string(out), "answers 404") || strings.Contains(string(out), `"plugin_inventory":true`) {
				t.Errorf("with a wrong secret %s ended by another proof than its own 404: %s", moved.URL, out)
			}
			if p := reading(); p.Outcome != models.PublishedRefused {
				t.Errorf("the reading with a wrong secret: %+v", p)
			}
		})
	}
}
