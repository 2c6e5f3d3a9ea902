// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WaitPod waits until a Pod is as wanted and returns it.
func (w *World) WaitPod(name, awaited string, want func(*corev1.Pod) bool) *corev1.Pod {
	w.tb.Helper()
	pod := &corev1.Pod{ObjectMeta: w.named(name)}
	Wait(w.tb, "Pod "+name+" "+awaited, w.Object(pod, func() (bool, string) { return want(pod), DescribePod(pod) }))
	return pod
}

// WaitReady waits until a Pod is Ready and returns it.
func (w *World) WaitReady(name string) *corev1.Pod {
	w.tb.Helper()
	return w.WaitPod(name, "to be Ready", func(pod *corev1.Pod) bool { return shows(pod, Ready) })
}

// WaitReplaced waits until another Pod than the given one has its name.
func (w *World) WaitReplaced(old *corev1.Pod) *corev1.Pod {
	w.tb.Helper()
	return w.WaitPod(old.Name, "to be replaced", func(pod *corev1.Pod) bool { return pod.UID != old.UID })
}

// WaitUnschedulable waits until the scheduler has found no node for a Pod.
func (w *World) WaitUnschedulable(name string) *corev1.Pod {
	w.tb.Helper()
	return w.WaitPod(name, "to be found unschedulable", func(pod *corev1.Pod) bool {
		return PodCondition(pod, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
	})
}

// WaitClaim waits until a claim is in a phase and returns it.
func (w *World) WaitClaim(name string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	w.tb.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: w.named(name)}
	Wait(w.tb, fmt.Sprintf("claim %s to be %s", name, phase), w.Object(claim, func() (bool, string) {
		return claim.Status.Phase == phase, DescribeClaim(claim)
	}))
	return claim
}

// WaitGone waits until an object of the World is gone.
func (w *World) WaitGone(object client.Object) {
	w.tb.Helper()
	name := object.GetName()
	Wait(w.tb, kind(object)+" "+name+" to be gone", w.Gone(object))
}

// Pod reads a Pod.
func (w *World) Pod(name string) *corev1.Pod {
	w.tb.Helper()
	pod := &corev1.Pod{ObjectMeta: w.named(name)}
	w.Get(pod)
	return pod
}

// Claim reads a claim.
func (w *World) Claim(name string) *corev1.PersistentVolumeClaim {
	w.tb.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: w.named(name)}
	w.Get(claim)
	return claim
}

// Get reads an object that has to be there.
func (w *World) Get(object client.Object) {
	w.tb.Helper()
	key := client.ObjectKeyFromObject(object)
	w.must(w.read(w.tb.Context(), key, object), "reading "+kind(object)+" "+key.Name)
}

// Create creates objects, in the World's namespace if they name none.
func (w *World) Create(objects ...client.Object) {
	w.tb.Helper()
	for _, object := range objects {
		if object.GetNamespace() == "" {
			object.SetNamespace(w.Namespace)
		}
		w.must(w.Client.Create(w.tb.Context(), object), "creating "+kind(object)+" "+object.GetName())
	}
}

// Delete asks for the deletion of an object, without waiting for it.
func (w *World) Delete(object client.Object, options ...client.DeleteOption) {
	w.tb.Helper()
	w.must(w.Client.Delete(w.tb.Context(), object, options...), "deleting "+kind(object)+" "+object.GetName())
}

// ZoneOf is the zone of the node that a Pod is on.
func (w *World) ZoneOf(pod *corev1.Pod) string {
	w.tb.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}
	w.Get(node)
	return node.Labels[corev1.LabelTopologyZone]
}

func (w *World) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.Namespace, Name: name}
}
