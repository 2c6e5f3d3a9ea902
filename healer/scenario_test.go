// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// Each file of testdata/scenarios is a story: commands against a simulated cluster, and all that the healer writes. Rewrite
// them with -rewrite, and read the difference. scenario_commands_test.go says what the commands do.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		w := newWorld(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.t = t
			w.trace.Reset()
			w.command(t, d)
			w.check()
			for _, violation := range w.faults.violations {
				if flag.Lookup("rewrite").Value.String() != "true" { // what is rewritten is read
					t.Errorf("%s: %s", d.Pos, violation)
				}
			}
			w.faults.violations = nil
			return w.trace.String()
		})
	})
}

// reconcile looks at the fleet until nothing is left to do now, and returns when to look again.
func (w *world) reconcile() time.Time {
	request := Request{NamespacedName: simRequest, Kind: v1alpha1.KindPersistentFleet}
	if w.get(&v1alpha1.BucketFleet{}, "my-fleet") {
		request.Kind = v1alpha1.KindBucketFleet
	}
	w.deciding = true
	defer func() { w.deciding = false }()
	for range 50 {
		before := w.wrote
		w.inform()
		result, err := w.healer.Reconcile(w.ctx, request)
		if err == nil {
			w.failed = 0
		}
		switch {
		case w.faults.stopped:
			w.restart()
			return w.now()
		case err != nil:
			w.printf("-- error: %v", err)
			w.failed++
			return w.now().Add(min(firstRetry<<min(w.failed-1, 20), slowestRetry))
		case result.RequeueAfter == 0:
			return time.Time{}
		case result.RequeueAfter == staleRetry:
			w.printf("-- the caches are stale")
			return w.now().Add(staleRetry)
		case result.RequeueAfter > afterAction, w.wrote == before:
			return w.now().Add(result.RequeueAfter)
		}
	}
	require.Fail(w.t, "the healer does not come to rest", w.trace.String())
	return time.Time{}
}

// settle lets models and healer work for some time, which passes in steps from one deadline to the next.
func (w *world) settle(limit time.Duration) {
	end := w.now().Add(limit)
	for looks, still := 0, 0; still < 300; looks, still = looks+1, still+1 {
		if looks > 5000 || still > 30 && len(w.faults.violations) > 0 {
			break
		}
		before := w.wrote
		w.step()
		next := w.reconcile()
		if w.wrote != before {
			continue
		}
		for _, at := range w.deadlines() {
			if at.After(w.now()) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		if next.IsZero() || next.After(end) {
			w.clock.SetTime(end)
			return
		}
		w.clock.SetTime(later(next, w.now().Add(time.Nanosecond)))
		still = 0
	}
	require.NotEmpty(w.t, w.faults.violations, "this does not come to rest: %s", w.trace.String())
	w.clock.SetTime(end) // what goes on for ever has been noticed
}

// deadlines are when the models have something to do by themselves.
func (w *world) deadlines() []time.Time {
	var out []time.Time
	for _, since := range w.deadSince {
		out = append(out, since.Add(evictAfter))
	}
	for _, pod := range w.pods() {
		if pod.DeletionTimestamp != nil {
			out = append(out, w.endOf(&pod))
		}
	}
	return out
}

// show prints a table of the fleet.
func (w *world) show() {
	if f := w.fleet(); f != nil {
		w.trace.WriteString("fleet " + string(f.State().Phase))
		if c := f.State().Conditions; len(c) > 0 {
			w.trace.WriteString(" " + c[0].Reason + ": " + c[0].Message)
		}
		w.trace.WriteString("\n")
	}
	for _, o := range []client.Object{blank(rules.KindStatefulSet), blank(rules.KindDeployment)} {
		if w.get(o, "my-fleet") {
			fmt.Fprintf(&w.trace, "%s replicas=%d%s\n", w.kind(o), replicasIn(o), going(o))
		}
	}
	for _, pod := range w.pods() {
		fmt.Fprintf(&w.trace, "%s %s on %s%s\n", pod.Name, w.state(&pod), cmp.Or(pod.Spec.NodeName, "no node"), going(&pod))
	}
	for _, claim := range w.claims() {
		age := w.now().Sub(claim.CreationTimestamp.Time)
		fmt.Fprintf(&w.trace, "%s %s %s %s old%s\n", claim.Name, claim.Status.Phase, cmp.Or(w.volumes[claim.UID], "nowhere"), age, going(&claim))
	}
}

// state of a Pod in words.
func (w *world) state(pod *corev1.Pod) string {
	state := "not ready"
	switch {
	case isOver(pod):
		state = strings.ToLower(string(pod.Status.Phase))
	case isReady(pod):
		state = "ready"
	}
	if set := w.set(); set != nil && pod.Labels[appsv1.StatefulSetRevisionLabel] != set.Status.UpdateRevision {
		state += " with an old template"
	}
	return state
}

func going(o client.Object) string {
	text := ""
	if o.GetDeletionTimestamp() != nil {
		text = " going"
	}
	return strings.TrimSuffix(text+" "+strings.Join(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool {
		return f == kubeletHold || f == "kubernetes.io/pvc-protection"
	}), " "), " ")
}

func replicasIn(o client.Object) int {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return replicasOf(o.Spec.Replicas)
	case *appsv1.Deployment:
		return replicasOf(o.Spec.Replicas)
	}
	return 0
}

// orphan takes the Pods of a StatefulSet away from it, as a deletion with propagation Orphan does.
func (w *world) orphan(owner types.UID) {
	for _, pod := range w.pods() {
		if ref := metav1.GetControllerOf(&pod); ref != nil && ref.UID == owner {
			pod.OwnerReferences = nil
			w.update(&pod)
		}
	}
}
