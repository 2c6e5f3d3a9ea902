// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

func observed(m *Metrics, s *rules.Snapshot, old *v1alpha1.FleetStatus, now time.Time) *v1alpha1.FleetStatus {
	d := rules.Decide(s, policy, now)
	status := rules.StatusOf(s, &d, old, now)
	m.observe(s, &d, &status, now)
	return &status
}

// A fleet that is deleted while the brake holds it back is not counted any more.
func TestForgottenFleetIsNotHeldBack(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	clock := clocktesting.NewFakePassiveClock(noon)
	h := &Healer{Metrics: NewMetrics(registry, "v1.2.3"), views: newViews(), tries: newTries(), memory: newMemory(clock, policy)}
	request := Request{Kind: "PersistentFleet", NamespacedName: simRequest}
	h.Metrics.held(h.memory.looked(request, "", &rules.Waiting{Down: noon}))
	require.Contains(t, series(t, registry), "fleetwright_replacements_held{} 1")
	h.forget(request)
	require.Contains(t, series(t, registry), "fleetwright_replacements_held{} 0")
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := NewMetrics(registry, "v1.2.3")
	request := Request{Kind: "PersistentFleet"}
	request.Namespace, request.Name = "fleets", "my-fleet"

	status := observed(m, wellFleet(), emptyStatus(), noon)
	waiting := wellFleet()
	waiting.Target, waiting.Workload.Ready, waiting.Members[1].Pod = 4, 2, nil
	waiting.Members = append(waiting.Members, rules.Member{Ordinal: 3, Name: "my-fleet-3"})
	status = observed(m, waiting, status, noon.Add(time.Minute))
	require.Equal(t, []string{
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done claim-terminating} 0",
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done finished-replacement} 0",
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done lost-disk} 0",
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done replacement} 0",
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done stuck-pod} 0",
		"fleetwright_applied_members{my-fleet PersistentFleet fleets} 3",
		"fleetwright_build_info{fleetwright-healer v1.2.3} 1",
		"fleetwright_desired_members{my-fleet PersistentFleet fleets} 4",
		"fleetwright_down_members{my-fleet PersistentFleet fleets} 1",
		"fleetwright_fleet_since_seconds{my-fleet PersistentFleet fleets Provisioning WaitingForPlacement} 1.77262566e+09",
		"fleetwright_ready_members{my-fleet PersistentFleet fleets} 2",
		"fleetwright_replacement_delay_seconds{} 600",
		"fleetwright_replacements_held{} 0",
	}, series(t, registry), "one phase and reason at a time")

	due := &rules.Decision{Rule: rules.Rule{Name: "replacement"}, Due: noon}
	m.acted(request, due, "done", 300*time.Millisecond)
	m.acted(request, due, "changed", 0)
	m.acted(request, &rules.Decision{Rule: rules.Rule{Name: "growth"}}, "done", time.Hour)
	m.waited(v1alpha1.ReasonWaitingForPlacement, status, noon.Add(2*time.Minute))
	m.waited(v1alpha1.ReasonProvisioned, observed(m, wellFleet(), emptyStatus(), noon), noon.Add(time.Hour)) // was well
	m.waited("", emptyStatus(), noon)                                                                        // is new
	m.stale(request)
	got := series(t, registry)
	for _, want := range []string{
		"fleetwright_action_delay_seconds{replacement} 1 in 0.3", // what was not due has no delay
		"fleetwright_actions_total{my-fleet PersistentFleet fleets changed replacement} 1",
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done growth} 1",
		"fleetwright_actions_total{my-fleet PersistentFleet fleets done replacement} 1",
		"fleetwright_stale_views_total{my-fleet PersistentFleet fleets} 1",
		"fleetwright_wait_seconds{WaitingForPlacement} 1 in 60",
	} {
		require.Contains(t, got, want)
	}
	require.Len(t, got, 18)

	m.forget(request)
	require.Equal(t, []string{
		"fleetwright_action_delay_seconds{replacement} 1 in 0.3",
		"fleetwright_build_info{fleetwright-healer v1.2.3} 1",
		"fleetwright_replacement_delay_seconds{} 600",
		"fleetwright_replacements_held{} 0",
		"fleetwright_wait_seconds{WaitingForPlacement} 1 in 60",
	}, series(t, registry), "nothing of a fleet that is gone is left")
}

