package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func leases(t *testing.T, open func() *store.Store) {
	s, other, ctx := open(), open(), t.Context()
	host := KeyOf("host")
	first, err := s.AcquireLease(ctx, host, "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"a", "b"} {
		if _, err := other.AcquireLease(ctx, host, owner, time.Hour); !errors.Is(err, models.ErrBusy) {
			t.Errorf("%s takes a held lease: %v", owner, err)
		}
	}
	if err := s.RenewLease(ctx, &first, time.Hour); err != nil {
		t.Errorf("renew: %v", err)
	}
	if _, err := other.AcquireLease(ctx, KeyOf("another host"), "b", time.Hour); err != nil {
		t.Errorf("another host's lease: %v", err)
	}
	if err := s.ReleaseLease(ctx, first); err != nil {
		t.Fatal(err)
	}
	second, err := other.AcquireLease(ctx, host, "b", time.Nanosecond)
	if err != nil || second.Epoch <= first.Epoch {
		t.Fatalf("after a release: %+v, %v; want an epoch above %d", second, err, first.Epoch)
	}
	third, err := s.AcquireLease(ctx, host, "a", time.Hour)
	if err != nil || third.Epoch <= second.Epoch {
		t.Fatalf("after its time: %+v, %v; want an epoch above %d", third, err, second.Epoch)
	}
	if err := other.RenewLease(ctx, &second, time.Hour); !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("renew a lost lease: %v", err)
	}
	if err := other.ReleaseLease(ctx, second); !errors.Is(err, models.ErrLeaseLost) {
		t.Errorf("release a lost lease: %v", err)
	}
	if err := s.RenewLease(ctx, &third, time.Hour); err != nil {
		t.Errorf("a lost lease's owner disturbed the new one: %v", err)
	}
}

func leaseRace(t *testing.T, open func() *store.Store) {
	handles := []*store.Store{open(), open(), open()}
	for round := range 10 {
		host := KeyOf(string(rune('a' + round)))
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				_, err := handles[i%3].AcquireLease(t.Context(), host, string(rune('A'+i)), time.Hour)
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, models.ErrBusy):
					t.Errorf("losers are told that it is busy: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("round %d: %d winners", round, won.Load())
		}
	}
}

func fence(t *testing.T, open func() *store.Store) {
	s, ctx := open(), t.Context()
	f := NewFixture(t, s)
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, []models.Declaration{Page("https://example.com/a", "1")})
	f.Finish(run)
	if err := s.ReleaseLease(ctx, f.Lease); err != nil {
		t.Fatal(err)
	}
	lost := f.Lease
	var err error
	if f.Lease, err = open().AcquireLease(ctx, lost.Host, "successor", time.Hour); err != nil {
		t.Fatal(err)
	}
	run = f.Begin() // the successor's
	before := dump(f, run.ID)
	site := f.Site.ID
	d := models.Document{Number: 2, URL: f.DocumentURL(2), Key: KeyOf(f.DocumentURL(2))}
	d.FetchedAt = time.Now()
	for name, write := range map[string]func() error{
		"BeginRun": func() error { _, err := s.BeginRun(ctx, lost, site, models.Run{StartedAt: time.Now()}); return err },
		"StageDocument": func() error {
			return s.StageDocument(ctx, lost, site, run.ID, 1, []models.Key{KeyOf("https://example.com/a")}, nil)
		},
		"SaveSums": func() error {
			return s.SaveSums(ctx, lost, site, run.ID, []models.DocumentSums{{Document: 1, Sums: []byte("x")}})
		},
		"StageDocuments": func() error {
			return s.StageDocuments(ctx, lost, site, run.ID, []models.Staging{f.staging(run, 1, "", nil, Page("https://example.com/c", "1"))})
		},
		"Unstage":      func() error { return s.Unstage(ctx, lost, site, run.ID, 1) },
		"SaveDocument": func() error { return s.SaveDocument(ctx, lost, site, run.ID, &d, nil) },
		"SaveValidators": func() error {
			return s.SaveValidators(ctx, lost, site, []models.Validators{{Document: 1, ETag: "other", LastModified: "other"}})
		},
		"SaveRemovals": func() error {
			return s.SaveRemovals(ctx, lost, site, run.ID, []models.Removal{{Key: KeyOf("x"), FromRun: run.ID, DecidedRun: models.Open, Stage: models.StagePending, Since: time.Now()}})
		},
		"SaveRunFindings": func() error {
			return s.SaveRunFindings(ctx, lost, site, run.ID, []models.Finding{{Code: "x", Severity: models.SeverityInfo}})
		},
		"OpenExpectations": func() error {
			return s.OpenExpectations(ctx, lost, []models.Expectation{{SiteID: site, Trigger: 1, Key: KeyOf("x"), URL: "x", Kind: models.ExpectListed}})
		},
		"SaveExpectations": func() error {
			return s.SaveExpectations(ctx, lost, []models.Expectation{{SiteID: site, Trigger: 1, Key: KeyOf("x"), URL: "x", Kind: models.ExpectListed}})
		},
		"PlanSite": func() error { later := time.Now(); return s.PlanSite(ctx, lost, site, &later) },
		"SavePluginInventory": func() error {
			return s.SavePluginInventory(ctx, lost, models.PluginInventory{SiteID: site, Run: run.ID})
		},
		"StagePublished": func() error {
			return s.StagePublished(ctx, lost, site, run.ID, []models.PublishedPost{{PostID: 1, URL: "x", Status: models.PostPublished}})
		},
		"Finish":  func() error { return s.Finish(ctx, lost, run, nil, nil) },
		"FailRun": func() error { return s.FailRun(ctx, lost, site, run.ID, "no") },
	} {
		if err := write(); !errors.Is(err, models.ErrLeaseLost) {
			t.Errorf("%s with a lost lease: %v", name, err)
		}
	}
	same(t, "lost leases wrote nothing", before, dump(f, run.ID))
	f.Stage(run, 1, nil, []models.Declaration{Page("https://example.com/b", "1")})
	f.Finish(run)
	if got := f.States(models.AsOf{}); len(got) != 2 {
		t.Errorf("the successor's run: %q", got)
	}
}
