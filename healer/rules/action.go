// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Verb is what an action does.
type Verb string

// Verbs, in the order of the rules that use them.
const (
	VerbAddFinalizer      Verb = "AddFinalizer"      // to the fleet
	VerbRemoveFinalizer   Verb = "RemoveFinalizer"   // from the fleet, which ends it
	VerbFinishReplacement Verb = "FinishReplacement" // of a committed hand-over: claim, then finalizer
	VerbAbortReplacement  Verb = "AbortReplacement"  // remove finalizer, label and record; the disk is kept
	VerbDeleteWorkload    Verb = "DeleteWorkload"    // in the foreground
	VerbDeletePod         Verb = "DeletePod"         // with its own grace period
	VerbForceDeletePod    Verb = "ForceDeletePod"    // without
	VerbDeleteClaims      Verb = "DeleteClaims"
	VerbLiftGates         Verb = "LiftGates"
	VerbReserve           Verb = "Reserve" // create the StorageReservation
	VerbReplace           Verb = "Replace" // the whole hand-over: Pod and claim
	VerbScale             Verb = "Scale"
)

// An Action is one change to the cluster.
type Action struct {
	Verb Verb
	// Targets are the objects that change. For Replace and FinishReplacement the first is the Pod, the second its claim.
	Targets []Ref
	// Replicas for Scale.
	Replicas int
	// Zones for LiftGates, one for each target, empty for none.
	Zones []string
	// Event to publish once it is done, nil for none.
	Event *Event
}

// An Event is published about the fleet.
type Event struct {
	Reason  string
	Message string
	Warning bool
}

// Reasons of events that tell of an action. Waits are told with the fleet's own reasons.
const (
	EventMemberForceDeleted  = "MemberForceDeleted"
	EventMemberDiskLost      = "MemberDiskLost"
	EventMemberReplaced      = "MemberReplaced"
	EventMemberReleased      = "MemberReleased" // its Pod was deleted so that its terminating claim can go
	EventReplacementFinished = "ReplacementFinished"
	EventReplacementAborted  = "ReplacementAborted"
	EventScaled              = "Scaled"
	EventStopped             = string(v1alpha1.ReasonStopped)
	EventBucketReserved      = "BucketReserved"
	EventWorkloadDeleted     = "WorkloadDeleted"
	EventClaimsDeleted       = "ClaimsDeleted"
	EventLeftoverPodDeleted  = "LeftoverPodDeleted"
	EventActionFailed        = "ActionFailed"
)

// Same reports whether two actions do the same to the same objects, whatever versions the objects have by now.
func (a *Action) Same(b *Action) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Verb == b.Verb && a.Replicas == b.Replicas && slices.Equal(a.Zones, b.Zones) &&
		slices.EqualFunc(a.Targets, b.Targets, func(x, y Ref) bool {
			x.ResourceVersion, y.ResourceVersion = "", ""
			return x == y
		})
}

func warning(reason, message string) *Event {
	return &Event{Reason: reason, Message: message, Warning: true}
}

func normal(reason, message string) *Event { return &Event{Reason: reason, Message: message} }
