// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reset empties an object but for the kind that says what to read.
func reset(object client.Object) {
	gvk := object.GetObjectKind().GroupVersionKind()
	value := reflect.ValueOf(object).Elem()
	value.Set(reflect.Zero(value.Type()))
	if gvk != (schema.GroupVersionKind{}) {
		object.GetObjectKind().SetGroupVersionKind(gvk)
	}
}

// kind names an object's kind, which typed objects do not carry.
func kind(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(object).Elem().Name()
}

// PodCondition returns a Pod's condition, empty if it has none of that type.
func PodCondition(pod *corev1.Pod, of corev1.PodConditionType) corev1.PodCondition {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == of {
			return condition
		}
	}
	return corev1.PodCondition{}
}

// DescribePod says in a line what matters about a Pod.
func DescribePod(pod *corev1.Pod) string {
	line := fmt.Sprintf("Pod %s on %q, phase %s, Ready %q, PodScheduled %q %s", pod.Name, pod.Spec.NodeName, pod.Status.Phase,
		PodCondition(pod, corev1.PodReady).Status,
		PodCondition(pod, corev1.PodScheduled).Reason, PodCondition(pod, corev1.PodScheduled).Message)
	if pod.DeletionTimestamp != nil {
		line += ", terminating"
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.State.Waiting != nil {
			line += fmt.Sprintf(", %s waits: %s", status.Name, status.State.Waiting.Reason)
		}
	}
	return line
}

// DescribeClaim says in a line what matters about a claim.
func DescribeClaim(claim *corev1.PersistentVolumeClaim) string {
	line := fmt.Sprintf("claim %s, phase %s, volume %q", claim.Name, claim.Status.Phase, claim.Spec.VolumeName)
	if claim.DeletionTimestamp != nil {
		line += ", terminating"
	}
	return line
}

func nodeCondition(node *corev1.Node) corev1.NodeCondition {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition
		}
	}
	return corev1.NodeCondition{}
}

func describeNode(node *corev1.Node) string {
	var taints []string
	for _, taint := range node.Spec.Taints {
		taints = append(taints, taint.ToString())
	}
	ready := nodeCondition(node)
	return fmt.Sprintf("Node %s, Ready %q (%s), taints %v", node.Name, ready.Status, ready.Reason, taints)
}
