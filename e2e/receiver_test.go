package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	secretBytes = "0123456789abcdef0123456789abcdef"
	otherBytes  = "another secret, another secret !"
)

var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(secretBytes))

// event is one thing that the plugin says, as CONTRACT and docs/wordpress-plugin.md describe it.
type event struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      struct {
		URL         string   `json:"url"`
		PreviousURL string   `json:"previous_url"`
		PostID      int      `json:"post_id"`
		PostType    string   `json:"post_type"`
		TermID      int      `json:"term_id"`
		Taxonomy    string   `json:"taxonomy"`
		Status      string   `json:"status"`
		ModifiedGMT string   `json:"modified_gmt"`
		Seq         int      `json:"seq"`
		Count       int      `json:"count"`
		Purged      []string `json:"purged"`
		Events      []event  `json:"events"`
	} `json:"data"`
}

// delivery is one request that the receiver got.
type delivery struct {
	path      string
	id        string
	timestamp int64
	body      string
	events    []event
}

// receiver stands in for the daemon: it checks every signature with its own few lines and answers as it is told.
type receiver struct {
	server *httptest.Server
	t      *testing.T

	mu         sync.Mutex
	deliveries []delivery
	status     int
	retryAfter string
	hang       chan struct{} // when set, requests wait until it is closed
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, status: http.StatusOK}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	d := delivery{path: request.URL.Path, id: request.Header.Get("webhook-id"), body: string(body)}
	d.timestamp, _ = strconv.ParseInt(request.Header.Get("webhook-timestamp"), 10, 64)
	if problem := r.check(request, d); problem != "" {
		r.t.Errorf("delivery refused: %s: %s", problem, body)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var message event
	if err := json.Unmarshal(body, &message); err != nil {
		r.t.Errorf("delivery is no JSON: %v: %s", err, body)
	}
	if message.Type == "batch" {
		d.events = message.Data.Events
	} else {
		d.events = []event{message}
	}
	r.mu.Lock()
	r.deliveries = append(r.deliveries, d)
	status, retryAfter, hang := r.status, r.retryAfter, r.hang
	r.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if retryAfter != "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.WriteHeader(status)
}

// check verifies a delivery as Standard Webhooks 1.0 says.
func (r *receiver) check(request *http.Request, d delivery) string {
	if request.Method != http.MethodPost || request.Header.Get("Content-Type") != "application/json" {
		return request.Method + " " + request.Header.Get("Content-Type")
	}
	if d.id == "" || strings.Contains(d.id, ".") || len(d.body) > 65536 {
		return "id or size"
	}
	if age := time.Since(time.Unix(d.timestamp, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return "timestamp " + age.String()
	}
	if want := sign(secretBytes, d.id, d.timestamp, d.body); request.Header.Get("webhook-signature") != want {
		return fmt.Sprintf("signature %q, want %q", request.Header.Get("webhook-signature"), want)
	}
	return ""
}

func sign(key, id string, timestamp int64, content string) string {
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s.%d.%s", id, timestamp, content)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// answer sets how the next requests are answered.
func (r *receiver) answer(status int, retryAfter string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.retryAfter = status, retryAfter
}

// block makes requests wait until the returned function is called.
func (r *receiver) block() func() {
	hang := make(chan struct{})
	r.mu.Lock()
	r.hang = hang
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		r.hang = nil
		r.mu.Unlock()
		close(hang)
	}
}

// take returns what came since the last call.
func (r *receiver) take() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.deliveries
	r.deliveries = nil
	return taken
}

// events flattens deliveries.
func events(deliveries []delivery) []event {
	var all []event
	for _, d := range deliveries {
		all = append(all, d.events...)
	}
	return all
}
