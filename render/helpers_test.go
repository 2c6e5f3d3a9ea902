// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

var update = flag.Bool("update", false, "rewrite the expected output of golden tests")

// persistent is the smallest PersistentFleet, bucket the smallest BucketFleet. Tests change them by merge patches in YAML.
const (
	persistent = `
apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1, storageClassName: ebs-delete}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`
	bucket = `
apiVersion: celld.eric.dev/v1alpha1
kind: BucketFleet
metadata: {name: my-fleet, namespace: fleets}
spec:
  replicas: 3
  runtimeImage: ghcr.io/ewhauser/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccountName: celld-runtime
  storage: {bucket: s3://my-bucket, region: us-east-1}
  placement: {zones: [us-east-1a, us-east-1b, us-east-1c]}
`
)

// fleet returns a fleet with merge patches applied to it in order.
func fleet(t testing.TB, base string, patches ...string) v1alpha1.Fleet {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict([]byte(base))
	require.NoError(t, err)
	for _, p := range patches {
		patch, err := yaml.YAMLToJSONStrict([]byte(p))
		require.NoError(t, err, p)
		text, err = jsonpatch.MergePatch(text, patch)
		require.NoError(t, err, p)
	}
	var f v1alpha1.Fleet = &v1alpha1.PersistentFleet{}
	if strings.Contains(base, "kind: BucketFleet") {
		f = &v1alpha1.BucketFleet{}
	}
	require.NoError(t, yaml.UnmarshalStrict(text, f), "%s", text)
	return f
}

func mustRender(t testing.TB, f v1alpha1.Fleet) render.Objects {
	t.Helper()
	objects, err := render.Render(f, render.Options{})
	require.NoError(t, err)
	return objects
}

func idOf(o render.Object) tree.ID { return tree.IDOfTyped(o.Typed) }

// find returns the rendered object of a type and name.
func find[T runtime.Object](t testing.TB, objects render.Objects, name string) T {
	t.Helper()
	var found []T
	for _, o := range objects {
		if typed, ok := o.Typed.(T); ok && idOf(o).Name == name {
			found = append(found, typed)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// goldenCases are the directories of testdata that hold a fleet.
func goldenCases(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/fleet.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var cases []string
	for _, f := range files {
		cases = append(cases, filepath.Base(filepath.Dir(f)))
	}
	return cases
}

// goldenFleet reads the only fleet of a case.
func goldenFleet(t testing.TB, name string) v1alpha1.Fleet {
	t.Helper()
	set, err := source.Read([]string{filepath.Join("testdata", name, "fleet.yaml")}, source.Options{})
	require.NoError(t, err)
	require.Len(t, set.Documents, 1)
	return set.Documents[0].Fleet
}

// requireGolden compares output with a file, or writes the file with -update.
func requireGolden(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	require.Empty(t, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")), "%s is stale: run the test with -update", file)
}

// asJSON is what an API client sends.
func asJSON(t testing.TB, object any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return text
}
