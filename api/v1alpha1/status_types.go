// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FleetStatus is what the healer saw last. Nothing in it decides anything: every decision is made from the cluster anew.
type FleetStatus struct {
	// ObservedGeneration is the fleet generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Phase sums the fleet up for people.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// DesiredReplicas is the member count that the healer works towards.
	// +optional
	DesiredReplicas int32 `json:"desiredReplicas"`
	// AppliedReplicas is the member count set on the workload.
	// +optional
	AppliedReplicas int32 `json:"appliedReplicas"`
	// ReadyReplicas is the number of Ready members.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// Replicas is the number of members that exist, for the scale subresource.
	// +optional
	Replicas int32 `json:"replicas"`
	// Selector selects the members' Pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`
	// ReplacementDelaySeconds is how long a member is not Ready before it is replaced: the healer's own flag.
	// +optional
	ReplacementDelaySeconds int32 `json:"replacementDelaySeconds,omitempty"`
	// Reservation names the StorageReservation of the bucket.
	// +optional
	Reservation string `json:"reservation,omitempty"`
	// Members describes each member, by ordinal.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Members []MemberStatus `json:"members,omitempty"`
	// Capacity is what the capacity policy makes of the load. Absent in mode Manual.
	// +optional
	Capacity *CapacityStatus `json:"capacity,omitempty"`
	// Application is which application runs in the members, as far as they could be read.
	// +optional
	Application *ApplicationStatus `json:"application,omitempty"`
	// Conditions: Ready, Provisioning, Blocked, Paused, Deleting, Reconciling, Stalled, RoutingReady, ScalingActive,
	// ScalingLimited, ApplicationConverged.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MemberStatus describes one member.
type MemberStatus struct {
	// Name of the member's Pod.
	// +required
	Name string `json:"name"`
	// Zone of the member's node, or of its disk while it has no node.
	// +optional
	Zone string `json:"zone,omitempty"`
	// Node that the member runs on.
	// +optional
	Node string `json:"node,omitempty"`
	// Disk tells what the member's claim is.
	// +optional
	Disk DiskState `json:"disk,omitempty"`
	// State of the member.
	// +optional
	State MemberState `json:"state,omitempty"`
	// Since is when the member entered its state.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// ReplaceAfter is when the member is due for replacement, if nothing changes.
	// +optional
	ReplaceAfter *metav1.Time `json:"replaceAfter,omitempty"`
	// Version of the application that the member serves; empty unless it was read freshly.
	// +optional
	Version string `json:"version,omitempty"`
	// Message tells what the member waits for.
	// +optional
	Message string `json:"message,omitempty"`
}

// CapacityStatus is what the capacity policy makes of the load. It holds no load and no age, so a fleet at rest writes nothing.
type CapacityStatus struct {
	// Mode that this is about.
	// +optional
	Mode CapacityMode `json:"mode,omitempty"`
	// RecommendedReplicas is the count that the policy asks for, or would ask for in mode Shadow; 0 when it has no opinion.
	// +optional
	RecommendedReplicas int32 `json:"recommendedReplicas,omitempty"`
	// UsefulReplicas is how many members are Ready and say how they are.
	// +optional
	UsefulReplicas int32 `json:"usefulReplicas"`
	// PendingReplicas is how many members are not Ready.
	// +optional
	PendingReplicas int32 `json:"pendingReplicas"`
	// CoveredReplicas is how many useful members have a sample of the Metrics API that counts.
	// +optional
	CoveredReplicas int32 `json:"coveredReplicas"`
	// Reason is one word for the verdict.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message explains the verdict.
	// +optional
	Message string `json:"message,omitempty"`
	// SteppedAt is when the policy added or removed members last.
	// +optional
	SteppedAt *metav1.Time `json:"steppedAt,omitempty"`
}

// ApplicationStatus is which application runs in the members.
type ApplicationStatus struct {
	// Version that all members serve. Empty unless every one was read freshly, and they agree.
	// +optional
	Version string `json:"version,omitempty"`
	// Prefix of that version in the bucket.
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// ExpectedMembers is how many members there should be.
	// +optional
	ExpectedMembers int32 `json:"expectedMembers"`
	// ObservedMembers is how many were read freshly.
	// +optional
	ObservedMembers int32 `json:"observedMembers"`
	// PendingCells is how many resident cells still run another generation than their member serves.
	// +optional
	PendingCells int64 `json:"pendingCells"`
	// SwappingCells is how many cells are moving to the member's generation.
	// +optional
	SwappingCells int64 `json:"swappingCells"`
	// Versions that members serve, by version. At most 16.
	// +optional
	// +listType=map
	// +listMapKey=version
	// +listMapKey=prefix
	// +kubebuilder:validation:MaxItems=16
	Versions []ApplicationVersion `json:"versions,omitempty"`
}

// ApplicationVersion is a version of the application that some members serve.
type ApplicationVersion struct {
	// Version of the application.
	// +required
	Version string `json:"version"`
	// Prefix of the version in the bucket.
	// +required
	Prefix string `json:"prefix"`
	// Members that serve it.
	// +required
	Members int32 `json:"members"`
}

// Phase sums a fleet up for people.
//
// +kubebuilder:validation:Enum=Provisioning;Ready;Blocked;Paused;Stopped;Deleting
type Phase string

// Phases of a fleet.
const (
	PhaseProvisioning Phase = "Provisioning"
	PhaseReady        Phase = "Ready"
	PhaseBlocked      Phase = "Blocked"
	PhasePaused       Phase = "Paused"
	PhaseStopped      Phase = "Stopped"
	PhaseDeleting     Phase = "Deleting"
)

// DiskState tells what a member's claim is.
//
// +kubebuilder:validation:Enum=Kept;Fresh;Lost;Terminating;None
type DiskState string

// Disk states of a member.
const (
	DiskKept        DiskState = "Kept"
	DiskFresh       DiskState = "Fresh"
	DiskLost        DiskState = "Lost"
	DiskTerminating DiskState = "Terminating"
	DiskNone        DiskState = "None"
)

// MemberState is the state of a member.
//
// +kubebuilder:validation:Enum=Ready;Starting;Down;Unschedulable;Terminating;Missing
type MemberState string

// States of a member.
const (
	MemberReady         MemberState = "Ready"
	MemberStarting      MemberState = "Starting"
	MemberDown          MemberState = "Down"
	MemberUnschedulable MemberState = "Unschedulable"
	MemberTerminating   MemberState = "Terminating"
	MemberMissing       MemberState = "Missing"
)

// Condition types of a fleet. Reconciling and Stalled are for kstatus.
const (
	ConditionReady        = "Ready"
	ConditionProvisioning = "Provisioning"
	ConditionBlocked      = "Blocked"
	ConditionPaused       = "Paused"
	ConditionDeleting     = "Deleting"
	ConditionReconciling  = "Reconciling"
	ConditionStalled      = "Stalled"
	ConditionRoutingReady = "RoutingReady"
	// ConditionScalingActive is False while a capacity policy cannot judge the load.
	ConditionScalingActive = "ScalingActive"
	// ConditionScalingLimited is True while a bound or missing evidence keeps the count from where it should be.
	ConditionScalingLimited = "ScalingLimited"
	// ConditionApplicationConverged is True when all members serve one version and their cells have moved to it.
	ConditionApplicationConverged = "ApplicationConverged"
)

// Reason is one word for why a fleet is as it is: the same word in conditions, events and metric labels.
type Reason string

// Reasons of a fleet.
const (
	ReasonProvisioned             Reason = "Provisioned"
	ReasonProvisioning            Reason = "Provisioning"
	ReasonSpecNotSynced           Reason = "SpecNotSynced"
	ReasonStatefulSetMissing      Reason = "StatefulSetMissing"
	ReasonRollingOut              Reason = "RollingOut"
	ReasonWaitingForPlacement     Reason = "WaitingForPlacement"
	ReasonReplacementPending      Reason = "ReplacementPending"
	ReasonReplacingMember         Reason = "ReplacingMember"
	ReasonMemberUnschedulable     Reason = "MemberUnschedulable"
	ReasonStorageIdentityConflict Reason = "StorageIdentityConflict"
	ReasonStorageScopeConflict    Reason = "StorageScopeConflict"
	ReasonCapacityUncertain       Reason = "CapacityUncertain"
	ReasonPrerequisitesMissing    Reason = "PrerequisitesMissing"
	ReasonInfrastructureBlocked   Reason = "InfrastructureBlocked"
	ReasonInvalidConfiguration    Reason = "InvalidConfiguration"
	ReasonMaintenancePaused       Reason = "MaintenancePaused"
	ReasonStopped                 Reason = "Stopped"
	ReasonDraining                Reason = "Draining"
	ReasonDeletingClaims          Reason = "DeletingClaims"
	ReasonProtected               Reason = "Protected"
	ReasonRolloutStuck            Reason = "RolloutStuck"
)
