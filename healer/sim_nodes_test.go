// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const evictAfter = 5 * time.Minute // the default toleration of nodes that do not answer

type node struct {
	name, zone string
	labels     map[string]string
	taints     []string // keys; nobody may be scheduled there who does not tolerate all
	cordoned   bool
	room       int // for so many Pods, 0 for any number
	dead, gone bool
}

func (w *world) zoneOf(name string) string {
	if n := w.node(name); n != nil {
		return n.zone
	}
	return ""
}

func (w *world) node(name string) *node {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// runKubelets starts and ends Pods on nodes that are alive; the node controller sees to the others.
func (w *world) runKubelets() {
	for _, pod := range w.pods() {
		n := w.node(pod.Spec.NodeName)
		switch {
		case n != nil && (n.dead || n.gone):
			w.unanswered(&pod)
		case pod.DeletionTimestamp != nil && slices.Contains(pod.Finalizers, kubeletHold):
			w.remove(&pod, new(int64(0)), false)
		case n == nil || pod.DeletionTimestamp != nil:
		default:
			w.run(&pod)
		}
	}
}

func (w *world) run(pod *corev1.Pod) {
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &metav1.Time{Time: w.now()}
	}
	waiting, broken := w.broken[w.disk(pod.Name)]
	claim, found, uses := w.claimOf(pod)
	mounted := !uses || found && claim.Status.Phase == corev1.ClaimBound
	status := corev1.ContainerStatus{Name: v1alpha1.ContainerName}
	switch {
	case broken:
		status.State.Waiting = &waiting
	case !mounted:
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	default:
		status.State.Running = &corev1.ContainerStateRunning{}
	}
	old := pod.Status.ContainerStatuses
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	ready := corev1.ConditionFalse
	if !broken && mounted {
		ready = corev1.ConditionTrue
	}
	if setCondition(pod, corev1.PodReady, ready, "", "", w.now()) || !equalJSON(old, pod.Status.ContainerStatuses) {
		w.update(pod)
	}
}

// unanswered is a Pod whose kubelet does not answer: not Ready, and after a while evicted. A Pod of a node that is gone is
// collected once it is terminating or orphaned.
func (w *world) unanswered(pod *corev1.Pod) {
	since := w.deadSince[pod.Spec.NodeName]
	if isReady(pod) {
		w.condition(pod, corev1.PodReady, corev1.ConditionFalse, "NodeStatusUnknown", "")
	}
	if pod.DeletionTimestamp == nil && !w.now().Before(since.Add(evictAfter)) {
		w.remove(pod, nil, false)
	}
	if w.node(pod.Spec.NodeName).gone {
		w.remove(pod, new(int64(0)), false)
	}
}

func (w *world) condition(pod *corev1.Pod, name corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) {
	if setCondition(pod, name, status, reason, message, w.now()) {
		w.update(pod)
	}
}

func setCondition(pod *corev1.Pod, name corev1.PodConditionType, status corev1.ConditionStatus, reason, message string, now time.Time) bool {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != name {
			continue
		}
		if c.Status == status && c.Reason == reason && strings.EqualFold(c.Message, message) {
			return false
		}
		if c.Status != status {
			c.LastTransitionTime = metav1.NewTime(now)
		}
		c.Status, c.Reason, c.Message = status, reason, message
		return true
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: name, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now),
	})
	return true
}
