// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// A disk that cannot be provisioned is told in the scheduler's words. After two
// minutes that is its answer, which growth and Lost disks of others wait for;
// after the delay somebody has to look.
func TestDiskThatCannotBeProvisioned(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 3, 1)
	disks, pods := s.disks(3), s.pods(3)
	provision := s.w.FailVolumes("the zone is out of disks")
	const says = `SchedulerError: running PreBind plugin "VolumeBinding"`
	s.scale(4)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonWaitingForPlacement, "my-fleet-3 has not been scheduled since ", says)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.w.LoseVolume("data-my-fleet-1")
	s.holds("no Lost disk is replaced before the scheduler has answered", 3)

	s.passMinutes(2)
	s.w.WaitReplaced(pods[1])
	s.waitEvent("MemberDiskLost")
	s.passMinutes(11)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonMemberUnschedulable, " has not been scheduled since ", says)

	provision()
	s.waitReady()
	after := s.disks(3)
	require.Equal(t, disks[0], after[0])
	require.NotEqual(t, disks[1], after[1])
	require.Equal(t, disks[2], after[2])
}
