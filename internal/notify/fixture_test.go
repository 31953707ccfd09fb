package notify_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// patience is how long a test waits for what must come; nothing is measured by it.
const patience = 30 * time.Second

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// world is a database with what tells of it.
type world struct {
	*storetest.Fixture
	t      *testing.T
	s      *store.Store
	sender *notify.Sender
	teller *notify.Teller
	desk   *notify.Desk
	open   func() *store.Store
}

func newWorld(t *testing.T, change func(*notify.SenderOptions)) *world {
	t.Helper()
	dsn := storetest.SQLite(t)
	open := func() *store.Store {
		s, err := store.Open(context.WithoutCancel(t.Context()), dsn, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := open()
	o := notify.SenderOptions{Web: fetch.Outgoing(fetch.Options{AllowPrivate: loopback}), Keys: s, PublicURL: "https://daemon.example/base", Timeout: patience}
	if change != nil {
		change(&o)
	}
	w := &world{Fixture: storetest.NewFixture(t, s), t: t, s: s, sender: notify.NewSender(o), open: open}
	w.teller = notify.NewTeller(notify.TellerOptions{Store: s, Zone: func(spec, _ string, after time.Time) *time.Time {
		if spec != "@weekly" {
			return nil
		}
		next := after.Add(7 * 24 * time.Hour)
		return &next
	}})
	w.desk = notify.NewDesk(s, w.sender, w.teller)
	return w
}

// work runs a worker until the test ends or stop is called.
func (w *world) work(change func(*notify.Options)) (stop func()) {
	w.t.Helper()
	o := notify.Options{Store: w.s, Sender: w.sender, Teller: w.teller, Owner: w.t.Name(), Tick: 5 * time.Millisecond, Waits: []time.Duration{1, 1, 1}}
	if change != nil {
		change(&o)
	}
	worker, err := notify.NewWorker(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = worker.Run(ctx)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return stop
}

func ptr[T any](v T) *T { return &v }

func (w *world) channel(address string, types ...string) (models.Channel, string) {
	w.t.Helper()
	spec := models.ChannelSpec{Address: &address}
	if types != nil {
		spec.Types = &types
	}
	c, key, err := w.desk.AddChannel(w.t.Context(), spec)
	if err != nil {
		w.t.Fatal(err)
	}
	if key == nil {
		return c, ""
	}
	return c, key.Secret
}

// happen stores events that no run made.
func (w *world) happen(kinds ...string) []models.Event {
	w.t.Helper()
	var events []models.Event
	for _, kind := range kinds {
		events = append(events, models.Event{Type: kind, At: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), SiteID: w.Site.ID, Data: json.RawMessage(`{"summary":"` + kind + `"}`)})
	}
	if err := w.s.AppendEvents(w.t.Context(), events); err != nil {
		w.t.Fatal(err)
	}
	return events
}

// request is what a receiver got.
type request struct {
	ID, Type string
	Header   http.Header
	Body     []byte
}

// receiver is a webhook's other end.
type receiver struct {
	t   *testing.T
	URL string
	got chan request
}

// newReceiver answers each request by answer; requests are numbered from 1.
func newReceiver(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *receiver {
	t.Helper()
	rc := &receiver{t: t, got: make(chan request, 1000)}
	var mu sync.Mutex
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		var body struct{ Type string }
		_ = json.Unmarshal(content, &body)
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		rc.got <- request{ID: r.Header.Get("Webhook-Id"), Type: body.Type, Header: r.Header.Clone(), Body: content}
		if answer != nil {
			answer(w, r, mine)
		}
	}))
	t.Cleanup(server.Close)
	rc.URL = server.URL
	return rc
}

func (rc *receiver) next() request {
	rc.t.Helper()
	select {
	case r := <-rc.got:
		return r
	case <-time.After(patience):
		rc.t.Fatal("nothing was delivered")
	}
	return request{}
}

// verified checks a request as a receiver with the scheme's own library would.
func (rc *receiver) verified(r request, secret string) {
	rc.t.Helper()
	hook, err := standard.NewWebhook(secret)
	if err != nil {
		rc.t.Fatal(err)
	}
	if err := hook.Verify(r.Body, r.Header); err != nil {
		rc.t.Errorf("the receiver refuses %s: %v", r.ID, err)
	}
}

// log waits until a channel's log has a number of attempts and gives them, oldest first.
func (w *world) log(c models.Channel, n int) []models.Attempt {
	w.t.Helper()
	for began := time.Now(); ; {
		all, err := w.s.Attempts(w.t.Context(), c.ID, models.AttemptFilter{})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(all) >= n {
			for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
				all[i], all[j] = all[j], all[i]
			}
			return all
		}
		if time.Since(began) > patience {
			w.t.Fatalf("%d attempts in the log, want %d: %+v", len(all), n, all)
		}
	}
}

// expire records that expectations came to nothing.
func (w *world) expire(all ...models.Expectation) {
	w.t.Helper()
	if err := w.s.SaveExpectations(w.t.Context(), w.Lease, all); err != nil {
		w.t.Fatal(err)
	}
}
