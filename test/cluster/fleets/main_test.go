// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
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
	installs.Do(func() { definitions.Install(t, c) })
	return c
}
