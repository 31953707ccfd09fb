package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/models"
)

// Verify counts looks at pages and shows how far each site is verified.
type Verify struct {
	looks       *prometheus.CounterVec
	seconds     prometheus.Histogram
	pages       *prometheus.GaugeVec
	resolutions *prometheus.GaugeVec
	conflicts   *prometheus.GaugeVec
	due         *prometheus.GaugeVec
	age         *prometheus.GaugeVec
	budget      *prometheus.GaugeVec
	spent       *prometheus.GaugeVec
	findings    *prometheus.GaugeVec
	incidents   *prometheus.CounterVec
	audited     *prometheus.GaugeVec
	differences *prometheus.CounterVec
}

// NewVerify makes the metrics of verification and registers them.
func NewVerify(registerer prometheus.Registerer) (*Verify, error) {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Verify{
		looks: counter("sitemapd_verify_looks_total", "Looks at pages by what they told: read, not_modified, redirect, gone, tempfail, challenge, ...", "site", "reading"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sitemapd_verify_look_duration_seconds", Help: "Time of a look, the pause before it included.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60},
		}),
		pages:       gauge("sitemapd_verify_pages", "Listed pages by what is known of their canonical URL.", "site", "status"),
		resolutions: gauge("sitemapd_verify_resolutions", "Listed pages by where canonical links and permanent redirects lead.", "site", "resolution"),
		conflicts:   gauge("sitemapd_verify_conflicts", "Open contradictions by kind.", "site", "kind"),
		due:         gauge("sitemapd_verify_due", "Looks that are due, by class in the order of work.", "site", "class"),
		age:         gauge("sitemapd_verify_queue_age_seconds", "For how long the oldest look has been due.", "site"),
		budget:      gauge("sitemapd_verify_budget", "Looks that a site's host may be asked for a day.", "site"),
		spent:       gauge("sitemapd_verify_budget_spent", "Of today's budget.", "site"),
		findings:    gauge("sitemapd_verify_findings", "Open findings on pages that are not muted.", "site"),
		incidents:   counter("sitemapd_verify_incidents_total", "Changes that many pages shared, counted when found and as they grow.", "site"),
		audited:     gauge("sitemapd_verify_graph_audit_timestamp_seconds", "When where URLs lead was last compared with a full computation.", "site"),
		differences: counter("sitemapd_verify_graph_differences_total", "URLs whose end on record was not the one computed; each was put right.", "site"),
	}
	for _, collector := range []prometheus.Collector{m.looks, m.seconds, m.pages, m.resolutions, m.conflicts, m.due, m.age, m.budget, m.spent, m.findings,
		m.incidents, m.audited, m.differences} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Look counts one look at a page. It fits the verifier's Options.Observe.
func (m *Verify) Look(site models.Site, reading string, took time.Duration) {
	m.looks.WithLabelValues(site.Name, reading).Inc()
	m.seconds.Observe(took.Seconds())
}

// Mass counts a change that many pages shared.
func (m *Verify) Mass(site models.Site, _ models.Incident) {
	m.incidents.WithLabelValues(site.Name).Inc()
}

// Audited counts the differences of an audit of the graph.
func (m *Verify) Audited(site models.Site, a models.GraphAudit) {
	m.differences.WithLabelValues(site.Name).Add(float64(a.Differences))
	m.audited.WithLabelValues(site.Name).Set(float64(a.At.UnixMilli()) / 1000)
}

// State shows a site as it is now; what it has no more of goes to zero.
func (m *Verify) State(site models.Site, v models.Verification) {
	for vec, counts := range map[*prometheus.GaugeVec]map[string]int64{m.pages: v.Statuses, m.resolutions: v.Resolutions, m.conflicts: v.Conflicts, m.due: v.Waiting} {
		vec.DeletePartialMatch(prometheus.Labels{"site": site.Name})
		for value, n := range counts {
			vec.WithLabelValues(site.Name, value).Set(float64(n))
		}
	}
	m.age.WithLabelValues(site.Name).Set(v.QueueAge().Seconds())
	m.budget.WithLabelValues(site.Name).Set(float64(v.Budget))
	m.spent.WithLabelValues(site.Name).Set(float64(v.Spent))
	m.findings.WithLabelValues(site.Name).Set(float64(v.Findings))
	m.differences.WithLabelValues(site.Name).Add(0)
	if v.GraphAudit != nil {
		m.audited.WithLabelValues(site.Name).Set(float64(v.GraphAudit.At.UnixMilli()) / 1000)
	}
}
