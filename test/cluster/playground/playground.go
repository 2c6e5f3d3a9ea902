// SPDX-License-Identifier: Apache-2.0

// Package playground prepares a control plane on which the examples and the
// pages of the documentation apply as they are.
package playground

import (
	"context"
	"errors"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/containers"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
)

// storageClass is what the examples name.
const storageClass = "ebs-delete"

// Open makes what the examples expect: zones us-east-1a to us-east-1c with two
// nodes each, StorageClass ebs-delete and the routes of the Gateway API. The
// project itself is not installed; once it is, its programs run. The World's
// namespace is one that no example uses. One call for each cluster.
func Open(ctx context.Context, c *cluster.Cluster) (*cluster.World, error) {
	w, err := c.OpenWorld(ctx, "us-east-1a", "us-east-1b", "us-east-1c")
	if err != nil {
		return nil, err
	}
	for _, zone := range w.Zones {
		if _, err := w.Add(ctx, zone); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	if err := errors.Join(c.AddStorageClass(ctx, storageClass), definitions.Routes(ctx, c), containers.Serve(ctx, c)); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Start is Open for a test: nodes last as long as the test.
func Start(tb testing.TB, c *cluster.Cluster) *cluster.World {
	tb.Helper()
	c.Needs(tb, cluster.Nodes)
	w, err := Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	w.Bind(tb)
	return w
}
