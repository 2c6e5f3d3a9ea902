// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/containers"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// namespace is Argo CD's.
const namespace = "argocd"

// What docs/argocd.md installs.
const (
	argoManifest  = "https://raw.githubusercontent.com/argoproj/argo-cd/v3.2.0/manifests/install.yaml"
	argoComponent = "github.com/fleetwright/fleetwright//config/argocd?ref=v0.1.0"
)

// argoModule is where the sources of the version under test are.
func argoModule(t testing.TB) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-cd/v3")
	list.Dir = path(t, "test/cluster/build-argocd")
	dir, err := list.Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(dir))
}

// system is a cluster in which Argo CD works and has installed Fleetwright.
type system struct {
	*cluster.World
	*programs
	installed []*unstructured.Unstructured // what Argo CD is, with our component
}

// newSystem makes one that lasts as long as a test.
func newSystem(t *testing.T) *system {
	t.Helper()
	c := shared.Cluster(t)
	s := &system{World: c.WorldInZones(t, "us-east-1a", "us-east-1b", "us-east-1c")}
	for _, zone := range s.Zones[:2] {
		s.AddNode(zone)
	}
	s.provideStorage(t)
	containers.Run(t, c)
	s.installArgo(t)
	s.programs = startPrograms(t, c, s.plugin(t))
	return s
}

// provideStorage makes the class that the examples name.
func (s *system) provideStorage(t *testing.T) {
	t.Helper()
	class := &storagev1.StorageClass{}
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKey{Name: cluster.StorageClass}, class))
	class.ObjectMeta = metav1.ObjectMeta{Name: "ebs-delete"}
	require.NoError(t, s.Client.Create(t.Context(), class))
}

// installArgo builds the kustomization that docs/argocd.md shows, with the
// manifest of the version under test and the component that ships, and applies
// what the programs of this test read. The rest is tried, by a dry run: its
// Pods would only be played.
func (s *system) installArgo(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	page := read(t, "docs/argocd.md")
	text := block(t, page, "yaml", "kind: Kustomization")
	for remote, local := range map[string]string{argoManifest: "install.yaml", argoComponent: "component"} {
		require.Contains(t, text, remote)
		text = strings.Replace(text, remote, local, 1)
	}
	write(t, filepath.Join(dir, "kustomization.yaml"), text)
	manifest, err := os.ReadFile(filepath.Join(argoModule(t), "manifests", "install.yaml"))
	require.NoError(t, err)
	write(t, filepath.Join(dir, "install.yaml"), string(manifest))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "component"), os.DirFS(path(t, "config/argocd"))))

	built := s.kubectl(t, "", "kustomize", dir)
	s.installed, err = cluster.Decode([]byte(built))
	require.NoError(t, err)
	require.NoError(t, s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	s.kubectl(t, built, "apply", "--server-side", "--dry-run=server", "-f", "-")
	needed := []string{"CustomResourceDefinition", "ConfigMap", "Secret"}
	for _, object := range s.installed {
		if slices.Contains(needed, object.GetKind()) {
			require.NoError(t, s.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test")))
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "argocd-secret"}}
	key := client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"server.secretkey":"test"}}`))
	require.NoError(t, s.Client.Patch(t.Context(), secret, key)) // argocd-server would write it
	for _, kind := range []string{"AppProject", "Application", "ApplicationSet"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: kind})
		cluster.Wait(t, kind+" to be served", func(ctx ctx) (bool, string) {
			err := s.Client.List(ctx, list)
			return err == nil, fmt.Sprint(err)
		})
	}
	project := &unstructured.Unstructured{Object: map[string]any{ // and this
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": map[string]any{"namespace": namespace, "name": "default"},
		"spec": map[string]any{
			"sourceRepos": []any{"*"}, "destinations": []any{map[string]any{"namespace": "*", "server": "*"}},
			"clusterResourceWhitelist": []any{map[string]any{"group": "*", "kind": "*"}},
		},
	}}
	require.NoError(t, s.Client.Create(t.Context(), project))
}

// plugin is the plugin's configuration as the sidecar gets it, but for the
// place of the command.
func (s *system) plugin(t *testing.T) string {
	t.Helper()
	text, _, err := unstructured.NestedString(s.pluginMap(t).Object, "data", "plugin.yaml")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(text, "[/fleetwright, render]"))
	require.Contains(t, read(t, "Dockerfile"), `ENTRYPOINT ["/fleetwright"]`, "that is where the image has it")
	return strings.Replace(text, "/fleetwright", program.Build(t, s.Cluster, "fleetwright"), 1)
}

// pluginMap is the ConfigMap that the sidecar mounts.
func (s *system) pluginMap(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	for _, volume := range s.repoServer(t).Spec.Template.Spec.Volumes {
		if volume.Name == "fleetwright-plugin" {
			return s.find(t, "ConfigMap", volume.ConfigMap.Name)
		}
	}
	require.FailNow(t, "the repo server has no volume of the plugin")
	return nil
}

func (s *system) repoServer(t *testing.T) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(s.find(t, "Deployment", "argocd-repo-server").Object, d))
	return d
}

func (s *system) find(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range s.installed {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	require.FailNow(t, "nothing is installed that is called so", "%s %s", kind, name)
	return nil
}

// kubectl runs a command that must succeed.
func (s *system) kubectl(t testing.TB, input string, args ...string) string {
	t.Helper()
	stdout, stderr, err := s.Kubectl(t, []byte(input), args...)
	require.NoError(t, err, "kubectl %s: %s", strings.Join(args, " "), stderr)
	return stdout
}

// block is the fenced block of a page that holds a text.
func block(t testing.TB, page, language, holds string) string {
	t.Helper()
	for _, text := range strings.Split(page, "```"+language+"\n")[1:] {
		if text, _, _ = strings.Cut(text, "```"); strings.Contains(text, holds) {
			return text
		}
	}
	require.FailNow(t, "the page has no such block", "%s", holds)
	return ""
}

// waitGone waits until an object is gone.
func (s *system) waitGone(t testing.TB, object client.Object) {
	t.Helper()
	cluster.Wait(t, object.GetName()+" to be gone", s.Gone(object))
}
