// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// A StatefulSet that is not the fleet's is left alone until it is.
func TestForeignStatefulSetIsLeftAlone(t *testing.T) {
	t.Parallel()
	changes := map[string]struct{ spoil, says string }{
		"without the label": {
			spoil: `{"metadata":{"labels":{"celld.eric.dev/fleet-uid":null}}}`,
			says:  `its label celld.eric.dev/fleet-uid is ""`,
		},
		"of another fleet": {
			spoil: `{"metadata":{"labels":{"celld.eric.dev/fleet-uid":"3d594650-3436-4f0f-9c3f-2b2b2b2b2b2b"}}}`,
			says:  `its label celld.eric.dev/fleet-uid is "3d594650-3436-4f0f-9c3f-2b2b2b2b2b2b"`,
		},
		"with an owner": {
			spoil: `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"UID"}]}}`,
			says:  "has owner references",
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newReadyFleet(t, 3, oldDisks)
			owner := &corev1.ConfigMap{ObjectMeta: s.named("owner")}
			s.w.Create(owner)
			s.patchSet(strings.ReplaceAll(change.spoil, "UID", string(owner.UID)))
			s.w.Behave("my-fleet-1", cluster.Crashing)
			s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonInfrastructureBlocked, change.says)
			s.holdsAfter(60, "nobody is replaced", 3)
		})
	}
}

func (s *subject) patchSet(patch string) {
	s.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: s.named(s.GetName())}
	require.NoError(s.t, s.w.Client.Patch(s.t.Context(), set, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// A lost disk is replaced when every other member has its place, not before: a
// fresh one could take it.
func TestLostDiskWaitsForAPendingMember(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 3, 1)
	release := s.w.HoldVolumes()
	*s.Shared().Replicas = 4
	s.sync()
	s.w.WaitPod("my-fleet-3", "to wait for its disk", func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })
	s.w.Behave("my-fleet-0", cluster.Crashing)
	s.w.LoseVolume("data-my-fleet-0")
	s.holdsAfter(1, "the lost disk is not replaced yet", 4)

	disks, pods := s.disks(3), s.pods(3)
	release()
	s.requireReplaced(0, disks, pods)
	s.waitEvent("MemberDiskLost")
}
