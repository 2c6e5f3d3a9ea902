// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StorageReservation says which fleet a bucket, or a prefix of it, belongs to in this cluster. The healer creates it, with
// a name derived from the bucket; nobody changes it, and it stays for ever: two fleets that write one bucket destroy it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories=celld
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Bucket",type=string,JSONPath=`.spec.bucket`
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.fleet.kind`
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.fleet.namespace`
// +kubebuilder:printcolumn:name="Fleet",type=string,JSONPath=`.spec.fleet.name`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type StorageReservation struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the bucket and the fleet it belongs to. Immutable.
	// +required
	Spec StorageReservationSpec `json:"spec"`
}

// StorageReservationSpec is the bucket and the fleet it belongs to.
type StorageReservationSpec struct {
	// Bucket is the canonical bucket URL, scheme included.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Bucket string `json:"bucket"`
	// Identity is the UUID of the fleet that owns the bucket.
	// +required
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
	Identity string `json:"identity"`
	// Fleet names the fleet that owned the identity when the reservation was made. It is for people: the identity decides.
	// +required
	Fleet FleetReference `json:"fleet"`
}

// FleetReference names a fleet.
type FleetReference struct {
	// Kind is PersistentFleet or BucketFleet.
	// +required
	// +kubebuilder:validation:Enum=PersistentFleet;BucketFleet
	Kind string `json:"kind"`
	// Namespace of the fleet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// Name of the fleet.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name"`
}

// StorageReservationList is a list of StorageReservations.
//
// +kubebuilder:object:root=true
type StorageReservationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []StorageReservation `json:"items"`
}
