// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

// LaunchLittle starts as much of a cluster as there has to be to see how one
// ends.
func LaunchLittle(ctx context.Context) (*Cluster, error) { return launch(ctx, steps[:3]) }
