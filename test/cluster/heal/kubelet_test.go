// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// A readiness gate that a load balancer does not set costs no disk, however long it lasts.
func TestReadinessGateKeepsTheDisk(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	s.w.Behave("my-fleet-1", cluster.Gated)
	s.passMinutes(60)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		"my-fleet-1 has not been ready since", "a readiness gate is not: ", "'example.com/balanced'", "a fresh disk does not help a readiness gate")
	s.holds("the disk stays", 3)
	s.w.Behave("my-fleet-1", cluster.Ready)
	s.waitReady()
}

// What a kubelet whose clock is slow says of a blip is older than the delay, and
// so is what it says of a member that becomes Ready. Neither ends a disk.
func TestSlowClockOfANode(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	disks, pods := s.disks(3), s.pods(3)
	s.w.SlowClock("my-fleet-1", 11*time.Minute)
	s.w.Behave("my-fleet-1", cluster.Unready)
	s.requireOld(1)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending, "it is replaced on a fresh disk at ")
	s.holds("nobody is replaced who was seen Ready a moment ago", 3)

	s.w.Behave("my-fleet-2", cluster.Unready)
	s.passMinutes(60)
	s.w.Behave("my-fleet-1", cluster.Ready)
	s.requireOld(1)
	s.waitStatus("to have two ready members", func(status *v1alpha1.FleetStatus) bool { return status.ReadyReplicas == 2 })
	s.holdsAfter(4, "nobody is replaced while another was seen down minutes ago", 3)
	s.passMinutes(1)
	s.requireReplaced(2, disks, pods)
}

// requireOld requires that a kubelet claims that readiness changed long ago.
func (s *subject) requireOld(ordinal int) {
	s.t.Helper()
	changed := cluster.PodCondition(s.pod(ordinal), corev1.PodReady).LastTransitionTime
	require.Greater(s.t, time.Since(changed.Time), rules.DefaultReplacementDelay)
}
