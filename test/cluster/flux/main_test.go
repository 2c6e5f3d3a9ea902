// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"flag"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
)

const root = "../../.."

var (
	shared   = cluster.Shared{Needs: []cluster.Capability{cluster.Nodes}}
	programs string // directory of what is built
)

func TestMain(m *testing.M) {
	// All behaviours at a time: they mostly wait for Flux to look again.
	if err := flag.Set("test.parallel", strconv.Itoa(len(behaviours))); err != nil {
		panic(err)
	}
	code := shared.Main(m)
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

// behaviours are tests that share a Flux and have a repository, a namespace and
// zones of their own. Those that take longest come first.
var behaviours = []struct {
	name    string
	behaves func(*testing.T, *flux)
}{
	{"a paused fleet is current", paused},
	{"a stopped fleet is current", stopped},
	{"an artifact of a registry is applied", registry},
	{"a protected fleet is not pruned", protectedFleet},
	{"drift is repaired", drift},
	{"what the healer does is no drift", healersWork},
	{"a blocked fleet fails the health check", blocked},
	{"a refused change holds up the others", refusedChange},
	{"a removed fleet is pruned with its disks", prunedFleet},
	{"a suspended Kustomization leaves its fleets", suspendedKustomization},
	{"a variable of a fleet is not substituted", substitution},
}

// TestFlux has an order: Flux installs Fleetwright and the example as it is,
// then come the behaviours, in parallel, and it uninstalls Fleetwright.
func TestFlux(t *testing.T) {
	f := start(t)
	f.installs(t)
	var ran atomic.Int32
	t.Run("behaviours", func(t *testing.T) {
		for _, b := range behaviours {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				b.behaves(t, f)
				ran.Add(1)
			})
		}
	})
	f.uninstalls(t)
	if int(ran.Load()) == len(behaviours) {
		f.page.requireAllRun(t)
	}
}
