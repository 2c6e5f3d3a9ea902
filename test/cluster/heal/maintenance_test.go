// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

const other = "@sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"

// A full stop: committed, then ended together with a new image. Whichever the
// sync tool applies first, no member starts on the old one.
func TestFullStopWithAnImageChange(t *testing.T) {
	t.Parallel()
	orders := map[string]func(*subject){
		"the fleet first":    func(s *subject) { s.syncFleet(); s.holdsStopped(); s.syncObjects() },
		"the fleet last":     func(s *subject) { s.syncObjects(); s.holdsStopped(); s.syncFleet() },
		"both at about once": func(s *subject) { s.sync() },
	}
	for name, resume := range orders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRoomyFleet(t, 4, 1)
			disks, pods := s.disks(4), s.pods(4)
			s.maintain(v1alpha1.Maintenance{Stopped: true})
			s.waitReason(v1alpha1.PhaseStopped, v1alpha1.ReasonStopped)
			for _, pod := range pods {
				s.w.WaitGone(pod)
			}
			require.EqualValues(t, 0, s.replicas())
			require.Equal(t, disks, s.disks(4))

			s.Shared().Maintenance.Stopped = false
			s.Shared().RuntimeImage = "registry.test/celld" + other
			resume(s)
			s.waitReady()
			require.Equal(t, disks, s.disks(4), "every member returns on its own disk")
			for _, pod := range s.pods(4) {
				require.Equal(t, s.Shared().RuntimeImage, pod.Spec.Containers[0].Image)
				require.Zero(t, restarts(pod), "nobody started on the old image first")
			}
		})
	}
}

func (s *subject) holdsStopped() {
	s.t.Helper()
	s.look()
	cluster.Holds(s.t, settle, "no member starts on a template that is not the fleet's", func(ctx) (bool, string) {
		return s.replicas() == 0, ""
	})
}

func restarts(pod *corev1.Pod) int32 {
	var n int32
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// Paused, a fleet is left alone whatever it waits for; resumed, it goes on.
func TestPauseInTheMiddleOfAWait(t *testing.T) {
	t.Parallel()
	type wait struct {
		options []option
		begin   func(s *subject) // until the healer waits
		done    func(s *subject) // after the pause
	}
	waits := map[string]wait{
		"for a replacement": {
			options: []option{oldDisks},
			begin: func(s *subject) {
				s.w.Behave("my-fleet-1", cluster.Unready)
				s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
			},
			done: func(s *subject) { s.waitEvent("MemberReplaced"); s.waitReady() },
		},
		"for a claim to go": {
			begin: func(s *subject) { s.w.Delete(s.claim(1)) },
			done:  func(s *subject) { s.waitEvent("MemberReleased"); s.waitReady() },
		},
		"for a lost disk": {
			begin: func(s *subject) {
				s.maintain(v1alpha1.Maintenance{Paused: true})
				s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
				s.w.LoseVolume("data-my-fleet-1")
			},
			done: func(s *subject) { s.waitEvent("MemberDiskLost"); s.waitReady() },
		},
		"to contract": {
			begin: func(s *subject) {
				s.w.Behave("my-fleet-0", cluster.Unready)
				*s.Shared().Replicas = 3
				s.sync()
				s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonRollingOut)
				s.maintain(v1alpha1.Maintenance{Paused: true})
				s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
				s.w.Behave("my-fleet-0", cluster.Ready)
			},
			done: func(s *subject) { s.waitReady() },
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newYoungFleet(t, 4, 1, wait.options...)
			wait.begin(s)
			s.maintain(v1alpha1.Maintenance{Paused: true})
			s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
			s.holdsAfter(60, "nothing is done while paused", 4)
			s.maintain(v1alpha1.Maintenance{})
			wait.done(s)
		})
	}
}

// A Pod that is stuck while the fleet is paused is forced away afterwards.
func TestPausedWithAStuckPod(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	s.maintain(v1alpha1.Maintenance{Paused: true})
	s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
	disks, stuck := s.disks(3), s.pod(1)
	s.w.Stick(stuck.Name)
	s.w.Delete(stuck)
	s.passMinutes(60)
	s.holdsTerminating(stuck)
	s.maintain(v1alpha1.Maintenance{})
	s.w.WaitReplaced(stuck)
	s.waitReady()
	require.Equal(t, disks, s.disks(3))
}
