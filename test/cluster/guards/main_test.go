// SPDX-License-Identifier: Apache-2.0

package guards_test

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
	guard    *guards
)

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// newCluster returns the cluster of this package, with the definitions of
// fleets and routes, guarded by a webhook that all tests share.
func newCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	installs.Do(func() {
		for _, manifest := range definitions(t) {
			install(t, c, manifest)
		}
		g := newGuards(t, c)
		g.running = g.start(t)
		g.service.route(g.running)
		g.waitAsked(t)
		guard = g
	})
	require.NotNil(t, guard, "the webhook did not start")
	return c
}

func definitions(t *testing.T) [][]byte {
	t.Helper()
	entries, err := crd.Files.ReadDir(".")
	require.NoError(t, err)
	var manifests [][]byte
	for _, entry := range entries {
		manifest, err := crd.Files.ReadFile(entry.Name())
		require.NoError(t, err)
		manifests = append(manifests, manifest)
	}
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)),
		"config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"))
	require.NoError(t, err)
	return append(manifests, manifest)
}

// install installs a definition and waits until it is served.
func install(t *testing.T, c *cluster.Cluster, manifest []byte) {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict(manifest, &object.Object))
	require.NoError(t, c.Client.Create(t.Context(), object))
	cluster.Wait(t, "CustomResourceDefinition "+object.GetName()+" to be served", func(ctx ctx) (bool, string) {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		text, err := object.MarshalJSON()
		require.NoError(t, err)
		definition := &apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, yaml.Unmarshal(text, definition))
		for _, c := range definition.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true, ""
			}
		}
		return false, "not established"
	})
}
