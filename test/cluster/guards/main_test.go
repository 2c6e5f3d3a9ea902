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
