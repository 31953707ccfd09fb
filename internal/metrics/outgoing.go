package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/models"
)

// Outgoing counts what is told to channels and shows what waits for them.
type Outgoing struct {
	attempts *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waiting  *prometheus.GaugeVec
	age      *prometheus.GaugeVec
	disabled *prometheus.GaugeVec
	now      func() time.Time
}

// NewOutgoing makes the metrics and registers them. Channels are named by number: names and addresses are people's.
func NewOutgoing(registerer prometheus.Registerer) (*Outgoing, error) {
	channel := []string{"channel"}
	m := &Outgoing{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sitemapd_notify_attempts_total", Help: "Attempts to deliver an event to a channel, by kind of channel and outcome: delivered, failed, given_up.",
		}, []string{"channel", "kind", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sitemapd_notify_attempt_duration_seconds", Help: "Time that an attempt took.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30},
		}, []string{"kind"}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sitemapd_notify_queue_events", Help: "Events that a channel has not settled, those that it does not want among them.",
		}, channel),
		age: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sitemapd_notify_queue_age_seconds", Help: "Age of the oldest of them.",
		}, channel),
		disabled: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sitemapd_notify_channel_disabled", Help: "1 for a channel that is disabled.",
		}, channel),
		now: time.Now,
	}
	for _, collector := range []prometheus.Collector{m.attempts, m.seconds, m.waiting, m.age, m.disabled} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Observe counts an attempt.
func (m *Outgoing) Observe(c models.Channel, a models.Attempt) {
	m.attempts.WithLabelValues(strconv.FormatInt(c.ID, 10), c.Kind, a.Outcome).Inc()
	m.seconds.WithLabelValues(c.Kind).Observe(a.Took.Seconds())
}

// Queued shows what waits. Channels that are gone are dropped.
func (m *Outgoing) Queued(channels []models.Channel, queues []models.Queue) {
	for _, vec := range []*prometheus.GaugeVec{m.waiting, m.age, m.disabled} {
		vec.Reset()
	}
	for _, c := range channels {
		off := 0.0
		if c.DisabledAt != nil {
			off = 1
		}
		m.disabled.WithLabelValues(strconv.FormatInt(c.ID, 10)).Set(off)
	}
	for _, q := range queues {
		id := strconv.FormatInt(q.Channel, 10)
		m.waiting.WithLabelValues(id).Set(float64(q.Waiting))
		age := 0.0
		if q.Oldest != nil {
			age = m.now().Sub(*q.Oldest).Seconds()
		}
		m.age.WithLabelValues(id).Set(max(age, 0))
	}
}
