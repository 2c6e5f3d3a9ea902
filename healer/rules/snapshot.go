// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Snapshot is what the cluster shows of one fleet, as plain values. Lists are sorted, and pointers are nil for what is not
// there. A time that should be past and is not, since clocks differ, counts as the moment of observation.
type Snapshot struct {
	Fleet Fleet
	// Target is the member count to work towards: spec.replicas, or what a capacity policy makes of it.
	Target int
	// Reservation of the fleet's bucket.
	Reservation *Reservation
	// Sibling is the fleet of the other kind that has the same name and identity, and so the same objects; empty for none.
	Sibling string
	// Workload is the StatefulSet or Deployment at the fleet's name, whoever made it.
	Workload *Workload
	// Members holds ordinals 0 to max(Workload.Replicas, Target)-1. It is empty for a Deployment, which has no ordinals.
	Members []Member
	// Removed holds ordinals above those of which a Pod or a claim of the fleet is left.
	Removed []Member
	// RemovalEnded is when the last Pod of a removed member was seen to be gone, zero when none was that may matter.
	RemovalEnded time.Time
	// Pods of a Deployment, by name.
	Pods []*Pod
	// Prerequisites are what protects members: the budget, the policy and the Services.
	Prerequisites []Prerequisite
	// Change is how the template of a member that is down differs from another that runs. It is observed only for a member that
	// may be down because of it.
	Change *Change
	// Brake on replacements over all fleets, nil for none.
	Brake *Brake
	// NoReservations says that the cluster does not serve StorageReservations.
	NoReservations bool
	// Route is nil for a fleet that has none.
	Route *Route
}

// Current returns the members that the workload asks for now.
func (s *Snapshot) Current() []Member {
	if s.Workload == nil {
		return nil
	}
	return s.Members[:min(s.Workload.Replicas, len(s.Members))]
}

// Ordered reports whether members have ordinals.
func (f *Fleet) Ordered() bool { return f.WorkloadKind == KindStatefulSet }

// Kinds of what a fleet consists of, beside those of v1alpha1.
const (
	KindNamespace     = "Namespace"
	KindPod           = "Pod"
	KindClaim         = "PersistentVolumeClaim"
	KindVolume        = "PersistentVolume"
	KindBudget        = "PodDisruptionBudget"
	KindNetworkPolicy = "NetworkPolicy"
	KindService       = "Service"
	KindHTTPRoute     = "HTTPRoute"
	KindIngress       = "Ingress"

	KindControllerRevision = "ControllerRevision"
	KindStatefulSet        = "StatefulSet"
	KindDeployment         = "Deployment"
)

// Fleet is a fleet as the API server holds it.
type Fleet struct {
	Kind, Namespace, Name string
	UID                   string
	Generation            int64
	Persistent            bool
	WorkloadKind          string // StatefulSet or Deployment
	Identity              string
	SpecDigest            string
	Bucket                string // canonical URL
	ReservationName       string
	Zones                 []string
	Strict                bool
	ZoneCap               int // most members with a disk of their own that a zone may hold, 0 for no cap
	Paused, Stopped       bool
	Deleting              bool
	// Protected says that it was deleted and is not taken apart: it carries AnnotationProtect, and is not Deleting.
	Protected bool
	Finalizer bool   // FinalizerFleetCleanup is set
	Invalid   string // what the validator finds, or what cannot be changed and was, empty when nothing
}

// Reservation is the StorageReservation of a bucket.
type Reservation struct {
	Name, Identity, Owner string // Owner is KIND NAMESPACE/NAME
	Terminating           bool
	// Rival is the owner if it is another fleet that exists and has the fleet's own identity.
	Rival string
}

// Workload is a StatefulSet or a Deployment.
type Workload struct {
	Ref
	Identity                      string // label
	SpecDigest                    string // annotation
	NewerDigest                   bool   // it is of a form that this version does not know
	Owned                         bool   // has owner references
	Terminating                   bool
	Observed                      bool // observedGeneration equals generation
	Held                          bool // its rollouts are held, as render does while the fleet is paused
	Replicas                      int  // spec
	Existing, Ready, Updated      int  // status
	CurrentRevision, NextRevision string
	Finalizers                    []string
	// What its templates say of what a fleet cannot change. Empty where they say nothing.
	Bucket, StorageClass, Size, Reservation string
	// Rolls are other managers than the one that renders which own its rolling update: the API server refuses OnDelete beside it.
	Rolls []string
	// Refused is why its controller could not make a Pod, by the controller's own event; empty while none is missing.
	Refused string
}

