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
	w.noteTruth()
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

// mayDelete holds before every deletion of the healer: nothing without the identity, nothing of a protected fleet's workload, and a
// disk only where mayEnd lets it go.
func (w *world) mayDelete(o client.Object, forced bool) {
	fleet := w.fleet()
	if o.GetLabels()[v1alpha1.LabelFleetUID] != render.Identity(fleet) {
		w.violated("%s has not the fleet's identity", o.GetName())
	}
	if !w.deciding {
		return
	}
	switch o := o.(type) {
	case *appsv1.StatefulSet, *appsv1.Deployment:
		if fleet.GetDeletionTimestamp() == nil || protected(fleet) {
			w.violated("%s goes while the fleet is live", o.GetName())
		}
	case *corev1.PersistentVolumeClaim:
		// A hand-over whose Pod was deleted is judged then. Where the volume is lost, it is finished whatever happens to others since.
		pod := &corev1.Pod{}
		if o.Status.Phase == corev1.ClaimLost && w.get(pod, o.Name[len("data-"):]) && pod.DeletionTimestamp != nil &&
			slices.Contains(pod.Finalizers, v1alpha1.FinalizerReplacingDisk) {
			return
		}
		w.mayEnd(fleet, o)
	case *corev1.Pod:
		claim := &corev1.PersistentVolumeClaim{}
		if !w.get(claim, "data-"+o.Name) || ending(fleet) {
			return
		}
		// A claim that is being deleted ends with its Pod, by force as well. A hand-over deletes the claim later, and is judged now too.
		if claim.DeletionTimestamp != nil || !forced && slices.Contains(o.Finalizers, v1alpha1.FinalizerReplacingDisk) {
			w.mayEnd(fleet, claim)
		}
	}
}

// protected says that a fleet is to be left as it is, whoever deletes it.
func protected(fleet v1alpha1.Fleet) bool {
	value, ok := fleet.GetAnnotations()[v1alpha1.AnnotationProtect]
	return ok && value != "false"
}

// ending says that a fleet is taken apart, with all its disks.
func ending(fleet v1alpha1.Fleet) bool {
	return fleet.GetDeletionTimestamp() != nil && !protected(fleet)
}

// mayEnd holds before everything that ends a disk. Of a fleet that is being deleted no Pod is left. Of a live one the member stays, and
// no other is missed: see mayMiss and downLongEnough.
func (w *world) mayEnd(fleet v1alpha1.Fleet, claim *corev1.PersistentVolumeClaim) {
	if ending(fleet) {
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
	_, ordinal, _ := render.ParseClaimName(claim.Name)
	target, replicas := int(*fleet.Shared().Replicas), replicasOf(set.Spec.Replicas)
	asked := claim.DeletionTimestamp != nil // by somebody, or by this hand-over
	switch {
	case !asked && ordinal >= replicas:
		w.violated("%s of a removed member goes", claim.Name)
	case !asked && ordinal >= target:
		w.violated("%s goes, of a member that is to be removed with its disk kept", claim.Name)
	}
	lost, ready := claim.Status.Phase == corev1.ClaimLost, false
	for i := range 100 {
		if i != ordinal {
			w.mayMiss(claim, i, replicas, target, lost)
			ready = ready || i < replicas && w.upFor(render.PodName("my-fleet", i)) > 0
		}
	}
	switch {
	case lost:
	case target > 1 && !ready:
		w.violated("%s goes while no other member is ready", claim.Name)
	case !asked:
		w.downLongEnough(claim)
	}
}

// mayMiss asks whether a disk may go beside another member: one that stays has been Ready for five minutes, one that was removed
// has ended five minutes ago, and one that comes back on a kept disk is there. Where the volume is lost it is enough that the member
// has its place.
func (w *world) mayMiss(claim *corev1.PersistentVolumeClaim, i, replicas, target int, lost bool) {
	pod, disk, name := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}, render.PodName("my-fleet", i)
	there := w.get(pod, name)
	switch {
	case i >= replicas && there && !isForced(pod):
		w.violated("%s goes while %s, which is removed, has not ended", claim.Name, name)
	case i >= replicas && !w.ended[name].IsZero() && w.now().Sub(w.ended[name]) < settledFor:
		w.violated("%s goes %s after %s, which is removed, has ended", claim.Name, w.now().Sub(w.ended[name]), name)
	case i >= replicas && i < target && w.get(disk, "data-"+name) && isKept(disk) && disk.Annotations[keptByScaleIn] == "":
		w.violated("%s goes while %s is not back on its disk", claim.Name, name)
	case i >= replicas:
	case lost && !(there && w.isDecided(pod)):
		w.violated("%s goes while %s has not its place", claim.Name, name)
	case !lost && w.upFor(name) < settledFor-time.Second: // the API server keeps seconds
		w.violated("%s goes while %s is down or not settled", claim.Name, name)
	}
}

