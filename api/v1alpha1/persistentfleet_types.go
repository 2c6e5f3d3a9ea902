// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PersistentFleet is a celld fleet whose members keep disks: a write is acknowledged once follower peers hold it on disk.
//
// Its name is a DNS label that starts with a letter (it names Services), has at most 40 characters and does not end in
// -peers or -routing.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=pfleet,categories=celld
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
type PersistentFleet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the fleet should be.
	// +required
	Spec PersistentFleetSpec `json:"spec"`
	// Status is what the healer saw last. Only the healer writes it.
	// +optional
	Status FleetStatus `json:"status,omitempty,omitzero"`
}

// PersistentFleetSpec is what a PersistentFleet should be.
//
// +kubebuilder:validation:XValidation:rule="self.replicas >= size(self.placement.zones)",fieldPath=.replicas,message="must be at least the number of placement.zones, so that no zone is left empty"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.limits) || !('ephemeral-storage' in self.resources.limits) || isQuantity(string(self.resources.limits['ephemeral-storage'])) && quantity(string(self.resources.limits['ephemeral-storage'])).compareTo(quantity('0')) >= 0 && quantity(string(self.resources.limits['ephemeral-storage'])).compareTo(quantity('64Ti')) <= 0 && quantity(string(self.resources.limits['ephemeral-storage'])).sub(int(quantity(string(self.resources.limits['ephemeral-storage'])).asApproximateFloat() + 0.5)).compareTo(quantity('0')) == 0",fieldPath=.resources.limits,message="ephemeral-storage must be whole bytes, from 0 to 64Ti"
// +kubebuilder:validation:XValidation:rule="!has(self.resources) || !has(self.resources.requests) || !('ephemeral-storage' in self.resources.requests) || isQuantity(string(self.resources.requests['ephemeral-storage'])) && quantity(string(self.resources.requests['ephemeral-storage'])).compareTo(quantity('0')) >= 0 && quantity(string(self.resources.requests['ephemeral-storage'])).compareTo(quantity('64Ti')) <= 0 && quantity(string(self.resources.requests['ephemeral-storage'])).sub(int(quantity(string(self.resources.requests['ephemeral-storage'])).asApproximateFloat() + 0.5)).compareTo(quantity('0')) == 0",fieldPath=.resources.requests,message="ephemeral-storage must be whole bytes, from 0 to 64Ti"
type PersistentFleetSpec struct {
	FleetSpec `json:",inline"`

	// Storage is the bucket and the members' disks.
	// +required
	Storage PersistentStorage `json:"storage"`
}

// PersistentStorage is the bucket of a PersistentFleet and the disks of its members.
type PersistentStorage struct {
	ObjectStore `json:",inline"`

	// StorageClassName is the StorageClass of each member's disk. Use one with volumeBindingMode WaitForFirstConsumer.
	// Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	StorageClassName string `json:"storageClassName"`
	// Size is the size of each member's disk, whole bytes from 1Gi to 64Ti. Default 10Gi. Immutable.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Ti')) <= 0 && quantity(string(self)).sub(int(quantity(string(self)).asApproximateFloat() + 0.5)).compareTo(quantity('0')) == 0",message="must be whole bytes, from 1Gi to 64Ti"
	Size *resource.Quantity `json:"size,omitempty"`
}

// PersistentFleetList is a list of PersistentFleets.
//
// +kubebuilder:object:root=true
type PersistentFleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PersistentFleet `json:"items"`
}
