// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// paused leaves everything as it is.
func paused(s *Snapshot, _ Policy, _ time.Time) *Decision {
	if !s.Fleet.Paused {
		return nil
	}
	return &Decision{
		Phase: v1alpha1.PhasePaused, Reason: v1alpha1.ReasonMaintenancePaused,
		Message: "nothing is replaced, added or removed until spec.maintenance.paused is false",
	}
}

// invalid leaves a fleet alone whose spec is not one that could be rendered.
func invalid(s *Snapshot, _ Policy, _ time.Time) *Decision {
	if s.Fleet.Invalid == "" {
		return nil
	}
	return blocked(v1alpha1.ReasonInvalidConfiguration, s.Fleet.Invalid)
}

// reservation makes the bucket the fleet's, or finds that it is another's. Creating the object is what arbitrates between
// two fleets that want one bucket.
func reservation(s *Snapshot, _ Policy, _ time.Time) *Decision {
	r := s.Reservation
	switch {
	case r == nil:
		return provisioning(v1alpha1.ReasonProvisioning, "reserving bucket "+s.Fleet.Bucket).act(Action{
			Verb:    VerbReserve,
			Targets: []Ref{{Kind: v1alpha1.KindStorageReservation, Name: s.Fleet.ReservationName}},
			Event:   normal(EventBucketReserved, fmt.Sprintf("reserved %s with StorageReservation %s", s.Fleet.Bucket, s.Fleet.ReservationName)),
		})
	case r.Identity != s.Fleet.Identity:
		return blocked(v1alpha1.ReasonStorageScopeConflict, fmt.Sprintf(
			"bucket %s belongs to %s (StorageReservation %s): two fleets that write one bucket destroy it; delete this one with all that it rendered to, and create it with a bucket or prefix of its own",
			s.Fleet.Bucket, r.Owner, r.Name))
	case r.Rival != "":
		return blocked(v1alpha1.ReasonStorageScopeConflict, fmt.Sprintf(
			"%s has the same identity %s, and so the same bucket and disks; delete this one, and create it without spec.identity, under another name, and with a bucket or prefix of its own",
			r.Rival, r.Identity)).withRecheck()
	case r.Terminating:
		return blocked(v1alpha1.ReasonStorageScopeConflict, fmt.Sprintf(
			"StorageReservation %s of bucket %s is being deleted; nothing is done until it is gone and can be made anew", r.Name, s.Fleet.Bucket))
	}
	return nil
}

// workload waits for the sync tool, and stays away from a workload that is not the fleet's.
func workload(s *Snapshot, _ Policy, _ time.Time) *Decision {
	w, kind := s.Workload, s.Fleet.WorkloadKind
	switch {
	case w == nil:
		return provisioning(v1alpha1.ReasonStatefulSetMissing, fmt.Sprintf(
			"waiting for the sync tool to apply %s %s, which `fleetwright render` prints", kind, s.Fleet.Name))
	case w.Identity != s.Fleet.Identity:
		d := blocked(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
			"%s %s is not this fleet's: its label %s is %q, not %q", kind, w.Name, v1alpha1.LabelFleetUID, w.Identity, s.Fleet.Identity))
		d.Recheck = w.Identity == "" // objects without the label are not watched
		return d
	case w.Owned:
		return blocked(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
			"%s %s has owner references, so another controller may delete it; remove them", kind, w.Name))
	case w.Terminating:
		return blocked(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
			"%s %s is being deleted while the fleet is not; once it is gone the sync tool can apply it again, and members return on their disks",
			kind, w.Name))
	}
	return nil
}

// stopped takes all members away in one step; their claims are kept.
func stopped(s *Snapshot, _ Policy, _ time.Time) *Decision {
	if !s.Fleet.Stopped {
		return nil
	}
	w := s.Workload
	if w.Replicas > 0 {
		d := &Decision{Phase: v1alpha1.PhaseStopped, Reason: v1alpha1.ReasonDraining, Message: "stopping all members; their claims are kept"}
		return d.act(Action{
			Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: 0,
			Event: normal(EventStopped, fmt.Sprintf("stopped all %d members; their claims are kept", w.Replicas)),
		})
	}
	if pods := s.podsLeft(func(p *Pod) bool { return p.Controlled }); len(pods) > 0 {
		return &Decision{
			Phase: v1alpha1.PhaseStopped, Reason: v1alpha1.ReasonDraining, Message: "waiting for members to stop" + describePods(pods),
		}
	}
	return &Decision{
		Phase: v1alpha1.PhaseStopped, Reason: v1alpha1.ReasonStopped,
		Message: "no member runs until spec.maintenance.stopped is false; claims are kept",
	}
}

// notCaughtUp waits for the sync tool to apply what the fleet says now, and for the workload's controller to see it: nothing
// is grown, contracted or replaced on an old template.
func notCaughtUp(s *Snapshot, _ Policy, _ time.Time) *Decision {
	w := s.Workload
	switch {
	case w.SpecDigest != s.Fleet.SpecDigest:
		return provisioning(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf(
			"%s %s was rendered from another version of this fleet's spec; waiting for the sync tool to apply the current one", w.Kind, w.Name))
	case w.Held != s.Fleet.Paused:
		return provisioning(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf(
			"rollouts of %s %s are still held, as while the fleet was paused; waiting for the sync tool to let them go", w.Kind, w.Name))
	case !w.Observed:
		return provisioning(v1alpha1.ReasonSpecNotSynced, fmt.Sprintf("waiting for the %s controller to see the change of %s", w.Kind, w.Name))
	}
	return nil
}
