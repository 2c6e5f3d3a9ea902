// SPDX-License-Identifier: Apache-2.0

package rules

import "slices"

// Operation of a request.
type Operation string

// Operations.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// An Input is a request, as plain values, with the facts that its rules need.
type Input struct {
	UID         string // of the review
	Operation   Operation
	Resource    string // plural, lower case
	Subresource string // scale, status or empty
	Namespace   string
	Name        string // as the request has it
	User        string
	// DryRun changes no verdict: a dry run shows what would happen.
	DryRun bool
	// Orphan says that a deletion leaves dependents running.
	Orphan bool
	// Object is nil for a deletion, Old for a creation.
	Object, Old *Object
	// Healer is the user name of the healer.
	Healer string
	Facts  Facts
}

// Subject is the object as it would be after the request, or as it was before a deletion.
func (in *Input) Subject() *Object {
	if in.Object != nil {
		return in.Object
	}
	return in.Old
}

// is says that the request is one of some operations on one of some resources, main resource only.
func (in *Input) is(operations []Operation, resources ...string) bool {
	return in.Subresource == "" && slices.Contains(operations, in.Operation) && slices.Contains(resources, in.Resource)
}

// writes says the same of creations and updates, through the status subresource too: it takes metadata along.
func (in *Input) writes(operation Operation, resources ...string) bool {
	return in.Operation == operation && (in.Subresource == "" || in.Subresource == "status" && operation == Update) &&
		slices.Contains(resources, in.Resource)
}

// Who writes on behalf of the control plane. A controller manager that runs without a service account for each controller is
// a user of its own.
const (
	namespaceController   = "system:serviceaccount:kube-system:namespace-controller"
	garbageCollector      = "system:serviceaccount:kube-system:generic-garbage-collector"
	statefulSetController = "system:serviceaccount:kube-system:statefulset-controller"
	controllerManager     = "system:kube-controller-manager"
)

// byControlPlane says that the request finishes a deletion that somebody else began.
func (in *Input) byControlPlane() bool {
	return in.User == namespaceController || in.User == garbageCollector || in.User == controllerManager
}

func (in *Input) byHealer() bool { return in.Healer != "" && in.User == in.Healer }

// newOwners are the owner references that a write adds.
func (in *Input) newOwners() []string {
	var before, added []string
	if in.Old != nil {
		before = in.Old.owners()
	}
	for _, o := range in.Object.owners() {
		if !slices.Contains(before, o) {
			added = append(added, o)
		}
	}
	return added
}
