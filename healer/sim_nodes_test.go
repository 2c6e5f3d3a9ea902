// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	clock      time.Duration // how far its own is ahead
	wrote      map[types.UID]corev1.PodCondition
}

func (w *world) zoneOf(name string) string {
	if n := w.node(name); n != nil {
		return n.zone
	}
	return ""
}

// zoneShown is what the API server says of a node: nothing, once it is gone.
func (w *world) zoneShown(name string) string {
	if n := w.node(name); n != nil && !n.gone {
		return n.zone
	}
	return ""
}

// nodesShown lists the nodes of a zone that the API server has, alive or not.
func (w *world) nodesShown(_ context.Context, zone string) ([]string, error) {
	var names []string
	for _, n := range w.nodes {
		if n.zone == zone && !n.gone {
			names = append(names, n.name)
		}
	}
	return names, nil
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
			if n == nil || !w.now().Before(w.endOf(&pod)) {
				w.remove(&pod, new(int64(0)), false)
			}
		case n == nil || pod.DeletionTimestamp != nil || isOver(&pod):
		default:
			w.run(n, &pod)
		}
	}
}

// endOf returns when the containers of a terminating Pod have ended: after as much of the grace period as members take.
func (w *world) endOf(pod *corev1.Pod) time.Time {
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return pod.DeletionTimestamp.Add(min(w.ending, grace) - grace)
}

// isOver says that a Pod will not run any more: evicted, or ended by itself.
func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// run is what a kubelet does about a Pod. Transition times are of its own clock. What it wrote last it remembers for as long as it
// runs, and writes again, with the old time, when somebody else wrote something different meanwhile (kubernetes#119514).
func (w *world) run(n *node, pod *corev1.Pod) {
	now := w.now().Add(n.clock)
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &metav1.Time{Time: now}
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)}
	status := w.container(pod)
	switch gate := w.gates[pod.Name]; {
	case status.State.Running == nil:
		ready.Status, ready.Reason = corev1.ConditionFalse, "ContainersNotReady"
	case gate != "" && gate != corev1.ConditionTrue:
		ready.Status, ready.Reason = corev1.ConditionFalse, "ReadinessGatesNotReady"
	}
	if last, ok := n.wrote[pod.UID]; ok && last.Status == ready.Status {
		ready.LastTransitionTime = last.LastTransitionTime
	}
	old := pod.Status.DeepCopy()
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	setCondition(pod, corev1.ContainersReady, isTrue(status.State.Running != nil), "", "", now)
	if setCondition(pod, ready.Type, ready.Status, ready.Reason, "", ready.LastTransitionTime.Time) {
		if n.wrote == nil {
			n.wrote = map[types.UID]corev1.PodCondition{}
		}
		n.wrote[pod.UID] = ready
	}
	if !equalJSON(old, pod.Status) {
		w.update(pod)
	}
}

// container is the state of a member's only container.
func (w *world) container(pod *corev1.Pod) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: v1alpha1.ContainerName}
	disk, setting := w.disk(pod.Name), settingOf(pod)
	waiting, broken := w.broken[disk]
	used, isUsed := w.used[disk]
	if bad, ok := w.bad[setting]; ok && !(bad.usedOnly && (!isUsed || used == setting)) {
		waiting, broken = corev1.ContainerStateWaiting{Reason: bad.reason, Message: "as its setting says"}, true
	}
	claim, found, uses := w.claimOf(pod)
	running := len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Running != nil
	mounted := !uses || found && (claim.Status.Phase == corev1.ClaimBound || running && w.mounted[claim.UID])
	switch {
	case broken:
		status.State.Waiting = &waiting
	case !mounted:
		status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	default:
		status.State.Running = &corev1.ContainerStateRunning{}
		w.used[disk] = setting
	}
	return status
}

// A badSetting is what a container waits for that has it, on every disk or on one that another setting was used on.
type badSetting struct {
	reason   string
	usedOnly bool
}

func settingOf(pod *corev1.Pod) string {
	for _, e := range pod.Spec.Containers[0].Env {
		if e.Name == "CELLD_LOG" {
			return e.Value
		}
	}
	return ""
}

// unanswered is a Pod whose kubelet does not answer. The node controller says that it is not Ready, keeps the reason that the
// kubelet gave, and evicts it after a while. A Pod of a node that is gone is collected.
func (w *world) unanswered(pod *corev1.Pod) {
	since := w.deadSince[pod.Spec.NodeName]
	if isReady(pod) {
		w.condition(pod, corev1.PodReady, corev1.ConditionFalse, "", "")
	}
	if pod.DeletionTimestamp == nil && !w.now().Before(since.Add(evictAfter)) {
		w.remove(pod, nil, false)
	}
	if w.node(pod.Spec.NodeName).gone {
		w.remove(pod, new(int64(0)), false)
	}
}

// end is a Pod that failed or succeeded: its containers have ended, and nobody starts them again.
func (w *world) end(name string, phase corev1.PodPhase) {
	pod := &corev1.Pod{}
	require.True(w.t, w.get(pod, name), name)
	pod.Status.Phase, pod.Status.Reason, pod.Status.ContainerStatuses = phase, "Evicted", nil
	setCondition(pod, corev1.PodReady, corev1.ConditionFalse, "Pod"+string(phase), "", w.now())
	w.update(pod)
}

// kill ends a node's machine or its connection (cut-off-node: all runs on, unreachable), takes the node away with it, or brings it
// back. A kubelet that starts anew remembers nothing.
func (w *world) kill(name, how string) {
	n := w.node(name)
	n.dead, n.gone = how == "kill-node" || how == "cut-off-node", how == "lose-node"
	if how == "kill-node" || how == "lose-node" {
		clear(n.wrote)
	}
	delete(w.deadSince, name)
	if how != "revive-node" {
		w.deadSince[name] = w.now()
	}
}

func isTrue(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
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
