// SPDX-License-Identifier: Apache-2.0

// Command fleetwright-webhook rejects unsafe edits of fleets and of what runs them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, serveInCluster)
	stop()
	os.Exit(code)
}
