package notify_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

func outcomes(attempts []models.Attempt) []string {
	var out []string
	for _, a := range attempts {
		out = append(out, a.Type+" "+a.Outcome)
	}
	return out
}

func TestWorker_DeliversSignedAndInOrderPastFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 2 || n == 3 {
			http.Error(w, "not now", http.StatusBadGateway)
		}
	})
	c, secret := w.channel(rc.URL+"/in", "held.*", "run.finished")
	events := w.happen(models.EventHeldCreated, models.EventPagesChanged, models.EventHeldResolved, models.EventRunFinished)
	w.work(nil)
	var got []string
	for range 5 {
		r := rc.next()
		rc.verified(r, secret)
		got = append(got, r.ID+" "+r.Type)
	}
	again := events[2].UID + " " + events[2].Type
	want := []string{events[0].UID + " " + events[0].Type, again, again, again, events[3].UID + " " + events[3].Type}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	log := w.log(c, 5)
	if diff := cmp.Diff([]string{"held.created delivered", "held.resolved failed", "held.resolved failed", "held.resolved delivered", "run.finished delivered"}, outcomes(log)); diff != "" {
		t.Error(diff)
	}
	if a := log[1]; a.Status != 502 || a.Error != "it answered 502 Bad Gateway" || a.Excerpt != "not now" || a.Try != 1 || log[2].Try != 2 || a.EventUID != events[2].UID {
		t.Errorf("%+v", a)
	}
}

func TestWorker_SendsTheSameBytesInEveryAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.WriteHeader(500)
		}
	})
	w.channel(rc.URL)
	w.happen(models.EventRunFinished)
	w.work(nil)
	first, second := rc.next(), rc.next()
	if string(first.Body) != string(second.Body) || first.ID != second.ID {
		t.Errorf("%s %s\n%s %s", first.ID, first.Body, second.ID, second.Body)
	}
	if want := `{"type":"run.finished","timestamp":"2026-02-03T04:05:06.000Z","data":{"links":{"html":"https://daemon.example/base/sites/1"},"summary":"run.finished"}}`; string(first.Body) != want {
		t.Errorf("body %s", first.Body)
	}
	if first.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(first.Header.Get("User-Agent"), "sitemapd") {
		t.Errorf("%v", first.Header)
	}
}

func TestWorker_GivesUpAfterTheLastTryAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n <= 4 {
			w.WriteHeader(400)
		}
	})
	c, _ := w.channel(rc.URL)
	w.happen(models.EventHeldCreated, models.EventHeldResolved)
	w.work(nil)
	want := []string{"held.created failed", "held.created failed", "held.created failed", "held.created given_up", "held.resolved delivered"}
	if diff := cmp.Diff(want, outcomes(w.log(c, 5))); diff != "" {
		t.Error(diff)
	}
	// What was given up comes again when somebody asks for it, once, with the same id.
	if n, err := w.s.Recover(t.Context(), c.ID, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Now()); err != nil || n != 1 {
		t.Fatalf("recover: %d, %v", n, err)
	}
	if log := w.log(c, 6); log[5].Outcome != models.AttemptDelivered || !log[5].Resend || log[5].EventUID != log[0].EventUID {
		t.Errorf("%+v", log[5])
	}
}

func TestWorker_DisablesWhatIsGoneAndTellsTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	gone := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusGone)
		}
	})
	other := newReceiver(t, nil)
	c, _ := w.channel(gone.URL)
	w.channel(other.URL+"/other", models.EventChannelDisabled)
	events := w.happen(models.EventHeldCreated)
	w.work(nil)
	if r := other.next(); r.Type != models.EventChannelDisabled || !strings.Contains(string(r.Body), "it answered 410 Gone") {
		t.Errorf("%s", r.Body)
	}
	got, err := w.s.Channel(t.Context(), c.ID)
	if err != nil || got.DisabledAt == nil || got.DisabledReason != "it answered 410 Gone" {
		t.Fatalf("%+v, %v", got, err)
	}
	// Nothing is lost of what happened meanwhile, nor of what was refused.
	later := w.happen(models.EventHeldResolved)
	gone.next()
	if err := w.s.EnableChannel(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 3 {
		ids = append(ids, gone.next().ID)
	}
	if ids[0] != events[0].UID || ids[2] != later[0].UID { // the notice of its own end lies between
		t.Errorf("%v", ids)
	}
}

func TestWorker_DisablesWhatFailsForDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(500) })
	c, _ := w.channel(rc.URL)
	w.happen(models.EventHeldCreated)
	var mu sync.Mutex
	at := time.Now()
	w.work(func(o *notify.Options) {
		o.Now = func() time.Time { // a day for each question
			mu.Lock()
			defer mu.Unlock()
			at = at.Add(time.Hour)
			return at
		}
		o.DisableAfter = 5 * 24 * time.Hour
		o.Waits = make([]time.Duration, 1000)
	})
	for began := time.Now(); ; {
		got, err := w.s.Channel(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.DisabledAt != nil {
			if d := got.DisabledAt.Sub(*got.FailingSince); d < 5*24*time.Hour || !strings.HasPrefix(got.DisabledReason, "nothing could be delivered since ") {
				t.Errorf("disabled after %s: %s", d, got.DisabledReason)
			}
			return
		}
		if time.Since(began) > patience {
			t.Fatal("never disabled")
		}
	}
}

