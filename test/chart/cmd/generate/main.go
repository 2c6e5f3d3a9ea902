// SPDX-License-Identifier: Apache-2.0

// Command generate writes what is made of config into the chart, and what is made of the chart: generate ROOT.
package main

import (
	"errors"
	"log"
	"os"

	chart "github.com/fleetwright/fleetwright/test/chart"
)

func main() {
	if err := generate(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func generate(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: generate ROOT")
	}
	copies, err := chart.Copies(args[0])
	if err != nil {
		return err
	}
	// The chart is read after its copies were written.
	if err := chart.Write(args[0], copies); err != nil {
		return err
	}
	made, err := chart.Generated(args[0])
	if err != nil {
		return err
	}
	return chart.Write(args[0], made)
}
