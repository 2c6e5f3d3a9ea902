// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/config/crd"
	"github.com/fleetwright/fleetwright/test/cluster"
)

type ctx = context.Context

var (
	shared   cluster.Shared
	installs sync.Once
)

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// newCluster returns the cluster of this package, with the definitions of
// fleets and of the Gateway API.
func newCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	installs.Do(func() {
		for _, manifest := range append(fleetDefinitions(t), routeDefinition(t)) {
			install(t, c, manifest)
		}
	})
	return c
}

func fleetDefinitions(t *testing.T) [][]byte {
	t.Helper()
	entries, err := crd.Files.ReadDir(".")
	require.NoError(t, err)
	var manifests [][]byte
	for _, entry := range entries {
		manifest, err := crd.Files.ReadFile(entry.Name())
		require.NoError(t, err)
		manifests = append(manifests, manifest)
	}
	require.Len(t, manifests, 3)
	return manifests
}

// routeDefinition is that of HTTPRoute, from the module that the types are of.
func routeDefinition(t *testing.T) []byte {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)),
		"config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"))
	require.NoError(t, err)
	return manifest
}

// install installs a definition and waits until it is served.
func install(t *testing.T, c *cluster.Cluster, manifest []byte) {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict(manifest, &object.Object))
	name := object.GetName()
	require.NoError(t, c.Client.Create(t.Context(), object), name)
	cluster.Wait(t, "CustomResourceDefinition "+name+" to be served", func(ctx ctx) (bool, string) {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		return served(t, object)
	})
}

func served(t *testing.T, object *unstructured.Unstructured) (bool, string) {
	t.Helper()
	text, err := object.MarshalJSON()
	require.NoError(t, err)
	definition := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(text, definition))
	conditions := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.CustomResourceDefinitionCondition{}
	for _, condition := range definition.Status.Conditions {
		conditions[condition.Type] = condition
	}
	require.NotEqual(t, apiextensionsv1.ConditionTrue, conditions[apiextensionsv1.NonStructuralSchema].Status,
		conditions[apiextensionsv1.NonStructuralSchema].Message)
	return conditions[apiextensionsv1.Established].Status == apiextensionsv1.ConditionTrue, conditions[apiextensionsv1.NamesAccepted].Message
}
