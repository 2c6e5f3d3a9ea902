// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/pages"
	"github.com/fleetwright/fleetwright/test/cluster/playground"
)

var shared = cluster.Shared{Needs: []cluster.Capability{cluster.Nodes}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// TestPages follows pages one after the other, each where the one before ends.
func TestPages(t *testing.T) {
	c := shared.Cluster(t)
	playground.Start(t, c)
	r := pages.NewReader(t, c)
	kubectl := func(args ...string) string { return c.MustKubectl(t, args...) }
	t.Run("first fleet", func(t *testing.T) { r.Follow(t, "docs/first-fleet.md") })

	kubectl("apply", "--server-side", "-k", r.Dir+"/examples/quickstart/rendered")
	kubectl("-n", "fleets", "wait", "--for=condition=Ready", "pfleet/my-fleet", "--timeout=1m")
	t.Run("operations", func(t *testing.T) {
		// There is no kubelet to ask for logs.
		r.Give(t, "kubectl", `case "$1" in logs) exec cat '`+c.Dir()+`'/fleetwright-healer-*.log;; esac; exec `+c.Binary()+" kubectl")
		r.Follow(t, "docs/operations.md")
		// Nothing applied yet what the paused fleet renders to.
		require.Equal(t, "Provisioning MaintenancePaused", kubectl("-n", "fleets", "get", "pfleet", "my-fleet",
			"-o", `jsonpath={.status.phase} {.status.conditions[?(@.type=="Ready")].reason}`))
		require.NotEmpty(t, kubectl("-n", "fleets", "get", "pvc", "data-my-fleet-1", "-o", "jsonpath={.metadata.deletionTimestamp}"))
	})

	kubectl("-n", "fleets", "delete", "pfleet", "my-fleet", "--timeout=1m")
	t.Run("guards", func(t *testing.T) {
		r.Follow(t, "docs/guards.md")
		require.Empty(t, kubectl("get", "storagereservations", "-o", "name"))
		cluster.Wait(t, "guards to be back", func(context.Context) (bool, string) {
			_, stderr, err := c.Kubectl(t, nil, "apply", "--server-side", "--dry-run=server", "-k", r.Dir+"/examples/quickstart/rendered")
			return err == nil, stderr
		})
		require.NotEmpty(t, kubectl("get", "validatingwebhookconfiguration", "fleetwright-webhook", "-o", "jsonpath={.webhooks[*].clientConfig.caBundle}"))
	})
}
