// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fleetwright/fleetwright/render/source"
)

// write makes files below a new directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestOthersAreAsKustomizePrintsThem compares what passes through a kustomization with what kustomize makes of it without
// the additions that fleets need.
func TestOthersAreAsKustomizePrintsThem(t *testing.T) {
	objects := `# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: a, annotations: {z: "1", a: "2"}}
data: {yes: "no", b: 'c'}
---
apiVersion: v1
kind: Secret
metadata: {name: b}
stringData: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: c, annotations: {}}
spec: {template: {spec: {containers: [{name: a, image: b, env: [{name: X, valueFrom: {configMapKeyRef: {name: a, key: b}}}]}]}}}
`
	tests := map[string]string{
		"as they are":          "resources: [objects.yaml]\n",
		"prefixed":             "resources: [objects.yaml]\nnamePrefix: x-\nnamespace: space\n",
		"annotated":            "resources: [objects.yaml]\ncommonAnnotations: {k: v}\nlabels: [{pairs: {l: m}}]\n",
		"generated":            "resources: [objects.yaml]\nconfigMapGenerator: [{name: g, literals: [a=b]}]\nsecretGenerator: [{name: g, literals: [a=b]}]\n",
		"merged by generators": "resources: [objects.yaml]\nconfigMapGenerator: [{name: a, behavior: merge, literals: [a=b]}]\n",
		"patched":              "resources: [objects.yaml]\npatches: [{target: {kind: Deployment}, patch: '[{\"op\": \"add\", \"path\": \"/spec/replicas\", \"value\": 3}]'}]\n",
		"from a base":          "resources: [base]\nnameSuffix: -y\n",
		"sorted":               "resources: [objects.yaml]\nsortOptions: {order: legacy}\n",
		"with metadata":        "resources: [objects.yaml]\nbuildMetadata: [managedByLabel, transformerAnnotations]\nnamePrefix: x-\n",
		"with origins":         "resources: [objects.yaml]\nbuildMetadata: [originAnnotations]\n",
		"with configurations":  "resources: [objects.yaml]\nconfigurations: [config.yaml]\nnamePrefix: x-\n",
	}
	for name, kustomization := range tests {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{
				"kustomization.yaml": kustomization, "objects.yaml": objects,
				"base/kustomization.yaml": "resources: [objects.yaml]\nnamePrefix: base-\n", "base/objects.yaml": objects,
				"config.yaml": "namePrefix: [{path: data/b, kind: ConfigMap}]\n",
			})
			options := krusty.MakeDefaultOptions()
			if strings.Contains(kustomization, "sortOptions") {
				options.Reorder = krusty.ReorderOptionUnspecified
			}
			m, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
			require.NoError(t, err)
			want, err := m.AsYaml()
			require.NoError(t, err)
			set, err := source.Read([]string{dir}, source.Options{})
			require.NoError(t, err)
			var got []string
			for i := range set.Documents {
				got = append(got, string(set.Documents[i].Text))
			}
			require.Equal(t, string(want), strings.Join(got, "---\n"))
		})
	}
}

// TestSchemaOfAnotherKustomizationIsForgotten builds one that brings a schema of its own, in which lists are replaced whole,
// then one that relies on the schemas of Kubernetes and of fleets.
func TestSchemaOfAnotherKustomizationIsForgotten(t *testing.T) {
	deployment := func(containers string) string {
		return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [" + containers + "]}}}\n"
	}
	dir := write(t, map[string]string{
		"own/kustomization.yaml":  "resources: [objects.yaml]\nopenapi: {path: schema.json}\n",
		"own/objects.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"own/schema.json":         `{"definitions": {}}`,
		"then/kustomization.yaml": "resources: [objects.yaml]\npatches: [{path: fleet.yaml}, {path: deployment.yaml}]\n",
		"then/objects.yaml": fleetText(t) + "  env:\n  - {name: CELLD_A, value: a}\n  - {name: CELLD_B, value: b}\n" +
			deployment("{name: a, image: a}, {name: b, image: b}"),
		"then/fleet.yaml": "apiVersion: celld.eric.dev/v1alpha1\nkind: PersistentFleet\nmetadata: {name: my-fleet, namespace: fleets}\n" +
			"spec:\n  env:\n  - {name: CELLD_B, value: c}\n",
		"then/deployment.yaml": deployment("{name: b, image: c}"),
	})
	_, err := source.Read([]string{filepath.Join(dir, "own")}, source.Options{})
	require.NoError(t, err)
	set, err := source.Read([]string{filepath.Join(dir, "then")}, source.Options{})
	require.NoError(t, err)
	require.Len(t, set.Documents[0].Fleet.Shared().Env, 2)
	require.Contains(t, string(set.Documents[1].Text), "image: a\n")
	require.Contains(t, string(set.Documents[1].Text), "image: c\n")
}

