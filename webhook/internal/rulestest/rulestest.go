// SPDX-License-Identifier: Apache-2.0

// Package rulestest makes requests and facts for tests: a fleet that is valid, changed by merge patches, and what it renders to.
package rulestest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// Who asks, and whose disks are not the fleet's.
const (
	Healer = "system:serviceaccount:fleetwright-system:fleetwright-healer"
	Human  = "jane"

	digest = "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	// Foreign is the identity of some other fleet.
	Foreign = "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"
)

// Persistent is the smallest PersistentFleet, Bucket the smallest BucketFleet. Tests change them by merge patches in YAML.
const (
	Persistent = `
apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: fleets, creationTimestamp: "2026-01-02T00:00:00Z"}
spec:
  replicas: 3
  runtimeImage: registry.test/celld` + digest + `
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1, storageClassName: ebs-delete}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`
	Bucket = `
apiVersion: celld.eric.dev/v1alpha1
kind: BucketFleet
metadata: {name: my-fleet, namespace: fleets, creationTimestamp: "2026-01-02T00:00:00Z"}
spec:
  replicas: 3
  runtimeImage: registry.test/celld` + digest + `
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`
)

// Merged applies merge patches, in YAML, to an object in YAML or JSON.
func Merged(t testing.TB, base string, patches ...string) string {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict([]byte(base))
	require.NoError(t, err, base)
	for _, p := range patches {
		patch, err := yaml.YAMLToJSON([]byte(p))
		require.NoError(t, err, p)
		text, err = jsonpatch.MergePatch(text, patch)
		require.NoError(t, err, p)
	}
	return string(text)
}

// Fleet is the fleet that a base and merge patches make.
func Fleet(t testing.TB, base string, patches ...string) v1alpha1.Fleet {
	t.Helper()
	text := Merged(t, base, patches...)
	var head metav1.TypeMeta
	require.NoError(t, yaml.Unmarshal([]byte(text), &head))
	f := v1alpha1.NewFleet(head.Kind)
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), f), text)
	return f
}

// Rendered returns an object that a fleet renders to, named as "Kind/name", as an API client sends it.
func Rendered(t testing.TB, f v1alpha1.Fleet, object string) string {
	t.Helper()
	objects, err := render.Render(f, render.Options{})
	require.NoError(t, err)
	for _, o := range objects {
		if o.Typed.GetObjectKind().GroupVersionKind().Kind+"/"+o.Typed.GetName() == object {
			text, err := json.Marshal(o.Typed)
			require.NoError(t, err)
			return string(text)
		}
	}
	require.Fail(t, "not rendered", object)
	return ""
}

// Edited applies a JSON patch (RFC 6902), in YAML.
func Edited(t testing.TB, object, patch string) string {
	t.Helper()
	if patch == "" {
		return object
	}
	text, err := yaml.YAMLToJSONStrict([]byte(patch))
	require.NoError(t, err, patch)
	operations, err := jsonpatch.DecodePatch(text)
	require.NoError(t, err, patch)
	out, err := operations.Apply([]byte(object))
	require.NoError(t, err, patch)
	return string(out)
}

// Object is an object as a request to create it has it.
func Object(text string) (*rules.Object, error) {
	const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CREATE","object":`
	in, err := rules.Decode([]byte(head+text+`}}`), Healer)
	if err != nil {
		return nil, err
	}
	return in.Object, nil
}

// Parsed is an object in a request, nil for an empty text.
func Parsed(t testing.TB, text string) *rules.Object {
	t.Helper()
	if text == "" {
		return nil
	}
	o, err := Object(text)
	require.NoError(t, err)
	return o
}

// Live is what the cluster shows of a fleet that exists.
func Live(t testing.TB, patches ...string) rules.Fleet {
	t.Helper()
	base := Persistent
	if len(patches) > 0 && strings.Contains(patches[0], "apiVersion") {
		base, patches = patches[0], patches[1:]
	}
	return rules.FleetOf(Fleet(t, base, patches...))
}

// Terminating is the merge patch of a fleet that is being deleted.
const Terminating = `{metadata: {deletionTimestamp: "2026-01-03T00:00:00Z"}}`

// Calm are the facts of a cluster that holds one fleet and nothing in the way.
func Calm(fleets ...rules.Fleet) rules.Facts {
	return rules.Facts{
		Namespace:    Known(rules.Namespace{}),
		Fleets:       Known(fleets),
		Rivals:       Known(fleets),
		Reservations: Known([]rules.Reservation(nil)),
		Workload:     Known(rules.Workload{Replicas: 3, Ready: 3}),
		Claims:       Known([]rules.Claim(nil)),
		Orphans:      Known([]string(nil)),
		Instances:    Known(len(fleets) > 0),
	}
}

// Reserved is the reservation of a fleet's bucket for an identity.
func Reserved(of rules.Fleet, identity string) rules.Fact[[]rules.Reservation] {
	return Known([]rules.Reservation{{Name: render.ReservationName(of.Bucket), Bucket: of.Bucket.String(), Identity: identity,
		Fleet: "PersistentFleet others/first"}})
}

// Known is a fact that was read.
func Known[T any](value T) rules.Fact[T] { return rules.Fact[T]{State: rules.Present, Value: value} }

// Input is a request for a rendered object, or for one that looks like it.
func Input(t testing.TB, operation rules.Operation, old, object string, facts rules.Facts) *rules.Input {
	t.Helper()
	in := &rules.Input{Operation: operation, Namespace: "fleets", User: Human, Healer: Healer,
		Old: Parsed(t, old), Object: Parsed(t, object), Facts: facts}
	kind := ""
	if in.Object != nil {
		kind = in.Object.Kind
	} else {
		kind = in.Old.Kind
	}
	in.Resource = map[string]string{
		"StatefulSet": rules.StatefulSets, "Deployment": rules.Deployments, "PodDisruptionBudget": rules.Budgets,
		"NetworkPolicy": rules.NetworkPolicies, "Service": rules.Services, "HTTPRoute": rules.HTTPRoutes, "Ingress": rules.Ingresses,
		"CustomResourceDefinition": rules.Definitions, "Namespace": rules.Namespaces,
		"PersistentVolumeClaim": rules.Claims, "StorageReservation": rules.Reservations, "Scale": rules.StatefulSets,
	}[kind]
	return in
}

// FleetInput is a request for a fleet, of merge patches of the base. An empty one says that there is no such object.
func FleetInput(t testing.TB, base, old, object string, facts rules.Facts) *rules.Input {
	t.Helper()
	in := &rules.Input{Resource: rules.PersistentFleets, Namespace: "fleets", User: Human, Healer: Healer, Facts: facts}
	if base == Bucket {
		in.Resource = rules.BucketFleets
	}
	switch {
	case old == "":
		in.Operation = rules.Create
	case object == "":
		in.Operation = rules.Delete
	default:
		in.Operation = rules.Update
	}
	if old != "" {
		in.Old = Parsed(t, Merged(t, base, old))
	}
	if object != "" {
		in.Object = Parsed(t, Merged(t, base, object))
	}
	return in
}

// Claim is a claim with an identity, if that is not empty.
func Claim(name, identity string) string {
	labels := ""
	if identity != "" {
		labels = `"labels":{"celld.eric.dev/fleet-uid":"` + identity + `"},`
	}
	return `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{` + labels + `"name":"` + name + `","namespace":"fleets"}}`
}
