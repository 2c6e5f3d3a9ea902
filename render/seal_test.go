// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/seal"
)

// sealed returns the object of a golden case, named as "Kind/name", as the API server would get it, and its seal.
func sealed(t testing.TB, name, object string) ([]byte, seal.Seal) {
	t.Helper()
	for _, o := range mustRender(t, goldenFleet(t, name)) {
		if idOf(o).Kind+"/"+idOf(o).Name != object {
			continue
		}
		meta, ok := o.Typed.(metav1.Object)
		require.True(t, ok)
		found, err := seal.Parse(meta.GetAnnotations()["celld.eric.dev/seal"])
		require.NoError(t, err)
		return asJSON(t, o.Typed), found
	}
	require.Fail(t, "no such object", "%s in %s", object, name)
	return nil, seal.Seal{}
}

func sealOf(t testing.TB, object []byte) seal.Seal {
	t.Helper()
	found, err := seal.Of(object)
	require.NoError(t, err)
	return found
}

// patched applies a JSON patch (RFC 6902), written in YAML.
func patched(t testing.TB, object []byte, patch string) []byte {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict([]byte(patch))
	require.NoError(t, err, patch)
	operations, err := jsonpatch.DecodePatch(text)
	require.NoError(t, err, patch)
	out, err := operations.Apply(object)
	require.NoError(t, err, patch)
	return out
}

// TestSealsOfWhatIsPrinted reads both forms of every object: the typed one, with its nulls and empty objects, and the text.
func TestSealsOfWhatIsPrinted(t *testing.T) {
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			for _, o := range mustRender(t, goldenFleet(t, name))[1:] {
				asJSON, want := sealed(t, name, idOf(o).Kind+"/"+idOf(o).Name)
				require.Equal(t, want, sealOf(t, asJSON), idOf(o))
				text, err := yaml.YAMLToJSONStrict(o.YAML)
				require.NoError(t, err)
				require.Equal(t, want, sealOf(t, text), idOf(o))
			}
		})
	}
}

// TestSealsOfWhatIsStored adds what the API server, its controllers and sync tools add. None of it breaks a seal.
func TestSealsOfWhatIsStored(t *testing.T) {
	const server = `
- {op: add, path: /metadata/uid, value: 5f3c}
- {op: add, path: /metadata/resourceVersion, value: "12"}
- {op: add, path: /metadata/generation, value: 3}
- {op: add, path: /metadata/creationTimestamp, value: "2026-01-01T00:00:00Z"}
- {op: add, path: /metadata/managedFields, value: [{manager: argocd-controller, operation: Apply}]}
- {op: add, path: /metadata/labels/app.kubernetes.io~1instance, value: fleets}
- {op: add, path: /metadata/annotations/argocd.argoproj.io~1tracking-id, value: "fleets:apps/StatefulSet:fleets/my-fleet"}
- {op: add, path: /metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration, value: "{}"}
- {op: add, path: /metadata/annotations/deployment.kubernetes.io~1revision, value: "4"}
- {op: add, path: /metadata/labels/kustomize.toolkit.fluxcd.io~1name, value: fleets}
- {op: add, path: /status, value: {replicas: 3, observedGeneration: 3, loadBalancer: {}}}
`
	const workload = server + `
- {op: add, path: /spec/replicas, value: 3}
- {op: add, path: /spec/template/metadata/creationTimestamp, value: null}
- {op: add, path: /spec/template/spec/serviceAccount, value: celld-runtime}
- {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 1024Mi}
- {op: replace, path: /spec/template/spec/containers/0/resources/requests/cpu, value: 0.25}
`
	tests := map[string]struct{ golden, object, patch string }{
		"StatefulSet": {"quickstart", "StatefulSet/my-fleet", workload + `
- {op: add, path: /spec/volumeClaimTemplates/0/status, value: {phase: Pending}}
- {op: add, path: /spec/volumeClaimTemplates/0/metadata/creationTimestamp, value: null}
- {op: replace, path: /spec/volumeClaimTemplates/0/spec/resources/requests/storage, value: 10240Mi}
- {op: add, path: /spec/updateStrategy/rollingUpdate/maxUnavailable, value: 1}
`},
		"StatefulSet with its limit as text": {"quickstart", "StatefulSet/my-fleet", workload + `
- {op: add, path: /spec/updateStrategy/rollingUpdate/maxUnavailable, value: "1"}
`},
		"paused StatefulSet": {"paused", "StatefulSet/my-fleet", workload},
		"Deployment": {"bucket", "Deployment/my-fleet", workload + `
- {op: replace, path: /spec/template/spec/volumes/0/emptyDir/sizeLimit, value: 10240Mi}
`},
		"Ordered": {"bucket-ordered", "StatefulSet/my-fleet", workload},
		"Service": {"quickstart", "Service/my-fleet", server + `
- {op: add, path: /spec/clusterIP, value: 10.0.0.7}
- {op: add, path: /spec/clusterIPs, value: [10.0.0.7]}
- {op: add, path: /spec/ipFamilies, value: [IPv4]}
`},
		"headless Service": {"quickstart", "Service/my-fleet-peers", server + `
- {op: add, path: /spec/clusterIPs, value: [None]}
- {op: add, path: /spec/ipFamilies, value: [IPv6]}
`},
		"PodDisruptionBudget": {"quickstart", "PodDisruptionBudget/my-fleet", server},
		"NetworkPolicy":       {"network", "NetworkPolicy/my-fleet", server},
		"HTTPRoute":           {"routing-gateway", "HTTPRoute/my-fleet-routing", server},
		"Ingress":             {"routing-ingress", "Ingress/my-fleet-routing", server},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object, want := sealed(t, tc.golden, tc.object)
			require.Equal(t, want, sealOf(t, patched(t, object, tc.patch)))
			for _, operation := range strings.Split(strings.TrimSpace(tc.patch), "\n") {
				require.Equal(t, want, sealOf(t, patched(t, object, operation)), operation)
			}
			var sorted map[string]any
			require.NoError(t, json.Unmarshal(object, &sorted))
			require.Equal(t, want, sealOf(t, asJSON(t, sorted)), "the order of keys")
		})
	}
}

// TestSealText holds the format of the annotation: stored objects carry it.
func TestSealText(t *testing.T) {
	const text = "v1 full=0123456789abcdef0123456789abcdef owned=fedcba9876543210fedcba9876543210"
	found, err := seal.Parse(text)
	require.NoError(t, err)
	require.Equal(t, seal.Seal{Full: "0123456789abcdef0123456789abcdef", Owned: "fedcba9876543210fedcba9876543210"}, found)
	require.Equal(t, text, found.String())
	for _, bad := range []string{
		"", "v1", "v2" + text[2:], text + " ", " " + text, text + "\n", strings.ToUpper(text), text[:len(text)-1],
		"v1 owned=" + found.Owned + " full=" + found.Full, fmt.Sprint(found.Full, found.Owned),
	} {
		_, err := seal.Parse(bad)
		require.ErrorContains(t, err, "render the object again", "%q", bad)
	}
}

func FuzzParseSeal(f *testing.F) {
	f.Add("v1 full=0123456789abcdef0123456789abcdef owned=fedcba9876543210fedcba9876543210")
	f.Add("v1 full= owned=")
	f.Fuzz(func(t *testing.T, text string) {
		if found, err := seal.Parse(text); err == nil {
			require.Equal(t, text, found.String())
		}
	})
}
