// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Seeded walks through faults of all kinds at once. No rule is broken on the way, whatever comes together, and once the
// faults stop every fleet comes to rest with all its members. The trace of a seed that fails is printed.
func TestWalks(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t)
			for _, zone := range []string{"a", "b", "c"} {
				w.nodes = append(w.nodes, &node{name: "spare-" + zone, zone: "us-east-1" + zone})
			}
			w.started("kind: PersistentFleet")
			k := &walk{world: w, rand: rand.New(rand.NewPCG(seed, 1))}
			for range 30 {
				k.step()
				require.Empty(t, w.faults.violations, w.trace.String())
			}
			k.end()
			require.Empty(t, w.faults.violations, w.trace.String())
			require.Equal(t, v1alpha1.PhaseReady, w.fleet().State().Phase, w.trace.String())
			require.Len(t, w.pods(), int(*w.fleet().Shared().Replicas), w.trace.String())
		})
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
	switch k.rand.IntN(18) {
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
		k.halted["scheduler"] = !k.halted["scheduler"]
		k.note("the scheduler is down: %v", k.halted["scheduler"])
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

// end stops all faults.
func (k *walk) end() {
	k.note("all faults stop")
	clear(k.broken)
	clear(k.halted)
	for _, n := range k.nodes {
		k.kill(n.name, "revive-node")
	}
	k.frozen = nil
	k.restart()
	k.applyFleet("spec: {maintenance: {paused: false}}")
	k.sync("")
	k.settle(6 * time.Hour)
}
