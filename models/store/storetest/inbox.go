package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func triggers(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, hooks := t.Context(), open()
	received := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	hint := models.Trigger{SiteID: f.Site.ID, Kind: models.CauseHook, Dialect: "standard_webhooks", DedupeKey: KeyOf("delivery 1"), ReceivedAt: received,
		Hints: []models.Hint{{Event: "post.published", URL: pageA, PostID: 5, Expect: "listed"}}, Body: []byte("{\xff}")}
	id, twin, err := hooks.SaveTrigger(ctx, hint)
	if err != nil || twin || id == 0 {
		t.Fatalf("SaveTrigger() = %d, %v, %v", id, twin, err)
	}
	if again, twin, err := hooks.SaveTrigger(ctx, hint); err != nil || !twin || again != id {
		t.Errorf("the same delivery = %d, %v, %v; want %d, true", again, twin, err, id)
	}
	got, err := f.Store.Trigger(ctx, f.Site.ID, id)
	f.must(err)
	hint.ID = id
	same(t, "a trigger as read", hint, got)
	traced := models.Trigger{SiteID: f.Site.ID, Kind: models.CauseHook, DedupeKey: KeyOf("traced"), Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	second, _, err := hooks.SaveTrigger(ctx, traced)
	f.must(err)
	_, _, err = hooks.SaveTrigger(ctx, traced)
	f.must(err)
	traces, err := f.Store.TriggerTraces(ctx, f.Site.ID, []int64{id, second})
	f.must(err)
	same(t, "traces of triggers", []string{traced.Trace}, traces)

	// Hooks arrive while a run writes: neither waits for the other's row, and what arrived later stays unserved.
	run := f.Begin()
	seen, err := f.Store.PendingTriggers(ctx, f.Site.ID)
	f.must(err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if _, twin, err := hooks.SaveTrigger(ctx, models.Trigger{SiteID: f.Site.ID, Kind: models.CausePing}); err != nil || twin {
					t.Errorf("a trigger without a key: %v, %v", twin, err)
				}
			}
		})
	}
	for i := range 20 {
		f.SaveDocument(run, int32(i+1), models.VerdictComplete)
	}
	wg.Wait()
	f.Finish(run, seen[0].ID, second)
	pending, err := f.Store.PendingTriggers(ctx, f.Site.ID)
	if err != nil || len(pending) != 40 {
		t.Errorf("%d triggers wait after the run, %v; want 40", len(pending), err)
	}
	got, err = f.Store.Trigger(ctx, f.Site.ID, id)
	if err != nil || got.ServedRun != run.ID || got.ServedAt == nil || !got.ServedAt.Equal(f.At(run.ID)) {
		t.Errorf("a served trigger: %+v, %v", got, err)
	}
	page, err := f.Store.Triggers(ctx, f.Site.ID, pending[5].ID, 3)
	if err != nil || len(page) != 3 || page[0].ID != pending[4].ID || page[2].ID != pending[2].ID {
		t.Errorf("three triggers before one: %+v, %v", page, err)
	}
	if _, err := f.Store.Trigger(ctx, f.Site.ID+1, id); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("another site's trigger: %v", err)
	}
}

func expectations(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	next := at.Add(15 * time.Second)
	first := models.Expectation{SiteID: f.Site.ID, Trigger: 1, Key: KeyOf(pageA), URL: pageA, Kind: models.ExpectMoved, PreviousKey: KeyOf(pageB), PreviousURL: pageB,
		Modified: &at, OpenedAt: at, OpenedRun: 3, NextCheck: &next, Outcome: models.OutcomeOpen}
	later := models.Expectation{SiteID: f.Site.ID, Trigger: 2, Key: KeyOf(pageA), URL: pageA, Kind: models.ExpectGone, OpenedAt: at.Add(time.Minute), Outcome: models.OutcomeOpen}
	other := models.Expectation{SiteID: f.Site.ID, Trigger: 1, Key: KeyOf(pageC), URL: pageC, Kind: models.ExpectListed, OpenedAt: at, Outcome: models.OutcomeOpen}
	f.must(s.OpenExpectations(ctx, f.Lease, []models.Expectation{first, other}))
	got, err := s.Expectations(ctx, f.Site.ID)
	if err != nil || len(got) != 2 {
		t.Fatalf("open: %+v, %v", got, err)
	}
	for i := range got {
		if got[i].Key == first.Key {
			same(t, "an expectation as read", first, got[i])
			got[i].Checks = 2
			f.must(s.SaveExpectations(ctx, f.Lease, got[i:i+1]))
		}
	}
	f.must(s.OpenExpectations(ctx, f.Lease, []models.Expectation{first, later})) // the first is there: it keeps its checks
	history, err := s.ExpectationHistory(ctx, f.Site.ID, 0, 0)
	f.must(err)
	outcomes := map[string]string{}
	for _, e := range history {
		outcomes[e.Kind] = e.Outcome
		if e.Kind == models.ExpectMoved && e.Checks != 2 {
			t.Errorf("an expectation that is opened again forgot its checks: %+v", e)
		}
	}
	same(t, "outcomes", map[string]string{models.ExpectMoved: models.OutcomeSuperseded, models.ExpectGone: models.OutcomeOpen, models.ExpectListed: models.OutcomeOpen}, outcomes)
	if history[0].Trigger != 2 {
		t.Errorf("the newest trigger comes first: %+v", history[0])
	}
	later.Outcome, later.DecidedRun, later.DecidedAt, later.Finding, later.Text = models.OutcomeExpired, 9, &next, "declared-but-gone", "ü"
	f.must(s.SaveExpectations(ctx, f.Lease, []models.Expectation{later}))
	if open, err := s.Expectations(ctx, f.Site.ID); err != nil || len(open) != 1 || open[0].Key != other.Key {
		t.Errorf("open after a decision: %+v, %v", open, err)
	}
	if older, err := s.ExpectationHistory(ctx, f.Site.ID, 2, 1); err != nil || len(older) != 1 || older[0].Trigger != 1 {
		t.Errorf("one before trigger 2: %+v, %v", older, err)
	}
}

