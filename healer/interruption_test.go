// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// dueForReplacement is a world in which a member is replaced at the next look.
func dueForReplacement(t testing.TB) (w *world, disk string) {
	t.Helper()
	w = newWorld(t)
	w.started("kind: PersistentFleet")
	disk = w.disk("my-fleet-1")
	w.broken[disk] = corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	w.settle(10*time.Minute - time.Second)
	w.clock.SetTime(w.now().Add(time.Second))
	return w, disk
}

// A hand-over is four writes and a dry run. The healer stops, or a write fails or its answer is lost, after each number of them, and again while the next
// healer repairs that: the fleet always comes to rest with a member on a fresh disk, and never breaks a rule on the way.
func TestInterruptedReplacement(t *testing.T) {
	for first := range 7 {
		for second := -1; second < 2; second++ {
			for _, fault := range []string{"stop", "lose", "fail"} {
				if fault != "stop" && second >= 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s after %d and %d", fault, first, second), func(t *testing.T) {
					w, disk := dueForReplacement(t)
					w.interrupt(fault, first)
					w.reconcile()
					if fault == "stop" {
						w.restart()
					}
					if second >= 0 {
						w.step()
						w.interrupt(fault, second)
						w.reconcile()
						w.restart()
					}
					w.settle(time.Second)
					kept := w.disk("my-fleet-1") == disk
					w.settle(time.Hour)
					require.Empty(t, w.faults.violations, w.trace.String())
					requireWell(t, w)
					require.NotEqual(t, disk, w.disk("my-fleet-1"), w.trace.String())
					// Unless the claim was deleted before, the next healer keeps the disk, and does not know what went before.
					if fault == "stop" && second < 0 {
						require.Equal(t, first <= 3, kept, w.trace.String())
					}
				})
			}
		}
	}
}

func (w *world) interrupt(fault string, after int) {
	switch after += w.faults.writes; fault {
	case "stop":
		w.faults.stopAfter = after
	case "lose":
		w.faults.loseAfter = after
	default:
		w.faults.failAfter = after
	}
}

// requireWell checks that three members are Ready and nothing is left of a hand-over.
func requireWell(t testing.TB, w *world) {
	t.Helper()
	require.Equal(t, "Ready", string(w.fleet().State().Phase), w.trace.String())
	pods := w.pods()
	require.Len(t, pods, 3)
	for _, pod := range pods {
		require.True(t, isReady(&pod), pod.Name)
		require.Empty(t, pod.Finalizers)
		require.Empty(t, pod.Annotations["celld.eric.dev/replacement"])
	}
	require.Len(t, w.claims(), 3)
}

// Every deletion is taken back up wherever it was interrupted.
func TestInterruptedDeletion(t *testing.T) {
	for after := range 12 {
		w := newWorld(t)
		w.started("kind: PersistentFleet")
		w.remove(w.fleet(), nil, false)
		w.interrupt("stop", after)
		w.settle(time.Minute)
		w.restart()
		w.settle(time.Hour)
		require.Empty(t, w.faults.violations, w.trace.String())
		require.Nil(t, w.fleet(), w.trace.String())
		require.Empty(t, w.pods())
		require.Empty(t, w.claims())
		require.Nil(t, w.set())
	}
}

// A first start, and growth over kept and fresh disks, interrupted anywhere.
func TestInterruptedGrowth(t *testing.T) {
	for after := range 10 {
		w := newWorld(t)
		w.nodes = append(w.nodes, &node{name: "node-d", zone: "us-east-1a"}, &node{name: "node-e", zone: "us-east-1b"})
		w.applyFleet("kind: PersistentFleet")
		w.sync("")
		w.interrupt("stop", after)
		w.settle(time.Minute)
		w.restart()
		w.settle(time.Minute)
		w.applyFleet("spec: {replicas: 5}")
		w.interrupt("lose", after)
		w.settle(time.Minute)
		w.restart()
		w.settle(time.Hour)
		require.Empty(t, w.faults.violations, w.trace.String())
		require.Len(t, w.pods(), 5, w.trace.String())
		require.Equal(t, "Ready", string(w.fleet().State().Phase), w.trace.String())
	}
}

// While a hand-over is interrupted after each of its writes, the fleet is paused, deleted, or loses another member.
func TestInterruptedReplacementMeets(t *testing.T) {
	for after := range 6 {
		for name, event := range map[string]func(w *world){
			"a pause": func(w *world) { w.applyFleet("spec: {maintenance: {paused: true}}") },
			"a second failure": func(w *world) {
				w.broken[w.disk("my-fleet-2")] = corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
				w.step()
			},
			"a dead node":   func(w *world) { w.kill("node-c", "kill-node"); w.step() },
			"a lost volume": func(w *world) { w.lose("data-my-fleet-2"); w.step() },
		} {
			t.Run(fmt.Sprintf("%s after %d", name, after), func(t *testing.T) {
				w, disk := dueForReplacement(t)
				w.interrupt("stop", after)
				w.reconcile()
				w.restart()
				event(w)
				w.settle(10 * time.Minute)
				if after < 4 && name != "a lost volume" { // the claim was there, and stays for as long as this lasts
					require.Equal(t, disk, w.disk("my-fleet-1"), w.trace.String())
				}
				delete(w.broken, w.disk("my-fleet-2"))
				w.kill("node-c", "revive-node")
				w.applyFleet("spec: {maintenance: {paused: false}}")
				w.settle(2 * time.Hour)
				require.Empty(t, w.faults.violations, w.trace.String())
				requireWell(t, w)
			})
		}
	}
}