// series lists what a registry has, with the values of labels in the order of their names.
func series(t *testing.T, registry prometheus.Gatherer) []string {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	var out []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			name := family.GetName() + "{" + strings.Join(labels, " ") + "} "
			switch {
			case metric.GetGauge() != nil:
				out = append(out, name+fmt.Sprint(metric.GetGauge().GetValue()))
			case metric.GetCounter() != nil:
				out = append(out, name+fmt.Sprint(metric.GetCounter().GetValue()))
			default:
				out = append(out, name+fmt.Sprintf("%d in %v", metric.GetHistogram().GetSampleCount(), metric.GetHistogram().GetSampleSum()))
			}
		}
	}
	return out
}

// What the alert of an overdue replacement counts from.
func TestDownSince(t *testing.T) {
	down := func(ordinal, minutes int, change ...func(*rules.Snapshot)) *rules.Snapshot {
		s := wellFleet()
		p := s.Members[ordinal].Pod
		p.Ready, p.Transition, p.Seen = false, noon.Add(-time.Duration(minutes)*time.Minute), noon
		for _, c := range change {
			c(s)
		}
		return s
	}
	for name, c := range map[string]struct {
		s    *rules.Snapshot
		want time.Time
	}{
		"nobody is down":                     {wellFleet(), time.Time{}},
		"counted from the change, not seen":  {down(1, 40), noon.Add(-40 * time.Minute)},
		"the one that has been down longest": {down(1, 40, func(s *rules.Snapshot) { s.Members[2].Pod = down(2, 50).Members[2].Pod }), noon.Add(-50 * time.Minute)},
		"one that is to be removed":          {down(2, 40, func(s *rules.Snapshot) { s.Target = 2 }), time.Time{}},
		"its Pod ends":                       {down(2, 40, func(s *rules.Snapshot) { s.Members[2].Pod.Terminating = true }), time.Time{}},
		"its Pod is missing":                 {down(2, 40, func(s *rules.Snapshot) { s.Members[2].Pod = nil }), time.Time{}},
		"it has no disk":                     {down(2, 40, func(s *rules.Snapshot) { s.Fleet.Persistent = false }), time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, downSince(c.s))
			registry := prometheus.NewPedanticRegistry()
			m := NewMetrics(registry, "v1.2.3")
			observed(m, c.s, emptyStatus(), noon)
			line := fmt.Sprintf("fleetwright_down_since_seconds{my-fleet %s fleets} %v", c.s.Fleet.Kind, float64(c.want.Unix()))
			require.Equal(t, !c.want.IsZero(), slices.Contains(series(t, registry), line))
			observed(m, wellFleet(), emptyStatus(), noon)
			require.NotContains(t, strings.Join(series(t, registry), "\n"), "fleetwright_down_since_seconds")
		})
	}
}

// A fleet that was paused is not late.
func TestLate(t *testing.T) {
	fleet := &v1alpha1.PersistentFleet{}
	d := &rules.Decision{Due: noon}
	require.Equal(t, time.Hour, late(fleet, d, noon.Add(time.Hour)))
	require.Zero(t, late(fleet, d, noon.Add(-time.Second)))
	paused := metav1.Condition{Type: v1alpha1.ConditionPaused, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}
	fleet.Status.Conditions = []metav1.Condition{paused}
	require.Zero(t, late(fleet, d, noon.Add(time.Hour)), "resumed, and the status does not say so yet")
	paused.Status, paused.LastTransitionTime = metav1.ConditionFalse, metav1.NewTime(noon.Add(59*time.Minute))
	fleet.Status.Conditions = []metav1.Condition{paused}
	require.Equal(t, time.Minute, late(fleet, d, noon.Add(time.Hour)))
	paused.LastTransitionTime = metav1.NewTime(noon.Add(-59 * time.Minute))
	fleet.Status.Conditions = []metav1.Condition{paused}
	require.Equal(t, time.Hour, late(fleet, d, noon.Add(time.Hour)))
}

// A healer without metrics works.
func TestNoMetrics(t *testing.T) {
	var m *Metrics
	observed(m, wellFleet(), emptyStatus(), noon)
	m.acted(Request{}, &rules.Decision{}, "done", 0)
	m.waited("x", emptyStatus(), noon)
	m.stale(Request{})
	m.forget(Request{})
}

// Every phase has a condition whose transition began it.
func TestConditionOfPhase(t *testing.T) {
	for _, phase := range []v1alpha1.Phase{
		v1alpha1.PhaseProvisioning, v1alpha1.PhaseReady, v1alpha1.PhaseBlocked, v1alpha1.PhasePaused, v1alpha1.PhaseStopped, v1alpha1.PhaseDeleting,
	} {
		s := wellFleet()
		d := rules.Decide(s, policy, noon)
		d.Phase = phase
		status := rules.StatusOf(s, &d, emptyStatus(), noon)
		require.NotNil(t, meta.FindStatusCondition(status.Conditions, conditionOf(phase)), phase)
	}
}
