// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// Nothing here is about a cluster that exists already.
var shared = cluster.Shared{Needs: []cluster.Capability{cluster.Programs}}

func TestMain(m *testing.M) {
	if part := os.Getenv(partEnv); part != "" {
		play(part)
		return
	}
	os.Exit(shared.Main(m))
}

// partEnv makes this binary play a test run that ends in a certain way.
const partEnv = "FLEETWRIGHT_TEST_PART"

// play starts a cluster of its own, prints its directory and comes to an end.
func play(part string) {
	var c *cluster.Cluster
	var err error
	if part == "wait" || part == "keep" {
		c, err = cluster.Launch(context.Background())
	} else {
		c, err = cluster.LaunchLittle(context.Background())
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println(c.Dir())
	switch part {
	case "wait": // for whoever kills it
		select {}
	case "panic":
		panic("as a test may")
	case "fail":
		fmt.Print(c.Stop(true))
	default:
		fmt.Print(c.Stop(false))
	}
}
