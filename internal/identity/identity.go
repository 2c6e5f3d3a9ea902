// SPDX-License-Identifier: Apache-2.0

// Package identity tells what a fleet is, and what its objects are called, whether it was read from Git or from a cluster.
package identity

import (
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// space is the name space of derived identities, itself the version 5 UUID of the API group in the DNS space.
var space = uuid.NewSHA1(uuid.NameSpaceDNS, []byte(v1alpha1.GroupVersion.Group))

// Of is spec.identity if set, else the version 5 UUID of the fleet's namespace, name and canonical bucket URL, with the Azure
// account or the named store, if any, before the URL.
func Of(f v1alpha1.Fleet) string {
	if id := f.Shared().Identity; id != "" {
		return id
	}
	bucket := f.Store().BucketURL()
	key := f.GetNamespace() + "\x00" + f.GetName() + "\x00"
	if bucket.Store != "" {
		key += bucket.Store + "\x00"
	}
	key += bucket.String()
	return uuid.NewSHA1(space, []byte(key)).String()
}

// Validate returns every error of a fleet that is about to be rendered: it needs a namespace, which the API server would give
// it only later.
func Validate(f v1alpha1.Fleet) field.ErrorList {
	errs := f.Validate()
	if f.GetNamespace() == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "namespace"),
			"the namespace is part of the fleet's identity: set it here, with --namespace, or with ARGOCD_APP_NAMESPACE"))
	}
	return errs
}

// PeerService is the headless Service that gives members their DNS names.
func PeerService(fleet string) string { return fleet + "-peers" }

// Routing is the HTTPRoute or Ingress of a fleet, and the NetworkPolicy that goes with it.
func Routing(fleet string) string { return fleet + "-routing" }
