// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// in returns the ordinals of members that are in a zone.
func (s *subject) in(zone string) []int {
	s.t.Helper()
	var in []int
	for ordinal, pod := range s.pods(int(*s.Shared().Replicas)) {
		if pod.Spec.NodeName != "" && s.w.ZoneOf(pod) == zone {
			in = append(in, ordinal)
		}
	}
	return in
}

// A zone that takes no members costs no disk, keeps no member of another zone
// off its own, and sends none there: a zone holds no more than maxPerZone.
func TestZoneTakesNoMember(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 6, 3, oldDisks)
	disks := s.disks(6)
	roomy, other, closed := s.w.Zones[0], s.w.Zones[1], s.w.Zones[2]
	require.Len(t, s.in(closed), 2)
	restarted, fresh := s.in(other)[0], s.in(closed)[0]
	s.w.AddNode(roomy) // where a fresh disk could go, but for the cap

	s.removeZone(closed)
	s.returns(restarted, "the zone is gone")
	s.holdsAfter(60, "members without a node keep their disks", 6)
	for range 2 {
		s.w.AddNode(closed)
	}
	s.waitReady()
	require.Equal(t, disks, s.disks(6))

	s.cordonZone(closed)
	s.returns(restarted, "the zone is cordoned")
	empty := s.fillZone(closed)
	s.returns(restarted, "the zone is full")
	s.w.Delete(s.claim(fresh))
	waiting := s.pod(fresh)
	s.w.Delete(waiting)
	s.w.WaitReplaced(waiting)
	s.w.WaitUnschedulable(waiting.Name)
	cluster.Holds(t, settle, "no zone holds more than two", func(ctx) (bool, string) {
		return len(s.in(roomy)) == 2, fmt.Sprint(s.in(roomy))
	})

	empty()
	s.waitReady()
	require.Len(t, s.in(closed), 2)
	for ordinal, disk := range s.disks(6) {
		require.Equal(t, ordinal != fresh, disk == disks[ordinal], "disk %d", ordinal)
	}
}

// A member whose zone is gone keeps its disk while no other zone has a place for
// a fresh one, which would take that of the next member that restarts. With a
// place it is replaced there.
func TestFreshDiskTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	disks, gone, other := s.disks(3), s.w.ZoneOf(s.pod(2)), s.w.ZoneOf(s.pod(0))
	const kept = "its disk is kept, since a fresh one has no place"
	s.removeZone(gone)
	s.passMinutes(11)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonMemberUnschedulable,
		"my-fleet-2 has not been scheduled since", kept, "give it a node in "+gone, "raise placement.maxPerZone")
	require.Contains(t, s.stored().State().Members[2].Message, kept)
	s.returns(0, "a zone is gone")
	s.passMinutes(11)
	s.returns(1, "a zone is gone")
	s.holdsAfter(60, "every member keeps its disk", 3)
	require.Equal(t, disks, s.disks(3))

	s.w.AddNode(other)
	s.holdsAfter(1, "a zone holds one member", 3)
	waiting := s.pod(2)
	s.allowTwo()
	s.sync()
	s.w.WaitReplaced(waiting)
	s.w.WaitUnschedulable(waiting.Name)
	s.passMinutes(11)
	s.waitReady()
	require.Equal(t, other, s.w.ZoneOf(s.pod(2)))
	require.Equal(t, disks[:2], s.disks(3)[:2])
	require.NotEqual(t, disks[2], s.disks(3)[2])
}

// returns shows that a member that restarts returns to its node.
func (s *subject) returns(ordinal int, while string) {
	s.t.Helper()
	before := s.pod(ordinal)
	s.w.Delete(before)
	s.w.WaitReplaced(before)
	require.Equal(s.t, before.Spec.NodeName, s.w.WaitReady(before.Name).Spec.NodeName, while)
}

// removeZone removes the nodes of a zone, and what was on them, for good.
func (s *subject) removeZone(zone string) {
	s.t.Helper()
	in := s.in(zone)
	for _, node := range s.w.Nodes(zone) {
		s.w.RemoveNode(node)
	}
	for _, ordinal := range in { // the garbage collector would, within a minute
		pod := s.pod(ordinal)
		s.w.Delete(pod, client.GracePeriodSeconds(0))
		s.w.WaitReplaced(pod)
		s.w.WaitUnschedulable(pod.Name)
	}
}

// cordonZone takes the nodes of a zone out of use, and the members from them.
func (s *subject) cordonZone(zone string) {
	s.t.Helper()
	for _, ordinal := range s.in(zone) {
		s.unschedule(ordinal)
	}
}

// fillZone gives the room of a cordoned zone to other Pods.
func (s *subject) fillZone(zone string) (empty func()) {
	s.t.Helper()
	var others []*corev1.Pod
	for _, node := range s.w.Nodes(zone) {
		other := s.pod(0)
		other.ObjectMeta, other.Status = s.named("other-on-"+node), corev1.PodStatus{}
		other.Spec.NodeName, other.Spec.Volumes = node, nil
		container := &other.Spec.Containers[0]
		container.VolumeMounts = nil
		container.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("16")
		s.w.Create(other)
		s.w.WaitReady(other.Name)
		s.w.Uncordon(node)
		others = append(others, other)
	}
	for _, pod := range s.pods(int(*s.Shared().Replicas)) {
		if pod.Spec.NodeName == "" {
			s.w.WaitPod(pod.Name, "to find the nodes full", func(pod *corev1.Pod) bool {
				return strings.Contains(cluster.PodCondition(pod, corev1.PodScheduled).Message, "Insufficient cpu")
			})
		}
	}
	return func() {
		for _, other := range others {
			s.w.Delete(other)
		}
	}
}
