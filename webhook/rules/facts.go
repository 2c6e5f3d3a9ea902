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
	// Rivals are fleets anywhere on the bucket name of the request's fleet or workload, whatever the prefix and the store.
	Rivals Fact[[]Fleet]
	// Reservations of that bucket name, likewise.
	Reservations Fact[[]Reservation]
	// Workload of the fleet that the request is about.
	Workload Fact[Workload]
	// Claims at names of the workload's members.
	Claims Fact[[]Claim]
	// Orphans are Pods with the workload's identity that no controller owns and that still run.
	Orphans Fact[[]string]
	// Instances says whether there are objects of the definition that the request is about.
	Instances Fact[bool]
}

// Namespace is what matters of a namespace.
type Namespace struct{ Terminating bool }

// Fleet is what matters of a fleet that exists.
type Fleet struct {
	Kind, Namespace, Name string
	Identity              string
	Bucket                v1alpha1.BucketURL
	Region                string
	Workload              string // resource that runs it: statefulsets or deployments
	Created               time.Time
	Replicas              int32
	Most                  int32 // members that its zones can hold; 0 without a cap
	Paused, Stopped       bool
	// Protected fleets are not taken apart when they are deleted.
	Protected bool
	// Terminating says that the fleet is being deleted and not protected: a protected one is guarded as if nobody had deleted it.
	Terminating bool
}

// String names the fleet.
func (f Fleet) String() string { return f.Kind + " " + f.Namespace + "/" + f.Name }

// resource is the fleet's own.
func (f Fleet) resource() string {
	if f.Kind == v1alpha1.KindBucketFleet {
		return BucketFleets
	}
	return PersistentFleets
}

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
		Identity:  render.Identity(f),
		Bucket:    f.Store().BucketURL(),
		Region:    f.Store().Region,
		Workload:  StatefulSets,
		Created:   f.GetCreationTimestamp().Time,
		Paused:    f.Shared().Maintenance.Paused,
		Stopped:   f.Shared().Maintenance.Stopped,
		Protected: v1alpha1.Protected(f),
	}
	out.Terminating = f.GetDeletionTimestamp() != nil && !out.Protected
	if perZone, capped := v1alpha1.ZoneCap(f); capped {
		out.Most = int32(min(perZone*len(f.Shared().Placement.Zones), v1alpha1.MaxMembers)) //nolint:gosec // bounded
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
type Reservation struct{ Name, Bucket, Identity, Fleet string }

// overlaps says whether the reservation is of a bucket, of what it lies within, or of what lies within it. Which store the
// reserved bucket is in is known from the name alone.
func (r Reservation) overlaps(bucket v1alpha1.BucketURL) bool {
	reserved := (&v1alpha1.ObjectStore{Bucket: r.Bucket}).BucketURL()
	reserved.Store = bucket.Store
	return reserved.Overlaps(bucket) && render.ReservationName(reserved) == r.Name
}

// Workload is what matters of a StatefulSet or Deployment.
type Workload struct{ Replicas, Ready int32 }

// Claim is what matters of a claim.
type Claim struct {
	Name, Identity string
}

// Needs are the facts that a request takes.
type Needs struct {
	Fleets, Bucket, Workload, Claims, Orphans, Instances bool
	// Live fleets are read from the API server itself, since a stale answer would admit something destructive. Otherwise
	// they come from a cache, where staleness costs a retry at worst.
	Live bool
}

func (n Needs) and(m Needs) Needs {
	return Needs{
		Fleets:    n.Fleets || m.Fleets,
		Bucket:    n.Bucket || m.Bucket,
		Workload:  n.Workload || m.Workload,
		Claims:    n.Claims || m.Claims,
		Orphans:   n.Orphans || m.Orphans,
		Instances: n.Instances || m.Instances,
		Live:      n.Live || m.Live,
	}
}

// BucketName is the bucket of the request's fleet or workload, without prefix and store; the zero value when it has none.
func (in *Input) BucketName() v1alpha1.BucketURL { return WholeBucket(in.bucket()) }

// WholeBucket is a bucket without its prefix, in whatever store it is.
func WholeBucket(u v1alpha1.BucketURL) v1alpha1.BucketURL {
	u.Store = ""
	return u.Whole()
}

// bucket is that of the request's fleet, or what its workload says. A workload does not say which named store it uses.
func (in *Input) bucket() v1alpha1.BucketURL {
	o := in.Subject()
	if o.Fleet != nil {
		return o.Fleet.Store().BucketURL()
	}
	return in.bucketOf(o.env(v1alpha1.EnvBucket))
}

// bucketOf is the bucket that a workload's variable names.
func (in *Input) bucketOf(url string) v1alpha1.BucketURL {
	if url == "" {
		return v1alpha1.BucketURL{}
	}
	return (&v1alpha1.ObjectStore{Bucket: url, AzureAccount: in.Subject().env(v1alpha1.EnvAzureAccount)}).BucketURL()
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
