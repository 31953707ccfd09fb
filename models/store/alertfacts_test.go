package store_test

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// What alert rules read of the past: conflicts and expectations that count at or after a moment.
func TestAlertFacts_ReachBackToAMoment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		look := looked("https://example.com/a/")
		opened := look.Watch.LastLook
		look.Conflict = &models.CanonicalConflict{OpenedAt: opened, Kinds: "flapping", Body: []byte(`{}`)}
		must(s.SaveLook(t.Context(), f.Lease, f.Site.ID, look))
		spans, err := s.ConflictSpans(t.Context(), f.Site.ID, opened.Add(time.Hour))
		if err != nil || len(spans) != 1 || spans[0].URL != "https://example.com/a/" || !spans[0].OpenedAt.Equal(opened) || spans[0].ClosedAt != nil {
			t.Fatalf("%+v, %v", spans, err)
		}
		closed := opened.Add(time.Hour)
		look = looked("https://example.com/a/")
		look.Watch.Revision, look.Opened = 1, nil
		look.Conflict = &models.CanonicalConflict{OpenedAt: opened, ClosedAt: &closed, Kinds: "flapping", Body: []byte(`{}`)}
		must(s.SaveLook(t.Context(), f.Lease, f.Site.ID, look))
		if spans, err := s.ConflictSpans(t.Context(), f.Site.ID, closed); err != nil || len(spans) != 1 || !spans[0].ClosedAt.Equal(closed) {
			t.Errorf("closed at that moment: %+v, %v", spans, err)
		}
		if spans, err := s.ConflictSpans(t.Context(), f.Site.ID, closed.Add(time.Second)); err != nil || len(spans) != 0 {
			t.Errorf("closed before: %+v, %v", spans, err)
		}

		at := f.At(1)
		e := models.Expectation{SiteID: f.Site.ID, Trigger: 1, Key: storetest.KeyOf("x"), URL: "x", Kind: models.ExpectListed, OpenedAt: at, Outcome: models.OutcomeOpen}
		must(s.OpenExpectations(t.Context(), f.Lease, []models.Expectation{e}))
		if got, err := s.ExpiredExpectations(t.Context(), f.Site.ID, at); err != nil || len(got) != 0 {
			t.Errorf("an open one: %+v, %v", got, err)
		}
		e.Outcome, e.DecidedAt = models.OutcomeExpired, &at
		must(s.SaveExpectations(t.Context(), f.Lease, []models.Expectation{e}))
		if got, err := s.ExpiredExpectations(t.Context(), f.Site.ID, at); err != nil || len(got) != 1 || got[0].URL != "x" {
			t.Errorf("expired then: %+v, %v", got, err)
		}
		if got, err := s.ExpiredExpectations(t.Context(), f.Site.ID, at.Add(time.Second)); err != nil || len(got) != 0 {
			t.Errorf("expired before: %+v, %v", got, err)
		}
	})
}
