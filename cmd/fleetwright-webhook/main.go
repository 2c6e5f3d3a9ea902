// SPDX-License-Identifier: Apache-2.0

// Command fleetwright-webhook rejects unsafe edits of fleets and of what runs them.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent trades memory for latency: a review is garbage as soon as it is answered, and what stays is a few megabytes.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, serveInCluster)
	stop()
	os.Exit(code)
}
