package syncer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// wire asks a made-up site without a network: within a bubble of testing/synctest, waiting for a socket would stop the clock.
type wire struct {
	origin *sitetest.Site
	takes  time.Duration // one request
}

func (w *wire) Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error) {
	result := &fetch.Result{URL: req.URL, FinalURL: req.URL, Attempts: 1, FetchedAt: time.Now(), ObservedAt: time.Now(), Header: http.Header{}}
	select {
	case <-ctx.Done():
		result.Outcome, result.Body = fetch.Cancelled, http.NoBody
		return result, nil
	case <-time.After(w.takes):
	}
	answer := httptest.NewRecorder()
	w.origin.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, req.URL, nil))
	response := answer.Result()
	result.Outcome, result.Status, result.Header = fetch.OK, response.StatusCode, response.Header
	result.ContentType, result.ContentLength = response.Header.Get("Content-Type"), -1
	result.Body = response.Body
	if result.Status != http.StatusOK {
		result.Outcome = fetch.HTTPError
	}
	return result, consume(result)
}

func (w *wire) ReadRobots(_ context.Context, req fetch.Request) (*fetch.RobotsRules, *fetch.Result) {
	return nil, &fetch.Result{URL: req.URL, FinalURL: req.URL, Outcome: fetch.HTTPError, Status: http.StatusNotFound, Body: http.NoBody,
		Header: http.Header{}, FetchedAt: time.Now(), ObservedAt: time.Now()}
}

// sick is a database that can be made to fail.
type sick struct {
	*store.Store
	mu      sync.Mutex
	begins  []time.Time // when a run wanted to begin
	begin   error
	pending map[int64]error
	takes   time.Duration // TakeRun takes so long
	asked   int
}

func (s *sick) TakeRun(ctx context.Context, host models.Key, owner string, ttl time.Duration, site models.Site, run models.Run) (models.Lease, models.Run, error) {
	s.mu.Lock()
	s.asked++
	takes, err := s.takes, s.begin
	s.begins = append(s.begins, time.Now())
	s.mu.Unlock()
	time.Sleep(takes)
	if err != nil {
		return models.Lease{}, run, err
	}
	return s.Store.TakeRun(ctx, host, owner, ttl, site, run)
}

func (s *sick) PendingTriggers(ctx context.Context, site int64) ([]models.Trigger, error) {
	if err := s.pending[site]; err != nil {
		return nil, err
	}
	return s.Store.PendingTriggers(ctx, site)
}

// post is a loop within a bubble, with one site that was read once and is due by hooks alone.
type post struct {
	*testing.T
	store  *sick
	wire   *wire
	engine *syncer.Engine
	loop   *syncer.Loop
	site   models.Site
	stop   context.CancelFunc
	ended  chan error
}

// inBubble runs fn with a loop that was not started yet.
func inBubble(t *testing.T, o syncer.LoopOptions, fn func(*post)) {
	t.Helper()
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sitemapd.db")
	synctest.Test(t, func(t *testing.T) {
		opened, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		p := &post{T: t, store: &sick{Store: opened, pending: map[int64]error{}}, ended: make(chan error, 1),
			wire: &wire{origin: sitetest.New(sitetest.Options{BaseURL: "http://shop.example", Posts: 20})}}
		p.engine, err = syncer.New(syncer.Options{Store: p.store, Web: p.wire, Owner: "test",
			NextDue: func(_ models.Site, after time.Time) *time.Time {
				next := after.Add(time.Hour)
				return &next
			}})
		if err != nil {
			t.Fatal(err)
		}
		p.site = p.add("shop", p.wire.origin.Index())
		if _, err := p.engine.Run(t.Context(), syncer.Request{SiteID: p.site.ID, Cause: models.CauseManual}); err != nil {
			t.Fatal(err)
		}
		p.store.begins = nil
		o.Store = p.store
		p.loop = syncer.NewLoop(p.engine, o)
		fn(p)
		if p.stop != nil {
			p.end()
		}
	})
}

func (p *post) add(name, root string) models.Site {
	p.Helper()
	site, err := p.store.AddSite(p.Context(), models.Site{Name: name, Home: root, Root: root, Roots: []models.Root{{URL: root, Discovery: "direct_URL"}}})
	if err != nil {
		p.Fatal(err)
	}
	return site
}

func (p *post) start() {
	ctx, stop := context.WithCancel(p.Context())
	p.stop = stop
	go func() { p.ended <- p.loop.Run(ctx) }()
}

func (p *post) end() {
	p.Helper()
	p.stop()
	p.stop = nil
	if err := <-p.ended; err != nil {
		p.Errorf("the loop ended with %v", err)
	}
}

// hook stores a message as the HTTP side does and wakes the loop.
func (p *post) hook(kind string) {
	p.Helper()
	if _, _, err := p.store.SaveTrigger(p.Context(), models.Trigger{SiteID: p.site.ID, Kind: kind, Dialect: "token", ReceivedAt: time.Now()}); err != nil {
		p.Fatal(err)
	}
	p.loop.Wake()
}

