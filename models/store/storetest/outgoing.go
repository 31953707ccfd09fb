package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func event(kind string, at time.Time) models.Event {
	return models.Event{Type: kind, At: at, Data: json.RawMessage(`{"a":1}`)}
}

// A reader that goes on from the last number it saw must miss nothing, however the writers' commits overtake each other.
func eventOrder(t *testing.T, open func() *store.Store) {
	writers, each := 4, 25
	reader, at := open(), time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	var wg sync.WaitGroup
	for w := range writers {
		s := open()
		wg.Go(func() {
			for i := range each {
				if err := s.AppendEvents(t.Context(), []models.Event{event(fmt.Sprintf("w%d", w), at), event(fmt.Sprintf("n%d", i), at)}); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	seen, last, uids := 0, int64(0), map[string]bool{}
	for ended := false; ; {
		events, err := reader.Events(t.Context(), last, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.ID != last+1 {
				t.Fatalf("event %d is seen after %d", e.ID, last)
			}
			seen, last, uids[e.UID] = seen+1, e.ID, true
		}
		if len(events) == 0 && ended {
			break
		}
		select {
		case <-done:
			ended = true
		default:
		}
	}
	if want := writers * each * 2; seen != want || len(uids) != want {
		t.Errorf("%d events with %d ids were read, want %d", seen, len(uids), want)
	}
}

func newChannel(t *testing.T, s *store.Store, name string) models.Channel {
	t.Helper()
	c, err := s.AddChannel(t.Context(), models.Channel{Name: name, Kind: models.ChannelWebhook, Address: "https://example.com/ü", Types: []string{"*"}, CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func channels(t *testing.T, open func() *store.Store) {
	s, ctx := open(), t.Context()
	f := NewFixture(t, s)
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	f.must(s.AppendEvents(ctx, []models.Event{event("before", at)}))
	c := newChannel(t, s, "one")
	if _, err := s.AddChannel(ctx, models.Channel{Name: "one", CreatedAt: at}); !errors.Is(err, models.ErrConflict) {
		t.Errorf("the same name again: %v", err)
	}
	other := newChannel(t, s, "other")
	c.Address, c.SiteID, c.Types, c.Digest, c.DigestDue = "mailto:a@example.com", f.Site.ID, []string{"held.*"}, "@weekly", &at
	f.must(s.SaveChannel(ctx, c))
	got, err := s.FindChannel(ctx, "one")
	f.must(err)
	same(t, "a channel as read", c, got)
	c.Name = "other"
	if err := s.SaveChannel(ctx, c); !errors.Is(err, models.ErrConflict) {
		t.Errorf("another's name: %v", err)
	}
	if due, err := s.DueChannels(ctx, at); err != nil || len(due) != 0 {
		t.Errorf("a new channel has nothing to send of what was before: %+v, %v", due, err)
	}

	key, err := s.RotateChannelKey(ctx, c.ID, "", 0)
	f.must(err)
	second, err := s.RotateChannelKey(ctx, c.ID, "", time.Hour)
	f.must(err)
	keys, err := s.ChannelKeys(ctx, c.ID)
	if err != nil || len(keys) != 2 || keys[0].ID != second.ID || keys[1].ID != key.ID || !strings.HasPrefix(keys[0].Secret, "whsec_") || keys[1].NotAfter.IsZero() {
		t.Errorf("keys: %+v, %v", keys, err)
	}
	if _, err := s.RotateChannelKey(ctx, c.ID, "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0", 0); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.ChannelKeys(ctx, c.ID); err != nil || len(keys) != 1 || keys[0].Secret != "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0" {
		t.Errorf("without overlap one key is left: %+v, %v", keys, err)
	}

	next := at.Add(7 * 24 * time.Hour)
	won, err := s.DigestSent(ctx, got, &next, []models.Event{event(models.EventDigest, at)})
	if err != nil || !won {
		t.Errorf("digest: %v, %v", won, err)
	}
	if won, err := s.DigestSent(ctx, got, &next, []models.Event{event(models.EventDigest, at)}); err != nil || won {
		t.Errorf("the same digest again: %v, %v", won, err)
	}
	if events, err := s.Events(ctx, 0, 10); err != nil || len(events) != 2 {
		t.Errorf("one digest is stored: %+v, %v", events, err)
	}
	f.must(s.RemoveChannel(ctx, other.ID))
	if err := s.RemoveChannel(ctx, other.ID); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a removed channel is removed: %v", err)
	}
}

func queues(t *testing.T, open func() *store.Store) {
	s, rival, ctx := open(), open(), t.Context()
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	made := newChannel(t, s, "one")
	must(s.AppendEvents(ctx, []models.Event{event("a", at), event("b", at.Add(time.Minute)), event("c", at.Add(time.Hour))}))
	events, err := s.Events(ctx, 0, 10)
	must(err)
	due, err := s.DueChannels(ctx, at)
	if err != nil || len(due) != 1 {
		t.Fatalf("due: %+v, %v", due, err)
	}
	if q, err := s.Queues(ctx); err != nil || len(q) != 1 || q[0].Waiting != 3 || !q[0].Oldest.Equal(at) {
		t.Errorf("queue: %+v, %v", q, err)
	}
	c, err := s.ClaimChannel(ctx, made.ID, "us", time.Hour)
	must(err)
	if _, err := rival.ClaimChannel(ctx, made.ID, "them", time.Hour); !errors.Is(err, models.ErrBusy) {
		t.Errorf("a claimed channel is claimed: %v", err)
	}
	if due, err := rival.DueChannels(ctx, at); err != nil || len(due) != 0 {
		t.Errorf("a claimed channel is due: %+v, %v", due, err)
	}
	attempt := func(i, try int, outcome string) models.Attempt {
		return models.Attempt{Channel: c.ID, EventID: events[i].ID, At: at.Add(time.Duration(i) * time.Hour), Try: try, Outcome: outcome, Status: 500,
			Took: 1500 * time.Microsecond, Error: "ü", Excerpt: "<b>\xff"}
	}
	later := at.Add(time.Minute)
	must(s.Settle(ctx, &c, models.Settlement{Attempt: attempt(0, 1, models.AttemptFailed), NextAt: &later}, time.Hour, nil))
	must(s.ReleaseChannel(ctx, c))
	if due, err := s.DueChannels(ctx, at); err != nil || len(due) != 0 {
		t.Errorf("a channel that waits is due: %+v, %v", due, err)
	}
	if due, err := s.DueChannels(ctx, later); err != nil || len(due) != 1 || due[0].Tries != 1 || due[0].Head != events[0].ID || !due[0].FailingSince.Equal(at) {
		t.Errorf("a channel that waited: %+v, %v", due, err)
	}
	stale := c
	c, err = rival.ClaimChannel(ctx, made.ID, "them", time.Hour)
	must(err)
	if err := s.Settle(ctx, &stale, models.Settlement{Attempt: attempt(0, 2, models.AttemptDelivered)}, time.Hour, nil); !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("whoever lost a channel settles: %v", err)
	}
	must(rival.ReleaseChannels(ctx, "them"))
	if err := rival.SkipEvents(ctx, &c, events[2].ID, time.Hour); !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("whoever was taken for dead skips: %v", err)
	}
	c, err = s.ClaimChannel(ctx, made.ID, "us", time.Hour)
	must(err)
	must(s.Settle(ctx, &c, models.Settlement{Attempt: attempt(0, 2, models.AttemptGivenUp)}, time.Hour, nil))
	must(s.Settle(ctx, &c, models.Settlement{Attempt: attempt(1, 1, models.AttemptDelivered)}, time.Hour, nil))
	if c.Position != events[1].ID || c.FailingSince != nil {
		t.Errorf("after a delivery: %+v", c)
	}
	must(s.Settle(ctx, &c, models.Settlement{Attempt: attempt(2, 1, models.AttemptFailed), Disable: "it answered 410"}, time.Hour,
		[]models.Event{event(models.EventChannelDisabled, at)}))
	must(s.ReleaseChannel(ctx, c))
	if _, err := s.ClaimChannel(ctx, c.ID, "us", time.Hour); !errors.Is(err, models.ErrBusy) {
		t.Errorf("a disabled channel is claimed: %v", err)
	}
	if events, err = s.Events(ctx, 0, 10); err != nil || len(events) != 4 {
		t.Errorf("the others are told: %+v, %v", events, err)
	}
	log, err := s.Attempts(ctx, c.ID, models.AttemptFilter{})
	must(err)
	var outcomes []string
	for _, a := range log {
		outcomes = append(outcomes, a.Type+" "+a.Outcome)
	}
	same(t, "the log", []string{"c failed", "b delivered", "a given_up", "a failed"}, outcomes)
	if a := log[3]; a.EventUID != events[0].UID || a.Took != 1500*time.Microsecond || a.TookMS != 1.5 || a.Excerpt != "<b>?" || !a.At.Equal(at) {
		t.Errorf("an attempt as read: %+v", a)
	}
	if some, err := s.Attempts(ctx, c.ID, models.AttemptFilter{Outcome: models.AttemptFailed, Before: log[0].ID, Limit: 5}); err != nil || len(some) != 1 || some[0].ID != log[3].ID {
		t.Errorf("failed ones before the newest: %+v, %v", some, err)
	}
	again(t, s, c, events)
}

// again asks for repetitions of what went wrong in queues.
func again(t *testing.T, s *store.Store, c models.Channel, events []models.Event) {
	ctx, at := t.Context(), events[0].At.Add(48*time.Hour)
	if n, err := s.Recover(ctx, c.ID, events[0].At.Add(time.Second), at); err != nil || n != 0 {
		t.Errorf("recover what was delivered: %d, %v", n, err)
	}
	if n, err := s.Recover(ctx, c.ID, events[0].At, at); err != nil || n != 1 {
		t.Errorf("recover what was given up: %d, %v", n, err)
	}
	if err := s.Resend(ctx, c.ID, "evt_none", at); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an unknown event: %v", err)
	}
	if err := s.Resend(ctx, c.ID, events[1].UID, at); err != nil {
		t.Error(err)
	}
	if due, err := s.DueChannels(ctx, at); err != nil || len(due) != 0 {
		t.Errorf("a disabled channel is due: %+v, %v", due, err)
	}
	if err := s.EnableChannel(ctx, c.ID); err != nil {
		t.Error(err)
	}
	c, err := s.ClaimChannel(ctx, c.ID, "us", time.Hour)
	if err != nil || c.DisabledAt != nil || c.Tries != 0 {
		t.Fatalf("after enabling: %+v, %v", c, err)
	}
	asked, tries, err := s.Resends(ctx, c.ID, at, 10)
	if err != nil || len(asked) != 2 || asked[0].UID != events[0].UID || tries[0] != 0 {
		t.Fatalf("asked for: %+v %v, %v", asked, tries, err)
	}
	attempt := models.Attempt{Channel: c.ID, EventID: asked[0].ID, At: at, Try: 1, Resend: true, Outcome: models.AttemptFailed}
	later := at.Add(time.Hour)
	if err := s.SettleResend(ctx, &c, models.Settlement{Attempt: attempt, NextAt: &later}, time.Hour); err != nil {
		t.Error(err)
	}
	attempt.EventID, attempt.Outcome = asked[1].ID, models.AttemptDelivered
	if err := s.SettleResend(ctx, &c, models.Settlement{Attempt: attempt}, time.Hour); err != nil {
		t.Error(err)
	}
	if asked, _, err := s.Resends(ctx, c.ID, at, 10); err != nil || len(asked) != 0 {
		t.Errorf("still asked for: %+v, %v", asked, err)
	}
	if asked, tries, err := s.Resends(ctx, c.ID, later, 10); err != nil || len(asked) != 1 || tries[0] != 1 {
		t.Errorf("asked for later: %+v %v, %v", asked, tries, err)
	}
	// What is old and settled is forgotten; what waits is not.
	if n, err := s.ForgetEvents(ctx, at.Add(1000*time.Hour)); err != nil || n != 1 {
		t.Errorf("forgotten: %d, %v", n, err)
	}
	if left, err := s.Events(ctx, 0, 10); err != nil || len(left) != 3 || left[0].UID != events[0].UID {
		t.Errorf("left: %+v, %v", left, err)
	}
}

func runEvents(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	if unread, err := s.UnreadRuns(ctx); err != nil || len(unread) != 0 {
		t.Errorf("before the first run: %+v, %v", unread, err)
	}
	run := f.Begin()
	f.Finish(run)
	second := f.Begin()
	unread, err := s.UnreadRuns(ctx)
	if err != nil || len(unread) != 1 || unread[0] != (models.Unread{SiteID: f.Site.ID}) {
		t.Fatalf("unread: %+v, %v", unread, err)
	}
	runs, err := s.RunsAfter(ctx, f.Site.ID, 0, 10)
	if err != nil || len(runs) != 2 || runs[0].ID != run.ID || runs[1].FinishedAt != nil {
		t.Errorf("runs: %+v, %v", runs, err)
	}
	f.Finish(second)
	// Several daemons make events of the same run: one of them stores them.
	var wg sync.WaitGroup
	var mu sync.Mutex
	winners := 0
	for range 4 {
		other := open()
		wg.Go(func() {
			won, err := other.AppendRun(ctx, f.Site.ID, 0, run.ID, []models.Event{event(models.EventRunFinished, f.At(1))}, nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("append run: %v", err)
			}
			if won {
				winners++
			}
		})
	}
	wg.Wait()
	events, err := s.Events(ctx, 0, 10)
	if err != nil || winners != 1 || len(events) != 1 {
		t.Errorf("%d daemons stored %d events, %v", winners, len(events), err)
	}
	if unread, err := s.UnreadRuns(ctx); err != nil || len(unread) != 1 || unread[0].Run != run.ID {
		t.Errorf("unread after one: %+v, %v", unread, err)
	}
}

// What people decide and what hooks announced in vain is told by the transaction that records it.
func siteEvents(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, []models.Declaration{Page(pageA, "a")})
	f.Finish(run)
	run = f.Begin()
	f.must(s.SaveRemovals(ctx, f.Lease, f.Site.ID, run.ID, []models.Removal{{Key: KeyOf(pageA), URL: pageA, Document: 1, FromRun: run.ID, FirstRun: 1, HeldRun: run.ID,
		DecidedRun: models.Open, Stage: models.StageHeld, Since: f.At(run.ID)}}))
	f.Finish(run)
	for _, approve := range []bool{false, true} {
		if n, err := s.DecideRemovals(ctx, f.Site.ID, []models.Key{KeyOf(pageA)}, approve); err != nil || n != 1 {
			t.Fatalf("decide: %d, %v", n, err)
		}
	}
	if n, err := s.DecideRemovals(ctx, f.Site.ID, []models.Key{KeyOf(pageA)}, true); err != nil || n != 0 {
		t.Fatalf("decide again: %d, %v", n, err)
	}
	at := f.At(2)
	e := models.Expectation{SiteID: f.Site.ID, Trigger: 1, Key: KeyOf(pageB), URL: pageB, Kind: models.ExpectListed, OpenedAt: at, Outcome: models.OutcomeOpen}
	f.must(s.OpenExpectations(ctx, f.Lease, []models.Expectation{e}))
	e.Checks = 1
	f.must(s.SaveExpectations(ctx, f.Lease, []models.Expectation{e}))
	e.Outcome, e.DecidedAt, e.DecidedRun = models.OutcomeExpired, &at, 2
	f.must(s.SaveExpectations(ctx, f.Lease, []models.Expectation{e}))
	events, err := s.Events(ctx, 0, 10)
	f.must(err)
	var told []string
	for _, e := range events {
		var data struct {
			Decision     string
			URLs         []string
			Pages        int
			Expectations []struct{ URL string }
			Site         struct{ Name string }
		}
		f.must(json.Unmarshal(e.Data, &data))
		told = append(told, fmt.Sprint(e.Type, " ", data.Site.Name, " ", data.Decision, data.URLs, data.Pages, data.Expectations))
	}
	same(t, "told", []string{"held.resolved example.com rejected[" + pageA + "] 1 []", "held.resolved example.com approved[" + pageA + "] 1 []",
		"expectation.expired example.com [] 1 [{" + pageB + "}]"}, told)
}

func alerts(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	rule, err := s.SaveAlertRule(ctx, models.AlertRule{Name: "mass", Trigger: models.AlertPagesRemoved, Threshold: 0.5, Severity: "error", Code: "c", Within: time.Hour,
		SiteID: f.Site.ID, Filter: "prefix=%2F", Channels: []int64{3, 4}, CreatedAt: at})
	f.must(err)
	if _, err := s.SaveAlertRule(ctx, models.AlertRule{Name: "mass", CreatedAt: at}); !errors.Is(err, models.ErrConflict) {
		t.Errorf("the same name again: %v", err)
	}
	rule.SilencedUntil, rule.SilenceReason = &at, "deploy"
	saved, err := s.SaveAlertRule(ctx, rule)
	f.must(err)
	same(t, "a rule as saved", rule, saved)
	read, err := s.FindAlertRule(ctx, "mass")
	f.must(err)
	same(t, "a rule as read", rule, read)

	change := models.AlertChange{Rule: rule, SiteID: f.Site.ID, Open: true, Tell: true, Alert: models.Alert{OpenedAt: at, OpenedRun: 7, Value: 12, Text: "ü"}}
	var wg sync.WaitGroup
	var mu sync.Mutex
	winners := 0
	for range 4 {
		other := open()
		wg.Go(func() {
			won, err := other.SaveAlerts(ctx, []models.AlertChange{change}, []models.Event{event(models.EventAlertOpened, at)})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("save alerts: %v", err)
			}
			if won {
				winners++
			}
		})
	}
	wg.Wait()
	if events, err := s.Events(ctx, 0, 10); err != nil || winners != 1 || len(events) != 1 {
		t.Fatalf("%d daemons opened the alert with %d events, %v", winners, len(events), err)
	}
	states, err := s.AlertStates(ctx, f.Site.ID)
	if err != nil || len(states) != 1 || states[0].Alert == nil || !states[0].Alert.Told || states[0].Alert.Rule != "mass" {
		t.Fatalf("states: %+v, %v", states, err)
	}
	change.Version, change.Open, change.Alert = states[0].Version, false, *states[0].Alert
	change.Alert.ResolvedAt, change.Alert.ResolvedRun = &at, 8
	if won, err := s.AppendRun(ctx, f.Site.ID, 0, 8, nil, []models.AlertChange{change}); err != nil || !won {
		t.Errorf("resolve: %v, %v", won, err)
	}
	if won, err := s.AppendRun(ctx, f.Site.ID, 8, 9, []models.Event{event("x", at)}, []models.AlertChange{change}); err != nil || won {
		t.Errorf("resolve again on the old state: %v, %v", won, err)
	}
	if unread, err := s.Events(ctx, 1, 10); err != nil || len(unread) != 0 {
		t.Errorf("nothing is stored of a change that is void: %+v, %v", unread, err)
	}
	list, err := s.Alerts(ctx, f.Site.ID, 0, 10)
	if err != nil || len(list) != 1 || list[0].ResolvedRun != 8 || list[0].Value != 12 {
		t.Errorf("alerts: %+v, %v", list, err)
	}
	f.must(s.RemoveAlertRule(ctx, rule.ID, at))
	if err := s.RemoveAlertRule(ctx, rule.ID, at); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a removed rule is removed: %v", err)
	}
}
