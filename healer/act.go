// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// An actor carries out one action, and notes what it wrote so that nothing is decided on an older view.
type actor struct {
	verbs verbs
	fleet v1alpha1.Fleet // as it was read live
	wrote func(written)
}

// act carries out an action. An error leaves the cluster in a state from which the rules go on.
func (a *actor) act(ctx context.Context, s *Snapshot, action *Action) error {
	first := action.Targets[0]
	switch action.Verb {
	case VerbAddFinalizer:
		return a.noteFleet(a.verbs.patchFleet(ctx, a.fleet, append(slices.Clone(a.fleet.GetFinalizers()), v1alpha1.FinalizerFleetCleanup)))
	case VerbRemoveFinalizer:
		left := slices.DeleteFunc(slices.Clone(a.fleet.GetFinalizers()), func(f string) bool { return f == v1alpha1.FinalizerFleetCleanup })
		_, err := a.verbs.patchFleet(ctx, a.fleet, left)
		return err
	case VerbReserve:
		object, err := a.verbs.createReservation(ctx, a.fleet, s.Fleet)
		return a.note(first, object, true, err)
	case VerbScale:
		object, err := a.verbs.scale(ctx, first, action.Replicas)
		return a.note(first, object, false, err)
	case VerbLiftGates:
		return a.liftGates(ctx, action)
	case VerbDeletePod:
		return a.deleted(first, a.verbs.deletePod(ctx, first))
	case VerbForceDeletePod:
		return a.deleted(first, a.verbs.deletePod(ctx, first, client.GracePeriodSeconds(0)))
	case VerbDeleteWorkload:
		return a.deleted(first, a.verbs.deleteWorkload(ctx, first))
	case VerbDeleteClaims:
		return a.deleteClaims(ctx, action.Targets)
	case VerbReplace:
		return a.replace(ctx, first, action.Targets[1])
	case VerbFinishReplacement:
		if err := a.deleteClaims(ctx, action.Targets[1:]); err != nil {
			return err
		}
		return a.release(ctx, first)
	case VerbAbortReplacement:
		return a.release(ctx, first)
	}
	return fmt.Errorf("no way to %s", action.Verb)
}

// replace hands a member's name over to a successor on a fresh disk. The finalizer keeps the name occupied, so that no
// successor starts on the old disk; the deletion of the Pod, exactly as it was judged, commits. rule_handover.go goes on
// from wherever this is interrupted.
func (a *actor) replace(ctx context.Context, pod, claim Ref) error {
	// 1. prepare
	object, err := a.verbs.patchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "resourceVersion": pod.ResourceVersion,
		"finalizers":  []string{v1alpha1.FinalizerReplacingDisk},
		"labels":      map[string]any{v1alpha1.LabelReplacingDisk: "true"},
		"annotations": map[string]any{v1alpha1.AnnotationReplacement: record(claim, false)},
	}})
	if err = a.note(pod, object, false, err); err != nil {
		return fmt.Errorf("preparing the replacement of %s: %w", pod.Name, err)
	}
	// 2. delete the Pod: a conflict means that it changed, and keeps the disk
	pod.ResourceVersion = object.GetResourceVersion()
	if err = a.deleted(pod, a.verbs.deletePod(ctx, pod)); err != nil {
		return fmt.Errorf("deleting Pod %s: %w", pod.Name, err)
	}
	// 3. commit
	object, err = a.verbs.patchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]any{v1alpha1.AnnotationReplacement: record(claim, true)},
	}})
	if err = a.note(pod, object, false, err); err != nil {
		return fmt.Errorf("recording the replacement of %s: %w", pod.Name, err)
	}
	// 4. delete the claim, if it is the same one
	if err = a.deleteClaims(ctx, []Ref{claim}); err != nil {
		return err
	}
	// 5. let the Pod go
	return a.release(ctx, pod)
}

// release removes what a hand-over put on a Pod. One that is gone needs nothing.
func (a *actor) release(ctx context.Context, pod Ref) error {
	object, err := a.verbs.patchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid":                                 pod.UID,
		"$deleteFromPrimitiveList/finalizers": []string{v1alpha1.FinalizerReplacingDisk},
		"labels":                              map[string]any{v1alpha1.LabelReplacingDisk: nil},
		"annotations":                         map[string]any{v1alpha1.AnnotationReplacement: nil},
	}})
	if err = a.note(pod, object, false, err); err != nil && !changed(err) {
		return fmt.Errorf("releasing Pod %s: %w", pod.Name, err)
	}
	return nil
}

func record(claim Ref, committed bool) string {
	raw, _ := json.Marshal(handoverRecord{ClaimUID: claim.UID, Committed: committed}) //nolint:errchkjson // a string and a bool
	return string(raw)
}

func (a *actor) deleteClaims(ctx context.Context, claims []Ref) error {
	for _, claim := range claims {
		if err := a.deleted(claim, a.verbs.deleteClaim(ctx, claim)); err != nil {
			return fmt.Errorf("deleting claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

// liftGates gives each Pod its zone and lets the scheduler have it, in one change.
func (a *actor) liftGates(ctx context.Context, action *Action) error {
	for i, pod := range action.Targets {
		spec := map[string]any{"schedulingGates": []any{map[string]any{"$patch": "delete", "name": v1alpha1.GateBucketZone}}}
		if zone := action.Zones[i]; zone != "" {
			spec["nodeSelector"] = map[string]any{zoneLabel: zone}
		}
		object, err := a.verbs.patchPod(ctx, pod, map[string]any{
			"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion}, "spec": spec,
		})
		if err = a.note(pod, object, false, err); err != nil {
			return fmt.Errorf("lifting the gate of %s: %w", pod.Name, err)
		}
	}
	return nil
}

// note remembers the version that a write made.
func (a *actor) note(target Ref, object metav1.Object, made bool, err error) error {
	if err == nil {
		a.wrote(written{Ref: target, version: object.GetResourceVersion(), made: made})
	}
	return err
}

func (a *actor) noteFleet(object metav1.Object, err error) error {
	return a.note(refOf(a.fleet.Kind(), a.fleet), object, false, err)
}

// deleted remembers a deletion.
func (a *actor) deleted(target Ref, err error) error {
	if err == nil {
		a.wrote(written{Ref: target, deleted: true})
	}
	return err
}
