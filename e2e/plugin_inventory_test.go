package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

type inventoryPage struct {
	Home  string `json:"home"`
	Items []struct {
		ID          int    `json:"id"`
		URL         string `json:"url"`
		Type        string `json:"type"`
		Status      string `json:"status"`
		ModifiedGMT string `json:"modified_gmt"`
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