// runs gives the runs since the loop began, oldest first.
func (p *post) runs() []models.Run {
	p.Helper()
	all, err := p.store.Runs(p.Context(), p.site.ID, 0, 0)
	if err != nil {
		p.Fatal(err)
	}
	var out []models.Run
	for i := len(all) - 2; i >= 0; i-- { // the last is the run before the loop
		out = append(out, all[i])
	}
	return out
}

// served fails unless each message was served by a run that began after it.
func (p *post) served(want int) {
	p.Helper()
	all, err := p.store.Triggers(p.Context(), p.site.ID, 0, 0)
	if err != nil {
		p.Fatal(err)
	}
	if len(all) != want {
		p.Errorf("%d messages stored, want %d", len(all), want)
	}
	began := map[int64]time.Time{}
	for _, r := range p.runs() {
		began[r.ID] = r.StartedAt
	}
	for _, t := range all {
		if at, ok := began[t.ServedRun]; !ok || at.Before(t.ReceivedAt.Truncate(time.Microsecond)) {
			p.Errorf("message %d of %s was served by run %d of %s", t.ID, t.ReceivedAt, t.ServedRun, at)
		}
	}
}

func TestLoop_ABurstIsOneRunAfterTheLast(t *testing.T) {
	inBubble(t, syncer.LoopOptions{}, func(p *post) {
		p.start()
		for range 1000 {
			p.hook(models.CauseHook)
			time.Sleep(10 * time.Millisecond)
		}
		last := time.Now()
		time.Sleep(30 * time.Second)
		runs := p.runs()
		if len(runs) != 1 || runs[0].Cause != models.CauseHook || runs[0].StartedAt.Before(last) {
			t.Errorf("%d runs after 1,000 messages within 10 s: %+v; want one, after %s", len(runs), runs, last)
		}
		if wait := runs[0].StartedAt.Sub(last); wait > 12*time.Second {
			t.Errorf("the run began %s after the last message, want 10 s and a tick", wait)
		}
		p.served(1000)
	})
}

func TestLoop_WaitsNoLongerThanTheLongestWait(t *testing.T) {
	inBubble(t, syncer.LoopOptions{}, func(p *post) {
		p.start()
		began := time.Now()
		for range 36 { // never 10 s of silence
			p.hook(models.CauseHook)
			time.Sleep(5 * time.Second)
		}
		time.Sleep(30 * time.Second)
		runs := p.runs()
		if len(runs) < 3 || len(runs) > 4 {
			t.Fatalf("%d runs in three minutes without silence, want one a minute and one at the end", len(runs))
		}
		if wait := runs[0].StartedAt.Sub(began); wait < 60*time.Second || wait > 62*time.Second {
			t.Errorf("the first run began after %s, want 60 s and a tick", wait)
		}
		p.served(36)
	})
}

func TestLoop_ASiteChoosesItsSilence(t *testing.T) {
	inBubble(t, syncer.LoopOptions{Quiet: -1}, func(p *post) {
		p.start()
		began := time.Now()
		p.hook(models.CausePing)
		time.Sleep(3 * time.Second)
		if runs := p.runs(); len(runs) != 1 || runs[0].Cause != models.CausePing || runs[0].StartedAt.Sub(began) > 200*time.Millisecond {
			t.Fatalf("runs %+v, want one of cause ping at once", runs)
		}
		site, err := p.store.Store.Site(p.Context(), p.site.ID)
		if err != nil {
			t.Fatal(err)
		}
		site.Settings.Quiet = 40 * time.Second
		if err := p.store.SaveSite(p.Context(), site); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		p.hook(models.CauseHook)
		time.Sleep(50 * time.Second)
		if runs := p.runs(); len(runs) != 2 || runs[1].StartedAt.Sub(began) < 40*time.Second {
			t.Errorf("runs %+v, want the second 40 s after its message", runs)
		}
		p.served(2)
	})
}

func TestLoop_AMessageDuringARunIsServedByTheNext(t *testing.T) {
	inBubble(t, syncer.LoopOptions{Quiet: -1}, func(p *post) {
		p.wire.takes = 10 * time.Second
		p.start()
		p.hook(models.CauseHook)
		for range 10 {
			time.Sleep(time.Second)
			p.hook(models.CauseHook)
		}
		time.Sleep(10 * time.Minute)
		if n := len(p.runs()); n != 2 {
			t.Errorf("%d runs, want one for the first message and one for the ten that came while it read", n)
		}
		p.served(11)
	})
}

