// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

const (
	noNode     = "0/3 nodes are available"
	evictAfter = 5 * time.Minute // the default toleration of nodes that do not answer
)

// claimOf returns a Pod's claim, and whether it has one at all.
func (w *world) claimOf(pod *corev1.Pod) (claim *corev1.PersistentVolumeClaim, found, uses bool) {
	claim = &corev1.PersistentVolumeClaim{}
	if !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v1alpha1.DataVolume })
	}) || w.fleetIsBucket() {
		return nil, false, false
	}
	return claim, w.get(claim, "data-"+pod.Name), true
}

func (w *world) fleetIsBucket() bool {
	return w.get(&v1alpha1.BucketFleet{}, "my-fleet") || w.get(&appsv1.Deployment{}, "my-fleet")
}

// schedule places Pods in the order of their names, or in the opposite one: on a node that is alive, in the zone of the disk,
// and as the Pod's own rules ask, one to a node and spread over the zones.
func (w *world) schedule() {
	pods := w.pods()
	if w.newestFirst {
		slices.Reverse(pods)
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 {
			continue
		}
		n, why := w.place(&pod)
		if n == nil {
			w.condition(&pod, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, why)
			continue
		}
		pod.Spec.NodeName = n.name
		setCondition(&pod, corev1.PodScheduled, corev1.ConditionTrue, "", "", w.now())
		if claim, found, _ := w.claimOf(&pod); found && claim.Annotations[rules.SelectedNode] == "" {
			metav1.SetMetaDataAnnotation(&claim.ObjectMeta, rules.SelectedNode, n.name)
			w.update(claim)
		}
		w.update(&pod)
	}
}

func (w *world) place(pod *corev1.Pod) (*node, string) {
	zone := pod.Spec.NodeSelector[zoneLabel]
	if claim, found, uses := w.claimOf(pod); uses {
		switch {
		case !found:
			return nil, "persistentvolumeclaim not found"
		case claim.DeletionTimestamp != nil:
			return nil, "persistentvolumeclaim is being deleted"
		case claim.Status.Phase == corev1.ClaimLost:
			return nil, "the volume of the claim is lost"
		case claim.Status.Phase == corev1.ClaimBound:
			zone = w.volumes[claim.UID]
		}
	}
	taken, perZone := map[string]bool{}, map[string]int{}
	for _, other := range w.pods() {
		if other.Spec.NodeName != "" && other.Labels[v1alpha1.LabelFleetUID] == pod.Labels[v1alpha1.LabelFleetUID] {
			taken[other.Spec.NodeName] = true
			if other.DeletionTimestamp == nil {
				perZone[w.zoneOf(other.Spec.NodeName)]++
			}
		}
	}
	spread, alone := hardRules(pod)
	fewest := 0
	if zones := w.zones(); spread != nil && len(zones) >= int(*spread.MinDomains) {
		fewest = perZone[slices.MinFunc(zones, func(a, b string) int { return perZone[a] - perZone[b] })]
	}
	var best *node
	for _, n := range w.nodes {
		if n.dead || n.gone || alone && taken[n.name] || zone != "" && n.zone != zone {
			continue
		}
		if spread != nil && perZone[n.zone]+1-fewest > int(spread.MaxSkew) {
			continue
		}
		if best == nil || perZone[n.zone] < perZone[best.zone] {
			best = n
		}
	}
	return best, noNode
}

// hardRules returns the spread that a Pod insists on, and whether it insists on a node of its own.
func hardRules(pod *corev1.Pod) (spread *corev1.TopologySpreadConstraint, alone bool) {
	for i, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			spread = &pod.Spec.TopologySpreadConstraints[i]
		}
	}
	a := pod.Spec.Affinity
	return spread, a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// zones lists the zones that have nodes, whether these answer or not.
func (w *world) zones() []string {
	var zones []string
	for _, n := range w.nodes {
		if !n.gone && !slices.Contains(zones, n.zone) {
			zones = append(zones, n.zone)
		}
	}
	return zones
}

// provision makes a volume for each claim whose Pod has a node.
func (w *world) provision() {
	for _, claim := range w.claims() {
		if at := claim.Annotations[rules.SelectedNode]; at != "" && claim.Status.Phase == corev1.ClaimPending {
			claim.Status.Phase = corev1.ClaimBound
			w.volumes[claim.UID] = w.zoneOf(at)
			w.update(&claim)
		}
	}
}

// protectClaims lets a claim go once no Pod on a node uses it.
func (w *world) protectClaims() {
	for _, claim := range w.claims() {
		const finalizer = "kubernetes.io/pvc-protection"
		used := slices.ContainsFunc(w.pods(), func(p corev1.Pod) bool { return "data-"+p.Name == claim.Name && p.Spec.NodeName != "" })
		if claim.DeletionTimestamp == nil || used || !slices.Contains(claim.Finalizers, finalizer) {
			continue
		}
		claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == finalizer })
		w.update(&claim)
	}
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
