// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// acting returns an actor on a fleet of three members, and what a kind and name is now.
func acting(t *testing.T, patch string) (*world, *actor, func(kind, name string) rules.Ref) {
	t.Helper()
	w := newWorld(t)
	w.started(patch)
	w.trace.Reset()
	refs := func(kind, name string) rules.Ref {
		o := blank(kind)
		require.True(t, w.get(o, name), name)
		return rules.RefOf(kind, o)
	}
	return w, &actor{verbs: verbs{w.healer.Client}, fleet: w.fleet(), wrote: func(written) {}}, refs
}

// Every action through its verb. The client of the simulation refuses a deletion without both preconditions, a patch without
// UID, and an apply of more than replicas; TestScenarios fails on them too.
func TestEveryActionNamesWhatItChanges(t *testing.T) {
	for name, c := range map[string]struct {
		verb    rules.Verb
		targets [][2]string
	}{
		"delete a Pod":     {rules.VerbDeletePod, [][2]string{{"Pod", "my-fleet-1"}}},
		"force a Pod":      {rules.VerbForceDeletePod, [][2]string{{"Pod", "my-fleet-1"}}},
		"delete a set":     {rules.VerbDeleteWorkload, [][2]string{{"StatefulSet", "my-fleet"}}},
		"scale":            {rules.VerbScale, [][2]string{{"StatefulSet", "my-fleet"}}},
		"replace":          {rules.VerbReplace, [][2]string{{"Pod", "my-fleet-1"}, {"PersistentVolumeClaim", "data-my-fleet-1"}}},
		"abort":            {rules.VerbAbortReplacement, [][2]string{{"Pod", "my-fleet-1"}}},
		"remove finalizer": {rules.VerbRemoveFinalizer, [][2]string{{"PersistentFleet", "my-fleet"}}},
	} {
		for _, stale := range []string{"", "UID", "resourceVersion"} {
			t.Run(name+" stale "+stale, func(t *testing.T) {
				w, a, refs := acting(t, "kind: PersistentFleet")
				action := &rules.Action{Verb: c.verb, Replicas: 2}
				for _, target := range c.targets {
					r := refs(target[0], target[1])
					switch stale {
					case "UID":
						r.UID = "another"
						a.fleet.SetUID("another")
					case "resourceVersion":
						r.ResourceVersion = "1"
						a.fleet.SetResourceVersion("1")
					}
					action.Targets = append(action.Targets, r)
				}
				err := a.act(t.Context(), &rules.Snapshot{}, action)
				require.Empty(t, w.faults.violations)
				switch {
				case stale == "", c.verb == rules.VerbAbortReplacement:
					require.NoError(t, err, "letting a Pod go is idempotent")
				default:
					require.True(t, changed(err), "%v", err)
					require.Len(t, w.pods(), 3)
					require.Len(t, w.claims(), 3)
					require.Equal(t, 3, replicasOf(w.set().Spec.Replicas))
					require.Empty(t, w.pods()[1].Finalizers)
				}
			})
		}
	}
}

// Nothing is deleted whose UID or version is not known, whatever the API server would say.
func TestDeletionNeedsPreconditions(t *testing.T) {
	w, a, refs := acting(t, "kind: PersistentFleet")
	for _, forget := range []func(*rules.Ref){func(r *rules.Ref) { r.UID = "" }, func(r *rules.Ref) { r.ResourceVersion = "" }} {
		pod, claim, set := refs("Pod", "my-fleet-1"), refs("PersistentVolumeClaim", "data-my-fleet-1"), refs("StatefulSet", "my-fleet")
		forget(&pod)
		forget(&claim)
		forget(&set)
		require.ErrorContains(t, a.verbs.DeletePod(t.Context(), pod, false), "neither UID nor resourceVersion may be empty")
		require.ErrorContains(t, a.verbs.DeleteClaim(t.Context(), claim), "neither UID nor resourceVersion may be empty")
		require.ErrorContains(t, a.verbs.DeleteWorkload(t.Context(), set), "neither UID nor resourceVersion may be empty")
	}
	require.Empty(t, w.trace.String())
}

// A Pod that changed after it was judged aborts the hand-over, at each of its steps.
func TestReplaceConflicts(t *testing.T) {
	w, a, refs := acting(t, "kind: PersistentFleet")
	pod, claim := refs("Pod", "my-fleet-1"), refs("PersistentVolumeClaim", "data-my-fleet-1")
	c := &corev1.PersistentVolumeClaim{}
	w.get(c, claim.Name)
	w.update(c) // another version by now
	err := a.replace(t.Context(), pod, claim)
	require.True(t, changed(err), "%v", err)
	require.True(t, w.get(c, claim.Name))
	require.Nil(t, c.DeletionTimestamp)
	p := &corev1.Pod{}
	w.get(p, pod.Name)
	require.Contains(t, p.Annotations[v1alpha1.AnnotationReplacement], `"committed":true`, "rule_handover.go goes on with the claim as it is now")
	w.settle(time.Minute)
	require.NotEqual(t, claim.UID, w.disk("my-fleet-1"))
}

