// SPDX-License-Identifier: Apache-2.0

// Command demo-svg draws a recording of the demo as an animated SVG:
// demo-svg RECORDING SVG.
package main

import (
	"fmt"
	"os"

	"github.com/fleetwright/fleetwright/test/cluster/demo/cast"
)

// The exit codes are those of fleetwright.
const (
	exitUsage = 2
	exitOther = 3
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: demo-svg RECORDING SVG")
		os.Exit(exitUsage)
	}
	if err := draw(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "demo-svg:", err)
		os.Exit(exitOther)
	}
}

func draw(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	recording, err := cast.Read(in)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from, err)
	}
	svg, err := cast.SVG(recording, "make demo")
	if err != nil {
		return fmt.Errorf("drawing %s: %w", from, err)
	}
	return os.WriteFile(to, svg, 0o644)
}
