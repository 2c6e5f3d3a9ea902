// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/containers"
)

type ctx = context.Context

const (
	root   = "../../.."
	system = "fleetwright-system"
)

var (
	shared = cluster.Shared{Needs: []cluster.Capability{cluster.Nodes}}
	runs   sync.Once
)

// newCluster returns the cluster of this package, with nodes for Pods, and runs
// the programs that get installed.
func newCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	c.World(t)
	runs.Do(func() { containers.Run(t, c) })
	return c
}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// path is a file of the repository.
func path(t *testing.T, name string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(root, name))
	require.NoError(t, err)
	return absolute
}

// manifest returns the objects of the plain YAML.
func manifest(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path(t, "dist/install.yaml"))
	require.NoError(t, err)
	objects, err := cluster.Decode(text)
	require.NoError(t, err)
	require.Greater(t, len(objects), 15)
	return objects
}

// kubectl runs a command that must succeed without a warning.
func kubectl(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	stdout, stderr, err := c.Kubectl(t, nil, args...)
	require.NoError(t, err, "kubectl %s: %s", strings.Join(args, " "), stderr)
	require.Empty(t, stderr)
	return stdout
}

// versions returns the resource version of each object of a list, by its name.
func versions(t *testing.T, c *cluster.Cluster, objects []*unstructured.Unstructured) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, object := range objects {
		live := object.DeepCopy()
		require.NoError(t, c.Client.Get(t.Context(), client.ObjectKeyFromObject(object), live), nameOf(object))
		out[nameOf(object)] = live.GetResourceVersion()
	}
	return out
}

func nameOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// inventory lists what there is in the whole cluster of the kinds that people
// and tools install, without what the control plane makes of it by itself.
func inventory(t *testing.T, c *cluster.Cluster) []string {
	t.Helper()
	kinds := []schema.GroupVersionKind{
		{Version: "v1", Kind: "Namespace"}, {Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ServiceAccount"},
		{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Pod"},
		{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "ReplicaSet"},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	}
	var out []string
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		require.NoError(t, c.Client.List(t.Context(), list))
		require.NoError(t, meta.EachListItem(list, func(o runtime.Object) error {
			u := o.(*unstructured.Unstructured)
			if strings.Contains(u.GetNamespace()+u.GetName(), "fleetwright") || strings.HasSuffix(u.GetName(), ".celld.eric.dev") {
				out = append(out, nameOf(u))
			}
			return nil
		}))
	}
	return out
}
