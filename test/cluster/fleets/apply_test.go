// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// An applier is a way to apply objects. It returns whether it says that it
// changed them, for those of which it knows.
type applier func(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) map[string]bool

var appliers = map[string]applier{
	"kubectl apply --server-side": func(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) map[string]bool {
		kubectlApply(t, c, objects, "--server-side")
		return nil // it says the same whether there was a change or not
	},
	"kubectl apply": func(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) map[string]bool {
		said := kubectlApply(t, c, objects)
		changed := map[string]bool{}
		lines := strings.Split(strings.TrimSpace(said), "\n")
		require.Len(t, lines, len(objects))
		for i, line := range lines {
			if !alwaysPatched[objects[i].GetKind()] {
				changed[identify(objects[i])] = !strings.HasSuffix(line, " unchanged")
			}
		}
		return changed
	},
	"Flux": fluxApply,
}

// alwaysPatched are the kinds for which client-side apply sends a patch, and
// says "configured", whether it changes anything or not: a budget's selector is
// declared to be replaced, not merged, and the API server adds a status to claim
// templates, which are compared as a whole.
var alwaysPatched = map[string]bool{"PodDisruptionBudget": true, "StatefulSet": true}

func kubectlApply(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured, flags ...string) string {
	t.Helper()
	var manifest bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		require.NoError(t, err)
		manifest.WriteString("---\n")
		manifest.Write(text)
	}
	stdout, stderr, err := c.Kubectl(t, manifest.Bytes(), append([]string{"apply", "-f", "-"}, flags...)...)
	require.NoError(t, err, stderr)
	require.Empty(t, stderr)
	return stdout
}

func fluxApply(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) map[string]bool {
	t.Helper()
	manager := ssa.NewResourceManager(c.Client, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	copies := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		copies[i] = object.DeepCopy()
	}
	manager.SetOwnerLabels(copies, "fleets", "flux-system")
	set, err := manager.ApplyAllStaged(t.Context(), copies, ssa.DefaultApplyOptions())
	require.NoError(t, err)
	changed := map[string]bool{}
	for _, entry := range set.Entries {
		changed[entry.Subject] = entry.Action != ssa.UnchangedAction
	}
	return changed
}

// identify names an object as Flux does.
func identify(object *unstructured.Unstructured) string {
	return object.GetKind() + "/" + object.GetNamespace() + "/" + object.GetName()
}

// What render prints is what the server stores, whoever applies it, and a
// second sync finds nothing to do. The controllers are stopped meanwhile: only
// then is a new resource version the doing of the sync tool. Not parallel, for
// that reason.
func TestApplyTwice(t *testing.T) {
	c := newCluster(t)
	c.StopControllers(t)
	for method, apply := range appliers {
		t.Run(method, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			byExample := map[string][]*unstructured.Unstructured{}
			for _, e := range examples(t) {
				namespace := newNamespace(t, c)
				byExample[e.name] = rendered(t, inNamespace(e.fleet, namespace))
				objects = append(objects, byExample[e.name]...)
			}

			changed := apply(t, c, objects)
			first := readAll(t, c, objects)
			again := apply(t, c, objects)
			second := readAll(t, c, objects)
			for name, objects := range byExample {
				t.Run(name, func(t *testing.T) {
					for _, object := range objects {
						id := identify(object)
						require.Equal(t, first[id].GetResourceVersion(), second[id].GetResourceVersion(),
							"%s: the second sync changed it", id)
						if says, known := changed[id]; known {
							require.True(t, says, "%s is new", id)
							require.False(t, again[id], "%s: the second sync says that it changed it", id)
						}
						requireSealed(t, object, second[id])
					}
				})
			}
		})
	}
}

// requireSealed checks that the seal of what the server stores is the one that
// it was rendered with.
func requireSealed(t *testing.T, printed, stored *unstructured.Unstructured) {
	t.Helper()
	if printed.GroupVersionKind().Group == v1alpha1.GroupVersion.Group {
		return // the fleet itself has none
	}
	want, err := seal.Parse(printed.GetAnnotations()[v1alpha1.AnnotationSeal])
	require.NoError(t, err)
	text, err := stored.MarshalJSON()
	require.NoError(t, err)
	got, err := seal.Of(text)
	require.NoError(t, err)
	require.Equal(t, want, got, "%s", text)
}

func readAll(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	t.Helper()
	read := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		stored := &unstructured.Unstructured{}
		stored.SetGroupVersionKind(object.GroupVersionKind())
		require.NoError(t, c.Client.Get(t.Context(), client.ObjectKeyFromObject(object), stored))
		read[identify(object)] = stored
	}
	return read
}

// newNamespace makes a namespace for objects that nobody has to run.
func newNamespace(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "apply-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	require.NoError(t, c.Client.Create(t.Context(), namespace))
	return namespace.Name
}
