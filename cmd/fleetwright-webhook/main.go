// SPDX-License-Identifier: Apache-2.0

// Command fleetwright-webhook rejects unsafe edits of fleets and of what runs them.
package main

import (
	"os"
	"runtime/debug"

	"github.com/fleetwright/fleetwright/internal/program/daemon"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

// gcPercent trades memory for latency: a review is garbage as soon as it is answered, and what stays is a few megabytes.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(daemon.Main(command(serve.Run), linked))
}
