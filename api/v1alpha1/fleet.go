// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Fleet is a PersistentFleet or a BucketFleet.
//
// +kubebuilder:object:generate=false
type Fleet interface {
	metav1.Object
	runtime.Object

	// Kind is KindPersistentFleet or KindBucketFleet, whatever the object's TypeMeta says.
	Kind() string
	// Ordered reports whether members have ordinals, those of a StatefulSet. Only a BucketFleet may have none.
	Ordered() bool
	// Shared returns the part of the spec that both profiles have. It is never nil and belongs to the fleet.
	Shared() *FleetSpec
	// Store returns the bucket of the fleet. It is never nil and belongs to the fleet.
	Store() *ObjectStore
	// DiskSize returns storage.size, nil when it is not set.
	DiskSize() *resource.Quantity
	// State returns the status. It is never nil and belongs to the fleet.
	State() *FleetStatus
	// Default fills in every default. It is total and idempotent, and leaves what is set alone.
	Default()
	// Validate returns every error of the fleet, defaulted or not, with exact paths.
	Validate() field.ErrorList
	// ValidateUpdate returns every immutable field in which the fleet differs from old, which is of the same kind.
	ValidateUpdate(old Fleet) field.ErrorList
}

var (
	_ Fleet = &PersistentFleet{}
	_ Fleet = &BucketFleet{}
)

// MaxMembers is how many members a fleet may have: the status lists each of them.
const MaxMembers = 100

// FleetKinds returns the kinds of fleets.
func FleetKinds() []string { return []string{KindPersistentFleet, KindBucketFleet} }

// NewFleet returns an empty fleet of a kind, nil for a kind that is none of FleetKinds.
func NewFleet(kind string) Fleet {
	switch kind {
	case KindPersistentFleet:
		return &PersistentFleet{}
	case KindBucketFleet:
		return &BucketFleet{}
	default:
		return nil
	}
}

// Kind returns KindPersistentFleet.
func (f *PersistentFleet) Kind() string { return KindPersistentFleet }

// Ordered returns true.
func (*PersistentFleet) Ordered() bool { return true }

// Shared returns the part of the spec that both profiles have.
func (f *PersistentFleet) Shared() *FleetSpec { return &f.Spec.FleetSpec }

// Store returns the bucket of the fleet.
func (f *PersistentFleet) Store() *ObjectStore { return &f.Spec.Storage.ObjectStore }

// DiskSize returns storage.size, nil when it is not set.
func (f *PersistentFleet) DiskSize() *resource.Quantity { return f.Spec.Storage.Size }

// State returns the status.
func (f *PersistentFleet) State() *FleetStatus { return &f.Status }

// Kind returns KindBucketFleet.
func (f *BucketFleet) Kind() string { return KindBucketFleet }

// Ordered reports whether the workload is Ordered; the default is a Deployment.
func (f *BucketFleet) Ordered() bool { return f.Spec.Workload == WorkloadOrdered }

// Shared returns the part of the spec that both profiles have.
func (f *BucketFleet) Shared() *FleetSpec { return &f.Spec.FleetSpec }

// Store returns the bucket of the fleet.
func (f *BucketFleet) Store() *ObjectStore { return &f.Spec.Storage.ObjectStore }

// DiskSize returns storage.size, nil when it is not set.
func (f *BucketFleet) DiskSize() *resource.Quantity { return f.Spec.Storage.Size }

// State returns the status.
func (f *BucketFleet) State() *FleetStatus { return &f.Status }

// Schemes of a bucket URL.
const (
	SchemeS3    = "s3"
	SchemeGS    = "gs"
	SchemeAzure = "az"
)

// BucketURL is a bucket URL in parts.
//
// +kubebuilder:object:generate=false
type BucketURL struct {
	Scheme string // s3, gs or az
	// Store is the Azure account or the named S3-compatible store that the name belongs to; empty where names are global.
	Store  string
	Name   string // bucket or container
	Prefix string // without slashes at its ends; empty for the whole bucket
}

// BucketURL splits the bucket as it is written; a bare name means s3. It does not validate.
func (s *ObjectStore) BucketURL() BucketURL {
	scheme, rest, found := strings.Cut(s.Bucket, "://")
	if !found {
		scheme, rest = SchemeS3, s.Bucket
	}
	name, prefix, _ := strings.Cut(rest, "/")
	u := BucketURL{Scheme: scheme, Name: name, Prefix: prefix}
	switch scheme {
	case SchemeAzure:
		u.Store = s.AzureAccount
	case SchemeS3:
		u.Store = s.Store
	}
	return u
}

// Overlaps reports whether two buckets are one, or one of them lies within the other.
func (u BucketURL) Overlaps(with BucketURL) bool {
	if u.Scheme != with.Scheme || u.Store != with.Store || u.Name != with.Name {
		return false
	}
	return within(u.Prefix, with.Prefix) || within(with.Prefix, u.Prefix)
}

func within(prefix, outer string) bool {
	return outer == "" || prefix == outer || strings.HasPrefix(prefix, outer+"/")
}

// Whole returns the bucket without a prefix.
func (u BucketURL) Whole() BucketURL {
	u.Prefix = ""
	return u
}

// String returns the canonical form, SCHEME://NAME[/PREFIX], without the store.
func (u BucketURL) String() string {
	s := u.Scheme + "://" + u.Name
	if u.Prefix != "" {
		s += "/" + u.Prefix
	}
	return s
}

// Protected reports whether a fleet is not to be taken apart, whoever deletes it.
func Protected(f Fleet) bool {
	value, found := f.GetAnnotations()[AnnotationProtect]
	return found && value != "false"
}

// Enabled reports whether traces are exported.
func (t *Telemetry) Enabled() bool { return t.CollectorURL != "" }

// Enabled reports whether the fleet is published at hostnames.
func (r *Routing) Enabled() bool {
	return len(r.Hostnames) > 0 || r.Source != nil || r.Gateway != nil || r.Ingress != nil
}

// URLPort returns the port of an http or https URL that Validate accepted.
func URLPort(raw string) int32 {
	u, err := url.Parse(raw)
	if err != nil {
		return 0
	}
	if port, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
		return int32(port)
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}