func access(t *testing.T, open func() *store.Store) {
	s, ctx := open(), t.Context()
	f := NewFixture(t, s)
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	later := at.Add(time.Hour)

	token, err := s.SaveToken(ctx, models.Token{Name: "ci", Prefix: "smd_ab", Hash: [32]byte{1}, Scopes: []string{"read"}, CreatedAt: at, ExpiresAt: &later})
	f.must(err)
	if _, err := s.SaveToken(ctx, token); !errors.Is(err, models.ErrConflict) {
		t.Errorf("the same token again: %v", err)
	}
	f.must(s.TouchToken(ctx, token.ID, later))
	f.must(s.RevokeToken(ctx, token.ID, later))
	f.must(s.RevokeToken(ctx, token.ID, later.Add(time.Hour)))
	got, err := s.TokenByHash(ctx, token.Hash)
	f.must(err)
	token.LastUsedAt, token.RevokedAt = &later, &later
	same(t, "a token as read", token, got)
	if all, err := s.Tokens(ctx); err != nil || len(all) != 1 {
		t.Errorf("tokens: %+v, %v", all, err)
	}
	if _, err := s.TokenByHash(ctx, [32]byte{2}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an unknown token: %v", err)
	}
	if err := s.RevokeToken(ctx, 99, at); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an unknown token is revoked: %v", err)
	}

	account := models.Account{Name: "Zoë", Password: "$argon2id$", Scopes: []string{"admin"}, CreatedAt: at}
	f.must(s.SaveAccount(ctx, models.Account{Name: "Zoë", Password: "old", CreatedAt: at}))
	f.must(s.SaveAccount(ctx, account))
	gotAccount, err := s.Account(ctx, "Zoë")
	f.must(err)
	same(t, "an account as read", account, gotAccount)
	if _, err := s.Account(ctx, "zoe"); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("another spelling: %v", err)
	}
	session := models.Session{Hash: [32]byte{3}, Account: "Zoë", CreatedAt: time.Now().UTC().Truncate(time.Microsecond), SeenAt: at, ExpiresAt: time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)}
	f.must(s.SaveSession(ctx, session))
	gotSession, err := s.SessionByHash(ctx, session.Hash)
	f.must(err)
	same(t, "a session as read", session, gotSession)
	f.must(s.TouchSession(ctx, session.Hash, later, later))
	f.must(s.EndSessions(ctx, "Zoë"))
	if _, err := s.SessionByHash(ctx, session.Hash); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an ended session: %v", err)
	}
	f.must(s.SaveLink(ctx, [32]byte{4}, later))
	f.must(s.SaveLink(ctx, [32]byte{5}, later))
	for hash, when := range map[byte]time.Time{4: at, 5: later} { // replaced, out of date
		if err := s.TakeLink(ctx, [32]byte{hash}, when); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("link %d is taken: %v", hash, err)
		}
	}
	f.must(s.TakeLink(ctx, [32]byte{5}, at))
	if err := s.TakeLink(ctx, [32]byte{5}, at); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a link is taken twice: %v", err)
	}

	first, err := s.RotateHookKey(ctx, f.Site.ID, time.Hour)
	f.must(err)
	second, err := s.RotateHookKey(ctx, f.Site.ID, time.Hour)
	f.must(err)
	keys, err := s.HookKeys(ctx, f.Site.ID)
	if err != nil || len(keys) != 2 || keys[0].ID != second.ID || keys[1].NotAfter.IsZero() || keys[1].Secret != first.Secret {
		t.Errorf("two keys, the newer first, the older with an end: %+v, %v", keys, err)
	}
	third, err := s.RotateHookKey(ctx, f.Site.ID, 0)
	f.must(err)
	if keys, err := s.HookKeys(ctx, f.Site.ID); err != nil || len(keys) != 1 || keys[0].ID != third.ID {
		t.Errorf("without overlap one key is left: %+v, %v", keys, err)
	}

	id, _, err := s.SaveTrigger(ctx, models.Trigger{SiteID: f.Site.ID, Kind: models.CauseHook})
	f.must(err)
	delivery := models.Delivery{SiteID: f.Site.ID, At: at, Result: models.DeliveryAccepted, Status: 200, Dialect: "github", KeyID: first.ID, Remote: "\xff192.0.2.1", Bytes: 9, Trigger: id,
		Hints: []models.Hint{{Event: "post.deleted"}}}
	f.must(s.SaveDelivery(ctx, delivery))
	delivery.Result = models.DeliveryRejected
	f.must(s.SaveDelivery(ctx, delivery))
	f.Finish(f.Begin(), id)
	deliveries, err := s.Deliveries(ctx, f.Site.ID, 0, 1)
	if err != nil || len(deliveries) != 1 || deliveries[0].Result != models.DeliveryRejected || deliveries[0].Run != 1 {
		t.Errorf("the newest delivery, with its run: %+v, %v", deliveries, err)
	}
	if older, err := s.Deliveries(ctx, f.Site.ID, deliveries[0].ID, 0); err != nil || len(older) != 1 || older[0].Hints[0].Event != "post.deleted" {
		t.Errorf("the ones before: %+v, %v", older, err)
	}
}
