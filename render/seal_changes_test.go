// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/seal"
)

// sealCases runs a check on each patch of a file: JSON patches by golden case and object, then by what they do.
func sealCases(t *testing.T, file string, check func(t *testing.T, before, after seal.Seal)) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var objects map[string]map[string]any
	require.NoError(t, yaml.UnmarshalStrict(text, &objects))
	require.NotEmpty(t, objects)
	for key, patches := range objects {
		golden, name, _ := strings.Cut(key, " ")
		object, before := sealed(t, golden, name)
		for what, patch := range patches {
			t.Run(key+": "+what, func(t *testing.T) {
				check(t, before, sealOf(t, patched(t, object, string(asJSON(t, patch)))))
			})
		}
	}
}

func TestAdditionsKeepOwned(t *testing.T) {
	sealCases(t, "testdata/seal/additions.yaml", func(t *testing.T, before, after seal.Seal) {
		require.NotEqual(t, before.Full, after.Full)
		require.Equal(t, before.Owned, after.Owned)
	})
}

func TestEditsBreakSeals(t *testing.T) {
	sealCases(t, "testdata/seal/edits.yaml", func(t *testing.T, before, after seal.Seal) {
		require.NotEqual(t, before.Full, after.Full)
		require.NotEqual(t, before.Owned, after.Owned)
	})
}

// unsealed are the values that no seal covers, unowned those that admission plugins may change in a fresh rendering.
var (
	unsealed = regexp.MustCompile(`^(/status|/metadata/(annotations|labels)/(celld.eric.dev/seal|[^/]*(kustomize|nginx|cert-manager)[^/]*/.*))`)
	unowned  = regexp.MustCompile(`^/spec/template/spec/(nodeSelector|tolerations|imagePullSecrets)/|` +
		`^/spec/template/metadata/(labels|annotations)/(team|prometheus.io/scrape|example.com/note|app.kubernetes.io/instance|kubectl.kubernetes.io/default-container)$`)
)

// TestSealsCoverEveryValue changes and removes each value of each object of cases that set every option.
func TestSealsCoverEveryValue(t *testing.T) {
	seen := map[seal.Seal]bool{}
	for _, name := range []string{"placement-options", "endpoint-http", "resources", "env", "pod-metadata", "telemetry", "network",
		"restart-token", "image-pull-secrets", "routing-gateway", "routing-ingress", "bucket", "bucket-paused", "bucket-ordered"} {
		t.Run(name, func(t *testing.T) {
			for _, o := range mustRender(t, goldenFleet(t, name))[1:] {
				text, before := sealed(t, name, idOf(o).Kind+"/"+idOf(o).Name)
				if seen[before] {
					continue // most objects are the same in several cases
				}
				seen[before] = true
				var object any
				require.NoError(t, json.Unmarshal(text, &object))
				eachLeaf(object, "", func(path string, old any, set func(any), remove func()) {
					if old == nil {
						return
					}
					for change, apply := range map[string]func(){"changed": func() { set(other(old)) }, "removed": remove} {
						apply()
						after := sealOf(t, asJSON(t, object))
						require.Equal(t, unsealed.MatchString(path), before.Full == after.Full, "full, %s: %s %s", idOf(o), path, change)
						require.Equal(t, unsealed.MatchString(path) || unowned.MatchString(path), before.Owned == after.Owned,
							"owned, %s: %s %s", idOf(o), path, change)
						set(old)
					}
				})
			}
		})
	}
}

// FuzzSealOf digests any bytes without a panic, and the same whatever the order of keys.
func FuzzSealOf(f *testing.F) {
	for _, name := range []string{"quickstart", "bucket", "routing-ingress"} {
		for _, o := range mustRender(f, goldenFleet(f, name))[1:] {
			f.Add(asJSON(f, o.Typed))
		}
	}
	for _, text := range []string{
		``, `{`, `[]`, `null`, `"x"`, `{"kind":"StatefulSet"}`, `{"kind":"StatefulSet","metadata":[],"spec":"x"}`,
		`{"kind":"Deployment","metadata":{"labels":null,"annotations":[]},"spec":{"template":{"metadata":1,"spec":{"containers":{"a":1},"volumes":[1,null,{"emptyDir":[]}]}}}}`,
		`{"kind":"StatefulSet","spec":{"volumeClaimTemplates":[null,{"spec":{"resources":{"requests":["1Gi"],"limits":{"a":{}}}}}]}}`,
		`{"kind":"StatefulSet","spec":{"template":{"spec":{"containers":[{"name":"celld","env":{},"resources":{"limits":{"cpu":"12345678901234567890e999999999"}}}]}}}}`,
		`{"kind":"Service","spec":{"clusterIP":1,"clusterIPs":"x"}}`, `{"kind":"StatefulSet","kind":"Service"}`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := seal.Of(text)
		if err != nil {
			require.Zero(t, found)
			return
		}
		parsed, err := seal.Parse(found.String())
		require.NoError(t, err)
		require.Equal(t, found, parsed)
		again, err := seal.Of(slices.Concat([]byte(" "), text, []byte("\n")))
		require.NoError(t, err)
		require.Equal(t, found, again)
	})
}
