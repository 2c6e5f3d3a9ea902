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
	// Conditions: Ready, Provisioning, Blocked, Paused, Deleting, Reconciling, Stalled, RoutingReady.
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
	// Message tells what the member waits for.
	// +optional
	Message string `json:"message,omitempty"`
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