// Ref is enough of an object to change it, and nothing that was made in its place since.
type Ref struct {
	Kind, Namespace, Name, UID, ResourceVersion string
}

// Member is one ordinal.
type Member struct {
	Ordinal int
	Name    string
	Pod     *Pod
	Claim   *Claim
}

// Pod is a member's Pod.
type Pod struct {
	Ref
	Ours        bool // carries the fleet's identity
	Controlled  bool // by the fleet's workload
	Ownerless   bool // has no controller at all
	Created     time.Time
	Terminating bool
	DeletedAt   time.Time // deletionTimestamp, which includes the grace period
	Forced      bool      // terminating with a grace period of zero
	Waited      bool      // left to its kubelet however long it takes: its fleet is paused, or a Deployment made its successor
	Finalizers  []string
	Node, Zone  string
	Revision    string // of the template that it was made from
	Ready       bool
	// Proven says that a Pod of this revision is Ready, or has been seen Ready.
	Proven bool
	// GatesNotReady says that its containers are ready, and a readiness gate of somebody else is not.
	GatesNotReady bool
	// Seen is since when this process has seen it Ready, or not Ready, as it is now. Zero means that nobody looked.
	Seen time.Time
	// Transition is since when it is Ready or is not: the later of its creation and its Ready condition's transition.
	Transition time.Time
	// Failed says that it was Ready before, or that a container of it ended: it is down rather than starting.
	Failed bool
	// Unschedulable is the scheduler's text when it finds no node, or when it has not placed the Pod for undecidedFor after
	// another answer, such as a disk that cannot be provisioned.
	Unschedulable string
	// UnscheduledSince is when the scheduler said so first.
	UnscheduledSince time.Time
	// DecidedAt is when another answer will count as finding no node, zero when it does or there is none.
	DecidedAt time.Time
	// Answer is the scheduler's text until then.
	Answer       string
	Gated        bool     // carries GateBucketZone
	ForeignGates []string // scheduling gates of somebody else
	// Unstarted says that it is on a node and no container of it was ever made, as while its volume does not attach.
	Unstarted bool
	ImageWait string // REASON: MESSAGE of a container that waits on its image or configuration
	Trouble   string // REASON: MESSAGE of a container that waits or ended otherwise, or the kubelet's text about a readiness gate
	Handover  *Handover
}

// Handover is what FinalizerReplacingDisk, with its label and annotation, tells of a Pod.
type Handover struct {
	ClaimUID string
	// Begun is set when this very healer deleted the Pod.
	Begun *Begun
}

// Begun is what a healer remembers of a hand-over whose Pod it deleted.
type Begun struct {
	// Claim as it was judged. Its resourceVersion is never read again.
	Claim Ref
	// Refusals counts how often the API server refused to delete the claim.
	Refusals int
}

// Change is how two templates differ.
type Change struct {
	// Fields that differ, as paths below spec.template.
	Fields []string
	// Places says that one of them decides where a Pod may run.
	Places bool
	// Known is false when one of the templates could not be read.
	Known bool
}

// Brake is how many disks were replaced over all fleets of this healer within the replacement delay.
type Brake struct {
	// Max is how many may be.
	Max int
	// Recent is how many were.
	Recent int
	// KnownAt is when this process will have seen a whole delay: until then what happened before it began counts as Max.
	KnownAt time.Time
	// Until is when the oldest of them does not count any more.
	Until time.Time
	// Own says that one of them was this fleet's.
	Own bool
	// Waiting are other fleets that are held back.
	Waiting []Waiting
}

// Waiting is a fleet that is held back by the brake.
type Waiting struct {
	Own  bool      // it had a recent replacement
	Down time.Time // since when its member is down
}

