package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// TestStorm: signed hooks keep coming while the daemon and the database server are killed again and again. What was
// answered with 200 is in the inbox and gets served by a run that began after it; what was not was answered with 503,
// or the connection broke, so that every sender knows.
func TestStorm(t *testing.T) {
	hooks, rate := number(t, "SITEMAPD_TEST_HOOKS", 1000), number(t, "SITEMAPD_TEST_HOOK_RATE", 200)
	kills, stops := number(t, "SITEMAPD_TEST_HOOK_KILLS", 4), number(t, "SITEMAPD_TEST_DATABASE_STOPS", 1)
	m := newServer(t)
	dsn := newDatabase(t, m.dsn())
	s := open(t, dsn)
	origins := newOrigins(t, s, 4, sitetest.Options{Posts: 300})
	d := newDaemon(t, dsn, "SITEMAPD_SYNC_QUIET=1s", "SITEMAPD_SYNC_MAX_WAIT=3s", "SITEMAPD_SYNC_LEASE_TTL=15s")
	d.up()
	firstRuns(t, s, origins)

	answers := make([]answer, hooks)
	up, down := context.WithCancel(t.Context())
	defer down()
	var keeper, senders sync.WaitGroup
	restarts := 0
	keeper.Go(func() { restarts = d.keepUp(up) })
	// What is struck at which hook: first the kills evenly, then the stops between them.
	strikes := map[int]func(){}
	struck := 0
	for i := range kills {
		strikes[(i+1)*hooks/(kills+1)] = func() {
			// A process that is only just starting is no daemon yet.
			for deadline := time.Now().Add(30 * time.Second); !d.ready() && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			}
			if d.kill() {
				struck++
			}
		}
	}
	for i := range stops {
		strikes[(2*i+1)*hooks/(2*stops)+hooks/(4*(kills+1))] = func() { m.kill(); time.Sleep(time.Second); m.start() }
	}
	// The strikes run beside the senders, in order.
	next := make(chan func(), len(strikes))
	var striker sync.WaitGroup
	striker.Go(func() {
		for strike := range next {
			strike()
		}
	})
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	began := time.Now()
	room := make(chan struct{}, 400) // a stopped database lets answers pile up
	for i := range hooks {
		if strike := strikes[i]; strike != nil {
			next <- strike
		}
		<-ticker.C
		room <- struct{}{}
		senders.Go(func() {
			o := origins[i%len(origins)]
			ids := o.PublishedPosts()
			answers[i] = o.send(d.address, fmt.Sprintf("storm_%d", i), o.Edit(ids[i%50]))
			<-room
		})
	}
	close(next)
	senders.Wait()
	striker.Wait()
	took := time.Since(began)

	stored := map[int64]bool{}
	servedAll(t, s, sites(origins), 5*time.Minute)
	down()
	keeper.Wait()
	for _, o := range origins {
		triggers, err := s.Triggers(t.Context(), o.stored.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, trigger := range triggers {
			if trigger.Kind == models.CauseHook {
				stored[trigger.ID] = true
			}
		}
		inventory(t, s, o.stored, o.Inventory())
	}
	if struck != kills {
		t.Errorf("%d daemons were killed, want %d", struck, kills)
	}
	report(t, answers, stored, fmt.Sprintf("%d hooks within %s, daemon killed %d times (%d starts), database %d times", hooks, took.Round(time.Second), struck, restarts, stops))
}

// report counts the answers and fails on one that is none of the promised.
func report(t *testing.T, answers []answer, stored map[int64]bool, what string) {
	t.Helper()
	accepted, refused, broken, lost := 0, 0, 0, 0
	ids := map[int64]string{}
	var took []time.Duration
	for _, a := range answers {
		switch {
		case a.status == http.StatusOK && a.problem == nil:
			accepted++
			took = append(took, a.took)
			if !stored[a.trigger] {
				lost++
				t.Errorf("%s was answered with 200 and trigger %d, which is not there", a.id, a.trigger)
			}
			if other, twice := ids[a.trigger]; twice {
				t.Errorf("%s and %s were both answered with trigger %d", a.id, other, a.trigger)
			}
			ids[a.trigger] = a.id
		case a.status == http.StatusServiceUnavailable:
			refused++
		case a.status == 0 && cut(a.problem):
			broken++
		default:
			t.Errorf("%s: status %d, %v after %s", a.id, a.status, a.problem, a.took)
		}
	}
	t.Logf("%s", what)
	t.Logf("200: %d (p50 %s, p99 %s), 503: %d, refused or broken connections: %d, stored %d, lost %d", accepted, percentile(took, 50), percentile(took, 99),
		refused, broken, len(stored), lost)
	if accepted == 0 {
		t.Error("not one hook was accepted")
	}
}

// cut tells a connection that was refused or broken from any other trouble.
func cut(err error) bool {
	var op *net.OpError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && !op.Timeout() && !errors.Is(err, os.ErrDeadlineExceeded)
}
