// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// noPlugin is an Application that names no plugin.
func noPlugin(o *unstructured.Unstructured) {
	unstructured.RemoveNestedField(o.Object, "spec", "source", "plugin")
}

// parameters hands pairs of a name and a value to the plugin.
func parameters(t *testing.T, pairs ...string) func(*unstructured.Unstructured) {
	return func(o *unstructured.Unstructured) {
		var list []any
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, map[string]any{"name": pairs[i], "string": pairs[i+1]})
		}
		require.NoError(t, unstructured.SetNestedSlice(o.Object, list, "spec", "source", "plugin", "parameters"))
	}
}

// testDiscovery has Applications that name no plugin: one with a fleet, and
// one whose directory is somebody else's.
func (s *system) testDiscovery(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "discovered")
	revision := f.commit("A fleet")
	f.start(noPlugin)
	f.waitSynced(revision, "Healthy")
	require.Equal(t, "Plugin", f.SourceType)
	f.waitReplicas(3)

	other := s.newFleet(t, "not-discovered")
	other.write(directory+"/fleet-server.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: somebodys\n")
	other.remove("fleet.yaml")
	revision = other.commit("No fleet")
	other.start(noPlugin)
	other.waitSynced(revision, "Healthy")
	require.Equal(t, "Directory", other.SourceType)
}

// testOverlay renders an overlay of kustomize, which holds no fleet file.
func (s *system) testOverlay(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "overlay")
	f.write(directory+"/kustomization.yaml", "resources: [fleet.yaml, account.yaml]\n")
	f.write("overlay/kustomization.yaml", "resources: [../"+directory+"]\nreplicas: [{name: my-fleet, count: 4}]\n")
	f.write("overlay/.fleet.yaml", "")
	revision := f.commit("An overlay")
	f.start(func(o *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(o.Object, "overlay", "spec", "source", "path"))
	})
	f.waitSynced(revision, "Healthy")
	f.waitReplicas(4)
}

// testApplicationSet has the set of the example make an Application for each
// directory, and takes one away again.
func (s *system) testApplicationSet(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "set-a")
	f.remove("fleet.yaml")
	f.remove("account.yaml")
	for _, name := range []string{"set-a", "set-b"} {
		f.write("fleets/"+name+"/fleet.yaml", quickstart(t, name))
		f.write("fleets/"+name+"/account.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: celld-runtime\n")
	}
	revision := f.commit("Two fleets")

	set := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, "examples/argocd/applicationset.yaml")), &set.Object))
	generators, _, err := unstructured.NestedSlice(set.Object, "spec", "generators")
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedField(generators[0].(map[string]any), f.url(), "git", "repoURL"))
	require.NoError(t, unstructured.SetNestedSlice(set.Object, generators, "spec", "generators"))
	require.NoError(t, unstructured.SetNestedField(set.Object, f.url(), "spec", "template", "spec", "source", "repoURL"))
	require.NoError(t, s.Client.Create(t.Context(), set))
	t.Cleanup(func() { require.NoError(t, s.Client.Delete(context.WithoutCancel(t.Context()), set)) })

	for _, name := range []string{"set-a", "set-b"} {
		a := &application{t: t, c: s.Cluster, object: named(name)}
		a.waitSynced(revision, "Healthy")
	}

	f.git("rm", "--quiet", "-r", "fleets/set-b")
	f.commit("One directory less")
	refresh := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"argocd.argoproj.io/application-set-refresh":"true"}}}`))
	require.NoError(t, s.Client.Patch(t.Context(), set, refresh))
	s.waitGone(t, named("set-b"))
	stays := &fleet{t: t, s: s, namespace: "set-b"}
	require.Nil(t, stays.set().DeletionTimestamp)
	require.Len(t, stays.claims(), 3)
}

func named(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("argoproj.io/v1alpha1")
	object.SetKind("Application")
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}
