// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// settledFor is how long others are Ready, or gone, before a disk may go.
	settledFor = 5 * time.Minute
	// keptByScaleIn marks a claim whose member was removed on request.
	keptByScaleIn = "celld.eric.dev/kept-by-scale-in"
)

// seen is what is true of a Pod, by the one clock that is right.
type seen struct {
	up    bool // Ready, and not ending
	since time.Time
}

// noteTruth keeps since when each Pod is up or is not, whatever its conditions say, and when removed members ended.
func (w *world) noteTruth() {
	pods := w.pods()
	there := map[types.UID]bool{}
	for _, pod := range pods {
		there[pod.UID] = true
		up := isReady(&pod) && pod.DeletionTimestamp == nil
		if old, known := w.truth[pod.UID]; !known || old.up != up {
			w.truth[pod.UID] = seen{up, w.now()}
		}
		if up {
			w.proven[revisionOf(&pod)] = true
		}
		if pod.Spec.NodeName != "" { // without, it never held anything
			w.names[pod.UID] = pod.Name
		}
	}
	for uid, name := range w.names {
		if !there[uid] {
			delete(w.names, uid)
			w.ended[name] = w.now()
		}
	}
}

// upFor returns for how long a member has been up, zero when it is not.
func (w *world) upFor(name string) time.Duration {
	pod := &corev1.Pod{}
	if !w.get(pod, name) || !w.truth[pod.UID].up {
		return 0
	}
	return w.now().Sub(w.truth[pod.UID].since)
}

// isDecided says that a Pod has a place, or that the scheduler found none. It takes its own errors back for two minutes.
func (w *world) isDecided(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Spec.NodeName != "" {
		return pod.DeletionTimestamp == nil
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			(c.Reason == corev1.PodReasonUnschedulable || w.now().Sub(c.LastTransitionTime.Time) >= 2*time.Minute)
	})
}

// isKept says that a claim has a volume that is there to stay.
func isKept(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil
}

func isForced(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
}

// onlyGated says that a Pod would be Ready but for a readiness gate.
func onlyGated(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Reason == "ReadinessGatesNotReady"
	})
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.StatefulSetRevisionLabel] }

// suspects says that a Pod may be down for a change: nobody was ever up on its template, and others have another one. One that finds
// no node suffers from a change only where that is about placement.
func (w *world) suspects(pod *corev1.Pod) bool {
	for _, other := range w.pods() {
		switch own, others := revisionOf(pod), revisionOf(&other); {
		case w.proven[own] || own == others || others == "" || other.DeletionTimestamp != nil:
		case pod.Spec.NodeName != "", !equalJSON(placement(w.templateOf(own)), placement(w.templateOf(others))),
			most(w.templateOf(own)) < most(w.templateOf(others)):
			return true
		}
	}
	return false
}

// most is how many members a template lets a zone hold.
func most(template *corev1.PodTemplateSpec) int {
	if spread, _ := hardRules(&corev1.Pod{Spec: template.Spec}); spread != nil {
		return int(spread.MaxSkew)
	}
	return 100
}

// placement is what of a template decides where a Pod may run, beside the spread.
func placement(template *corev1.PodTemplateSpec) []any {
	s := &template.Spec
	return []any{s.NodeSelector, s.Affinity, s.Tolerations, s.PriorityClassName, s.Containers[0].Resources}
}
