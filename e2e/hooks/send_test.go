package hooks_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// visit is one request that an origin got.
type visit struct {
	from, to time.Time
	agent    string
}

// origin is a made-up site that notes who asked it when.
type origin struct {
	*sitetest.Site
	stored models.Site
	key    []byte

	mu     sync.Mutex
	takes  time.Duration
	visits []visit
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := visit{from: time.Now(), agent: r.UserAgent()}
	o.mu.Lock()
	takes := o.takes
	o.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
	}
	o.Site.ServeHTTP(w, r)
	v.to = time.Now()
	o.mu.Lock()
	o.visits = append(o.visits, v)
	o.mu.Unlock()
}

func (o *origin) slow(takes time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.takes = takes
}

// newOrigins starts n sites and adds them to the database with a hook key each.
func newOrigins(t *testing.T, s *store.Store, n int, options sitetest.Options) []*origin {
	t.Helper()
	var all []*origin
	for i := range n {
		options.Seed = uint64(i + 1)
		o := &origin{Site: sitetest.New(options)}
		server := httptest.NewServer(o)
		t.Cleanup(server.Close)
		o.SetBase(server.URL)
		added, err := s.AddSite(t.Context(), models.Site{Name: fmt.Sprintf("site%d", i), Home: server.URL + "/", Root: o.Index(),
			Roots: []models.Root{{URL: o.Index(), Discovery: "direct_URL"}}, Schedule: "off"})
		if err != nil {
			t.Fatal(err)
		}
		key, err := s.RotateHookKey(t.Context(), added.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		o.stored = added
		if o.key, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(key.Secret, "whsec_")); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

func sites(origins []*origin) []models.Site {
	var all []models.Site
	for _, o := range origins {
		all = append(all, o.stored)
	}
	return all
}

// firstRuns asks for a run of each site and waits for it.
func firstRuns(t *testing.T, s *store.Store, origins []*origin) {
	t.Helper()
	for _, o := range origins {
		if _, _, err := s.SaveTrigger(t.Context(), models.Trigger{SiteID: o.stored.ID, Kind: models.CauseManual, Dialect: "none", ReceivedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	servedAll(t, s, sites(origins), 2*time.Minute)
}

// client sends hooks; connections are kept as a busy sender's would be.
var client = &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// answer is what became of one delivery.
type answer struct {
	id      string
	status  int   // 0 when no answer came
	problem error // why
	trigger int64
	took    time.Duration
}

// send signs and sends what an edit says, as Standard Webhooks 1.0 has it.
func (o *origin) send(address, id string, e sitetest.Event) answer {
	event := map[string]any{"type": e.Type, "timestamp": e.Modified.UTC().Format(time.RFC3339), "data": map[string]any{
		"url": e.URL, "previous_url": e.PreviousURL, "post_id": e.ID, "post_type": e.PostType, "modified_gmt": e.Modified.UTC().Format("2006-01-02 15:04:05")}}
	body, err := json.Marshal(event)
	if err != nil {
		return answer{id: id, problem: err}
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, o.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/hooks/%d", address, o.stored.ID), bytes.NewReader(body))
	if err != nil {
		return answer{id: id, problem: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", at)
	req.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	began := time.Now()
	response, err := client.Do(req)
	if err != nil {
		return answer{id: id, problem: err, took: time.Since(began)}
	}
	defer response.Body.Close()
	a := answer{id: id, status: response.StatusCode}
	text, err := io.ReadAll(response.Body)
	a.took = time.Since(began)
	var said struct{ Trigger int64 }
	if err != nil {
		return answer{id: id, problem: err, took: a.took}
	}
	if a.status == http.StatusOK {
		a.problem = json.Unmarshal(text, &said)
		a.trigger = said.Trigger
	}
	return a
}

// percentile of what was measured, in percent.
func percentile(took []time.Duration, percent int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(took))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(time.Millisecond)
}
