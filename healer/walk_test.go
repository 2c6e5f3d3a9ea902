// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var (
	walks  = flag.Uint64("walks", 42, "how many seeds TestWalks tries for a PersistentFleet, and a sixth of them for each other workload")
	stream = flag.Uint64("stream", 2, "the random numbers that the seeds of TestWalks pick from")
)

// Seeded walks through faults of all kinds at once. No rule is broken on the way, whatever comes together. Once the faults stop
// every fleet comes to rest with all its members, and its deletion leaves nothing. The trace of a seed that fails is printed.
func TestWalks(t *testing.T) {
	for _, of := range []struct {
		name, fleet string
		seeds       uint64
	}{
		{"PersistentFleet", "kind: PersistentFleet", *walks},
		{"Ordered", "kind: BucketFleet\nspec: {workload: Ordered}", *walks / 6},
		{"Deployment", "kind: BucketFleet", *walks / 6},
	} {
		for seed := range of.seeds {
			t.Run(fmt.Sprintf("%s %d", of.name, seed), func(t *testing.T) {
				w := newWorld(t)
				k := &walk{world: w, rand: rand.New(rand.NewPCG(seed, *stream))}
				k.full, w.maxUnavailable = k.rand.IntN(3) == 0, k.rand.IntN(2) == 0
				for _, zone := range []string{"a", "b", "c"} {
					if !k.full {
						w.nodes = append(w.nodes, &node{name: "spare-" + zone, zone: "us-east-1" + zone})
					}
				}
				w.started(of.fleet)
				if k.full { // a zone is away for longer than the replacement delay, and no other has a node to spare
					k.kills("node-c", "lose-node")
					k.settle(25 * time.Minute)
					k.kills("node-c", "revive-node")
					k.settle(10 * time.Minute)
				}
				for range 30 {
					k.step()
					require.Empty(t, w.faults.violations, w.trace.String())
				}
				k.end()
				k.mendSpread()
				k.makeRoom()
				k.requireWhole(t)
				k.requireGone(t)
			})
		}
	}
}

type walk struct {
	*world
	rand *rand.Rand
	full bool // the cluster has room for three members
}

func (k *walk) pick(of ...string) string { return of[k.rand.IntN(len(of))] }

func (k *walk) note(format string, args ...any) { k.printf("## "+format, args...) }

// member picks one that there is, or one that may come.
func (k *walk) member() string {
	if pods := k.pods(); k.set() == nil && len(pods) > 0 {
		return pods[k.rand.IntN(len(pods))].Name
	}
	return fmt.Sprintf("my-fleet-%d", k.rand.IntN(4))
}

func (k *walk) node() *node { return k.nodes[k.rand.IntN(len(k.nodes))] }

// step lets one thing happen, and then some time pass.
func (k *walk) step() {
	total := 0
	for i := range walkFaults {
		total += walkFaults[i].weight
	}
	at := k.rand.IntN(total)
	for i := range walkFaults {
		if at -= walkFaults[i].weight; at < 0 {
			walkFaults[i].happens(k)
			break
		}
	}
	limit := []time.Duration{0, time.Second, time.Minute, 6 * time.Minute, 11 * time.Minute}[k.rand.IntN(5)]
	if k.frozen != nil {
		limit = min(limit, time.Second) // a lag, not an outage
	}
	k.settle(limit)
}

// end stops all faults.
func (k *walk) end() {
	k.note("all faults stop")
	clear(k.broken)
	clear(k.bad)
	clear(k.gates)
	clear(k.answers)
	clear(k.halted)
	k.ending, k.noVolumes, k.frozen = 0, false, nil
	k.nodesBack()
	k.letClaimsGo()
	k.restart()
	k.applyFleet("spec: {maintenance: {paused: false, stopped: false}, env: [], placement: {nodeSelector: null}}")
	if k.full {
		k.changes("spec: {replicas: 3}")
	}
	k.sync("")
	k.settle(6 * time.Hour)
}

// mendSpread does what docs/operations.md tells a person to do about disks that were placed while zones were away, and keep each
// other from being scheduled by the spread: one gives its disk up.
func (k *walk) mendSpread() {
	for range 3 {
		if k.fleet().State().Phase != v1alpha1.PhaseBlocked {
			return
		}
		for _, m := range k.fleet().State().Members {
			if m.State == v1alpha1.MemberUnschedulable {
				k.note("the disk of %s is given up", m.Name)
				k.deleteClaim(m.Name)
				k.deletePod(m.Name)
				break
			}
		}
		k.settle(time.Hour)
	}
}

// makeRoom does what docs/operations.md tells a person to do about a fleet that is MemberUnschedulable: it gives each zone another
// node. Members that were added in a full cluster, and are to be removed again, may hold the room of one that stays.
func (k *walk) makeRoom() {
	if k.fleet().State().Phase != v1alpha1.PhaseBlocked {
		return
	}
	k.note("each zone gets another node")
	for _, zone := range []string{"a", "b", "c"} {
		k.nodes = append(k.nodes, &node{name: "more-" + zone, zone: "us-east-1" + zone})
	}
	k.settle(2 * time.Hour)
}

// requireWhole checks that the fleet is Ready with all its members.
func (k *walk) requireWhole(t *testing.T) {
	t.Helper()
	require.Empty(t, k.faults.violations, k.trace.String())
	require.Equal(t, v1alpha1.PhaseReady, k.fleet().State().Phase, k.trace.String())
	members := 0
	for _, pod := range k.pods() {
		if !isOver(&pod) {
			members++
		}
	}
	require.Equal(t, int(*k.fleet().Shared().Replicas), members, k.trace.String())
}

// requireGone deletes the fleet, and checks that nothing is left.
func (k *walk) requireGone(t *testing.T) {
	t.Helper()
	k.note("the fleet is deleted")
	k.remove(k.fleet(), nil, false)
	k.settle(time.Hour)
	require.Empty(t, k.faults.violations, k.trace.String())
	require.Nil(t, k.fleet(), k.trace.String())
	require.Nil(t, k.set(), k.trace.String())
	require.Empty(t, k.pods(), k.trace.String())
	claims := &corev1.PersistentVolumeClaimList{}
	require.NoError(t, k.api.List(t.Context(), claims))
	require.Empty(t, claims.Items, k.trace.String())
}
