// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"cmp"
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
			require.Empty(t, w.faults.violations, "%s:\n%s", d.Pos, w.trace.String())
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
	for range 50 {
		result, err := w.healer.Reconcile(w.ctx, request)
		switch {
		case w.faults.stopped:
			w.restart()
			return w.now()
		case err != nil:
			w.printf("-- error: %v", err)
			return w.now().Add(firstRetry)
		case result.RequeueAfter == 0:
			return time.Time{}
		case result.RequeueAfter == staleRetry:
			w.printf("-- the caches are stale")
			return w.now().Add(staleRetry)
		case result.RequeueAfter > afterAction:
			return w.now().Add(result.RequeueAfter)
		}
	}
	require.Fail(w.t, "the healer does not come to rest", w.trace.String())
	return time.Time{}
}

// settle lets models and healer work for some time, which passes in steps from one deadline to the next.
func (w *world) settle(limit time.Duration) {
	end := w.now().Add(limit)
	for range 300 {
		before := w.wrote
		w.step()
		next := w.reconcile()
		if w.wrote != before {
			continue
		}
		for _, since := range w.deadSince {
			if at := since.Add(evictAfter); at.After(w.now()) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		if next.IsZero() || next.After(end) {
			w.clock.SetTime(end)
			return
		}
		w.clock.SetTime(later(next, w.now().Add(time.Nanosecond)))
	}
	require.Fail(w.t, "this does not come to rest", w.trace.String())
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
		state := "not ready"
		if isReady(&pod) {
			state = "ready"
		}
		fmt.Fprintf(&w.trace, "%s %s on %s%s\n", pod.Name, state, cmp.Or(pod.Spec.NodeName, "no node"), going(&pod))
	}
	for _, claim := range w.claims() {
		age := w.now().Sub(claim.CreationTimestamp.Time)
		fmt.Fprintf(&w.trace, "%s %s %s %s old%s\n", claim.Name, claim.Status.Phase, cmp.Or(w.volumes[claim.UID], "nowhere"), age, going(&claim))
	}
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

func (w *world) lose(claim string) {
	c := &corev1.PersistentVolumeClaim{}
	require.True(w.t, w.get(c, claim))
	c.Status.Phase = corev1.ClaimLost
	w.update(c)
}
