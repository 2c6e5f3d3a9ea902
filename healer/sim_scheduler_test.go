// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

const noNode = "0/3 nodes are available"

// schedule places Pods in the order of their names, or in the opposite one.
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
		claim, found, _ := w.claimOf(&pod)
		if found && claim.Status.Phase == corev1.ClaimPending && w.noVolumes { // the scheduler binds disks before Pods
			w.condition(&pod, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulerError,
				fmt.Sprintf("running PreBind plugin \"VolumeBinding\": binding volumes: provisioning failed for PVC %q", claim.Name))
			continue
		}
		pod.Spec.NodeName = n.name
		setCondition(&pod, corev1.PodScheduled, corev1.ConditionTrue, "", "", w.now())
		if found && claim.Annotations[rules.SelectedNode] == "" {
			metav1.SetMetaDataAnnotation(&claim.ObjectMeta, rules.SelectedNode, n.name)
			w.update(claim)
		}
		w.update(&pod)
	}
}

// place finds a node that the Pod may run on, in the zone of its disk, and as its own rules about other Pods ask. Without one it
// returns the scheduler's text.
func (w *world) place(pod *corev1.Pod) (*node, string) {
	var disk types.UID
	if claim, found, uses := w.claimOf(pod); uses {
		switch {
		case !found:
			return nil, "persistentvolumeclaim not found"
		case claim.DeletionTimestamp != nil:
			return nil, "persistentvolumeclaim is being deleted"
		case claim.Status.Phase == corev1.ClaimLost:
			return nil, "the volume of the claim is lost"
		case claim.Status.Phase == corev1.ClaimBound:
			disk = claim.UID
		}
	}
	taken, perZone := w.taken(pod)
	spread, alone := hardRules(pod)
	refused, zones := map[string]int{}, map[string]bool{}
	var open []*node
	for _, n := range w.nodes {
		switch why := n.refuses(pod); {
		case n.dead || n.gone:
		case why != "":
			refused[why]++
		default:
			zones[n.zone] = true // the spread counts zones that the Pod may run in
			open = append(open, n)
		}
	}
	fewest := 0
	if spread != nil && len(zones) >= int(*spread.MinDomains) {
		fewest = perZone[slices.MinFunc(slices.Sorted(maps.Keys(zones)), func(a, b string) int { return cmp.Compare(perZone[a], perZone[b]) })]
	}
	var best *node
	for _, n := range open {
		switch {
		case n.room > 0 && taken[n.name] >= n.room:
			refused["Too many pods"]++
		case alone && taken[n.name] > 0, disk != "" && !w.usable(disk, n):
		case spread != nil && perZone[n.zone]+1-fewest > int(spread.MaxSkew):
		case best == nil || perZone[n.zone] < perZone[best.zone]:
			best = n
		}
	}
	return best, unschedulable(refused)
}

// taken counts the fleet's Pods on each node, and those in each zone that stay.
func (w *world) taken(pod *corev1.Pod) (onNode, perZone map[string]int) {
	onNode, perZone = map[string]int{}, map[string]int{}
	for _, other := range w.pods() {
		if other.Spec.NodeName == "" || isOver(&other) || other.Labels[v1alpha1.LabelFleetUID] != pod.Labels[v1alpha1.LabelFleetUID] {
			continue
		}
		onNode[other.Spec.NodeName]++
		if other.DeletionTimestamp == nil {
			perZone[w.zoneOf(other.Spec.NodeName)]++
		}
	}
	return onNode, perZone
}

// unschedulable is the scheduler's text about nodes that refuse a Pod, in the scheduler's words.
func unschedulable(refused map[string]int) string {
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		reasons = append(reasons, fmt.Sprintf("%d %s", refused[why], why))
	}
	if len(reasons) == 0 {
		return noNode
	}
	return noNode + ": " + strings.Join(reasons, ", ")
}

// refuses says why a node takes none of such Pods, empty when it may take one.
func (n *node) refuses(pod *corev1.Pod) string {
	switch {
	case n.cordoned && !tolerates(pod, corev1.TaintNodeUnschedulable):
		return "node(s) were unschedulable"
	case slices.ContainsFunc(n.taints, func(key string) bool { return !tolerates(pod, key) }):
		return "node(s) had untolerated taint(s)"
	case !n.matches(pod):
		return "node(s) didn't match Pod's node affinity/selector"
	default:
		return ""
	}
}

func tolerates(pod *corev1.Pod, key string) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return (t.Key == key || t.Key == "" && t.Operator == corev1.TolerationOpExists) && (t.Effect == "" || t.Effect == corev1.TaintEffectNoSchedule)
	})
}

// matches reports whether a node has what a Pod's selector and required affinity ask for. Render uses one term and the operator In.
func (n *node) matches(pod *corev1.Pod) bool {
	labels := map[string]string{corev1.LabelTopologyZone: n.zone, corev1.LabelOSStable: "linux"}
	maps.Copy(labels, n.labels)
	for key, value := range pod.Spec.NodeSelector {
		if labels[key] != value {
			return false
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil {
		return true
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if !slices.Contains(e.Values, labels[e.Key]) {
				return false
			}
		}
	}
	return true
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
