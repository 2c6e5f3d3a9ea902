// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func TestRenderLeavesTheFleetAlone(t *testing.T) {
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			f := goldenFleet(t, name)
			before := string(asJSON(t, f))
			objects := mustRender(t, f)
			_, _ = render.SpecDigest(f), render.Identity(f)
			require.Equal(t, before, string(asJSON(t, f)))

			// What comes back is the caller's own: changing it reaches neither the fleet nor a second rendering.
			first := string(objects.AppendYAML(nil))
			template := templateOf(objects[1].Typed)
			template.Labels["x"], template.Spec.Containers[0].Resources.Requests["x"] = "y", template.Spec.Containers[0].Resources.Requests["cpu"]
			template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values[0] = "x"
			for i := range template.Spec.Tolerations {
				template.Spec.Tolerations[i].Key = "x"
			}
			require.Equal(t, before, string(asJSON(t, f)))
			require.Equal(t, first, string(mustRender(t, f).AppendYAML(nil)))
		})
	}
}

// TestRenderIsDeterministic renders each case many times, at once and with the smallest scheduler. Maps have another order
// each time.
func TestRenderIsDeterministic(t *testing.T) {
	for _, name := range []string{"placement-options", "resources", "pod-metadata", "telemetry", "network", "routing-ingress", "substitution", "bucket"} {
		t.Run(name, func(t *testing.T) {
			f := goldenFleet(t, name)
			want := string(mustRender(t, f).AppendYAML(nil))
			repeat := func() {
				for range 25 {
					objects, err := render.Render(f, render.Options{})
					if err != nil || string(objects.AppendYAML(nil)) != want {
						t.Errorf("another result: %v", err)
					}
				}
			}
			var group sync.WaitGroup
			for range 4 {
				group.Go(repeat)
			}
			group.Wait()
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			repeat()
		})
	}
}

// TestRenderPrintsWhatTheCommandPrints holds the library to the golden files: all but the fleet, which the command prints as
// it was written.
func TestRenderPrintsWhatTheCommandPrints(t *testing.T) {
	for _, name := range goldenCases(t) {
		want, err := os.ReadFile(filepath.Join("testdata", name, "want.yaml"))
		require.NoError(t, err)
		_, workload, _ := strings.Cut(strings.TrimPrefix(string(want), "---\n"), "---\n")
		require.Equal(t, "---\n"+workload, string(mustRender(t, goldenFleet(t, name))[1:].AppendYAML(nil)), name)
	}
}

func TestRenderOptions(t *testing.T) {
	nameless := fleet(t, persistent, `metadata: {namespace: null}`)
	objects, err := render.Render(nameless, render.Options{Namespace: "fleets", HealerNamespace: "ops"})
	require.NoError(t, err)
	require.Empty(t, nameless.GetNamespace())
	for _, o := range objects {
		require.Equal(t, "fleets", idOf(o).Namespace, idOf(o))
	}
	peers := find[*networkingv1.NetworkPolicy](t, objects, "my-fleet").Spec.Ingress[0].From
	require.Equal(t, []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelFleetUID: "4993c22d-076b-51bb-aca4-3d6f3c1bec6a"}}},
		{
			PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "fleetwright-healer"}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "ops"}},
		},
	}, peers)

	named, err := render.Render(fleet(t, persistent), render.Options{Namespace: "other", HealerNamespace: "ops"})
	require.NoError(t, err)
	require.Equal(t, string(named.AppendYAML(nil)), string(objects.AppendYAML(nil)), "a fleet's own namespace comes first")
}

func TestRenderRefusesInvalidFleets(t *testing.T) {
	tests := map[string]struct {
		fleet v1alpha1.Fleet
		want  []string
	}{
		"no namespace":  {fleet(t, persistent, `metadata: {namespace: null}`), []string{"metadata.namespace: Required value"}},
		"empty":         {&v1alpha1.BucketFleet{}, []string{"metadata.name", "metadata.namespace", "spec.runtimeImage", "spec.storage.bucket"}},
		"several wrong": {fleet(t, bucket, `spec: {replicas: 0, runtimeImage: "celld:latest"}`), []string{"spec.replicas", "spec.runtimeImage"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := render.Render(tc.fleet, render.Options{})
			require.Nil(t, objects)
			var invalid *render.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, tc.fleet.Kind(), invalid.Kind)
			for _, text := range tc.want {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

// TestFleetComesFirst checks that the fleet is printed as it came: no defaults, no status, and kind and apiVersion even if
// the caller's object had none.
func TestFleetComesFirst(t *testing.T) {
	f := fleet(t, bucket, `status: {phase: Ready}`)
	f.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(""))
	objects := mustRender(t, f)
	want := fleet(t, bucket)
	require.Equal(t, want, objects[0].Typed)
	require.Empty(t, objects[0].Typed.(v1alpha1.Fleet).GetAnnotations(), "the fleet has no seal")
}

func TestWarnings(t *testing.T) {
	got := map[string][]string{}
	for _, o := range mustRender(t, goldenFleet(t, "substitution")) {
		if len(o.Warnings) > 0 {
			got[idOf(o).String()] = o.Warnings
		}
		text := string(o.YAML)
		require.Equal(t, strings.Contains(text, "${"), strings.Contains(text, "kustomize.toolkit.fluxcd.io/substitute: disabled"), idOf(o))
	}
	warning := `annotation kustomize.toolkit.fluxcd.io/substitute: disabled was added, because the text holds "${", which Flux takes ` +
		`for a variable; write $(NAME) for a variable of the container`
	// The reader marked the fleet itself, and warned.
	require.Equal(t, map[string][]string{"StatefulSet fleets/my-fleet": {warning}, "Ingress fleets/my-fleet-routing": {warning}}, got)
	require.Equal(t, []string{warning}, mustRender(t, fleet(t, persistent, `spec: {env: [{name: CELLD_A, value: "${A}"}]}`))[0].Warnings)
}
