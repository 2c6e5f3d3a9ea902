// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// settle is longer than the played kubelet and the controllers take for
// anything that they would do.
const settle = 2 * time.Second

func terminating(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }

// same checks that a Pod is still there and still as wanted.
func same(w *cluster.World, pod *corev1.Pod, want func(*corev1.Pod) bool) cluster.Check {
	now := &corev1.Pod{ObjectMeta: pod.ObjectMeta}
	return w.Object(now, func() (bool, string) { return now.UID == pod.UID && want(now), cluster.DescribePod(now) })
}

func TestMembersSpreadOverZones(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)

	var zones []string
	for _, name := range memberNames(3) {
		zones = append(zones, w.ZoneOf(w.Pod(name)))
	}
	require.ElementsMatch(t, w.Zones, zones)
}

func TestSilentNodeKeepsItsPodTerminating(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)
	lost := w.Pod(memberName(1))
	disk := w.Claim("data-" + lost.Name)

	w.SilenceNode(lost.Spec.NodeName)
	lost = w.WaitPod(lost.Name, "to be told to leave its node", terminating)
	require.Equal(t, corev1.ConditionFalse, cluster.PodCondition(lost, corev1.PodReady).Status)
	cluster.Holds(t, settle, "the Pod stays on the silent node", same(w, lost, terminating))

	w.RestoreNode(lost.Spec.NodeName)
	w.WaitReplaced(lost)
	back := w.WaitReady(lost.Name)
	require.Equal(t, lost.Spec.NodeName, back.Spec.NodeName)
	require.Equal(t, disk.UID, w.Claim(disk.Name).UID)
}

func TestRemovedNodeLosesItsPodButNotTheDisk(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)
	lost := w.Pod(memberName(1))
	zone := w.ZoneOf(lost)
	disk := w.Claim("data-" + lost.Name)

	w.RemoveNode(lost.Spec.NodeName)
	require.Empty(t, w.Nodes(zone))
	// The garbage collector waits 40 s for the node to come back and looks
	// every 20 s.
	cluster.WaitWithin(t, 2*time.Minute, "the Pod to be collected", func(ctx ctx) (bool, string) {
		ok, seen := same(w, lost, func(*corev1.Pod) bool { return true })(ctx)
		return !ok, seen
	})
	stranded := w.WaitUnschedulable(lost.Name)
	require.Contains(t, cluster.PodCondition(stranded, corev1.PodScheduled).Message, "didn't match PersistentVolume's node affinity")

	added := w.AddNode(zone)
	back := w.WaitReady(lost.Name)
	require.Equal(t, added, back.Spec.NodeName)
	require.Equal(t, disk.UID, w.Claim(disk.Name).UID)
}

func TestLostZoneReturns(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	second := w.AddNode(w.Zones[0])
	newMembers(w)
	var lost *corev1.Pod
	for _, name := range memberNames(3) {
		if pod := w.Pod(name); w.ZoneOf(pod) == w.Zones[0] {
			lost = pod
		}
	}
	disk := w.Claim("data-" + lost.Name)
	require.Len(t, w.Nodes(w.Zones[0]), 2)

	w.LoseZone(w.Zones[0])
	node := &corev1.Node{}
	node.Name = second
	w.Get(node)
	require.NotEqual(t, corev1.ConditionTrue, ready(node))
	w.WaitPod(lost.Name, "to be told to leave its node", terminating)
	for _, name := range memberNames(3) {
		if name != lost.Name {
			w.WaitReady(name)
		}
	}

	w.ReturnZone(w.Zones[0])
	w.WaitReplaced(lost)
	back := w.WaitReady(lost.Name)
	require.Equal(t, w.Zones[0], w.ZoneOf(back))
	require.Equal(t, disk.UID, w.Claim(disk.Name).UID)
}

func ready(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return ""
}

func TestDrainEvicts(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)
	evicted := w.Pod(memberName(2))
	since := w.Mark(t)

	w.Drain(evicted.Spec.NodeName)
	w.WaitReplaced(evicted)
	stranded := w.WaitUnschedulable(evicted.Name)
	require.Contains(t, cluster.PodCondition(stranded, corev1.PodScheduled).Message, "were unschedulable")
	require.NotEmpty(t, w.Requests(t, since, func(r cluster.Request) bool {
		return r.Resource == "pods/eviction" && r.Name == evicted.Name && r.Code == 201
	}))

	w.Uncordon(evicted.Spec.NodeName)
	require.Equal(t, evicted.Spec.NodeName, w.WaitReady(evicted.Name).Spec.NodeName)
}

func TestEvictionHonoursTheBudget(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)
	w.Behave(memberName(0), cluster.Unready)
	cluster.Wait(t, "an eviction to be refused", func(ctx ctx) (bool, string) {
		err := w.Evict(ctx, memberName(1))
		return apierrors.IsTooManyRequests(err), "eviction: " + cluster.Outcome(err)
	})
	require.Nil(t, w.Pod(memberName(1)).DeletionTimestamp)

	w.Behave(memberName(0), cluster.Ready)
	w.Drain(w.Pod(memberName(1)).Spec.NodeName)
}
