// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// errVersion is returned for a review of another version than the one that the configuration asks for.
var errVersion = errors.New("want apiVersion admission.k8s.io/v1, kind AdmissionReview, with a request")

// Decode reads the JSON of an AdmissionReview. It returns no Input for a body that is no review; an error beside an Input is
// about the objects in it. The objects are most of a review: they are left alone at first, and read within bounds of their own.
func Decode(body []byte, healer string) (*Input, error) {
	review, err := tree.Reader{MaxValues: maxValues, Leave: []string{"object", "oldObject"}}.Read(body)
	if err != nil {
		return nil, fmt.Errorf("reading the review: %w", err)
	}
	r := review.Get("request")
	if review.GetText("apiVersion") != "admission.k8s.io/v1" || review.GetText("kind") != "AdmissionReview" || r == nil || r.Kind != tree.Map {
		return nil, errVersion
	}
	in := &Input{
		UID: r.GetText("uid"), Operation: Operation(r.GetText("operation")),
		Resource: r.GetText("resource", "resource"), Subresource: r.GetText("subResource"),
		Namespace: r.GetText("namespace"), Name: r.GetText("name"), User: r.GetText("userInfo", "username"),
		DryRun: isTrue(r.Get("dryRun")), Healer: healer,
	}
	if in.Resource == Namespaces {
		in.Namespace = in.Name // whichever way the API server puts it
	}
	switch in.Operation {
	case Create, Update, Delete:
	default:
		return in, fmt.Errorf("operation %q is not one that is judged here", in.Operation)
	}
	if in.Operation != Delete {
		if in.Object, err = in.parse("object", r.Get("object")); err != nil {
			return in, err
		}
	}
	if in.Operation != Create {
		if in.Old, err = in.parse("oldObject", r.Get("oldObject")); err != nil {
			return in, err
		}
	}
	if in.Operation == Delete {
		in.Orphan, err = orphans(r.Get("options"), in.Old)
	}
	return in, err
}

func isTrue(n *tree.Node) bool { return n != nil && n.Kind == tree.Bool && n.Text == "true" }

func (in *Input) parse(what string, raw *tree.Node) (*Object, error) {
	if raw == nil || raw.Text == "null" {
		return nil, fmt.Errorf("%s of a %s is missing", what, in.Operation)
	}
	o, err := readObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if fleet := in.Resource == PersistentFleets || in.Resource == BucketFleets; fleet && in.Subresource == "" && o.Fleet == nil {
		return nil, fmt.Errorf("%s: is a %q, not a fleet of a version that is served", what, o.Kind)
	}
	if o.Fleet != nil && o.Fleet.GetNamespace() == "" {
		o.Fleet.SetNamespace(in.Namespace) // it is part of the identity
	}
	return o, nil
}

// orphans says whether a deletion would leave dependents behind. Without a policy of its own it follows the finalizers.
func orphans(options *tree.Node, old *Object) (bool, error) {
	if options != nil && options.Kind != tree.Map && options.Kind != tree.Null {
		return false, fmt.Errorf("options: is %s, must be an object", options.Kind)
	}
	if policy := options.GetText("propagationPolicy"); policy != "" {
		return policy == "Orphan", nil
	}
	if dependents := options.Get("orphanDependents"); dependents != nil && dependents.Kind == tree.Bool {
		return isTrue(dependents), nil
	}
	return old.hasFinalizer("orphan"), nil
}
