// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

type ctx = context.Context

func TestBehaviours(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	for behaviour, c := range map[cluster.Behaviour]struct {
		phase   corev1.PodPhase
		waiting string
		running bool
	}{
		cluster.Ready:         {phase: corev1.PodRunning, running: true},
		cluster.Unready:       {phase: corev1.PodRunning, running: true},
		cluster.Gated:         {phase: corev1.PodRunning, running: true},
		cluster.Crashing:      {phase: corev1.PodRunning, waiting: "CrashLoopBackOff"},
		cluster.Missing:       {phase: corev1.PodPending, waiting: "ImagePullBackOff"},
		cluster.Misconfigured: {phase: corev1.PodPending, waiting: "CreateContainerConfigError"},
	} {
		t.Run(string(behaviour), func(t *testing.T) {
			name := string(behaviour)
			w.Create(loosePod(name, "registry.test/"+name+"/celld:1", w.Zones...))
			w.WaitBehaviour(name, behaviour)

			pod := w.Pod(name)
			require.Equal(t, c.phase, pod.Status.Phase)
			require.NotEmpty(t, pod.Status.PodIP)
			require.Equal(t, behaviour == cluster.Ready, cluster.PodCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue)
			state := pod.Status.ContainerStatuses[0].State
			require.Equal(t, c.running, state.Running != nil)
			if c.waiting != "" {
				require.Equal(t, c.waiting, state.Waiting.Reason)
			}
		})
	}
}

func TestBehaviourChangesAtAnyTime(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	w.Create(loosePod("pod", "registry.test/celld:1", w.Zones...))
	uid := w.WaitReady("pod").UID
	for _, behaviour := range []cluster.Behaviour{
		cluster.Unready, cluster.Gated, cluster.Crashing, cluster.Ready, cluster.Gated, cluster.Missing, cluster.Misconfigured, cluster.Ready,
	} {
		w.Behave("pod", behaviour)
		cluster.Holds(t, settle/4, "the Pod stays "+string(behaviour), same(w, w.Pod("pod"), func(pod *corev1.Pod) bool {
			return (behaviour == cluster.Ready) == (cluster.PodCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue)
		}))
	}
	require.Equal(t, uid, w.Pod("pod").UID)
}

// A kubelet whose clock is slow tells old times, from when it is until the Pod is another.
func TestSlowClock(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	w.Create(loosePod("pod", "registry.test/celld:1", w.Zones...))
	w.WaitReady("pod")
	age := func(behaviour cluster.Behaviour) time.Duration {
		began := time.Now()
		w.Behave("pod", behaviour)
		return began.Sub(cluster.PodCondition(w.Pod("pod"), corev1.PodReady).LastTransitionTime.Time)
	}
	require.Less(t, age(cluster.Unready), time.Second)
	w.SlowClock("pod", time.Hour)
	for _, behaviour := range []cluster.Behaviour{cluster.Ready, cluster.Gated, cluster.Ready} {
		require.InDelta(t, time.Hour, age(behaviour), float64(10*time.Minute))
	}
}

func TestStuckPodStaysTerminating(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)
	for name, end := range map[string]func(*corev1.Pod){
		memberName(0): func(pod *corev1.Pod) { w.Unstick(pod.Name) },
		memberName(1): func(pod *corev1.Pod) { w.Delete(pod, client.GracePeriodSeconds(0)) },
	} {
		stuck := w.Pod(name)
		w.Stick(name)
		w.Delete(stuck)
		cluster.Holds(t, settle, "the Pod stays Terminating", same(w, stuck, terminating))
		end(stuck)
		w.WaitReplaced(stuck)
		w.WaitReady(name)
	}
}

// A finalizer outlives the kubelet's part in a deletion, as it does on a real
// node: the containers have ended, the object stays.
func TestFinalizerHoldsAPodWhoseContainersEnded(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	pod := loosePod("pod", "registry.test/celld:1", w.Zones...)
	pod.Finalizers = []string{"fleetwright.test/hold"}
	w.Create(pod)
	w.WaitReady("pod")

	w.Delete(pod)
	ended := w.WaitPod("pod", "to end", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
	held := func(pod *corev1.Pod) bool { return *pod.DeletionGracePeriodSeconds == 0 }
	w.WaitPod("pod", "to be given up by its kubelet", held)
	cluster.Holds(t, settle, "the Pod stays", same(w, ended, held))

	release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	require.NoError(t, w.Client.Patch(t.Context(), pod, release))
	w.WaitGone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "pod"}})
}
