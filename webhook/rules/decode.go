// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/json"
)

// errVersion is returned for a review of another version than the one that the configuration asks for.
var errVersion = errors.New("want apiVersion admission.k8s.io/v1, kind AdmissionReview, with a request")

// DecodeReview reads a review without looking into its objects. They are most of it, so they are cut out before the rest goes
// through the library.
func DecodeReview(body []byte) (*admissionv1.AdmissionRequest, error) {
	rest, object, old := envelope(body)
	request, err := decodeEnvelope(rest)
	if err != nil || len(rest) == len(body) {
		return request, err
	}
	if request.Object.Raw != nil || request.OldObject.Raw != nil {
		return decodeEnvelope(body) // a key stands there twice; the library knows which one counts
	}
	request.Object.Raw, request.OldObject.Raw = object, old
	return request, nil
}

func decodeEnvelope(text []byte) (*admissionv1.AdmissionRequest, error) {
	var review admissionv1.AdmissionReview
	if err := json.UnmarshalCaseSensitivePreserveInts(text, &review); err != nil {
		return nil, fmt.Errorf("reading the review: %w", err)
	}
	if review.APIVersion != admissionv1.SchemeGroupVersion.String() || review.Kind != "AdmissionReview" || review.Request == nil {
		return nil, errVersion
	}
	return review.Request, nil
}

// envelope cuts the two objects out of a review. What is not as expected stays where it is.
func envelope(body []byte) (rest, object, old []byte) {
	start, end := valueOf(body, "request")
	if start < 0 {
		return body, nil, nil
	}
	request := body[start:end]
	objectAt, objectEnd := valueOf(request, "object")
	oldAt, oldEnd := valueOf(request, "oldObject")
	if objectAt >= 0 && oldAt >= 0 && objectAt < oldEnd && oldAt < objectEnd {
		return body, nil, nil // no JSON
	}
	rest = append(make([]byte, 0, len(body)/4), body[:start]...)
	cut := 0
	take := func(from, to int) []byte {
		if from < 0 {
			return nil
		}
		rest = append(append(rest, request[cut:from]...), "null"...)
		cut = to
		return request[from:to]
	}
	if objectAt < oldAt {
		object = take(objectAt, objectEnd)
		old = take(oldAt, oldEnd)
	} else {
		old = take(oldAt, oldEnd)
		object = take(objectAt, objectEnd)
	}
	return append(append(rest, request[cut:]...), body[end:]...), object, old
}

// InputOf makes an Input of a request. An error is about the objects in it.
func InputOf(r *admissionv1.AdmissionRequest, healer string) (*Input, error) {
	in := &Input{
		Operation: Operation(r.Operation), Group: r.Resource.Group, Resource: r.Resource.Resource, Subresource: r.SubResource,
		Namespace: r.Namespace, User: r.UserInfo.Username, DryRun: r.DryRun != nil && *r.DryRun, Healer: healer,
	}
	var err error
	switch in.Operation {
	case Create, Update, Delete:
	default:
		return nil, fmt.Errorf("operation %q is not one that is judged here", r.Operation)
	}
	if in.Operation != Delete {
		if in.Object, err = in.parse("object", r.Object.Raw); err != nil {
			return nil, err
		}
	}
	if in.Operation != Create {
		if in.Old, err = in.parse("oldObject", r.OldObject.Raw); err != nil {
			return nil, err
		}
	}
	if in.Operation == Delete {
		in.Orphan, err = orphans(r.Options.Raw, in.Old)
	}
	return in, err
}

func (in *Input) parse(what string, raw []byte) (*Object, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s of a %s is missing", what, in.Operation)
	}
	o, err := ParseObject(raw)
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
func orphans(options []byte, old *Object) (bool, error) {
	var o struct {
		PropagationPolicy *string `json:"propagationPolicy"`
		OrphanDependents  *bool   `json:"orphanDependents"`
	}
	if len(options) > 0 {
		if err := json.UnmarshalCaseSensitivePreserveInts(options, &o); err != nil {
			return false, fmt.Errorf("options: %w", err)
		}
	}
	switch {
	case o.PropagationPolicy != nil:
		return *o.PropagationPolicy == "Orphan", nil
	case o.OrphanDependents != nil:
		return *o.OrphanDependents, nil
	default:
		return old.hasFinalizer("orphan"), nil
	}
}
