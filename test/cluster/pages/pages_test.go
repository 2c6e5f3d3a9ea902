// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"os"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/pages"
	"github.com/fleetwright/fleetwright/test/cluster/playground"
)

var shared cluster.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

func TestFirstFleet(t *testing.T) {
	c := shared.Cluster(t)
	playground.Start(t, c)
	pages.NewReader(t, c).Follow(t, "docs/first-fleet.md")
}
