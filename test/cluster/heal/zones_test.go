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

// A zone that is away, cordoned or full costs no disk, keeps no member of another zone off
// its own, and sends none there: a zone holds no more than maxPerZone members.
func TestZoneTakesNoMember(t *testing.T) {
	t.Parallel()
	for name, close := range map[string]func(s *subject, zone string) (open func()){
		"away":     (*subject).removeZone,
		"cordoned": (*subject).cordonZone,
		"full":     (*subject).fillZone,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRoomyFleet(t, 6, 3, oldDisks)
			disks := s.disks(6)
			closed, zone := s.w.Zones[2], s.w.Zones[0]
			require.Len(t, s.in(closed), 2)
			waiting, restarted := s.pods(6)[s.in(closed)[0]], s.pods(6)[s.in(zone)[0]]
			open := close(s, closed)

			s.w.Delete(restarted)
			s.w.WaitReplaced(restarted)
			require.Equal(t, restarted.Spec.NodeName, s.w.WaitReady(restarted.Name).Spec.NodeName)
			require.Equal(t, disks, s.disks(6))
			s.holdsAfter(60, "two members without a node keep their disks", 6)

			// There is a node for a fresh disk, in a zone that holds its two members.
			s.w.AddNode(zone)
			s.w.Delete(s.w.Claim("data-" + waiting.Name))
			again := s.w.Pod(waiting.Name)
			s.w.Delete(again)
			s.w.WaitReplaced(again)
			s.w.WaitUnschedulable(again.Name)
			cluster.Holds(t, settle, "no zone holds more", func(ctx) (bool, string) {
				return len(s.in(zone)) == 2, fmt.Sprint(s.in(zone))
			})

			open()
			s.waitReady()
			require.Len(t, s.in(closed), 2)
			for ordinal, disk := range s.disks(6) {
				fresh := s.pod(ordinal).Name == waiting.Name
				require.Equal(t, !fresh, disk == disks[ordinal], "disk %d", ordinal)
			}
		})
	}
}

// removeZone removes the nodes of a zone, and what was on them, for good.
func (s *subject) removeZone(zone string) (back func()) {
	s.t.Helper()
	in, nodes := s.in(zone), s.w.Nodes(zone)
	pods := s.pods(int(*s.Shared().Replicas))
	for _, node := range nodes {
		s.w.RemoveNode(node)
	}
	for _, ordinal := range in { // the garbage collector would, within a minute
		s.w.Delete(pods[ordinal], client.GracePeriodSeconds(0))
		s.w.WaitReplaced(pods[ordinal])
		s.w.WaitUnschedulable(pods[ordinal].Name)
	}
	return func() {
		for range nodes {
			s.w.AddNode(zone)
		}
	}
}

// cordonZone takes the nodes of a zone out of use, and the members from them.
func (s *subject) cordonZone(zone string) (uncordon func()) {
	s.t.Helper()
	for _, ordinal := range s.in(zone) {
		s.unschedule(ordinal)
	}
	return func() {
		for _, node := range s.w.Nodes(zone) {
			s.w.Uncordon(node)
		}
	}
}

// fillZone gives the room of the members in a zone to other Pods.
func (s *subject) fillZone(zone string) (empty func()) {
	s.t.Helper()
	in := s.in(zone)
	uncordon := s.cordonZone(zone)
	var others []client.Object
	for _, node := range s.w.Nodes(zone) {
		other := s.pod(in[0])
		other.ObjectMeta, other.Status = s.named("other-on-"+node), corev1.PodStatus{}
		other.Spec.NodeName, other.Spec.Volumes = node, nil
		container := &other.Spec.Containers[0]
		container.VolumeMounts = nil
		container.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("16")
		others = append(others, other)
	}
	s.w.Create(others...)
	for _, other := range others {
		s.w.WaitReady(other.GetName())
	}
	uncordon()
	for _, ordinal := range in {
		s.w.WaitPod(s.pod(ordinal).Name, "to find the nodes full", func(pod *corev1.Pod) bool {
			return pod.Spec.NodeName == "" && strings.Contains(cluster.PodCondition(pod, corev1.PodScheduled).Message, "Insufficient cpu")
		})
	}
	return func() {
		for _, other := range others {
			s.w.Delete(other)
		}
	}
}
