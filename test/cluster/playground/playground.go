// SPDX-License-Identifier: Apache-2.0

// Package playground prepares a control plane on which the examples and the
// pages of the documentation apply as they are.
package playground

import (
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/containers"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
)

// storageClass is what the examples name.
const storageClass = "ebs-delete"

// Start makes what the examples expect: zones us-east-1a to us-east-1c with two
// nodes each, StorageClass ebs-delete and the routes of the Gateway API. The
// project itself is not installed; once it is, its programs run. Nodes last as
// long as the test; the World's namespace is one that no example uses. One
// call for each cluster.
func Start(tb testing.TB, c *cluster.Cluster) *cluster.World {
	tb.Helper()
	w := c.WorldInZones(tb, "us-east-1a", "us-east-1b", "us-east-1c")
	for _, zone := range w.Zones {
		w.AddNode(zone)
	}
	w.AddStorageClass(storageClass)
	definitions.Routes(tb, c)
	containers.Run(tb, c)
	return w
}
