// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// An actor carries out one action, and notes what it wrote so that nothing is decided on an older view.
type actor struct {
	verbs Verbs
	fleet v1alpha1.Fleet // as it was read live
	wrote func(written)
}

// act carries out an action. An error leaves the cluster in a state from which the rules go on.
func (a *actor) act(ctx context.Context, s *rules.Snapshot, action *rules.Action) error {
	first := action.Targets[0]
	switch action.Verb {
	case rules.VerbAddFinalizer:
		return a.noteFleet(a.verbs.PatchFleet(ctx, a.fleet, append(slices.Clone(a.fleet.GetFinalizers()), v1alpha1.FinalizerFleetCleanup)))
	case rules.VerbRemoveFinalizer:
		left := slices.DeleteFunc(slices.Clone(a.fleet.GetFinalizers()), func(f string) bool { return f == v1alpha1.FinalizerFleetCleanup })
		_, err := a.verbs.PatchFleet(ctx, a.fleet, left)
		return err
	case rules.VerbReserve:
		version, err := a.verbs.CreateReservation(ctx, a.fleet, s.Fleet)
		return a.note(first, version, true, err)
	case rules.VerbScale:
		version, err := a.verbs.Scale(ctx, first, action.Replicas)
		return a.note(first, version, false, err)
	case rules.VerbLiftGates:
		return a.liftGates(ctx, action)
	case rules.VerbDeletePod:
		return a.deleted(first, a.verbs.DeletePod(ctx, first, false))
	case rules.VerbForceDeletePod:
		return a.deleted(first, a.verbs.DeletePod(ctx, first, true))
	case rules.VerbDeleteWorkload:
		return a.deleted(first, a.verbs.DeleteWorkload(ctx, first))
	case rules.VerbDeleteClaims:
		return a.deleteClaims(ctx, action.Targets)
	case rules.VerbReplace:
		return a.replace(ctx, first, action.Targets[1])
	case rules.VerbFinishReplacement:
		if err := a.deleteClaims(ctx, action.Targets[1:]); err != nil {
			return err
		}
		return a.release(ctx, first)
	case rules.VerbAbortReplacement:
		return a.release(ctx, first)
	}
	return fmt.Errorf("no way to %s", action.Verb)
}

// replace hands a member's name over to a successor on a fresh disk. The finalizer keeps the name occupied, so that no
// successor starts on the old disk; the deletion of the Pod, exactly as it was judged, commits. rule_handover.go goes on
// from wherever this is interrupted.
func (a *actor) replace(ctx context.Context, pod, claim rules.Ref) error {
	// 1. prepare
	version, err := a.verbs.PatchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "resourceVersion": pod.ResourceVersion,
		"finalizers":  []string{v1alpha1.FinalizerReplacingDisk},
		"labels":      map[string]any{v1alpha1.LabelReplacingDisk: "true"},
		"annotations": map[string]any{v1alpha1.AnnotationReplacement: rules.HandoverRecord(claim, false)},
	}})
	if err = a.note(pod, version, false, err); err != nil {
		return fmt.Errorf("preparing the replacement of %s: %w", pod.Name, err)
	}
	// 2. delete the Pod: a conflict means that it changed, and keeps the disk
	pod.ResourceVersion = version
	if err = a.deleted(pod, a.verbs.DeletePod(ctx, pod, false)); err != nil {
		return fmt.Errorf("deleting Pod %s: %w", pod.Name, err)
	}
	// 3. commit
	version, err = a.verbs.PatchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]any{v1alpha1.AnnotationReplacement: rules.HandoverRecord(claim, true)},
	}})
	if err = a.note(pod, version, false, err); err != nil {
		return fmt.Errorf("recording the replacement of %s: %w", pod.Name, err)
	}
	// 4. delete the claim, if it is the same one
	if err = a.deleteClaims(ctx, []rules.Ref{claim}); err != nil {
		return err
	}
	// 5. let the Pod go
	return a.release(ctx, pod)
}

// release removes what a hand-over put on a Pod. One that is gone needs nothing.
func (a *actor) release(ctx context.Context, pod rules.Ref) error {
	version, err := a.verbs.PatchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid":                                 pod.UID,
		"$deleteFromPrimitiveList/finalizers": []string{v1alpha1.FinalizerReplacingDisk},
		"labels":                              map[string]any{v1alpha1.LabelReplacingDisk: nil},
		"annotations":                         map[string]any{v1alpha1.AnnotationReplacement: nil},
	}})
	if err = a.note(pod, version, false, err); err != nil && !changed(err) {
		return fmt.Errorf("releasing Pod %s: %w", pod.Name, err)
	}
	return nil
}

func (a *actor) deleteClaims(ctx context.Context, claims []rules.Ref) error {
	for _, claim := range claims {
		if err := a.deleted(claim, a.verbs.DeleteClaim(ctx, claim)); err != nil {
			return fmt.Errorf("deleting claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

// liftGates gives each Pod its zone and lets the scheduler have it, in one change.
func (a *actor) liftGates(ctx context.Context, action *rules.Action) error {
	for i, pod := range action.Targets {
		spec := map[string]any{"schedulingGates": []any{map[string]any{"$patch": "delete", "name": v1alpha1.GateBucketZone}}}
		if zone := action.Zones[i]; zone != "" {
			spec["nodeSelector"] = map[string]any{zoneLabel: zone}
		}
		version, err := a.verbs.PatchPod(ctx, pod, map[string]any{
			"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion}, "spec": spec,
		})
		if err = a.note(pod, version, false, err); err != nil {
			return fmt.Errorf("lifting the gate of %s: %w", pod.Name, err)
		}
	}
	return nil
}

// note remembers the version that a write made.
func (a *actor) note(target rules.Ref, version string, made bool, err error) error {
	if err == nil {
		a.wrote(written{Ref: target, version: version, made: made})
	}
	return err
}

func (a *actor) noteFleet(version string, err error) error {
	return a.note(rules.RefOf(a.fleet.Kind(), a.fleet), version, false, err)
}

// deleted remembers a deletion.
func (a *actor) deleted(target rules.Ref, err error) error {
	if err == nil {
		a.wrote(written{Ref: target, deleted: true})
	}
	return err
}
