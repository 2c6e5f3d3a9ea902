// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/fleetwright/fleetwright/test/cluster"
)

const root = "../../.."

var shared cluster.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// behaviours are tests that share a Flux and have a repository, a namespace and
// zones of their own.
var behaviours = map[string]func(*testing.T, *flux){
	"the healer owns the count":                   countIsTheHealers,
	"a replaced disk is no drift":                 replacedDisk,
	"drift is repaired":                           drift,
	"a paused fleet is current":                   paused,
	"a stopped fleet is current":                  stopped,
	"a blocked fleet fails the health check":      blocked,
	"a removed fleet is pruned with its disks":    prunedFleet,
	"a protected fleet is not pruned":             protectedFleet,
	"a suspended Kustomization leaves its fleets": suspendedKustomization,
	"a refused change holds up the others":        refusedChange,
	"a variable of a fleet is not substituted":    substitution,
	"an artifact of a registry is applied":        registry,
}

// TestFlux has an order: Flux installs Fleetwright and the example as it is,
// then come the behaviours, in parallel, and it uninstalls Fleetwright.
func TestFlux(t *testing.T) {
	f := start(t)
	f.installs(t)
	var ran atomic.Int32
	t.Run("behaviours", func(t *testing.T) {
		for name, behaves := range behaviours {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				behaves(t, f)
				ran.Add(1)
			})
		}
	})
	f.uninstalls(t)
	if int(ran.Load()) == len(behaviours) {
		f.page.requireAllRun(t)
	}
}
