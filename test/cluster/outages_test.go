// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// No test in this file is parallel: they break what the others share.

func TestStoppedScheduler(t *testing.T) {
	c := shared.Cluster(t)
	w := c.World(t)
	start := c.StopScheduler(t)

	w.Create(loosePod("pod", "registry.test/celld:1", w.Zones...))
	cluster.Holds(t, settle, "nobody decides about the Pod", same(w, w.Pod("pod"), func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" && cluster.PodCondition(pod, corev1.PodScheduled) == corev1.PodCondition{}
	}))

	start()
	w.WaitReady("pod")
}

func TestStoppedControllers(t *testing.T) {
	c := shared.Cluster(t)
	w := c.World(t)
	newMembers(w)
	start := c.StopControllers(t)

	gone := w.Pod(memberName(0))
	w.Delete(gone)
	w.WaitGone(&corev1.Pod{ObjectMeta: gone.ObjectMeta})
	cluster.Holds(t, settle, "nobody replaces the Pod", w.Gone(gone))

	start()
	w.WaitReady(memberName(0))
}

func TestRestartedAPIServer(t *testing.T) {
	c := shared.Cluster(t)
	w := c.World(t)
	newMembers(w)
	before := w.Pod(memberName(0))
	watched, err := c.Kubernetes.CoreV1().Pods(w.Namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	require.NoError(t, err)
	defer watched.Stop()

	c.RestartAPIServer(t)

	// The connection was cut ...
	cluster.Wait(t, "the watch to end", func(ctx ctx) (bool, string) {
		select {
		case event, open := <-watched.ResultChan():
			return !open || event.Type == watch.Error, string(event.Type)
		default:
			return false, "no event"
		}
	})
	// ... nothing was lost, and everybody goes on where they were.
	require.Equal(t, before.UID, w.Pod(memberName(0)).UID)
	w.Delete(before)
	w.WaitReplaced(before)
	w.WaitReady(memberName(0))
	w.SilenceNode(w.Nodes(w.Zones[0])[0])
}