// TestJSONPatchesKeepValues patches a fleet as kustomize does with JSON patches: it writes the whole object as JSON, and reads
// numbers as floating point.
func TestJSONPatchesKeepValues(t *testing.T) {
	options := `  cells: {maxResident: 1000000, idleEvictSeconds: 86400}
  telemetry: {collectorURL: "http://otel:4318", egress: {podLabels: {app: otel}}, samplerArg: "1.0", sampler: traceidratio, flushBytes: 10485760}
  resources: {limits: {memory: 70368744177664, example.com/a: 9007199254740991}, requests: {memory: 1000000000, example.com/a: 9007199254740991}}
  podMetadata:
    annotations: {a: "1e3", b: "0o17", c: "017", d: "12:30", e: "yes", f: "1_000", g: "~", h: "2001-01-01", i: "0x1F", j: "y", "k": "1.0", l: "=", m: "<<", o: ".5"}
  env:
  - {name: CELLD_A, value: "1e3"}
  - {name: CELLD_B, value: "10485760"}
`
	dir := write(t, map[string]string{
		"kustomization.yaml": "resources: [fleet.yaml]\npatches:\n- target: {kind: PersistentFleet}\n  patch: |\n    - {op: replace, path: /spec/serviceAccountName, value: other}\n",
		"fleet.yaml":         fleetText(t) + options,
	})
	patched, err := source.Read([]string{dir}, source.Options{})
	require.NoError(t, err)
	plain, err := source.Read([]string{filepath.Join(dir, "fleet.yaml")}, source.Options{})
	require.NoError(t, err)
	plain.Documents[0].Fleet.Shared().ServiceAccountName = "other"
	require.Empty(t, cmp.Diff(plain.Documents[0].Fleet, patched.Documents[0].Fleet))
	require.Contains(t, string(patched.Documents[0].Text), "flushBytes: 10485760\n")

	// What does not fit into floating point is not what was written any more.
	for _, number := range []string{"9007199254740993"} {
		dir = write(t, map[string]string{
			"kustomization.yaml": "resources: [fleet.yaml]\npatches:\n- target: {kind: PersistentFleet}\n  patch: |\n    - {op: replace, path: /spec/replicas, value: 3}\n",
			"fleet.yaml":         fleetText(t) + "  resources: {limits: {example.com/a: " + number + "}, requests: {example.com/a: " + number + "}}\n",
		})
		_, err = source.Read([]string{dir}, source.Options{})
		require.ErrorContains(t, err, "kustomization.yaml ("+filepath.Join(dir, "fleet.yaml")+"): PersistentFleet fleets/my-fleet: spec.resources.limits[example.com/a]: "+
			"9.007199254740992e+15 was rewritten by kustomize or Helm, which keep 53 bits of a number")
	}
}

// TestFilesOfFleetsStayWhole reads files in which fleets stand beside other objects, however the documents are separated.
func TestFilesOfFleetsStayWhole(t *testing.T) {
	other := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, text := range map[string]string{
		"dashes":           other + "---\n" + fleetText(t),
		"the other way":    fleetText(t) + "---\n" + other,
		"dots":             fleetText(t) + "...\n" + other,
		"dots and dashes":  other + "...\n---\n" + fleetText(t) + "...\n---\n",
		"comments":         "# first\n---\n" + fleetText(t) + "# last\n--- # second\n" + other,
		"CRLF":             strings.ReplaceAll(fleetText(t)+"---\n"+other, "\n", "\r\n"),
		"null annotations": strings.Replace(fleetText(t), "metadata: {", "metadata: {annotations: ~, ", 1) + "---\n" + other,
		"a list":           "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n---\n" + fleetText(t),
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"kustomization.yaml": "resources: [all.yaml]\n", "all.yaml": text})
			set, err := source.Read([]string{dir}, source.Options{})
			require.NoError(t, err)
			require.Len(t, set.Documents, 2)
			require.Equal(t, 1, set.Fleets())
			for _, doc := range set.Documents {
				require.NotContains(t, string(doc.Text), "internal.fleetwright")
				if doc.Fleet != nil {
					require.Equal(t, filepath.Join(dir, "kustomization.yaml")+" ("+filepath.Join(dir, "all.yaml")+")", doc.File)
				}
			}
		})
	}
}