// downLongEnough holds for a member whose disk is given up though its volume is there.
func (w *world) downLongEnough(claim *corev1.PersistentVolumeClaim) {
	pod := &corev1.Pod{}
	if !w.get(pod, claim.Name[len("data-"):]) {
		w.violated("%s goes without a Pod", claim.Name)
		return
	}
	switch seen := w.truth[pod.UID]; {
	case seen.up:
		w.violated("%s goes while %s is ready", claim.Name, pod.Name)
	case w.now().Sub(seen.since) < policy.ReplacementDelay-time.Second:
		w.violated("%s goes when %s has been down for %s", claim.Name, pod.Name, w.now().Sub(seen.since))
	case w.suspects(pod):
		w.violated("%s goes for a change of template on which nobody has been ready", claim.Name)
	case pod.Spec.NodeName == "" && !w.freshFits(pod, claim):
		w.violated("%s goes while %s finds no node, and a fresh disk has no place", claim.Name, pod.Name)
	case onlyGated(pod):
		w.violated("%s goes while only a readiness gate of %s is missing", claim.Name, pod.Name)
	}
}

// freshFits says that some zone has a node for a fresh disk of a member beside all others, each in the zone of its node or else of its
// volume, below the cap. A volume that is bound to its zone says that no other of that zone helps.
func (w *world) freshFits(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	spread, _ := hardRules(pod)
	if spread == nil {
		return true
	}
	others, nodes := map[string]int{}, map[string]int{}
	for _, other := range w.pods() {
		disk := &corev1.PersistentVolumeClaim{}
		switch {
		case other.Name == pod.Name:
		case other.Spec.NodeName != "":
			others[w.zoneOf(other.Spec.NodeName)]++
		case w.get(disk, "data-"+other.Name):
			others[w.volumes[disk.UID]]++
		}
	}
	for _, n := range w.nodes {
		if !n.gone && n.name != w.hosts[claim.UID] && (w.hosts[claim.UID] != "" || n.zone != w.volumes[claim.UID]) {
			nodes[n.zone]++
		}
	}
	return slices.ContainsFunc(w.fleet().Shared().Placement.Zones, func(zone string) bool {
		return others[zone] < min(int(spread.MaxSkew), nodes[zone])
	})
}

// mayScale holds before every change of a replica count: stop, one less, or the next run.
func (w *world) mayScale(o client.Object, to int) {
	fleet := w.fleet()
	maintenance := fleet.Shared().Maintenance
	from := replicasIn(o)
	switch {
	case maintenance.Paused:
		w.violated("scaled while paused")
	case maintenance.Stopped && to != 0:
		w.violated("scaled to %d while stopped", to)
	case maintenance.Stopped:
		return
	}
	if to < from && to != from-1 {
		w.violated("contracted from %d to %d", from, to)
	}
	set, ok := o.(*appsv1.StatefulSet)
	switch {
	case to < from && !ok:
		w.mayContract()
	case to > from && ok && len(set.Spec.VolumeClaimTemplates) > 0:
		w.mayGrow(from, to)
	}
}

// mayContract holds for Deployments, whose next member goes once the one before has ended.
func (w *world) mayContract() {
	for _, pod := range w.pods() {
		if pod.DeletionTimestamp != nil {
			w.violated("contracted while %s is ending", pod.Name)
		}
	}
}

// mayGrow asks for a run of kept or of fresh disks, where one that was never Bound is fresh. Fresh ones wait for every member to have
// its place, and for the replacement delay for one whose disk has a zone: the fresh disk could take its node.
func (w *world) mayGrow(from, to int) {
	kept, fresh := 0, 0
	for i := from; i < to; i++ {
		disk := &corev1.PersistentVolumeClaim{}
		switch found := w.get(disk, render.ClaimName("my-fleet", i)); {
		case found && isKept(disk):
			kept++
		case !found || disk.Status.Phase == corev1.ClaimPending:
			fresh++
		}
	}
	if kept > 0 && fresh > 0 {
		w.violated("grown from %d to %d over kept and fresh disks", from, to)
	}
	for i := 0; i < from && fresh > 0; i++ {
		pod, disk, name := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}, render.PodName("my-fleet", i)
		if !w.get(pod, name) || !w.isDecided(pod) {
			w.violated("grown on fresh disks before %s has its place", name)
			continue
		}
		pending := w.now().Sub(w.truth[pod.UID].since)
		if pod.Spec.NodeName == "" && w.get(disk, "data-"+name) && isKept(disk) && pending < policy.ReplacementDelay-time.Second {
			w.violated("grown on fresh disks while %s waits for a node for its own, since %s", name, pending)
		}
	}
}
