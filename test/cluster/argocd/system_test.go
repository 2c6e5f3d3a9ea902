// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/pages"
	"github.com/fleetwright/fleetwright/test/cluster/playground"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// namespace is Argo CD's.
const namespace = "argocd"

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
	reader    *pages.Reader
	chart     string                       // repository that Fleetwright is installed from
	installed []*unstructured.Unstructured // what Argo CD is, with our component
}

// newSystem makes one that lasts as long as a test.
func newSystem(t *testing.T) *system {
	t.Helper()
	c := shared.Cluster(t)
	s := &system{World: playground.Start(t, c)}
	s.reader = pages.NewReader(t, c)
	s.fetch(t)
	s.installArgo(t)
	s.programs = startPrograms(t, c, s.plugin(t))
	return s
}

// fetch puts into the reader's clone what the installation of the example
// would fetch: the manifest of the version under test.
func (s *system) fetch(t *testing.T) {
	t.Helper()
	const remote = "https://raw.githubusercontent.com/argoproj/argo-cd/v3.2.0/manifests/install.yaml"
	dir := filepath.Join(s.reader.Dir, "examples/argocd/install")
	text := read(t, "examples/argocd/install/kustomization.yaml")
	require.Contains(t, text, remote)
	write(t, filepath.Join(dir, "kustomization.yaml"), strings.Replace(text, remote, "install.yaml", 1))
	manifest, err := os.ReadFile(filepath.Join(argoModule(t), "manifests", "install.yaml"))
	require.NoError(t, err)
	write(t, filepath.Join(dir, "install.yaml"), string(manifest))
}

// installArgo applies the installation of the example. Its Pods are only
// played; the programs of this test are told to work in their stead.
func (s *system) installArgo(t *testing.T) {
	t.Helper()
	dir := filepath.Join(s.reader.Dir, "examples/argocd/install")
	var err error
	s.installed, err = cluster.Decode([]byte(s.MustKubectl(t, "kustomize", dir)))
	require.NoError(t, err)
	s.MustKubectl(t, "apply", "--server-side", "-k", dir)
	for _, kind := range []string{"AppProject", "Application", "ApplicationSet"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: kind})
		cluster.Wait(t, kind+" to be served", func(ctx ctx) (bool, string) {
			err := s.Client.List(ctx, list)
			return err == nil, fmt.Sprint(err)
		})
	}
	// argocd-server, which is not here, would write these.
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "argocd-secret"}}
	key := client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"server.secretkey":"test"}}`))
	require.NoError(t, s.Client.Patch(t.Context(), secret, key))
	require.NoError(t, s.Client.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": map[string]any{"namespace": namespace, "name": "default"},
		"spec": map[string]any{
			"sourceRepos": []any{"*"}, "destinations": []any{map[string]any{"namespace": "*", "server": "*"}},
			"clusterResourceWhitelist": []any{map[string]any{"group": "*", "kind": "*"}},
		},
	}}))
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

// waitGone waits until an object is gone.
func (s *system) waitGone(t testing.TB, object client.Object) {
	t.Helper()
	cluster.Wait(t, object.GetName()+" to be gone", s.Gone(object))
}
