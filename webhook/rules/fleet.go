// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func isFleet(in *Input, operations ...Operation) bool {
	return in.is(operations, PersistentFleets, BucketFleets) && in.Subject().Fleet != nil
}

// fleetWritten: a fleet that is created, or whose spec changes. One that an older version stored and a newer rule would
// refuse keeps its labels and finalizers editable.
func fleetWritten(in *Input) bool {
	return isFleet(in, Create) && !in.Object.Huge || fleetChanged(in)
}

func fleetChanged(in *Input) bool {
	return fleetTouched(in) && !in.Object.Huge && !in.Old.Huge
}

func fleetTouched(in *Input) bool {
	return isFleet(in, Update) && in.Old.Fleet != nil && !sameSpec(in.Object, in.Old)
}

// fleetUnread: a spec of such size says nothing that a fleet can say.
func fleetUnread(in *Input) bool {
	return (isFleet(in, Create) || fleetTouched(in)) && in.Object.Huge
}

func fleetSize(*Input) finding {
	return deny("spec", fmt.Sprintf("holds more than %d values, or nests deeper than any fleet does", maxValues), "remove what is too much")
}

func fleetDeleted(in *Input) bool { return isFleet(in, Delete) && !in.Old.Terminating }

// fleetValid refuses a fleet for what is wrong with it, but for what was wrong before: an old mistake forbids neither a pause nor
// a repair in steps.
func fleetValid(in *Input) finding {
	errs := in.Object.Fleet.Validate()
	if in.Old == nil {
		return fromErrors(errs)
	}
	before := map[string]int{}
	for _, e := range in.Old.Fleet.Validate() {
		before[mistake(e)]++
	}
	return fromErrors(slices.DeleteFunc(errs, func(e *field.Error) bool {
		before[mistake(e)]--
		return before[mistake(e)] >= 0
	}))
}

var numbers = regexp.MustCompile(`\d+`)

// mistake names a mistake without what the repair of another one moves: indices, and what the text counts.
func mistake(e *field.Error) string {
	return fmt.Sprint(index.ReplaceAllString(e.Field, "[]"), e.Type, e.BadValue, numbers.ReplaceAllString(e.Detail, "0"))
}

var index = regexp.MustCompile(`\[\d+\]`)

func fleetImmutable(in *Input) finding {
	return fromErrors(in.Object.Fleet.ValidateUpdate(in.Old.Fleet))
}

// fromErrors takes over the errors of the validator, whose messages end in what to do.
func fromErrors(errs field.ErrorList) finding {
	var f finding
	for _, e := range errs {
		f.reasons = append(f.reasons, Reason{Field: e.Field, Problem: e.ErrorBody(), Remedy: "correct it in Git and sync again"})
	}
	return f
}

func fleetBucketNeeds(in *Input) Needs { return Needs{Fleets: in.Operation == Create, Bucket: true} }

// fleetBucket keeps one bucket for one fleet, and one name and identity for one fleet of a namespace. Two fleets that are
// created at the same moment may both pass: the reservation, which only one of them can get, is what decides. The other can
// be changed, for example paused; its bucket cannot.
func fleetBucket(in *Input) finding {
	const path = "spec.storage.bucket"
	var f finding
	me := FleetOf(in.Object.Fleet)
	taken, unknown := bucketTaken(in, me, in.Operation == Create)
	f.unknown = unknown
	if in.Operation != Create {
		for _, t := range taken {
			f.warnings = append(f.warnings, path+": "+t.problem+": delete this fleet")
		}
		return f
	}
	for _, t := range taken {
		remedy := "use another bucket or prefix: two fleets that write one bucket destroy it"
		if t.reserved != "" {
			remedy = "use another bucket or prefix, or set spec.identity to that identity to take the fleet over"
		}
		f.reasons = append(f.reasons, Reason{path, t.problem, remedy})
	}
	if why := in.Facts.Fleets.unknown("the fleets of the namespace"); why != "" {
		f.unknown = why
		return f
	}
	for _, other := range in.Facts.Fleets.Value {
		if other.same(me) {
			continue
		}
		if other.Name == me.Name {
			f.reasons = append(f.reasons, Reason{"metadata.name",
				fmt.Sprintf("%s has the same name, and so the same Services", other), "choose another name"})
		}
		if other.Identity == me.Identity {
			f.reasons = append(f.reasons, Reason{"spec.identity",
				fmt.Sprintf("%s has the same identity, and so the same disks", other), "remove spec.identity, or delete the other fleet first"})
		}
	}
	return f
}

