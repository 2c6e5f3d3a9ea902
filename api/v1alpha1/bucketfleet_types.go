// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BucketFleet is a celld fleet whose writes are acknowledged once the object store holds them; its disks are caches and go
// away with their Pods.
//
// Its name is a DNS label that starts with a letter (it names Services), has at most 40 characters and does not end in
// -peers or -routing.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=bfleet,categories=celld
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that starts with a letter, at most 40 characters long"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.endsWith('-peers') && !self.metadata.name.endsWith('-routing')",message="metadata.name must not end in -peers or -routing: objects of other fleets have such names"
type BucketFleet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the fleet should be.
	// +required
	Spec BucketFleetSpec `json:"spec"`
	// Status is what the healer saw last. Only the healer writes it.
	// +optional
	Status FleetStatus `json:"status,omitempty,omitzero"`
}

// BucketFleetSpec is what a BucketFleet should be.
//
// +kubebuilder:validation:XValidation:rule="self.replicas >= size(self.placement.zones)",fieldPath=.replicas,message="must be at least the number of placement.zones, so that no zone is left empty"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || ((!has(self.resources.requests) || !('ephemeral-storage' in self.resources.requests)) && (!has(self.resources.limits) || !('ephemeral-storage' in self.resources.limits)))",fieldPath=.resources,message="must not set ephemeral-storage: storage.size sets its request and limit"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.workload != 'Ordered' || !has(self.placement.maxPerZone)",fieldPath=.placement.maxPerZone,message="is not for workload Ordered, where each ordinal has its zone: remove it"
type BucketFleetSpec struct {
	FleetSpec `json:",inline"`

	// Storage is the bucket and the size of the members' caches.
	// +required
	Storage BucketStorage `json:"storage"`
	// Workload is Deployment (the default) or Ordered: a StatefulSet without claims, for members with stable names and, in
	// Strict mode, a fixed zone for each ordinal. Immutable.
	// +optional
	Workload Workload `json:"workload,omitempty"`
}

// Workload is the object that runs the members of a BucketFleet.
//
// +kubebuilder:validation:Enum="";Deployment;Ordered
type Workload string

// Workloads of a BucketFleet.
const (
	WorkloadDeployment Workload = "Deployment"
	WorkloadOrdered    Workload = "Ordered"
)

// BucketStorage is the bucket of a BucketFleet and the size of its members' caches.
type BucketStorage struct {
	ObjectStore `json:",inline"`

	// Size limits each member's temporary disk, whole bytes from 1Gi to 64Ti. Default 10Gi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Ti')) <= 0 && quantity(string(self)).sub(int(quantity(string(self)).asApproximateFloat() + 0.5)).compareTo(quantity('0')) == 0",message="must be whole bytes, from 1Gi to 64Ti"
	Size *resource.Quantity `json:"size,omitempty"`
}

// BucketFleetList is a list of BucketFleets.
//
// +kubebuilder:object:root=true
type BucketFleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BucketFleet `json:"items"`
}
