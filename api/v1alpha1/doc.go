// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of Fleetwright, group celld.eric.dev: the fleets that people write, and the reservation
// that keeps one bucket for one fleet.
//
// A fleet is a PersistentFleet (members keep disks, writes are acknowledged by peers) or a BucketFleet (writes are
// acknowledged by the object store, disks are caches). The package holds the types, every key that Fleetwright puts on
// objects (keys.go), the defaults (total and idempotent) and the validator (total, exact paths, works before defaulting).
//
// The same rules stand three times, from cheap to complete: as schema markers, as CEL on the CRD, and in Validate, which
// the command line, the webhook and the healer all call. Whatever the CRD refuses, Validate refuses too.
//
// +kubebuilder:object:generate=true
// +groupName=celld.eric.dev
package v1alpha1
