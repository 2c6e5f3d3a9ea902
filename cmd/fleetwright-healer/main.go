// SPDX-License-Identifier: Apache-2.0

// Command fleetwright-healer looks after celld fleets: it replaces members that cannot come back, grows and contracts,
// deletes, and reports.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
