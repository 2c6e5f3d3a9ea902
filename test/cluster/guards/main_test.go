// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

type ctx = context.Context

var (
	shared   = cluster.Shared{Check: rightsAreUsed, Needs: []cluster.Capability{cluster.Callbacks}}
	installs sync.Once
	guard    *guards
)

// rightsAreUsed holds that the webhook has no right that it needs not.
func rightsAreUsed(c *cluster.Cluster) error {
	text, err := os.ReadFile(roles)
	if err != nil {
		return err
	}
	return c.CheckRights(text, "system:serviceaccount:"+registration.DefaultNamespace+":"+registration.Name)
}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// newCluster returns the cluster of this package, with the definitions of
// fleets and routes, guarded by a webhook that all tests share.
func newCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	c := shared.Cluster(t)
	installs.Do(func() {
		definitions.Install(t, c)
		g := newGuards(t, c)
		g.running = g.start(t)
		g.service.route(g.running)
		g.waitAsked(t)
		guard = g
	})
	require.NotNil(t, guard, "the webhook did not start")
	return c
}
