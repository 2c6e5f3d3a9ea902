// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// TestInvariants checks what holds for everything that render prints, on every golden case.
func TestInvariants(t *testing.T) {
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			fleet := goldenFleet(t, name)
			objects := mustRender(t, fleet)
			requireOrder(t, fleet, objects)
			requireSelectors(t, fleet, objects)
			for i := range objects {
				requireClean(t, &objects[i])
			}
			for i := range objects[1:] {
				requireMarked(t, fleet, &objects[1:][i])
			}
		})
	}
}

// requireOrder checks which objects there are, in which order.
func requireOrder(t testing.TB, f v1alpha1.Fleet, objects render.Objects) {
	t.Helper()
	workload := "StatefulSet"
	if b, ok := f.(*v1alpha1.BucketFleet); ok && b.Spec.Workload != v1alpha1.WorkloadOrdered {
		workload = "Deployment"
	}
	want := []string{f.Kind() + " fleets/my-fleet", workload + " fleets/my-fleet", "PodDisruptionBudget fleets/my-fleet",
		"NetworkPolicy fleets/my-fleet", "Service fleets/my-fleet", "Service fleets/my-fleet-peers"}
	switch r := f.Shared().Routing; {
	case r.Gateway != nil:
		want = append(want, "HTTPRoute fleets/my-fleet-routing", "NetworkPolicy fleets/my-fleet-routing")
	case r.Ingress != nil:
		want = append(want, "Ingress fleets/my-fleet-routing", "NetworkPolicy fleets/my-fleet-routing")
	}
	var got []string
	for _, o := range objects {
		got = append(got, idOf(o).String())
	}
	require.Equal(t, want, got)
}

// requireClean checks the text of an object: it decodes strictly into its type, and holds nothing that a server or a sync
// tool would take away again.
func requireClean(t testing.TB, o *render.Object) {
	t.Helper()
	text := o.YAML
	typed, ok := reflect.New(reflect.TypeOf(o.Typed).Elem()).Interface().(runtime.Object)
	require.True(t, ok)
	require.NoError(t, yaml.UnmarshalStrict(text, typed), "%s", text)
	require.Empty(t, cmp.Diff(canonical(t, o.Typed), canonical(t, typed)), "the type and the text of %s differ", idOf(*o))

	asJSON, err := yaml.YAMLToJSONStrict(text)
	require.NoError(t, err)
	n, err := tree.FromJSON(asJSON)
	require.NoError(t, err)
	require.Nil(t, n.Get("status"))
	require.Nil(t, n.Get("metadata", "ownerReferences"))
	require.Nil(t, n.Get("metadata", "labels", "app.kubernetes.io/instance"), "some sync tools overwrite it")
	if idOf(*o).Group == "apps" {
		require.Nil(t, n.Get("spec", "replicas"), "the healer owns it")
	}
	n.Walk(func(n *tree.Node) bool {
		require.NotEqual(t, tree.Null, n.Kind)
		for _, f := range n.Fields {
			require.NotContains(t, []string{"creationTimestamp", "ownerReferences"}, f.Key)
			if f.Key == "labels" || f.Key == "annotations" || f.Key == "matchLabels" {
				require.NotEmpty(t, f.Value.Fields, f.Key)
			}
		}
		return true
	})
	for _, r := range string(text) {
		require.True(t, r == '\n' || r >= ' ' && r != 0x7f, "control character %q", r)
	}
}

func canonical(t testing.TB, object any) []string {
	t.Helper()
	return strings.Split(string(tree.AppendYAML(nil, tree.Of(object))), "\n")
}

// requireMarked checks the labels and the seal of an object, and of the Pod template in it.
func requireMarked(t testing.TB, f v1alpha1.Fleet, o *render.Object) {
	t.Helper()
	want := map[string]string{
		"celld.eric.dev/fleet-uid": render.Identity(f), "celld.eric.dev/fleet": "my-fleet",
		"app.kubernetes.io/name": "celld", "app.kubernetes.io/managed-by": "fleetwright",
	}
	meta, ok := o.Typed.(metav1.Object)
	require.True(t, ok)
	require.Equal(t, want, meta.GetLabels())
	_, err := seal.Parse(meta.GetAnnotations()["celld.eric.dev/seal"])
	require.NoError(t, err)
	if template := templateOf(o.Typed); template != nil {
		require.Equal(t, render.SpecDigest(f), meta.GetAnnotations()["celld.eric.dev/spec-digest"])
		require.Subset(t, template.Labels, want)
		require.Contains(t, template.Annotations, "kubectl.kubernetes.io/default-container")
	}
}

// templateOf returns the Pod template of a workload, nil for anything else.
func templateOf(o runtime.Object) *corev1.PodTemplateSpec {
	switch w := o.(type) {
	case *appsv1.StatefulSet:
		return &w.Spec.Template
	case *appsv1.Deployment:
		return &w.Spec.Template
	default:
		return nil
	}
}

// requireSelectors checks that everything that means the fleet's Pods means them by identity alone, and finds them.
func requireSelectors(t testing.TB, f v1alpha1.Fleet, objects render.Objects) {
	t.Helper()
	identity := map[string]string{"celld.eric.dev/fleet-uid": render.Identity(f)}
	byLabels := metav1.LabelSelector{MatchLabels: identity}
	var selectors []metav1.LabelSelector
	for _, o := range objects[1:] {
		switch x := o.Typed.(type) {
		case *appsv1.StatefulSet:
			selectors = append(selectors, *x.Spec.Selector)
			for _, claim := range x.Spec.VolumeClaimTemplates {
				require.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, claim.TypeMeta)
				require.Equal(t, identity, claim.Labels)
			}
		case *appsv1.Deployment:
			selectors = append(selectors, *x.Spec.Selector)
		case *policyv1.PodDisruptionBudget:
			selectors = append(selectors, *x.Spec.Selector)
		case *networkingv1.NetworkPolicy:
			selectors = append(selectors, x.Spec.PodSelector)
		case *corev1.Service:
			require.Equal(t, identity, x.Spec.Selector)
		}
		if template := templateOf(o.Typed); template != nil {
			selectors = append(selectors, podSelectors(template)...)
			require.True(t, labels.SelectorFromSet(identity).Matches(labels.Set(template.Labels)))
		}
	}
	require.GreaterOrEqual(t, len(selectors), 3)
	for _, s := range selectors {
		require.Equal(t, byLabels, s)
	}
}

func podSelectors(template *corev1.PodTemplateSpec) []metav1.LabelSelector {
	var out []metav1.LabelSelector
	hosts := template.Spec.Affinity.PodAntiAffinity
	for _, term := range hosts.RequiredDuringSchedulingIgnoredDuringExecution {
		out = append(out, *term.LabelSelector)
	}
	for _, term := range hosts.PreferredDuringSchedulingIgnoredDuringExecution {
		out = append(out, *term.PodAffinityTerm.LabelSelector)
	}
	for _, c := range template.Spec.TopologySpreadConstraints {
		out = append(out, *c.LabelSelector)
	}
	return out
}
