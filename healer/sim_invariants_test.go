// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func (w *world) violated(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.printf("VIOLATED: %s", text)
	w.faults.violations = append(w.faults.violations, text)
}

// check holds after every write and every step: at most one hand-over at a time.
func (w *world) check() {
	held := 0
	for _, pod := range w.pods() {
		if slices.Contains(pod.Finalizers, v1alpha1.FinalizerReplacingDisk) {
			held++
		}
	}
	if held > 1 {
		w.violated("%d hand-overs at once", held)
	}
}

// mayDelete holds before every deletion of the healer: no claim without the identity; and while the fleet lives, none while
// another member is down, not settled, not back yet or not gone yet, unless its volume is lost. A Pod that is deleted with its grace period takes its disk
// with it; one that is force-deleted does not.
func (w *world) mayDelete(o client.Object, forced bool) {
	fleet := w.fleet()
	if o.GetLabels()[v1alpha1.LabelFleetUID] != render.Identity(fleet) {
		w.violated("%s has not the fleet's identity", o.GetName())
	}
	claim, ok := o.(*corev1.PersistentVolumeClaim)
	if pod, is := o.(*corev1.Pod); is && !forced && fleet.GetDeletionTimestamp() == nil {
		claim = &corev1.PersistentVolumeClaim{}
		ok = w.get(claim, "data-"+pod.Name) && (claim.DeletionTimestamp != nil || slices.Contains(pod.Finalizers, v1alpha1.FinalizerReplacingDisk))
	}
	if !ok || claim.Status.Phase == corev1.ClaimLost {
		return
	}
	if fleet.GetDeletionTimestamp() != nil {
		for _, pod := range w.pods() {
			w.violated("%s goes while %s is there", claim.Name, pod.Name)
		}
		return
	}
	set := w.set()
	if set == nil || fleet.Shared().Maintenance.Paused {
		w.violated("%s goes while the fleet is paused, or has no StatefulSet", claim.Name)
		return
	}
	replicas := replicasOf(set.Spec.Replicas)
	for i := range 100 {
		name := render.PodName("my-fleet", i)
		if render.ClaimName("my-fleet", i) == claim.Name {
			continue
		}
		pod, disk := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
		if i >= replicas {
			if w.get(pod, name) {
				w.violated("%s goes while %s, which is removed, has not ended", claim.Name, name)
			}
			if i < int(*fleet.Shared().Replicas) && w.get(disk, render.ClaimName("my-fleet", i)) && disk.DeletionTimestamp == nil &&
				disk.Status.Phase == corev1.ClaimBound && disk.Annotations[v1alpha1.AnnotationKeptByScaleIn] == "" {
				w.violated("%s goes while %s is not back on its disk", claim.Name, name)
			}
			continue
		}
		if !w.get(pod, name) || pod.DeletionTimestamp != nil || w.now().Sub(readyAt(pod)) < 5*time.Minute {
			w.violated("%s goes while %s is down or not settled", claim.Name, name)
		}
	}
}

// readyAt returns since when a Pod is Ready, the end of time when it is not.
func readyAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Truncate(time.Second) // as the API server keeps it
		}
	}
	return noon.AddDate(100, 0, 0)
}

// mayScale holds before every change of a replica count: stop, one less, or the next run.
func (w *world) mayScale(o client.Object, to int) {
	fleet := w.fleet()
	set, ok := o.(*appsv1.StatefulSet)
	maintenance := fleet.Shared().Maintenance
	switch {
	case maintenance.Paused:
		w.violated("scaled while paused")
	case maintenance.Stopped && to != 0:
		w.violated("scaled to %d while stopped", to)
	case maintenance.Stopped || !ok || len(set.Spec.VolumeClaimTemplates) == 0:
		return
	}
	from := replicasOf(set.Spec.Replicas)
	if to < from && to != from-1 {
		w.violated("contracted from %d to %d", from, to)
	}
	there := 0
	for i := from; i < to; i++ {
		if w.get(&corev1.PersistentVolumeClaim{}, render.ClaimName("my-fleet", i)) {
			there++
		}
	}
	if to > from && there != 0 && there != to-from {
		w.violated("grown from %d to %d over kept and fresh disks", from, to)
	}
}