// Letting a Pod go removes what the hand-over put on it and nothing else, any number of times.
func TestReleaseIsIdempotent(t *testing.T) {
	w, a, refs := acting(t, "kind: PersistentFleet")
	p := &corev1.Pod{}
	w.get(p, "my-fleet-1")
	p.Finalizers = []string{"example.com/other", v1alpha1.FinalizerReplacingDisk}
	p.Labels[v1alpha1.LabelReplacingDisk] = "true"
	p.Annotations = map[string]string{v1alpha1.AnnotationReplacement: "{}", "other": "stays"}
	w.update(p)
	for range 3 {
		require.NoError(t, a.release(t.Context(), refs("Pod", "my-fleet-1")))
		w.get(p, "my-fleet-1")
		require.Equal(t, []string{"example.com/other"}, p.Finalizers)
		require.Equal(t, map[string]string{"other": "stays"}, p.Annotations)
		require.NotContains(t, p.Labels, v1alpha1.LabelReplacingDisk)
		require.Contains(t, p.Labels, v1alpha1.LabelFleetUID)
	}
	pod := refs("Pod", "my-fleet-1")
	w.remove(p, new(int64(0)), false)
	p.Finalizers = nil
	w.update(p)
	require.NoError(t, a.release(t.Context(), pod), "a Pod that is gone needs nothing")
}

// The reservation is created, never taken over: AlreadyExists is the answer for whoever comes second.
func TestReserveIsArbitrated(t *testing.T) {
	w, a, _ := acting(t, "kind: PersistentFleet")
	s := &rules.Snapshot{Fleet: rules.FleetValues(w.fleet())}
	err := a.act(t.Context(), s, &rules.Action{Verb: rules.VerbReserve, Targets: []rules.Ref{{Kind: v1alpha1.KindStorageReservation, Name: s.Fleet.ReservationName}}})
	require.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	require.True(t, changed(err))
}

func TestGatesAreLifted(t *testing.T) {
	w, a, refs := acting(t, "kind: BucketFleet\nspec: {workload: Ordered}")
	w.halted["scheduler"] = true
	p := &corev1.Pod{}
	w.get(p, "my-fleet-1")
	w.remove(p, new(int64(0)), false)
	w.step()
	pod := refs("Pod", "my-fleet-1")
	require.NoError(t, a.act(t.Context(), &rules.Snapshot{}, &rules.Action{Verb: rules.VerbLiftGates, Targets: []rules.Ref{pod}, Zones: []string{"us-east-1b"}}))
	w.get(p, "my-fleet-1")
	require.Empty(t, p.Spec.SchedulingGates)
	require.Equal(t, "us-east-1b", p.Spec.NodeSelector[zoneLabel])
	err := a.act(t.Context(), &rules.Snapshot{}, &rules.Action{Verb: rules.VerbLiftGates, Targets: []rules.Ref{pod}, Zones: []string{"us-east-1c"}})
	require.True(t, changed(err), "the Pod is not as it was judged any more")
}

func TestDeploymentsAreActedOn(t *testing.T) {
	w, a, refs := acting(t, "kind: BucketFleet")
	require.NoError(t, a.act(t.Context(), &rules.Snapshot{}, &rules.Action{Verb: rules.VerbScale, Targets: []rules.Ref{refs("Deployment", "my-fleet")}, Replicas: 2}))
	require.NoError(t, a.act(t.Context(), &rules.Snapshot{}, &rules.Action{Verb: rules.VerbDeleteWorkload, Targets: []rules.Ref{refs("Deployment", "my-fleet")}}))
	d := &appsv1.Deployment{}
	require.True(t, w.get(d, "my-fleet"), "it stays until its Pods are gone")
	require.True(t, slices.Contains(d.Finalizers, "foregroundDeletion"))
}

func TestUnknownVerb(t *testing.T) {
	_, a, refs := acting(t, "kind: PersistentFleet")
	err := a.act(t.Context(), &rules.Snapshot{}, &rules.Action{Verb: "Wave", Targets: []rules.Ref{refs("Pod", "my-fleet-1")}})
	require.EqualError(t, err, "no way to Wave")
}

// Actions are the same if they do the same to the same objects, whatever versions these have.
func TestTraceNamesEveryWrite(t *testing.T) {
	w, _, _ := acting(t, "kind: PersistentFleet")
	var o client.Object = w.fleet()
	w.remove(o, nil, false)
	w.settle(time.Minute)
	require.Empty(t, w.faults.violations)
	for _, line := range []string{"delete StatefulSet my-fleet Foreground", "delete PersistentVolumeClaim data-my-fleet-2", "patch PersistentFleet my-fleet"} {
		require.True(t, strings.Contains(w.trace.String(), line), line)
	}
}
