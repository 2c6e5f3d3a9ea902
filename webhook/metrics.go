// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetwright/fleetwright/webhook/rules"
)

// Metrics of the webhook.
type Metrics struct {
	verdicts  *prometheus.CounterVec
	unusable  prometheus.Counter
	latency   *prometheus.HistogramVec
	notBefore prometheus.Gauge
	notAfter  prometheus.Gauge
	factReads *prometheus.CounterVec
}

// NewMetrics registers the metrics. Counters of every rule start at zero, so that a first denial is an increase.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fleetwright_webhook_verdicts_total", Help: "What each rule made of the requests that it judged.",
		}, []string{"rule", "outcome"}),
		unusable: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "fleetwright_webhook_malformed_total", Help: "Requests that could not be decoded as an AdmissionReview, or whose objects could not.",
		}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fleetwright_webhook_review_seconds", Help: "Time from a review's arrival to its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"resource"}),
		notBefore: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "fleetwright_webhook_certificate_not_before_seconds", Help: "When the served certificate began, as Unix time; 0 without one.",
		}),
		notAfter: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "fleetwright_webhook_certificate_not_after_seconds", Help: "When the served certificate expires, as Unix time; 0 without one.",
		}),
		factReads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fleetwright_webhook_fact_reads_total", Help: "Facts that were read for a review, and whether that worked.",
		}, []string{"fact", "state"}),
	}
	for _, rule := range rules.Names() {
		for _, outcome := range []rules.Outcome{rules.Allow, rules.Deny, rules.Unknown} {
			m.verdicts.WithLabelValues(rule, string(outcome))
		}
	}
	for _, c := range []prometheus.Collector{m.verdicts, m.unusable, m.latency, m.notBefore, m.notAfter, m.factReads} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Certificate sets the gauges of the served certificate.
func (m *Metrics) Certificate(notBefore, notAfter time.Time) {
	m.notBefore.Set(float64(notBefore.Unix()))
	m.notAfter.Set(float64(notAfter.Unix()))
}

func (m *Metrics) judged(v rules.Verdict) {
	for _, j := range v.Judged {
		m.verdicts.WithLabelValues(j.Rule, string(j.Outcome)).Inc()
	}
}

func (m *Metrics) malformed() { m.unusable.Inc() }

// observe counts by resource. Its values are those that the API server was asked to send; anybody else's count as other.
func (m *Metrics) observe(resource string, took time.Duration) {
	if !slices.Contains(rules.Resources(), resource) {
		resource = "other"
	}
	m.latency.WithLabelValues(resource).Observe(took.Seconds())
}

func (m *Metrics) read(fact string, state rules.State) {
	word := map[rules.State]string{rules.Failed: "failed", rules.Absent: "absent", rules.Present: "present"}[state]
	m.factReads.WithLabelValues(fact, word).Inc()
}
