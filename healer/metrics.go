// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// Metrics are the healer's own. A nil *Metrics takes everything and does nothing.
type Metrics struct {
	desired, applied, ready, down *prometheus.GaugeVec
	reason                        *prometheus.GaugeVec
	actions                       *prometheus.CounterVec
	delay, waits                  *prometheus.HistogramVec
	staleViews                    *prometheus.CounterVec
	downSince                     *prometheus.GaugeVec
	heldBack, replacementDelay    prometheus.Gauge
}

var fleetLabels = []string{"kind", "namespace", "fleet"}

// NewMetrics makes the metrics and registers them, together with a constant that tells the version.
func NewMetrics(registry prometheus.Registerer, version string) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "fleetwright", Name: name, Help: help}, append(labels, fleetLabels...))
	}
	m := &Metrics{
		desired: gauge("desired_members", "Members that the fleet's spec asks for."),
		applied: gauge("applied_members", "Members that the workload is set to."),
		ready:   gauge("ready_members", "Members that are Ready."),
		down:    gauge("down_members", "Members whose Pod is missing, terminating or not Ready."),
		reason: gauge("fleet_since_seconds", "Since when the fleet is in this phase, in seconds of Unix time; the reason is the present one.",
			"phase", "reason"),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fleetwright", Name: "actions_total",
			Help: "Actions by rule and outcome: done, changed (preconditions did not hold any more) or failed."},
			append([]string{"rule", "outcome"}, fleetLabels...)),
		delay: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "fleetwright", Name: "action_delay_seconds",
			Help: "From when an action was due to when it was done.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600}}, []string{"rule"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "fleetwright", Name: "wait_seconds",
			Help: "How long phases other than Ready lasted that have ended, by their last reason.", Buckets: prometheus.ExponentialBuckets(1, 4, 9)}, []string{"reason"}),
		staleViews: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fleetwright", Name: "stale_views_total",
			Help: "Looks at a fleet that were put off because the caches did not show the healer's own last write yet."}, fleetLabels),
	}
	m.downSince = gauge("down_since_seconds",
		"Since when the member of a PersistentFleet that has been down longest is not Ready, in seconds of Unix time. Absent while none is.")
	m.replacementDelay = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "fleetwright", Name: "replacement_delay_seconds",
		Help: "The flag --member-replacement-delay."})
	m.heldBack = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "fleetwright", Name: "replacements_held",
		Help: "Fleets whose replacement of a member is held back, since too many disks were replaced over all fleets."})
	info := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "fleetwright", Name: "build_info", Help: "One, labelled with the version.",
		ConstLabels: prometheus.Labels{"version": version, "program": FieldManager}})
	info.Set(1)
	registry.MustRegister(m.desired, m.applied, m.ready, m.down, m.downSince, m.reason, m.actions, m.delay, m.waits, m.staleViews,
		m.replacementDelay, m.heldBack, info)
	return m
}

// observe sets the gauges of a fleet.
func (m *Metrics) observe(s *rules.Snapshot, d *rules.Decision, status *v1alpha1.FleetStatus, now time.Time) {
	if m == nil {
		return
	}
	labels := prometheus.Labels{"kind": s.Fleet.Kind, "namespace": s.Fleet.Namespace, "fleet": s.Fleet.Name}
	m.desired.With(labels).Set(float64(status.DesiredReplicas))
	m.applied.With(labels).Set(float64(status.AppliedReplicas))
	m.ready.With(labels).Set(float64(status.ReadyReplicas))
	m.down.With(labels).Set(float64(max(status.AppliedReplicas-status.ReadyReplicas, 0)))
	// From zero, so that the first one is an increase.
	for _, rule := range rules.Rules() {
		if rule.Destructive {
			m.actions.WithLabelValues(rule.Name, "done", s.Fleet.Kind, s.Fleet.Namespace, s.Fleet.Name).Add(0)
		}
	}
	m.downSince.DeletePartialMatch(labels)
	if at := downSince(s); !at.IsZero() {
		m.downSince.With(labels).Set(float64(at.Unix()))
	}
	m.replacementDelay.Set(float64(status.ReplacementDelaySeconds))
	since := now
	if c := meta.FindStatusCondition(status.Conditions, conditionOf(d.Phase)); c != nil {
		since = c.LastTransitionTime.Time
	}
	m.reason.DeletePartialMatch(labels)
	labels["phase"], labels["reason"] = string(d.Phase), string(d.Reason)
	m.reason.With(labels).Set(float64(since.Unix()))
}

// downSince returns since when the member that has been down longest waits for a replacement, zero for none. What this process has
// seen does not count: a healer that starts over again and again replaces nobody, and that has to show.
func downSince(s *rules.Snapshot) time.Time {
	var since time.Time
	for _, m := range s.Current() {
		p := m.Pod
		if !s.Fleet.Persistent || m.Ordinal >= s.Target || p == nil || p.Ready || p.Terminating {
			continue
		}
		if since.IsZero() || p.Transition.Before(since) {
			since = p.Transition
		}
	}
	return since
}

// conditionOf returns the condition whose transition began a phase.
func conditionOf(p v1alpha1.Phase) string {
	if p == v1alpha1.PhaseStopped {
		return v1alpha1.ConditionReady // a stopped fleet is not Ready, and no other condition is its own
	}
	return string(p)
}

// acted counts an action, and how late it was done if a deadline led to it.
func (m *Metrics) acted(r Request, d *rules.Decision, outcome string, late time.Duration) {
	if m == nil {
		return
	}
	m.actions.WithLabelValues(d.Rule.Name, outcome, r.Kind, r.Namespace, r.Name).Inc()
	if !d.Due.IsZero() && outcome == "done" {
		m.delay.WithLabelValues(d.Rule.Name).Observe(late.Seconds())
	}
}

// waited measures a wait that ended, from the transition that began it.
func (m *Metrics) waited(reason v1alpha1.Reason, old *v1alpha1.FleetStatus, now time.Time) {
	c := meta.FindStatusCondition(old.Conditions, conditionOf(old.Phase))
	if m == nil || reason == "" || c == nil || old.Phase == v1alpha1.PhaseReady {
		return
	}
	m.waits.WithLabelValues(string(reason)).Observe(max(now.Sub(c.LastTransitionTime.Time), 0).Seconds())
}

// held sets how many fleets the brake holds back.
func (m *Metrics) held(n int) {
	if m != nil {
		m.heldBack.Set(float64(n))
	}
}

func (m *Metrics) stale(r Request) {
	if m != nil {
		m.staleViews.WithLabelValues(r.Kind, r.Namespace, r.Name).Inc()
	}
}

// forget drops the series of a fleet that is gone.
func (m *Metrics) forget(r Request) {
	if m == nil {
		return
	}
	labels := prometheus.Labels{"kind": r.Kind, "namespace": r.Namespace, "fleet": r.Name}
	for _, gauge := range []*prometheus.GaugeVec{m.desired, m.applied, m.ready, m.down, m.downSince, m.reason} {
		gauge.DeletePartialMatch(labels)
	}
	m.actions.DeletePartialMatch(labels)
	m.staleViews.DeletePartialMatch(labels)
}
