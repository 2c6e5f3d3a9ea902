// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

// Launch starts a cluster where there is no test: in the processes that
// TestMain plays.
func Launch(ctx context.Context) (*Cluster, error) { return launch(ctx, steps) }

// LaunchLittle starts as much of a cluster as there has to be to see how one
// ends.
func LaunchLittle(ctx context.Context) (*Cluster, error) { return launch(ctx, steps[:3]) }

// Stop is what ends it.
func (c *Cluster) Stop(failed bool) string { return c.stop(failed) }