// taken says who has a bucket.
type taken struct {
	problem  string
	reserved string // the identity that it is reserved for, if that is how it is taken
}

// bucketTaken says whether the bucket of a fleet, what it lies within or what lies within it belongs to another: by its reservation,
// or to a fleet that was there first, which for a newcomer is every other. A reservation in the fleet's own name settles it, but for
// a fleet that shares the identity.
func bucketTaken(in *Input, me Fleet, newcomer bool) (by []taken, unknown string) {
	if why := in.Facts.Reservations.unknown("the bucket's StorageReservation"); why != "" {
		return nil, why
	}
	if why := in.Facts.Rivals.unknown("the fleets on the bucket"); why != "" {
		return nil, why
	}
	reserved := slices.ContainsFunc(in.Facts.Reservations.Value, func(r Reservation) bool {
		return r.Identity == me.Identity && r.Name == render.ReservationName(me.Bucket)
	})
	for _, r := range in.Facts.Reservations.Value {
		switch same := r.Name == render.ReservationName(me.Bucket); {
		case r.Identity == me.Identity, !r.overlaps(me.Bucket), reserved:
		case same:
			return []taken{{fmt.Sprintf("the bucket belongs to %s, identity %s, by StorageReservation %s", r.Fleet, r.Identity, r.Name), r.Identity}}, ""
		default:
			by = append(by, taken{problem: fmt.Sprintf("the bucket overlaps %s, which belongs to %s by StorageReservation %s", r.Bucket, r.Fleet, r.Name)})
		}
	}
	for _, other := range in.Facts.Rivals.Value {
		if !other.Bucket.Overlaps(me.Bucket) || other.same(me) || !newcomer && me.older(other) || reserved && other.Identity != me.Identity {
			continue
		}
		problem := fmt.Sprintf("%s uses the bucket already", other)
		if other.Bucket != me.Bucket {
			problem = fmt.Sprintf("the bucket overlaps %s, which %s uses already", other.Bucket, other)
		}
		by = append(by, taken{problem: problem})
	}
	return by, ""
}

func fleetProtected(in *Input) finding {
	if !v1alpha1.Protected(in.Old.Fleet) {
		return finding{}
	}
	return deny("metadata.annotations["+v1alpha1.AnnotationProtect+"]",
		"protects the fleet: deleting it deletes its members and their disks", "remove the annotation first")
}

// fleetOrphan: what a fleet has does not depend on it as the API server counts, so nothing of it would be left.
func fleetOrphan(in *Input) finding {
	if !in.Orphan {
		return finding{}
	}
	return deny("propagationPolicy", "Orphan keeps nothing here: the healer deletes the members of a deleted fleet, and their disks",
		"to keep the disks, set maintenance.stopped instead; to give the fleet up and keep all that runs, remove its finalizer "+
			v1alpha1.FinalizerFleetCleanup+" as soon as it is being deleted")
}

func fleetAdvised(in *Input) bool {
	return fleetChanged(in) && in.Object.Fleet.Kind() == in.Old.Fleet.Kind()
}

// fleetAdviceNeeds: only changes that are worth a warning cost a look at the workload.
func fleetAdviceNeeds(in *Input) Needs {
	was, is := in.Old.Fleet.Shared(), in.Object.Fleet.Shared()
	fewer := was.Replicas != nil && is.Replicas != nil && *is.Replicas < *was.Replicas
	return Needs{Workload: fewer || was.RuntimeImage != is.RuntimeImage}
}

// fleetAdvice warns of what is allowed and may surprise. What it does not know it does not warn of.
func fleetAdvice(in *Input) finding {
	name := in.Object.Fleet.GetName()
	was, is := in.Old.Fleet.Shared(), in.Object.Fleet.Shared()
	f := finding{warnings: placementWarnings(in)}
	w := in.Facts.Workload
	if w.State != Present {
		return f
	}
	if is.Replicas != nil && *is.Replicas < w.Value.Ready {
		f.warnings = append(f.warnings, fmt.Sprintf("spec.replicas: %d members are ready; those from %s-%d on stop one at a time, "+
			"and their claims are kept", w.Value.Ready, name, *is.Replicas))
	}
	if down := w.Value.Replicas - w.Value.Ready; was.RuntimeImage != is.RuntimeImage && down > 0 {
		f.warnings = append(f.warnings, fmt.Sprintf("spec.runtimeImage: %d of %d members are not ready; the rollout takes down another "+
			"only when they are, so the new image starts with those that are down", down, w.Value.Replicas))
	}
	return f
}
