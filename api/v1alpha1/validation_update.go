// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// No message says "is immutable": sync tools take that for a reason to delete the object and create it again.
const (
	dataIsThere   = "cannot be changed: the fleet's data is there"
	claimsAreMade = "cannot be changed: disks are made from it, and the API server refuses another claim template"
)

// ValidateUpdate returns every field that cannot be changed in which the fleet differs from old.
func (f *PersistentFleet) ValidateUpdate(old Fleet) field.ErrorList {
	errs := validateSharedUpdate(f, old)
	was, ok := old.(*PersistentFleet)
	if !ok {
		return errs
	}
	storage := field.NewPath("spec", "storage")
	errs = append(errs, immutable(storage.Child("storageClassName"),
		f.Spec.Storage.StorageClassName, was.Spec.Storage.StorageClassName, claimsAreMade)...)
	if size, before := effectiveSize(f), effectiveSize(was); size.Cmp(before) != 0 {
		errs = append(errs, field.Invalid(storage.Child("size"), size.String(), claimsAreMade))
	}
	return errs
}

// ValidateUpdate returns every field that cannot be changed in which the fleet differs from old.
func (f *BucketFleet) ValidateUpdate(old Fleet) field.ErrorList {
	errs := validateSharedUpdate(f, old)
	was, ok := old.(*BucketFleet)
	if !ok {
		return errs
	}
	return append(errs, immutable(field.NewPath("spec", "workload"), effectiveWorkload(f), effectiveWorkload(was),
		"cannot be changed: delete the fleet and create it with the other workload; the data is in the bucket")...)
}

func validateSharedUpdate(f, old Fleet) field.ErrorList {
	spec := field.NewPath("spec")
	storage := spec.Child("storage")
	if f.Kind() != old.Kind() {
		return field.ErrorList{field.Invalid(field.NewPath("kind"), f.Kind(), "cannot be changed, was "+old.Kind())}
	}
	errs := immutable(storage.Child("bucket"), f.Store().BucketURL().String(), old.Store().BucketURL().String(), dataIsThere)
	errs = append(errs, immutable(storage.Child("region"), f.Store().Region, old.Store().Region, dataIsThere)...)
	errs = append(errs, immutable(storage.Child("azureAccount"), f.Store().AzureAccount, old.Store().AzureAccount, dataIsThere)...)
	errs = append(errs, immutable(storage.Child("store"), f.Store().Store, old.Store().Store, dataIsThere)...)
	return append(errs, immutable(spec.Child("identity"), f.Shared().Identity, old.Shared().Identity,
		"cannot be changed: it decides which disks and objects are this fleet's")...)
}

func immutable[T comparable](path *field.Path, value, old T, why string) field.ErrorList {
	if value == old {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, why)}
}

func effectiveSize(f Fleet) resource.Quantity { return *defaultSize(f.DiskSize()) }

func effectiveWorkload(f *BucketFleet) Workload {
	if f.Spec.Workload == "" {
		return WorkloadDeployment
	}
	return f.Spec.Workload
}
