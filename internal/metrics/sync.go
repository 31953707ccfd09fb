package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/models"
)

// Sync counts runs and shows each site as its last run left it.
type Sync struct {
	runs      *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	changes   *prometheus.CounterVec
	documents *prometheus.CounterVec
	requests  prometheus.Counter
	bytes     prometheus.Counter
	pages     *prometheus.GaugeVec
	success   *prometheus.GaugeVec
	last      *prometheus.GaugeVec
	recorded  *prometheus.HistogramVec
}

// New makes the metrics and registers them.
func New(registerer prometheus.Registerer) (*Sync, error) {
	site := []string{"site"}
	m := &Sync{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_sync_runs_total", Help: "Runs that ended, by cause and verdict; verdict failed is a failure of ours or the database's.",
		}, []string{"site", "cause", "verdict"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sitemapd_sync_run_duration_seconds", Help: "Time from a run's start to its end.",
			Buckets: []float64{.1, .5, 1, 5, 15, 60, 300, 1800, 7200},
		}, []string{"cause"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_sync_changes_total", Help: "Pages added, changed, moved, removed and restored; a site's first run is not counted.",
		}, []string{"site", "kind"}),
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_sync_documents_total", Help: "Sitemap files by what became of them: read, unchanged, failed.",
		}, []string{"result"}),
		requests: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sitemapd_sync_requests_total", Help: "Requests that runs made.",
		}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sitemapd_sync_received_bytes_total", Help: "Bytes that runs received.",
		}),
		pages: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sitemapd_sync_pages", Help: "Pages after the last run: listed ones, and those of them that are stale, pending or held.",
		}, []string{"site", "state"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sitemapd_sync_last_success_timestamp_seconds", Help: "End of the last complete run.",
		}, site),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sitemapd_sync_last_run_timestamp_seconds", Help: "End of the last run, whatever its verdict.",
		}, site),
		recorded: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sitemapd_publish_to_recorded_seconds", Help: "Time from a publish message's arrival until what it says of a page is in the inventory.",
			Buckets: []float64{.5, 1, 2, 3, 5, 10, 12, 15, 20, 30, 60, 120, 300, 1800, 7200},
		}, []string{"kind"}),
	}
	for _, collector := range []prometheus.Collector{m.runs, m.seconds, m.changes, m.documents, m.requests, m.bytes, m.pages, m.success, m.last, m.recorded} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Observe counts a run that ended. It fits the engine's Options.Observe.
func (m *Sync) Observe(site models.Site, run models.Run) {
	verdict := string(run.Verdict)
	if run.Error != "" {
		verdict = "failed"
	}
	m.runs.WithLabelValues(site.Name, run.Cause, verdict).Inc()
	if run.FinishedAt != nil {
		m.seconds.WithLabelValues(run.Cause).Observe(run.FinishedAt.Sub(run.StartedAt).Seconds())
	}
	m.documents.WithLabelValues("read").Add(float64(run.Documents.Read))
	m.documents.WithLabelValues("unchanged").Add(float64(run.Documents.Unchanged))
	m.documents.WithLabelValues("failed").Add(float64(run.Documents.Failed))
	m.requests.Add(float64(run.Requests))
	m.bytes.Add(float64(run.Bytes))
	if !run.Baseline {
		for kind, n := range map[string]int64{
			models.KindAdded: run.Counts.Added, models.KindChanged: run.Counts.Changed, models.KindMoved: run.Counts.Moved,
			models.KindRemoved: run.Counts.Removed, models.KindRestored: run.Counts.Restored,
		} {
			m.changes.WithLabelValues(site.Name, kind).Add(float64(n))
		}
	}
	m.Known(site, run)
}

// Decided measures how long what a publish message said took to come true, by its kind: listed, gone, changed, moved.
// It fits the engine's Options.Expected.
func (m *Sync) Decided(_ models.Site, e models.Expectation) {
	if e.Outcome == models.OutcomeMet {
		m.recorded.WithLabelValues(e.Kind).Observe(e.Lag().Seconds())
	}
}

// Known shows a site as a run left it, without counting the run: after a start, for the
// newest stored runs, oldest first, so that a restart hides no stale site.
func (m *Sync) Known(site models.Site, run models.Run) {
	if run.FinishedAt == nil || run.Error != "" {
		return
	}
	ended := float64(run.FinishedAt.UnixMilli()) / 1000
	m.last.WithLabelValues(site.Name).Set(ended)
	if run.Verdict == models.VerdictComplete || run.Verdict == models.VerdictUnchanged {
		m.success.WithLabelValues(site.Name).Set(ended)
	}
	m.pages.WithLabelValues(site.Name, "live").Set(float64(run.Counts.Live))
	m.pages.WithLabelValues(site.Name, models.KindStale).Set(float64(run.Counts.Stale))
	m.pages.WithLabelValues(site.Name, models.KindPending).Set(float64(run.Counts.Pending))
	m.pages.WithLabelValues(site.Name, models.KindHeld).Set(float64(run.Counts.Held))
}

// Forget drops what is shown of a site that is followed no more.
func (m *Sync) Forget(site models.Site) {
	label := prometheus.Labels{"site": site.Name}
	for _, vec := range []interface{ DeletePartialMatch(prometheus.Labels) int }{m.runs, m.changes, m.pages, m.success, m.last} {
		vec.DeletePartialMatch(label)
	}
}
