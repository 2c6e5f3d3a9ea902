// SPDX-License-Identifier: Apache-2.0

// Command fleetwright renders and checks fleets.
package main

import (
	"os"
	"runtime/debug"
)

// gcPercent trades memory for time: one run of this program is short, and its live heap small.
const gcPercent = 250

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(run(os.Args, streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}, os.Getenv))
}
