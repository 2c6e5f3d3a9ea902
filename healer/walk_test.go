// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var walks = flag.Uint64("walks", 60, "how many seeds TestWalks tries")

// Seeded walks through faults of all kinds at once. No rule is broken on the way, whatever comes together. Once the faults stop
// every fleet comes to rest with all its members, and its deletion leaves nothing. The trace of a seed that fails is printed.
func TestWalks(t *testing.T) {
	for kind, seeds := range map[string]uint64{"kind: PersistentFleet": *walks, "kind: BucketFleet\nspec: {workload: Ordered}": *walks / 5} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s %d", strings.Fields(kind)[1], seed), func(t *testing.T) {
				w := newWorld(t)
				for _, zone := range []string{"a", "b", "c"} {
					w.nodes = append(w.nodes, &node{name: "spare-" + zone, zone: "us-east-1" + zone})
				}
				w.started(kind)
				k := &walk{world: w, rand: rand.New(rand.NewPCG(seed, 1))}
				for range 30 {
					k.step()
					require.Empty(t, w.faults.violations, w.trace.String())
				}
				k.end()
				k.mendSpread()
				require.Empty(t, w.faults.violations, w.trace.String())
				require.Equal(t, v1alpha1.PhaseReady, w.fleet().State().Phase, w.trace.String())
				require.Len(t, w.pods(), int(*w.fleet().Shared().Replicas), w.trace.String())

				k.note("the fleet is deleted")
				w.remove(w.fleet(), nil, false)
				w.settle(time.Hour)
				require.Empty(t, w.faults.violations, w.trace.String())
				require.Nil(t, w.fleet(), w.trace.String())
				require.Nil(t, w.set(), w.trace.String())
				require.Empty(t, w.pods(), w.trace.String())
				claims := &corev1.PersistentVolumeClaimList{}
				require.NoError(t, w.api.List(t.Context(), claims))
				require.Empty(t, claims.Items, w.trace.String())
			})
		}
	}
}

type walk struct {
	*world
	rand *rand.Rand
}

func (k *walk) pick(of ...string) string { return of[k.rand.IntN(len(of))] }

func (k *walk) note(format string, args ...any) { k.printf("## "+format, args...) }

// step lets one thing happen, and then some time pass.
func (k *walk) step() {
	member := fmt.Sprintf("my-fleet-%d", k.rand.IntN(4))
	switch k.rand.IntN(22) {
	case 18:
		zone := k.pick("a", "b", "c")
		k.note("zone %s dies", zone)
		k.kill("node-"+zone, "kill-node")
		k.kill("spare-"+zone, "kill-node")
	case 19:
		k.note("all nodes are back")
		k.nodesBack()
	case 20:
		value := k.pick("true", "false", "false")
		k.note("stopped: %s", value)
		k.applyFleet("spec: {maintenance: {stopped: " + value + "}}")
	case 21:
		if set := k.set(); set != nil && set.DeletionTimestamp == nil {
			k.note("the StatefulSet is deleted, and applied again later")
			k.remove(set, nil, true)
		}
	case 0:
		name := k.pick("node-a", "node-b", "node-c", "spare-a")
		k.note("%s dies", name)
		k.kill(name, "kill-node")
	case 1, 2:
		name := k.pick("node-a", "node-b", "node-c", "spare-a")
		k.note("%s is back", name)
		k.kill(name, "revive-node")
	case 3, 4:
		k.note("%s breaks", member)
		k.broken[k.disk(member)] = corev1.ContainerStateWaiting{Reason: k.pick("CrashLoopBackOff", "ImagePullBackOff")}
	case 5, 6:
		k.note("all are mended")
		clear(k.broken)
	case 7:
		k.deletePod(member)
	case 8:
		k.deleteClaim(member)
	case 9:
		if k.get(&corev1.PersistentVolumeClaim{}, "data-"+member) {
			k.note("the volume of %s is lost", member)
			k.lose("data-" + member)
		}
	case 10:
		n := 3 + k.rand.IntN(3)
		k.note("%d members", n)
		k.applyFleet(fmt.Sprintf("spec: {replicas: %d}", n))
	case 11:
		value := k.pick("true", "false", "false")
		k.note("paused: %s", value)
		k.applyFleet("spec: {maintenance: {paused: " + value + "}}")
	case 12:
		k.note("restart with token %d", k.wrote)
		k.applyFleet(fmt.Sprintf("spec: {maintenance: {restartToken: \"%d\"}}", k.wrote))
	case 13:
		k.note("sync")
		k.sync("")
	case 14:
		k.note("the caches stop, or start")
		if k.frozen = nil; k.rand.IntN(2) == 0 {
			k.freeze()
		}
	case 15, 16:
		fault, after := k.pick("stop", "lose", "fail"), k.rand.IntN(6)
		k.note("%s after %d", fault, after)
		k.interrupt(fault, after)
	default:
		model := k.pick("scheduler", "scheduler", "statefulset")
		k.halted[model] = !k.halted[model]
		k.note("the %s is down: %v", model, k.halted[model])
	}
	limit := []time.Duration{0, time.Second, time.Minute, 6 * time.Minute, 11 * time.Minute}[k.rand.IntN(5)]
	if k.frozen != nil {
		limit = min(limit, time.Second) // a lag, not an outage
	}
	k.settle(limit)
}

func (k *walk) deletePod(name string) {
	pod := &corev1.Pod{}
	if !k.get(pod, name) {
		return
	}
	k.note("Pod %s is deleted", name)
	k.remove(pod, nil, false)
}

func (k *walk) deleteClaim(member string) {
	claim := &corev1.PersistentVolumeClaim{}
	if !k.get(claim, "data-"+member) || claim.DeletionTimestamp != nil {
		return
	}
	k.note("the claim of %s is deleted", member)
	k.remove(claim, nil, false)
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

func (k *walk) nodesBack() {
	for _, n := range k.nodes {
		k.kill(n.name, "revive-node")
	}
}

// end stops all faults.
func (k *walk) end() {
	k.note("all faults stop")
	clear(k.broken)
	clear(k.halted)
	k.nodesBack()
	k.frozen = nil
	k.restart()
	k.applyFleet("spec: {maintenance: {paused: false, stopped: false}}")
	k.sync("")
	k.settle(6 * time.Hour)
}
