// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runDeployment does what the controller and its ReplicaSets do: Pods that are over or ending are not counted, and of a rollout at
// most one member is away at a time.
func (w *world) runDeployment() {
	d := &appsv1.Deployment{}
	if !w.get(d, "my-fleet") || d.DeletionTimestamp != nil {
		return
	}
	hash, replicas := hashOf(&d.Spec.Template), replicasOf(d.Spec.Replicas)
	isNew := func(pod *corev1.Pod) bool { return pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == hash }
	var there, ready, updated, starting int
	var old *corev1.Pod // that a rollout replaces next: one that is not Ready, else the last
	pods := slices.DeleteFunc(w.pods(), func(pod corev1.Pod) bool {
		return !metav1.IsControlledBy(&pod, d) || pod.DeletionTimestamp != nil || isOver(&pod)
	})
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return rank(&a) - rank(&b) })
	for _, pod := range pods {
		if there == replicas {
			w.remove(&pod, nil, false)
			continue
		}
		there++
		switch up := isReady(&pod); {
		case up:
			ready++
		case isNew(&pod):
			starting++
		}
		if isNew(&pod) {
			updated++
		} else {
			old = &pod
		}
	}
	for ; there < replicas; there, updated, starting = there+1, updated+1, starting+1 {
		if !w.mayCreate(d, d.Name+"-5f7c") { // whose event names no Pod either
			break
		}
		w.uids++
		pod := podOf(&d.Spec.Template, fmt.Sprintf("%s-5f7c-%03d", d.Name, w.uids), metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment")))
		pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		w.add(pod)
	}
	if old != nil && !d.Spec.Paused && (ready == replicas || !isReady(old) && starting == 0) {
		w.remove(old, nil, false)
	}
	status := appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: count(there), ReadyReplicas: count(ready), UpdatedReplicas: count(updated),
	}
	if !equalJSON(status, d.Status) {
		d.Status = status
		w.update(d)
	}
}

// rank orders Pods by who stays when some have to go.
func rank(pod *corev1.Pod) int {
	switch {
	case isReady(pod):
		return 0
	case pod.Spec.NodeName != "":
		return 1
	default:
		return 2
	}
}
