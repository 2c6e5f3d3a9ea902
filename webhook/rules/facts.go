// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// State of a fact.
type State uint8

// States. What was not read is as unknown as what could not be read, so that a rule which forgets to ask never admits.
const (
	notRead State = iota
	Failed
	Absent
	Present
)

// A Fact is something that was read from the cluster, or the reason why not.
type Fact[T any] struct {
	State State
	Value T
	Why   string // when Failed
}

// unknown says why a fact is not known; it is empty when it is.
func (f Fact[T]) unknown(what string) string {
	switch f.State {
	case Absent, Present:
		return ""
	case Failed:
		return "since " + what + " could not be read: " + f.Why
	default:
		return "since " + what + " was not read"
	}
}

// Facts are what the cluster shows of a request's surroundings.
type Facts struct {
	// Namespace of the request. It is read only when the verdict would not be Allow.
	Namespace Fact[Namespace]
	// Fleets of the namespace, of both kinds.
	Fleets Fact[[]Fleet]
	// Rivals are fleets anywhere with the bucket of the request's fleet or workload.
	Rivals Fact[[]Fleet]
	// Reservation of that bucket.
	Reservation Fact[Reservation]
	// Workload of the fleet that the request is about.
	Workload Fact[Workload]
	// Claims at names of the workload's members.
	Claims Fact[[]Claim]
	// Orphans are Pods with the workload's identity that no controller owns and that still run.
	Orphans Fact[[]string]
}

// Namespace is what matters of a namespace.
type Namespace struct{ Terminating bool }

// Fleet is what matters of a fleet that exists.
type Fleet struct {
	Kind, Namespace, Name string
	Identity              string
	Reservation           string // the name of the reservation of its bucket
	Workload              string // resource that runs it: statefulsets or deployments
	Created               time.Time
	Replicas              int32
	Terminating, Paused   bool
	Protected             bool // from deletion
}

// String names the fleet.
func (f Fleet) String() string { return f.Kind + " " + f.Namespace + "/" + f.Name }

// older says which of two fleets that want the same bucket was there first. It is a total order.
func (f Fleet) older(than Fleet) bool {
	if !f.Created.Equal(than.Created) {
		return f.Created.Before(than.Created)
	}
	return f.Namespace+"/"+f.Name+"/"+f.Kind < than.Namespace+"/"+than.Name+"/"+than.Kind
}

// same says whether this is another fleet's own self. One that is known from its workload alone has no kind.
func (f Fleet) same(as Fleet) bool {
	return f.Namespace == as.Namespace && f.Name == as.Name && (f.Kind == as.Kind || as.Kind == "" && f.Identity == as.Identity)
}

// FleetOf is what matters of a fleet.
func FleetOf(f v1alpha1.Fleet) Fleet {
	out := Fleet{
		Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName(),
		Identity:    render.Identity(f),
		Reservation: render.ReservationName(f.Store().BucketURL()),
		Workload:    StatefulSets,
		Created:     f.GetCreationTimestamp().Time,
		Terminating: f.GetDeletionTimestamp() != nil,
		Paused:      f.Shared().Maintenance.Paused,
		Protected:   f.GetAnnotations()[v1alpha1.AnnotationProtect] == "true",
	}
	if n := f.Shared().Replicas; n != nil {
		out.Replicas = *n
	}
	if !f.Ordered() {
		out.Workload = Deployments
	}
	return out
}

// Reservation is what matters of a StorageReservation.
type Reservation struct{ Name, Identity, Fleet string }

// Workload is what matters of a StatefulSet or Deployment.
type Workload struct{ Replicas, Ready int32 }

// Claim is what matters of a claim.
type Claim struct {
	Name, Identity string
}

// Needs are the facts that a request takes.
type Needs struct {
	Fleets, Bucket, Workload, Claims, Orphans bool
	// Live fleets are read from the API server itself, since a stale answer would admit something destructive. Otherwise
	// they come from a cache, where staleness costs a retry at worst.
	Live bool
}

func (n Needs) and(m Needs) Needs {
	return Needs{
		Fleets:   n.Fleets || m.Fleets,
		Bucket:   n.Bucket || m.Bucket,
		Workload: n.Workload || m.Workload,
		Claims:   n.Claims || m.Claims,
		Orphans:  n.Orphans || m.Orphans,
		Live:     n.Live || m.Live,
	}
}

// ReservationName is that of the bucket of the request's fleet or workload, empty when it has none.
func (in *Input) ReservationName() string {
	o := in.Subject()
	if o.Fleet != nil {
		return render.ReservationName(o.Fleet.Store().BucketURL())
	}
	bucket := o.bucket()
	if bucket == "" {
		return ""
	}
	return render.ReservationName((&v1alpha1.ObjectStore{Bucket: bucket}).BucketURL())
}

// WorkloadName names the object that runs the fleet which the request is about: a fleet's own, or that of a claim's name.
func (in *Input) WorkloadName() (resource, name string) {
	o := in.Subject()
	if o.Fleet != nil {
		return FleetOf(o.Fleet).Workload, o.Name
	}
	name, _, _ = render.ParseClaimName(o.Name)
	return StatefulSets, name
}

// OfMember says whether a claim's name is one that a member of the request's workload could have.
func (in *Input) OfMember(claim string) bool {
	fleet, _, ok := memberOf(claim)
	return ok && fleet == in.Subject().Name
}
