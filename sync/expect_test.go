package syncer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// hooked stores a hook's message about an edit, as the HTTP side does, and makes the run that serves it.
func (l *lab) hooked(e sitetest.Event, expect string) models.Run {
	l.Helper()
	hint := models.Hint{Event: e.Type, URL: e.URL, PreviousURL: e.PreviousURL, PostType: e.PostType, Expect: expect}
	_, _, err := l.store.SaveTrigger(l.Context(), models.Trigger{SiteID: l.site.ID, Kind: models.CauseHook, Dialect: "standard_webhooks",
		ReceivedAt: l.clock.now(), Hints: []models.Hint{hint}})
	if err != nil {
		l.Fatal(err)
	}
	l.clock.advance(10 * time.Second)
	return l.recheck(models.CauseHook)
}

func (l *lab) recheck(cause string) models.Run {
	l.Helper()
	r, err := l.engine.Run(l.Context(), syncer.Request{SiteID: l.site.ID, Cause: cause})
	if err != nil {
		l.Fatalf("run: %v", err)
	}
	return r
}

func (l *lab) expectations() []models.Expectation {
	l.Helper()
	all, err := l.store.ExpectationHistory(l.Context(), l.site.ID, 0, 0)
	if err != nil {
		l.Fatal(err)
	}
	return all
}

// large has more documents than a run reads whole when a hook names its page.
func large(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, sitetest.Options{Posts: 400, Pages: 3, Categories: 2, Users: 1, PerFile: 20})
	l.run(false)
	l.origin.ResetLog()
	return l
}

func TestTargeted_APublishCostsAHandfulOfRequests(t *testing.T) {
	t.Parallel()
	l := large(t)
	e := l.origin.Publish(sitetest.Spec{})
	r := l.hooked(e, models.ExpectListed)
	if !r.Targeted || r.Counts.Added != 1 || r.Verdict != models.VerdictComplete {
		t.Fatalf("run %+v: want a targeted, complete run that adds the post", r)
	}
	if n := len(l.origin.Requests()); n > 6 {
		t.Errorf("%d requests for one published post, want at most 6", n)
	}
	if got := l.expectations(); len(got) != 1 || got[0].Outcome != models.OutcomeMet || got[0].DecidedRun != r.ID {
		t.Errorf("expectations %+v, want one met in run %d", got, r.ID)
	}
	if full := l.run(true); full.Counts.Added+full.Counts.Changed > 3 || full.Counts.Removed != 0 {
		// The home page, the category and the author change with a new post; the targeted run did not look there.
		t.Errorf("the full run after it: %+v", full.Counts)
	}
}

func TestTargeted_ADeletionThatAHookNamesNeedsNoSecondWalk(t *testing.T) {
	t.Parallel()
	l := large(t)
	ids := l.origin.PublishedPosts()
	e := l.origin.Delete(ids[3]) // every later post shifts by one place
	r := l.hooked(e, models.ExpectGone)
	if !r.Targeted || r.Counts.Removed != 1 || r.Counts.Pending != 0 {
		t.Fatalf("run %+v: want the named post removed at once and nothing else", r.Counts)
	}
	if n := len(l.origin.Requests()); n > 6 {
		t.Errorf("%d requests, want at most 6", n)
	}
	if full := l.run(true); full.Counts.Removed != 0 || full.Counts.Added != 0 {
		t.Errorf("the full run after it: %+v, want page shifts alone", full.Counts)
	}
	l.settled()
}

func TestTargeted_StatesOnlyWhatItSaw(t *testing.T) {
	t.Parallel()
	l := large(t)
	ids := l.origin.PublishedPosts()
	l.origin.Delete(ids[5]) // by direct SQL: no hook tells
	e := l.origin.Edit(ids[4])
	r := l.hooked(e, models.ExpectChanged)
	if !r.Targeted || r.Counts.Removed+r.Counts.Pending != 0 || r.Counts.Changed != 1 {
		t.Fatalf("run %+v: want the edit alone; where the other post went a targeted run cannot tell", r.Counts)
	}
	if full := l.run(true); full.Counts.Removed != 1 {
		t.Errorf("the full run after it: %+v, want one removal", full.Counts)
	}
	l.settled()
}

// A restored post goes to the middle of the list, where a targeted run does not look: the second look does.
func TestExpect_WhatIsNotAtTheEndsIsLookedForEverywhere(t *testing.T) {
	t.Parallel()
	l := large(t)
	middle := l.origin.PublishedPosts()[200]
	l.origin.Trash(middle)
	l.run(true)
	first := l.hooked(l.origin.Restore(middle), models.ExpectListed)
	if !first.Targeted || first.Counts.Added+first.Counts.Restored != 0 {
		t.Fatalf("run %+v: want a targeted one that does not meet the post", first)
	}
	l.clock.advance(15 * time.Second)
	second := l.recheck(models.CauseCron)
	if second.Cause != models.CauseRecheck || second.Targeted || second.Counts.Added+second.Counts.Restored != 1 {
		t.Errorf("run %+v: want a recheck of every document that finds the post", second)
	}
	if got := l.expectations(); got[0].Outcome != models.OutcomeMet {
		t.Errorf("expectation %+v, want met", got[0])
	}
	l.settled()
}

