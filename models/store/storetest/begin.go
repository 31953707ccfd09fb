package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// site reads the fixture's site with its agenda.
func (f *Fixture) site() models.Site {
	f.t.Helper()
	site, err := f.Store.Site(f.t.Context(), f.Site.ID)
	f.must(err)
	return site
}

func agenda(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	same(t, "a new site", models.Agenda{Known: true}, f.site().Agenda)
	_, err := f.Store.RotateHookKey(t.Context(), f.Site.ID, 0)
	f.must(err)
	same(t, "a site with a hook secret", models.Agenda{Known: true, Keys: true}, f.site().Agenda)
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, []models.Declaration{Page(pageA, "1")})
	f.Finish(run)
	id, _, err := f.Store.SaveTrigger(t.Context(), models.Trigger{SiteID: f.Site.ID, Kind: models.CauseHook})
	f.must(err)
	same(t, "a trigger waits", models.Agenda{Known: true, Triggers: true, Keys: true}, f.site().Agenda)
	run = f.Begin()
	f.must(f.Store.OpenExpectations(t.Context(), f.Lease, []models.Expectation{{SiteID: f.Site.ID, Trigger: id, Key: KeyOf(pageA), URL: pageA,
		Kind: models.ExpectGone, OpenedAt: f.clock}}))
	f.SaveRemovals(run, Case(run, 1, pageA, models.StagePending))
	if f.site().Agenda.Known {
		t.Error("the agenda counts as known while a run is staged")
	}
	f.Finish(run, id)
	same(t, "a removal is undecided", models.Agenda{Known: true, Expectations: true, Removals: true, Keys: true}, f.site().Agenda)
	due, err := f.Store.DueSites(t.Context(), f.clock)
	if err != nil || len(due) != 0 {
		t.Errorf("due: %+v, %v", due, err)
	}
	run = f.Begin()
	removed := Case(run, 1, pageA, models.StageRemoved)
	removed.FromRun, removed.DecidedRun = run.ID-1, run.ID
	f.SaveRemovals(run, removed)
	if a := f.site().Agenda; a.Known {
		t.Errorf("a run that may be swept decided the removal, and the agenda says so: %+v", a)
	}
	f.Begin() // sweeps it
	if a := f.site().Agenda; !a.Removals {
		t.Errorf("after the sweep: %+v", a)
	}
}

func takeRun(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	s, ctx, host := f.Store, t.Context(), f.Lease.Host
	draft := models.Run{Cause: models.CauseCron, StartedAt: f.clock}
	if _, _, err := s.TakeRun(ctx, host, "b", time.Hour, f.site(), draft); !errors.Is(err, models.ErrBusy) {
		t.Fatalf("a held host is taken: %v", err)
	}
	f.must(s.ReleaseLease(ctx, f.Lease))
	before := f.site()
	lease, run, err := s.TakeRun(ctx, host, "b", time.Hour, before, draft)
	f.must(err)
	if lease.Epoch <= f.Lease.Epoch || lease.Owner != "b" || run.ID != before.LastRun+1 || run.Baseline {
		t.Fatalf("took %+v for %+v", lease, run)
	}
	if err := s.RenewLease(ctx, &f.Lease, time.Hour); !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("the former owner renews: %v", err)
	}
	f.Lease = lease
	f.SaveDocument(run, 1, models.VerdictPartial)
	f.must(s.ReleaseLease(ctx, lease)) // killed
	for name, site := range map[string]models.Site{"as it was before": before, "with rows to sweep": f.site()} {
		if _, _, err := s.TakeRun(ctx, host, "c", time.Hour, site, draft); !errors.Is(err, models.ErrConflict) {
			t.Errorf("a site %s gets a run: %v", name, err)
		}
	}
	lease, err = s.AcquireLease(ctx, host, "c", time.Hour) // the conflicts took nothing
	f.must(err)
	f.Lease = lease
	f.Begin()
	f.must(s.FailRun(ctx, lease, f.Site.ID, f.Last(), "no"))
	f.must(s.ReleaseLease(ctx, lease))
	site := f.site()
	lease, run, err = s.TakeRun(ctx, host, "d", time.Hour, site, draft)
	f.must(err)
	if run.ID != site.LastRun+1 {
		t.Errorf("run %d follows %d", run.ID, site.LastRun)
	}
	lease.GiveBack = true
	at := f.At(run.ID)
	run.Verdict, run.FinishedAt = models.VerdictComplete, &at
	f.must(s.Finish(ctx, lease, run, nil, nil))
	if _, err := s.LeaseHolder(ctx, host); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("the lease is held after a run that gave it back: %v", err)
	}
	if site := f.site(); site.CurrentRun != run.ID {
		t.Errorf("readers are at run %d, want %d", site.CurrentRun, run.ID)
	}
	if err := s.Finish(ctx, lease, run, nil, nil); !errors.Is(err, models.ErrConflict) {
		t.Errorf("finished twice: %v", err)
	}
	f.must(s.RemoveSite(ctx, f.Site.ID))
	if _, _, err := s.TakeRun(ctx, host, "e", time.Hour, site, draft); !errors.Is(err, models.ErrConflict) {
		t.Errorf("a removed site gets a run: %v", err)
	}
	if _, _, err := s.TakeRun(ctx, KeyOf("never seen"), "e", time.Hour, models.Site{ID: 999}, draft); !errors.Is(err, models.ErrConflict) {
		t.Errorf("an unknown site gets a run: %v", err)
	}
	if _, err := s.AcquireLease(ctx, KeyOf("never seen"), "f", time.Hour); err != nil {
		t.Errorf("the host of a run that never began is taken: %v", err)
	}
}

// lostLease: a daemon that lost its lease may give a document another number than the one that took over. It must learn that
// it lost the lease, not that a key is there already.
func lostLease(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	run, former := f.Begin(), f.Lease
	f.must(f.Store.ReleaseLease(t.Context(), former))
	var err error
	f.Lease, err = f.Store.AcquireLease(t.Context(), former.Host, "b", time.Hour)
	f.must(err)
	second := f.Begin()
	d := f.SaveDocument(second, 7, models.VerdictComplete)
	d.Number = 8
	if err := f.Store.SaveDocument(t.Context(), former, f.Site.ID, run.ID, &d, nil); !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("the former owner saves a document that the new one saved: %v", err)
	}
	if err := f.Store.SaveDocument(t.Context(), f.Lease, f.Site.ID, second.ID, &d, nil); err == nil || errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("the owner gives a document a second number: %v", err)
	}
}
