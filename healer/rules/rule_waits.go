// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// paused leaves everything as it is.
func paused(l *look) Verdict {
	if !l.Fleet.Paused {
		return passes()
	}
	message := "nothing is replaced, added or removed until spec.maintenance.paused is false"
	if w := l.Workload; w != nil && w.Identity == l.Fleet.Identity && !w.Held {
		message = fmt.Sprintf("%s; rollouts of %s %s are not held yet: waiting for the sync tool to apply what the paused fleet renders to",
			message, w.Kind, w.Name)
		if len(w.Rolls) > 0 {
			message += fmt.Sprintf(", which the API server refuses while spec.updateStrategy.rollingUpdate is also the field of manager %s: "+
				"have it give that field up", strings.Join(w.Rolls, " and "))
		}
		return waits(v1alpha1.ReasonMaintenancePaused, message)
	}
	return waits(v1alpha1.ReasonMaintenancePaused, message).during(v1alpha1.PhasePaused)
}

// invalid leaves a fleet alone whose spec is not one that could be rendered.
func invalid(l *look) Verdict {
	if l.Fleet.Invalid == "" {
		return passes()
	}
	return blocks(v1alpha1.ReasonInvalidConfiguration, l.Fleet.Invalid)
}

// finalizer makes sure that whatever runs can be cleaned up: it is the first write about a fleet, paused or not.
func finalizer(l *look) Verdict {
	if l.Fleet.Finalizer || l.Fleet.Deleting || l.Fleet.Protected {
		return passes()
	}
	return acts(v1alpha1.ReasonProvisioning, "adding the finalizer "+v1alpha1.FinalizerFleetCleanup,
		Action{Verb: VerbAddFinalizer, Targets: []Ref{l.fleetRef()}})
}

// reserve makes the bucket the fleet's, paused or not, before a member writes to it. Creating the object is what arbitrates between
// two fleets that want one bucket.
func reserve(l *look) Verdict {
	if l.Fleet.Deleting || l.Reservation != nil || l.NoReservations || l.Fleet.Invalid != "" {
		return passes()
	}
	return acts(v1alpha1.ReasonProvisioning, "reserving bucket "+l.Fleet.Bucket, Action{
		Verb:    VerbReserve,
		Targets: []Ref{{Kind: v1alpha1.KindStorageReservation, Name: l.Fleet.ReservationName}},
		Event:   normal(EventBucketReserved, fmt.Sprintf("reserved %s with StorageReservation %s", l.Fleet.Bucket, l.Fleet.ReservationName)),
	})
}

// protected keeps a fleet that was deleted, whoever did it and however, from being taken apart.
func protected(l *look) Verdict {
	if !l.Fleet.Protected {
		return passes()
	}
	return blocks(v1alpha1.ReasonProtected, fmt.Sprintf(
		"the fleet was deleted, and its annotation %s keeps it as it is: remove the annotation to delete the fleet with its disks; "+
			"or remove the finalizer %s, which deletes the object and keeps members and disks, and apply the same fleet again",
		v1alpha1.AnnotationProtect, v1alpha1.FinalizerFleetCleanup))
}

// reservation finds that the bucket is another fleet's.
func reservation(l *look) Verdict {
	r := l.Reservation
	switch {
	case r == nil && l.NoReservations:
		return passes()
	case r == nil:
		return waits(v1alpha1.ReasonProvisioning, "waiting to reserve bucket "+l.Fleet.Bucket)
	case r.Identity != l.Fleet.Identity:
		return blocks(v1alpha1.ReasonStorageScopeConflict, fmt.Sprintf(
			"bucket %s belongs to %s (StorageReservation %s): two fleets that write one bucket destroy it; delete this one with all that it rendered to, and create it with a bucket or prefix of its own",
			l.Fleet.Bucket, r.Owner, r.Name))
	case r.Rival != "":
		return blocks(v1alpha1.ReasonStorageScopeConflict, fmt.Sprintf(
			"%s has the same identity %s, and so the same bucket and disks; delete this one, and create it without spec.identity, under another name, and with a bucket or prefix of its own",
			r.Rival, r.Identity)).recheck()
	case r.Terminating:
		return blocks(v1alpha1.ReasonStorageScopeConflict, fmt.Sprintf(
			"StorageReservation %s of bucket %s is being deleted; nothing is done until it is gone and can be made anew", r.Name, l.Fleet.Bucket))
	}
	return passes()
}

// workload waits for the sync tool, and stays away from a workload that is not the fleet's.
func workload(l *look) Verdict {
	w, kind := l.Workload, l.Fleet.WorkloadKind
	switch {
	case w == nil:
		return waits(v1alpha1.ReasonStatefulSetMissing, fmt.Sprintf(
			"waiting for the sync tool to apply %s %s, which `fleetwright render` prints", kind, l.Fleet.Name))
	case w.Identity != l.Fleet.Identity:
		v := blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
			"%s %s is not this fleet's: its label %s is %q, not %q", kind, w.Name, v1alpha1.LabelFleetUID, w.Identity, l.Fleet.Identity))
		v.Recheck = w.Identity == "" // objects without the label are not watched
		return v
	case w.Owned:
		return blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
			"%s %s has owner references, so another controller may delete it; remove them", kind, w.Name))
	case w.Terminating:
		return blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
			"%s %s is being deleted while the fleet is not; once it is gone the sync tool can apply it again, and members return on their disks",
			kind, w.Name))
	}
	return passes()
}

// stopped takes all members away in one step; their claims are kept.
func stopped(l *look) Verdict {
	if !l.Fleet.Stopped {
		return passes()
	}
	w := l.Workload
	if w.Replicas > 0 {
		return acts(v1alpha1.ReasonDraining, "stopping all members; their claims are kept", Action{
			Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: 0,
			Event: normal(EventStopped, fmt.Sprintf("stopped all %d members; their claims are kept", w.Replicas)),
		}).during(v1alpha1.PhaseStopped)
	}
	if pods := l.podsLeft(func(p *Pod) bool { return p.Controlled }); len(pods) > 0 {
		return waits(v1alpha1.ReasonDraining, "waiting for members to stop"+describePods(pods)).during(v1alpha1.PhaseStopped)
	}
	return waits(v1alpha1.ReasonStopped, "no member runs until spec.maintenance.stopped is false; claims are kept").during(v1alpha1.PhaseStopped)
}

// notCaughtUp waits for the sync tool to apply what the fleet says now, and for the workload's controller to see it: nothing
// is grown, contracted or replaced on an old template.
func notCaughtUp(l *look) Verdict {
	w := l.Workload
	switch {
	case w.NewerDigest:
		return waits(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf(
			"%s %s was rendered by a newer version of fleetwright, whose spec digest %s this healer cannot compare: update the healer",
			w.Kind, w.Name, w.SpecDigest))
	case w.SpecDigest != l.Fleet.SpecDigest:
		return waits(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf(
			"%s %s was rendered from another version of this fleet's spec; waiting for the sync tool to apply the current one", w.Kind, w.Name))
	case w.Held != l.Fleet.Paused:
		return waits(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf(
			"rollouts of %s %s are still held, as while the fleet was paused; waiting for the sync tool to let them go", w.Kind, w.Name))
	case !w.Observed:
		return waits(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf("waiting for the %s controller to see the change of %s", w.Kind, w.Name))
	}
	return passes()
}
