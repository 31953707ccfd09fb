package hooks_test

import (
	"bufio"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// TestRecorded measures the time from an edit to its place in the inventory, with the default quiet time and with none, and
// holds the daemon's own measure against it.
func TestRecorded(t *testing.T) {
	for _, test := range []struct {
		name        string
		environment []string
		rounds      int
		p95         time.Duration
	}{
		{"no quiet time", []string{"SITEMAPD_SYNC_QUIET=0s"}, 8, 3 * time.Second},
		{"default quiet time", nil, 2, 15 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			dsn := "sqlite:" + filepath.Join(t.TempDir(), "sitemapd.db")
			s := open(t, dsn)
			origins := newOrigins(t, s, 5, sitetest.Options{Posts: 400, PerFile: 30})
			d := newDaemon(t, dsn, test.environment...)
			d.up()
			firstRuns(t, s, origins)
			var mu sync.Mutex
			var took []time.Duration
			var offices sync.WaitGroup
			for n, o := range origins {
				offices.Go(func() {
					office := sitetest.Publisher{Site: o.Site, Seed: uint64(n + 1)}
					for i := range test.rounds {
						began := time.Now()
						e := office.Step()
						a := o.send(d.address, fmt.Sprintf("msg_%d_%d", n, i), e)
						if a.status != http.StatusOK {
							t.Errorf("%s %s: status %d, %v", e.Type, e.URL, a.status, a.problem)
							return
						}
						decided := awaitDecision(t, o, s, a.trigger)
						if decided.Outcome != models.OutcomeMet {
							t.Errorf("%s %s is %s: %s", e.Type, e.URL, decided.Outcome, decided.Text)
							return
						}
						mu.Lock()
						took = append(took, decided.DecidedAt.Sub(began))
						mu.Unlock()
						inventory(t, s, o.stored, o.Inventory())
					}
				})
			}
			offices.Wait()
			p95 := percentile(took, 95)
			t.Logf("%d edits recorded: p50 %s, p95 %s, longest %s", len(took), percentile(took, 50), p95, percentile(took, 100))
			if p95 > test.p95 || len(took) != test.rounds*len(origins) {
				t.Errorf("p95 of %d is %s, want at most %s", len(took), p95, test.p95)
			}
			count, sum := histogram(t, d.address, "sitemapd_publish_to_recorded_seconds")
			t.Logf("the daemon's own measure: %.0f, %.2f s on average", count, sum/count)
			if int(count) != len(took) {
				t.Errorf("the metric counts %.0f, want %d", count, len(took))
			}
		})
	}
}

// awaitDecision waits until what a message said was decided.
func awaitDecision(t *testing.T, o *origin, s *store.Store, trigger int64) models.Expectation {
	t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		all, err := s.ExpectationHistory(t.Context(), o.stored.ID, 0, 20)
		if err != nil {
			t.Error(err)
			return models.Expectation{}
		}
		for _, e := range all {
			if e.Trigger == trigger && (e.Outcome != models.OutcomeOpen || time.Now().After(deadline)) {
				return e
			}
		}
		if time.Now().After(deadline) {
			return models.Expectation{Outcome: "not opened"}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// histogram sums up a histogram over its labels.
func histogram(t *testing.T, address, name string) (count, sum float64) {
	t.Helper()
	response, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		series, _, _ = strings.Cut(series, "{")
		n, err := strconv.ParseFloat(value[strings.LastIndex(value, " ")+1:], 64)
		if err != nil {
			continue
		}
		switch series {
		case name + "_count":
			count += n
		case name + "_sum":
			sum += n
		}
	}
	return count, sum
}
