// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of this group, as written in `kind:`.
const (
	KindPersistentFleet    = "PersistentFleet"
	KindBucketFleet        = "BucketFleet"
	KindStorageReservation = "StorageReservation"
)

// GroupVersion is the group and version of every kind here.
var GroupVersion = schema.GroupVersion{Group: "celld.eric.dev", Version: "v1alpha1"}

// AddToScheme registers the kinds with a scheme.
var AddToScheme = func(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&PersistentFleet{}, &PersistentFleetList{},
		&BucketFleet{}, &BucketFleetList{},
		&StorageReservation{}, &StorageReservationList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