func TestLoop_WhatWasMissedIsDueOnce(t *testing.T) {
	inBubble(t, syncer.LoopOptions{}, func(p *post) {
		time.Sleep(26 * time.Hour) // no daemon ran: 26 hourly runs were due
		p.hook(models.CauseHook)
		time.Sleep(time.Hour)
		p.start()
		time.Sleep(30 * time.Minute)
		if runs := p.runs(); len(runs) != 1 {
			t.Errorf("%d runs for what was missed, want one", len(runs))
		}
		p.served(1)
		time.Sleep(2 * time.Hour)
		if runs := p.runs(); len(runs) != 3 || runs[2].Cause != models.CauseCron {
			t.Errorf("%d runs two hours later, want three", len(runs))
		}
	})
}

func TestLoop_OurFailuresPutASiteOff(t *testing.T) {
	inBubble(t, syncer.LoopOptions{Quiet: -1}, func(p *post) {
		p.store.begin = errors.New("disk full")
		p.start()
		p.hook(models.CauseHook)
		time.Sleep(6 * time.Hour)
		p.store.mu.Lock()
		tries := p.store.begins
		p.store.mu.Unlock()
		if len(tries) < 9 {
			t.Fatalf("%d tries within 6 hours, want about 11", len(tries))
		}
		for i := 1; i < len(tries); i++ {
			want := min(time.Hour, time.Minute<<(i-1))
			if wait := tries[i].Sub(tries[i-1]); wait < want || wait > want+3*time.Second {
				t.Errorf("try %d came %s after the one before, want %s", i, wait, want)
			}
		}
		p.hook(models.CauseManual) // a person need not wait, and is not tried over and over
		time.Sleep(10 * time.Second)
		p.store.mu.Lock()
		if n := len(p.store.begins) - len(tries); n != 1 {
			t.Errorf("%d tries after a person asked, want one", n)
		}
		p.store.begin = nil
		p.store.mu.Unlock()
		time.Sleep(61 * time.Minute)
		if n := len(p.runs()); n == 0 {
			t.Error("no run after the failure was over")
		}
		p.served(2)
	})
}

func TestLoop_StopsWithItsRuns(t *testing.T) {
	inBubble(t, syncer.LoopOptions{Quiet: -1}, func(p *post) {
		p.wire.takes = time.Minute
		p.start()
		p.hook(models.CauseHook)
		time.Sleep(10 * time.Second)
		if !p.engine.Running(p.site.ID) {
			t.Fatal("no run under way")
		}
		began := time.Now()
		p.end()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the loop took %s to stop", took)
		}
		if p.engine.Running(p.site.ID) {
			t.Error("a run outlived the loop")
		}
		if left, err := p.store.Store.PendingTriggers(p.Context(), p.site.ID); err != nil || len(left) != 1 {
			t.Errorf("%d messages wait for the next daemon (%v), want the one that was not served", len(left), err)
		}
		if lease, err := p.store.AcquireLease(p.Context(), syncer.HostKey(p.site.Root), "another", time.Minute); err != nil {
			t.Errorf("the host was not given back: %v", err)
		} else if err := p.store.ReleaseLease(p.Context(), lease); err != nil {
			t.Error(err)
		}
		p.wire.takes = 0
		p.loop = syncer.NewLoop(p.engine, syncer.LoopOptions{Store: p.store})
		p.start()
		time.Sleep(30 * time.Second)
		p.served(1)
	})
}

// A run is known to the engine only once the site was read: until then the loop itself must remember it.
func TestLoop_StartsASiteOnceHoweverOftenItIsWoken(t *testing.T) {
	inBubble(t, syncer.LoopOptions{Quiet: -1}, func(p *post) {
		p.store.mu.Lock()
		p.store.takes, p.store.asked = 3*time.Second, 0
		p.store.mu.Unlock()
		p.start()
		p.hook(models.CauseHook)
		for range 100 {
			p.loop.Wake()
			time.Sleep(20 * time.Millisecond)
		}
		p.store.mu.Lock()
		if p.store.asked != 1 {
			t.Errorf("the site was started %d times", p.store.asked)
		}
		p.store.mu.Unlock()
		time.Sleep(10 * time.Second)
		p.served(1)
	})
}

func TestLoop_OneSitesTroubleKeepsNoOther(t *testing.T) {
	inBubble(t, syncer.LoopOptions{Quiet: -1}, func(p *post) {
		for i := range 8 {
			bad := p.add(fmt.Sprintf("bad%d", i), fmt.Sprintf("http://bad%d.example/sitemap.xml", i))
			p.store.pending[bad.ID] = io.ErrUnexpectedEOF
			if _, _, err := p.store.SaveTrigger(p.Context(), models.Trigger{SiteID: bad.ID, Kind: models.CauseHook, ReceivedAt: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		p.start()
		p.hook(models.CauseHook)
		time.Sleep(300 * time.Millisecond)
		if n := len(p.runs()); n != 1 {
			t.Errorf("%d runs of the site in order, want one at the first look", n)
		}
	})
}