func TestWorker_WaitsAsLongAsTheReceiverAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	})
	c, _ := w.channel(rc.URL)
	w.happen(models.EventHeldCreated)
	w.work(nil)
	log := w.log(c, 1)
	got, err := w.s.Channel(t.Context(), c.ID)
	if err != nil || got.NextAt == nil || got.NextAt.Sub(log[0].At) < time.Hour {
		t.Errorf("next try %v after %v, %v", got.NextAt, log[0].At, err)
	}
}

func TestWorker_FollowsNoRedirectAndReachesNoPrivateAddress(t *testing.T) {
	t.Parallel()
	inner := newReceiver(t, nil)
	outer := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		http.Redirect(w, r, inner.URL, http.StatusTemporaryRedirect)
	})
	w := newWorld(t, nil)
	c, _ := w.channel(outer.URL)
	w.happen(models.EventHeldCreated)
	w.work(nil)
	if a := w.log(c, 1)[0]; a.Status != 307 || a.Error != "it answered with a redirect, which is not followed: change the address" {
		t.Errorf("%+v", a)
	}
	guarded := newWorld(t, func(o *notify.SenderOptions) { o.Web = fetch.Outgoing(fetch.Options{}) })
	c, _ = guarded.channel(inner.URL + "/secret-path")
	guarded.happen(models.EventHeldCreated)
	guarded.work(nil)
	a := guarded.log(c, 1)[0]
	if a.Status != 0 || a.Error != "the host's address is private or reserved and not allowed" {
		t.Errorf("%+v", a)
	}
	if len(inner.got) != 0 {
		t.Error("a private address was reached")
	}
}

func TestWorker_ASlowReceiverKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	slow := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	quick := newReceiver(t, nil)
	w := newWorld(t, func(o *notify.SenderOptions) { o.Timeout = time.Second })
	c, _ := w.channel(slow.URL)
	w.channel(quick.URL + "/quick")
	w.happen(models.EventHeldCreated)
	w.work(nil)
	slow.next()
	quick.next()
	if a := w.log(c, 1)[0]; a.Outcome != models.AttemptFailed || a.Error != "the server did not answer in time" {
		t.Errorf("%+v", a)
	}
}

// What a stop cut short is no failure: it is sent again, with its id.
func TestWorker_AStopLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	hang := make(chan struct{})
	rc := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
	})
	defer close(hang)
	c, _ := w.channel(rc.URL)
	events := w.happen(models.EventHeldCreated)
	stop := w.work(func(o *notify.Options) { o.Grace = time.Millisecond })
	rc.next()
	stop()
	if all, err := w.s.Attempts(t.Context(), c.ID, models.AttemptFilter{}); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	w.work(func(o *notify.Options) { o.Owner = "the next" })
	if r := rc.next(); r.ID != events[0].UID {
		t.Errorf("sent %s, want %s", r.ID, events[0].UID)
	}
}

func TestWorker_SeveralDaemonsDeliverOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, nil)
	w.channel(rc.URL)
	for i := range 3 {
		s := w.open()
		w.work(func(o *notify.Options) { o.Store, o.Owner = s, string(rune('a'+i)) })
	}
	var want, got []string
	for range 20 {
		for _, e := range w.happen(models.EventHeldCreated, models.EventHeldResolved) {
			want = append(want, e.UID)
		}
	}
	for range want {
		got = append(got, rc.next().ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWorker_TakesOverFromADeadDaemonAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, nil)
	c, _ := w.channel(rc.URL)
	w.happen(models.EventHeldCreated)
	if _, err := w.s.ClaimChannel(t.Context(), c.ID, "killed", time.Hour); err != nil {
		t.Fatal(err)
	}
	w.work(func(o *notify.Options) { o.Dead = func(owner string) bool { return owner == "killed" } })
	rc.next()
}

func TestWorker_RefusesToStartHalf(t *testing.T) {
	t.Parallel()
	if _, err := notify.NewWorker(notify.Options{}); err == nil {
		t.Error("a worker without a store")
	}
}

func TestDesk_TestsAtOnceAndWakesWhatWaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "80000")
			w.WriteHeader(503)
		}
	})
	c, secret := w.channel(rc.URL, models.EventHeldCreated)
	w.happen(models.EventHeldCreated)
	w.work(nil)
	rc.next()
	w.log(c, 1)
	a, err := w.desk.Test(context.Background(), c.ID)
	if err != nil || a.Outcome != models.AttemptDelivered || a.Type != models.EventTest {
		t.Fatalf("%+v, %v", a, err)
	}
	r := rc.next()
	rc.verified(r, secret)
	if r.Type != models.EventTest {
		t.Errorf("%s", r.Body)
	}
	if r := rc.next(); r.Type != models.EventHeldCreated {
		t.Errorf("what waited: %s", r.Body)
	}
	if _, err := w.desk.Test(context.Background(), 99); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an unknown channel: %v", err)
	}
}
