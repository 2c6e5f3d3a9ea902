// SPDX-License-Identifier: Apache-2.0

package rules

import (
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
	// Pods of a Deployment, by name.
	Pods []*Pod
	// Prerequisites of growth: the budget, the policy and the Services. Observed only when growth is ahead.
	Prerequisites []Prerequisite
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
	KindPod           = "Pod"
	KindClaim         = "PersistentVolumeClaim"
	KindBudget        = "PodDisruptionBudget"
	KindNetworkPolicy = "NetworkPolicy"
	KindService       = "Service"
	KindHTTPRoute     = "HTTPRoute"
	KindIngress       = "Ingress"

	KindStatefulSet = "StatefulSet"
	KindDeployment  = "Deployment"
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
	Paused, Stopped       bool
	Deleting              bool
	Finalizer             bool   // FinalizerFleetCleanup is set
	Invalid               string // what the validator finds, empty when nothing
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
	Owned                         bool   // has owner references
	Terminating                   bool
	Observed                      bool // observedGeneration equals generation
	Held                          bool // its rollouts are held, as render does while the fleet is paused
	Replicas                      int  // spec
	Existing, Ready, Updated      int  // status
	CurrentRevision, NextRevision string
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
	Ready       bool
	// Transition is since when it is Ready or is not: the later of its creation and its Ready condition's transition.
	Transition time.Time
	// Failed says that it was Ready before, or that a container of it ended: it is down rather than starting.
	Failed bool
	// Unschedulable is the scheduler's text when it finds no node.
	Unschedulable string
	// UnscheduledSince is when the scheduler said so first.
	UnscheduledSince time.Time
	Gated            bool   // carries GateBucketZone
	ImageWait        string // REASON: MESSAGE of a container that waits on its image or configuration
	Trouble          string // REASON: MESSAGE of a container that waits or ended otherwise
	Handover         *Handover
}

// Handover is what FinalizerReplacingDisk, with its label and annotation, tells of a Pod.
type Handover struct {
	ClaimUID  string
	Committed bool
}

// Claim is a member's claim.
type Claim struct {
	Ref
	Identity    string // label
	Created     time.Time
	Terminating bool
	Finalizers  []string
	Bound, Lost bool
	Zone        string // of the node that it was provisioned for
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

// Decided reports whether the scheduler has had its say: the Pod exists, is not terminating, and is on a node or found none.
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
	case m.Pod != nil && !outlives(m.Claim, m.Pod):
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

// RolledOut reports whether every member exists, is Ready and has the workload's latest template.
func (s *Snapshot) RolledOut() bool {
	w := s.Workload
	return s.CaughtUp() && w.Existing == w.Replicas && w.Updated == w.Replicas && w.Ready == w.Replicas &&
		w.CurrentRevision == w.NextRevision
}
