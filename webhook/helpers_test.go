// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/webhook"
)

var update = flag.Bool("update", false, "rewrite the expected output of golden tests")

const (
	healer = "system:serviceaccount:fleetwright-system:fleetwright-healer"
	human  = "jane"

	digest = "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	// foreign is the identity of some other fleet.
	foreign = "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"
)

// persistent is the smallest PersistentFleet, bucket the smallest BucketFleet. Tests change them by merge patches in YAML.
const (
	persistent = `
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
	bucket = `
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

// merged applies merge patches, in YAML, to an object in YAML or JSON.
func merged(t testing.TB, base string, patches ...string) string {
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

func fleet(t testing.TB, base string, patches ...string) v1alpha1.Fleet {
	t.Helper()
	text := merged(t, base, patches...)
	var f v1alpha1.Fleet = &v1alpha1.PersistentFleet{}
	if strings.Contains(text, `"kind":"BucketFleet"`) {
		f = &v1alpha1.BucketFleet{}
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), f), text)
	return f
}

// rendered returns an object that a fleet renders to, named as "Kind/name", as an API client sends it.
func rendered(t testing.TB, f v1alpha1.Fleet, object string) string {
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

// edited applies a JSON patch (RFC 6902), in YAML.
func edited(t testing.TB, object, patch string) string {
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

func parsed(t testing.TB, text string) *webhook.Object {
	t.Helper()
	if text == "" {
		return nil
	}
	o, err := webhook.ParseObject([]byte(text))
	require.NoError(t, err)
	return o
}

// live is what the cluster shows of a fleet that exists.
func live(t testing.TB, patches ...string) webhook.Fleet {
	t.Helper()
	base := persistent
	if len(patches) > 0 && strings.Contains(patches[0], "apiVersion") {
		base, patches = patches[0], patches[1:]
	}
	return webhook.FleetOf(fleet(t, base, patches...))
}

const terminating = `{metadata: {deletionTimestamp: "2026-01-03T00:00:00Z"}}`

// calm are the facts of a cluster that holds one fleet and nothing in the way.
func calm(fleets ...webhook.Fleet) webhook.Facts {
	return webhook.Facts{
		Namespace:   webhook.Known(webhook.Namespace{}),
		Fleets:      webhook.Known(fleets),
		Rivals:      webhook.Known(fleets),
		Reservation: webhook.Fact[webhook.Reservation]{State: webhook.Absent},
		Workload:    webhook.Known(webhook.Workload{Replicas: 3, Ready: 3}),
		Claims:      webhook.Known([]webhook.Claim(nil)),
		Orphans:     webhook.Known([]string(nil)),
	}
}

// requireVerdict compares the outcome, and the fields of the reasons with a word of each.
func requireVerdict(t testing.TB, want []string, v webhook.Verdict) {
	t.Helper()
	if len(want) == 0 {
		require.Equal(t, webhook.Allow, v.Outcome, "%v", v.Reasons)
		return
	}
	require.Equal(t, webhook.Deny, v.Outcome, "%v", v)
	require.Len(t, v.Reasons, len(want), "%v", v.Reasons)
	for i, w := range want {
		path, problem, _ := strings.Cut(w, ": ")
		require.Equal(t, path, v.Reasons[i].Field)
		require.Contains(t, v.Reasons[i].Problem, problem)
		require.NotEmpty(t, v.Reasons[i].Remedy)
	}
}

func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return out
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }
