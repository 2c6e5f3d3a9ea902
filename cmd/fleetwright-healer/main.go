// SPDX-License-Identifier: Apache-2.0

// Command fleetwright-healer looks after celld fleets: it replaces members that cannot come back, grows and contracts,
// deletes, and reports.
package main

import (
	"os"

	"github.com/fleetwright/fleetwright/internal/program/daemon"
)

func main() { os.Exit(daemon.Main(command(), linked)) }