// What was said of an address that the page has left is waited for no more.
func TestExpect_AMoveEndsWhatWasSaidOfTheOldAddress(t *testing.T) {
	t.Parallel()
	l := large(t)
	published := l.origin.Publish(sitetest.Spec{})
	undo := l.origin.Fail("/wp-sitemap*", l.origin.Stale("/wp-sitemap-posts-post-21.xml"))
	l.hooked(published, models.ExpectListed)
	undo()
	l.origin.Heal()
	moved := l.origin.ChangeSlug(published.ID, "another-address")
	if _, _, err := l.store.SaveTrigger(t.Context(), models.Trigger{SiteID: l.site.ID, Kind: models.CauseHook, ReceivedAt: l.clock.now(),
		Hints: []models.Hint{{Event: moved.Type, URL: moved.URL, PreviousURL: moved.PreviousURL, PostType: moved.PostType, Expect: models.ExpectMoved}}}); err != nil {
		t.Fatal(err)
	}
	l.hooked(l.origin.Edit(published.ID), models.ExpectChanged)
	got := map[string]string{}
	for _, e := range l.expectations() {
		got[e.Kind+" "+strings.TrimPrefix(e.URL, l.origin.URL())] = e.Outcome
		if e.NextCheck != nil || e.DecidedAt == nil {
			t.Errorf("%+v is still waited for", e)
		}
	}
	old := strings.TrimPrefix(published.URL, l.origin.URL())
	want := map[string]string{"listed " + old: models.OutcomeSuperseded, "moved /another-address/": models.OutcomeSuperseded,
		// The edit took the move's place; that the old address is gone is still looked for.
		"changed /another-address/": models.OutcomeMet, "gone " + old: models.OutcomeMet}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expectations (-want +got):\n%s", diff)
	}
}

func TestExpect_AMessageIsCheckedUntilItIsTrue(t *testing.T) {
	t.Parallel()
	l := large(t)
	undo := l.origin.Fail("/wp-sitemap-posts-post-21.xml", l.origin.Stale("/wp-sitemap-posts-post-21.xml"))
	e := l.origin.Publish(sitetest.Spec{})
	l.origin.Fail("/wp-sitemap.xml", l.origin.Stale("/wp-sitemap.xml"))
	first := l.hooked(e, models.ExpectListed)
	if got := l.expectations(); len(got) != 1 || got[0].Outcome != models.OutcomeOpen || got[0].NextCheck == nil {
		t.Fatalf("expectations %+v after run %+v, want one that is still open", got, first.Counts)
	}
	undo()
	l.origin.Heal()
	l.clock.advance(time.Minute)
	r := l.recheck(models.CauseCron)
	if r.Cause != models.CauseRecheck {
		t.Errorf("cause %s, want recheck: the look was due to what the hook said", r.Cause)
	}
	if got := l.expectations(); got[0].Outcome != models.OutcomeMet || got[0].Checks != 2 {
		t.Errorf("expectation %+v, want met at the second check", got[0])
	}
}

func TestExpect_WhatNeverComesTrueNamesTheLayer(t *testing.T) {
	t.Parallel()
	l := large(t)
	e := l.origin.Publish(sitetest.Spec{})
	l.origin.Fail("/wp-sitemap-*.xml", sitetest.Without(e.URL))
	l.hooked(e, models.ExpectListed)
	for range 6 {
		l.clock.advance(40 * time.Minute)
		l.recheck(models.CauseRecheck)
	}
	got := l.expectations()
	if len(got) != 1 || got[0].Outcome != models.OutcomeExpired || got[0].Finding != "published-not-declared" {
		t.Fatalf("expectations %+v, want one expired as published-not-declared", got)
	}
	if got[0].Text == "" || got[0].NextCheck != nil {
		t.Errorf("expectation %+v: want an explanation and no further check", got[0])
	}
}

// settled checks that the inventory equals what the origin lists.
func (l *lab) settled() {
	l.Helper()
	want := l.origin.Inventory()
	var got []string
	for _, p := range l.pages(models.PageFilter{}) {
		got = append(got, p.URL)
		if _, ok := want[p.URL]; !ok {
			l.Errorf("%s is live but not listed", p.URL)
		}
	}
	for url := range want {
		if !slices.Contains(got, url) {
			l.Errorf("%s is listed but not live", url)
		}
	}
}
