package syncer

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func TestMet(t *testing.T) {
	t.Parallel()
	opened := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	before, after := opened.Add(-time.Hour), opened.Add(time.Second)
	live := func(lastmod *time.Time, fresh bool) sight { return sight{listed: true, lastmod: lastmod, fresh: fresh} }
	tests := []struct {
		name     string
		kind     string
		modified *time.Time
		now, was sight
		want     bool
	}{
		{name: "published and listed", kind: models.ExpectListed, now: live(&before, false), want: true},
		{name: "published, not listed yet", kind: models.ExpectListed},
		{name: "deleted, still listed", kind: models.ExpectGone, now: live(&before, false)},
		{name: "deleted and missing", kind: models.ExpectGone, now: sight{}, want: true},
		{name: "moved, both listed", kind: models.ExpectMoved, now: live(nil, false), was: live(nil, false)},
		{name: "moved, the new one alone", kind: models.ExpectMoved, now: live(nil, false), want: true},
		{name: "changed, recorded since", kind: models.ExpectChanged, now: live(&before, true), want: true},
		{name: "changed, the old lastmod", kind: models.ExpectChanged, now: live(&before, false)},
		{name: "changed, the lastmod of the message", kind: models.ExpectChanged, modified: &after, now: live(&after, false), want: true},
		{name: "changed, no lastmod to tell by", kind: models.ExpectChanged, now: live(nil, false), want: true},
		{name: "changed, not listed", kind: models.ExpectChanged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := models.Expectation{Kind: tt.kind, OpenedAt: opened, Modified: tt.modified}
			if got := met(e, tt.now, tt.was); got != tt.want {
				t.Errorf("met %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNextCheck_ClimbsTheLadderOnce(t *testing.T) {
	t.Parallel()
	opened := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	e := models.Expectation{OpenedAt: opened}
	now := opened
	for _, want := range ladder {
		next := nextCheck(e, now)
		if next == nil || !next.Equal(opened.Add(want)) {
			t.Fatalf("after %s the next check is %v, want after %s", now.Sub(opened), next, want)
		}
		now = *next
	}
	if next := nextCheck(e, now); next != nil {
		t.Errorf("a check behind the last rung: %v", next)
	}
}

func TestExpectations(t *testing.T) {
	t.Parallel()
	trigger := models.Trigger{ID: 7, SiteID: 1, Hints: []models.Hint{
		{URL: "https://example.com/new/", Expect: models.ExpectListed, ModifiedGMT: "2026-11-30 11:59:00"},
		{URL: "https://example.com/b/", PreviousURL: "https://example.com/a/", Expect: models.ExpectMoved},
		{URL: "https://elsewhere.example/x", Expect: models.ExpectListed},
		{URL: "https://example.com/c/"},
	}}
	got := expectations(trigger, func(url string) (models.Key, bool) {
		return key(url), len(url) > 20 && url[:20] == "https://example.com/"
	})
	if len(got) != 2 || got[0].Kind != models.ExpectListed || got[1].Kind != models.ExpectMoved {
		t.Fatalf("got %+v, want listed and moved", got)
	}
	if got[0].Modified == nil || got[0].Modified.Hour() != 11 {
		t.Errorf("modified %v, want 11:59 UTC", got[0].Modified)
	}
	if got[1].PreviousURL != "https://example.com/a/" || got[1].PreviousKey == (models.Key{}) {
		t.Errorf("previous %q is not kept", got[1].PreviousURL)
	}
}
