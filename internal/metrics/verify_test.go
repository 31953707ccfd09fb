package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/internal/metrics"
	"github.com/sitemapd/sitemapd/models"
)

func TestVerify_ShowsASiteAsItIs(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := metrics.NewVerify(registry)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	since := at.Add(-2 * time.Hour)
	m.Look(site, "read", time.Second)
	m.Look(site, "read", time.Second)
	m.Look(site, "tempfail", time.Second)
	m.Mass(site, models.Incident{})
	m.Audited(site, models.GraphAudit{At: at, Differences: 3})
	m.State(site, models.Verification{At: since, Statuses: map[string]int64{"validated": 1, "invalid": 9}, Conflicts: map[string]int64{"flapping": 2}})
	m.State(site, models.Verification{At: at, Statuses: map[string]int64{"validated": 5, "conflicting": 2}, Resolutions: map[string]int64{"self": 7},
		Conflicts: map[string]int64{"html_vs_http": 2}, Waiting: map[string]int64{"hook": 1, "clock": 4}, Due: 5, OldestDue: &since, Budget: 2000, Spent: 17, Findings: 6,
		GraphAudit: &models.GraphAudit{At: at}})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			name := strings.TrimPrefix(family.GetName(), "sitemapd_verify_")
			for _, label := range metric.Label {
				if label.GetName() != "site" {
					name += " " + label.GetValue()
				}
			}
			got[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	want := map[string]float64{"looks_total read": 2, "looks_total tempfail": 1, "look_duration_seconds": 3, "pages validated": 5, "pages conflicting": 2,
		"resolutions self": 7, "conflicts html_vs_http": 2, "due hook": 1, "due clock": 4, "queue_age_seconds": 7200, "budget": 2000, "budget_spent": 17, "findings": 6,
		"incidents_total": 1, "graph_audit_timestamp_seconds": float64(at.Unix()), "graph_differences_total": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