// Claim is a member's claim.
type Claim struct {
	Ref
	Identity    string // label
	Created     time.Time
	Terminating bool
	Finalizers  []string
	Bound, Lost bool
	Marked      bool   // carries AnnotationKeptByScaleIn
	Node, Zone  string // that it was provisioned for
	VolumeName  string
	// Volume is observed only of a Bound claim whose Pod finds no node, in a fleet with a ZoneCap.
	Volume *Volume
}

// Kept reports whether the claim holds a disk: it is Bound, and neither Lost nor being deleted. One that was never Bound is as
// good as none.
func (c *Claim) Kept() bool { return c != nil && c.Bound && !c.Lost && !c.Terminating }

// HeldBy returns the finalizers of others than Kubernetes.
func (c *Claim) HeldBy() []string {
	return slices.DeleteFunc(slices.Clone(c.Finalizers), func(f string) bool { return f == "kubernetes.io/pvc-protection" })
}

// Prerequisite is an object that must be there before members are added.
type Prerequisite struct {
	Kind, Name string
	Found      bool
	Foreign    string // why it is not the fleet's, empty when it is
}

// Route is the fleet's HTTPRoute or Ingress.
type Route struct {
	Kind, Name string
	Ready      bool
	Reason     string
	Message    string
	Unwatched  bool // the cluster does not know its kind
}

// NeverPlaced reports whether the member holds nothing: it has no node, and its claim is missing or was never Bound.
func (m *Member) NeverPlaced() bool {
	return (m.Pod == nil || m.Pod.Node == "") && (m.Claim == nil || !m.Claim.Bound && !m.Claim.Lost)
}

// Decided reports whether the scheduler has tried to place the Pod: it exists, is not terminating, and is on a node or found none.
func (m *Member) Decided() bool {
	return m.Pod != nil && !m.Pod.Terminating && (m.Pod.Node != "" || m.Pod.Unschedulable != "")
}

// Down reports whether the Pod is missing, terminating, not Ready, or not the fleet's any more.
func (m *Member) Down() bool {
	return m.Pod == nil || m.Pod.Terminating || !m.Pod.Ready || !m.Pod.Ours
}

// Disk tells what the member's claim is to its Pod.
func (m *Member) Disk() v1alpha1.DiskState {
	switch {
	case m.Claim == nil:
		return v1alpha1.DiskNone
	case m.Claim.Terminating:
		return v1alpha1.DiskTerminating
	case m.Claim.Lost:
		return v1alpha1.DiskLost
	case !m.Claim.Bound, m.Pod != nil && !outlives(m.Claim, m.Pod):
		return v1alpha1.DiskFresh
	default:
		return v1alpha1.DiskKept
	}
}

// outlives reports whether the claim was there well before the Pod: the StatefulSet controller makes a claim and then its
// Pod, so one that is at most freshWithin older was made for it.
func outlives(claim *Claim, pod *Pod) bool { return pod.Created.Sub(claim.Created) > freshWithin }

// CaughtUp reports whether the workload was rendered from the fleet as it is, and its controller has seen it. The digest does
// not tell whether the fleet was paused; a member that is added while rollouts are held would start on the old template.
func (s *Snapshot) CaughtUp() bool {
	w := s.Workload
	return w.Observed && w.SpecDigest == s.Fleet.SpecDigest && w.Held == s.Fleet.Paused
}

// RolledOut reports whether every member that stays exists, is Ready and has the workload's latest template. While nobody is to
// be removed, the controller's own counts have to agree.
func (s *Snapshot) RolledOut() bool {
	w := s.Workload
	if !s.CaughtUp() || w.NextRevision == "" && s.Fleet.Ordered() {
		return false
	}
	if s.Target >= w.Replicas || !s.Fleet.Ordered() {
		return w.Existing == w.Replicas && w.Updated == w.Replicas && w.Ready == w.Replicas && w.CurrentRevision == w.NextRevision
	}
	for i := range s.Members[:s.Target] {
		if m := &s.Members[i]; m.Down() || m.Pod.Revision != w.NextRevision {
			return false
		}
	}
	return true
}
