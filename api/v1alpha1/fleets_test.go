// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/crdcheck"
)

// kinds are the two fleets, which most cases apply to.
var kinds = []string{v1alpha1.KindPersistentFleet, v1alpha1.KindBucketFleet}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// valid holds the smallest fleet of each kind that nobody complains about. Cases change it by merge patches in YAML.
var valid = map[string]string{
	v1alpha1.KindPersistentFleet: `
apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@` + digest + `
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1, storageClassName: ebs-delete}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`,
	v1alpha1.KindBucketFleet: `
apiVersion: celld.eric.dev/v1alpha1
kind: BucketFleet
metadata: {name: my-fleet, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@` + digest + `
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`,
	v1alpha1.KindStorageReservation: `
apiVersion: celld.eric.dev/v1alpha1
kind: StorageReservation
metadata: {name: s3-0123456789abcdef}
spec:
  bucket: s3://my-bucket
  identity: 8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11
  fleet: {kind: PersistentFleet, namespace: fleets, name: my-fleet}
`,
}

// object returns the valid object of a kind with merge patches applied to it in order.
func object(t testing.TB, kind string, patches ...string) map[string]any {
	t.Helper()
	obj := parse(t, valid[kind])
	for _, p := range patches {
		if p != "" {
			obj = merge(obj, parse(t, p))
		}
	}
	return obj
}

// typed returns the fleet that object describes.
func typed(t testing.TB, kind string, patches ...string) v1alpha1.Fleet {
	t.Helper()
	f, err := decode(kind, object(t, kind, patches...))
	require.NoError(t, err)
	return f
}

// parse reads YAML as the API server reads JSON: whole numbers are int64.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err, text)
	obj := map[string]any{}
	require.NoError(t, sigsjson.UnmarshalCaseSensitivePreserveInts(asJSON, &obj), text)
	return obj
}

// merge is RFC 7396: null removes, objects merge, anything else replaces.
func merge(into, patch map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, into)
	for k, v := range patch {
		child, isObject := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, k)
		case isObject:
			old, _ := out[k].(map[string]any)
			out[k] = merge(old, child)
		default:
			out[k] = v
		}
	}
	return out
}

func newFleet(kind string) v1alpha1.Fleet {
	if kind == v1alpha1.KindBucketFleet {
		return &v1alpha1.BucketFleet{}
	}
	return &v1alpha1.PersistentFleet{}
}

// decode reads an object into its type, and refuses unknown fields.
func decode(kind string, obj map[string]any) (v1alpha1.Fleet, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	f := newFleet(kind)
	return f, yaml.UnmarshalStrict(text, f)
}

// encode returns what a fleet looks like to the API server.
func encode(t require.TestingT, f v1alpha1.Fleet) map[string]any {
	text, err := json.Marshal(f)
	require.NoError(t, err)
	obj := map[string]any{}
	require.NoError(t, sigsjson.UnmarshalCaseSensitivePreserveInts(text, &obj))
	return obj
}

func clone(f v1alpha1.Fleet) v1alpha1.Fleet {
	copied, _ := f.DeepCopyObject().(v1alpha1.Fleet)
	return copied
}

// checkers returns the API server's rules by kind.
func checkers(t testing.TB) map[string]*crdcheck.Checker {
	t.Helper()
	all, err := crdcheck.Load()
	require.NoError(t, err)
	return all
}

func TestValidFleets(t *testing.T) {
	for kind, check := range checkers(t) {
		t.Run(kind, func(t *testing.T) {
			obj := object(t, kind)
			require.Empty(t, check.Create(obj))
			require.Empty(t, check.Update(obj, runtime.DeepCopyJSON(obj)))
			require.Empty(t, check.Unknown(obj))
		})
	}
	for _, kind := range kinds {
		f := typed(t, kind)
		require.Empty(t, f.Validate())
		require.Empty(t, f.ValidateUpdate(clone(f)))
		require.Equal(t, kind, f.Kind())
	}
}
