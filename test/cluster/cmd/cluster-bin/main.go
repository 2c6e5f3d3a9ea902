// SPDX-License-Identifier: Apache-2.0

// Command cluster-bin builds the programs of the test control plane and of the
// sync tools, if they are not in the cache already.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fleetwright/fleetwright/test/cluster/binaries"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, set := range binaries.Sets {
		if _, err := set.Build(ctx, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "cluster-bin:", err)
			os.Exit(1)
		}
	}
}
