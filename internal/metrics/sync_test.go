package metrics_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/internal/metrics"
	"github.com/sitemapd/sitemapd/models"
)

var site = models.Site{ID: 1, Name: "example.com"}

func run(verdict models.Verdict, change func(*models.Run)) models.Run {
	ended := time.Date(2026, 5, 1, 10, 0, 2, 0, time.UTC)
	r := models.Run{
		Site: site.Name, Cause: models.CauseCron, Verdict: verdict, StartedAt: ended.Add(-2 * time.Second), FinishedAt: &ended,
		Documents: models.RunDocuments{Read: 3, Unchanged: 2, Failed: 1}, Requests: 7, Bytes: 1000,
		Counts: models.Counts{Live: 100, Added: 4, Removed: 3, Changed: 2, Moved: 1, Stale: 5, Pending: 6, Held: 7},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func fixture(t *testing.T) (*metrics.Sync, func() map[string]float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	m, err := metrics.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	return m, func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.Metric {
				name := strings.TrimPrefix(family.GetName(), "sitemapd_sync_")
				for _, label := range metric.Label {
					name += " " + label.GetValue()
				}
				values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			}
		}
		return values
	}
}

func TestObserve_CountsARunAndShowsTheSite(t *testing.T) {
	t.Parallel()
	m, values := fixture(t)
	m.Observe(site, run(models.VerdictComplete, nil))
	ended := float64(time.Date(2026, 5, 1, 10, 0, 2, 0, time.UTC).Unix())
	want := map[string]float64{
		"runs_total cron example.com complete": 1, "run_duration_seconds cron": 1,
		"changes_total added example.com": 4, "changes_total removed example.com": 3, "changes_total changed example.com": 2,
		"changes_total moved example.com": 1, "changes_total restored example.com": 0,
		"documents_total read": 3, "documents_total unchanged": 2, "documents_total failed": 1,
		"requests_total": 7, "received_bytes_total": 1000,
		"pages example.com live": 100, "pages example.com stale": 5, "pages example.com pending": 6, "pages example.com held": 7,
		"last_success_timestamp_seconds example.com": ended, "last_run_timestamp_seconds example.com": ended,
	}
	if diff := cmp.Diff(want, values()); diff != "" {
		t.Error(diff)
	}
}

func TestDecided_MeasuresWhatCameTrue(t *testing.T) {
	t.Parallel()
	m, values := fixture(t)
	opened := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	decided := opened.Add(11 * time.Second)
	for _, outcome := range []string{models.OutcomeMet, models.OutcomeExpired, models.OutcomeSuperseded} {
		m.Decided(site, models.Expectation{Kind: models.ExpectListed, Outcome: outcome, OpenedAt: opened, DecidedAt: &decided})
	}
	if diff := cmp.Diff(map[string]float64{"sitemapd_publish_to_recorded_seconds listed": 1}, only(values(), "sitemapd_publish")); diff != "" {
		t.Error(diff)
	}
}

func only(values map[string]float64, prefix string) map[string]float64 {
	maps.DeleteFunc(values, func(name string, _ float64) bool { return !strings.HasPrefix(name, prefix) })
	return values
}

func TestObserve_OnlyACompleteRunIsASuccess(t *testing.T) {
	t.Parallel()
	m, values := fixture(t)
	m.Observe(site, run(models.VerdictPartial, nil))
	m.Observe(site, run(models.VerdictComplete, func(r *models.Run) { r.Error = "database is locked" }))
	got := values()
	if _, found := got["last_success_timestamp_seconds example.com"]; found {
		t.Error("an incomplete run counts as success")
	}
	if got["runs_total cron example.com partial"] != 1 || got["runs_total cron example.com failed"] != 1 {
		t.Errorf("runs are %v", got)
	}
}

func TestObserve_TheFirstRunIsNoFloodOfAdditions(t *testing.T) {
	t.Parallel()
	m, values := fixture(t)
	m.Observe(site, run(models.VerdictComplete, func(r *models.Run) { r.Baseline = true }))
	if n := values()["changes_total added example.com"]; n != 0 {
		t.Errorf("%v additions", n)
	}
}

func TestKnown_ShowsWithoutCountingAndForgetDrops(t *testing.T) {
	t.Parallel()
	m, values := fixture(t)
	m.Known(site, run(models.VerdictComplete, nil))
	got := values()
	if got["pages example.com live"] != 100 || got["runs_total cron example.com complete"] != 0 {
		t.Errorf("after Known: %v", got)
	}
	m.Observe(site, run(models.VerdictComplete, nil))
	m.Forget(site)
	for name := range values() {
		if strings.Contains(name, site.Name) {
			t.Errorf("still shown: %s", name)
		}
	}
}

// An alert or a chart on a metric that nothing makes would be silent for ever.
func TestRulesAndDashboard_WatchMetricsThatExist(t *testing.T) {
	t.Parallel()
	made := map[string]string{}
	for _, source := range []string{"sync.go", "verify.go", "outgoing.go", "../../handlers/metrics.go"} {
		code, err := os.ReadFile(filepath.FromSlash(source))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?:(Counter|Gauge|Histogram)Opts{\s*Name: |(gauge|counter)\()"(sitemapd_[a-z_]+)"`).FindAllSubmatch(code, -1) {
			made[string(found[3])] = string(found[1]) + string(found[2])
		}
	}
	for file, least := range map[string]int{"prometheus/sitemapd.rules.yml": 17, "grafana/dashboards/operations.json": 18} {
		text, err := os.ReadFile(filepath.FromSlash("../../deploy/" + file))
		if err != nil {
			t.Fatal(err)
		}
		watched := regexp.MustCompile(`\bsitemapd_(sync|http|webhook|publish|build|verify|notify)_[a-z_]+`).FindAllString(string(text), -1)
		if len(watched) < least {
			t.Errorf("%s watches %v", file, watched)
		}
		for _, name := range watched {
			kind, ok := made[strings.TrimSuffix(name, "_bucket")]
			if !ok || strings.HasSuffix(name, "_bucket") != (kind == "Histogram") {
				t.Errorf("%s watches %s, which nothing makes", file, name)
			}
		}
	}
}
