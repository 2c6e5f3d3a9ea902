// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// A change on which its first member does not start costs no disk, however long
// it lasts, and its revert heals the fleet.
var badChanges = map[cluster.Behaviour]struct {
	reason v1alpha1.Reason
	says   []string
}{
	cluster.Crashing: {v1alpha1.ReasonRolloutStuck, []string{"my-fleet-2 has not been ready since", "spec.containers[celld].image", "CELLD_CHANGED", "the disk is kept"}},
	cluster.Missing:  {v1alpha1.ReasonInfrastructureBlocked, []string{"my-fleet-2 has not been ready since", "ImagePullBackOff"}},
}

func TestRevertOfABadChange(t *testing.T) {
	t.Parallel()
	for bad := range badChanges {
		t.Run(string(bad), func(t *testing.T) {
			t.Parallel()
			newReadyFleet(t, 3, oldDisks).changeAndRevert(bad)
		})
	}
}

// Where the StatefulSet controller counts who is down, it waits for the very
// member that the revert would repair: the healer restarts that one.
func TestRevertOfABadChangeWithMaxUnavailable(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, "--feature-gates=MaxUnavailableStatefulSet=true")
	install(t, c)
	for bad := range badChanges {
		t.Run(string(bad), func(t *testing.T) {
			t.Parallel()
			w := c.World(t)
			s := fleetIn(t, w, 3, startHealer(t, w, oldDisks)).begin(0)
			s.age()
			require.NotNil(t, s.set().Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, "the feature gate is on")
			s.changeAndRevert(bad)
			s.waitEvent("MemberRestarted")
		})
	}
}

func (s *subject) changeAndRevert(bad cluster.Behaviour) {
	s.t.Helper()
	s.w.Needs(s.t, cluster.Nodes)
	disks, good := s.disks(3), s.Shared().RuntimeImage
	s.Shared().RuntimeImage = "registry.test/" + string(bad) + "/celld" + other
	s.Shared().Env = []v1alpha1.EnvVar{{Name: "CELLD_CHANGED", Value: "too"}}
	s.sync()
	s.w.WaitBehaviour("my-fleet-2", bad)
	s.passMinutes(11)
	s.waitReason(v1alpha1.PhaseBlocked, badChanges[bad].reason, badChanges[bad].says...)
	s.holdsAfter(60, "the disk is kept", 3)

	s.Shared().RuntimeImage, s.Shared().Env = good, nil
	s.sync()
	s.waitReady()
	require.Equal(s.t, disks, s.disks(3))
}
