// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// Verbs are the changes that the healer makes to a cluster, beside status and events. Every change names the UID of what it
// changes, and the resourceVersion where what was judged must not have changed since. Those that leave an object return its new
// resourceVersion.
type Verbs interface {
	// PatchFleet replaces the finalizers of a fleet as it was judged.
	PatchFleet(ctx context.Context, f v1alpha1.Fleet, finalizers []string) (version string, err error)
	// CreateReservation makes a bucket the fleet's. AlreadyExists means that another was faster.
	CreateReservation(ctx context.Context, f v1alpha1.Fleet, values rules.Fleet) (version string, err error)
	// Scale applies the replica count, and nothing else, to the workload that was judged. It never creates one.
	Scale(ctx context.Context, workload rules.Ref, replicas int) (version string, err error)
	// PatchPod changes metadata or the scheduling of a Pod, by a strategic merge patch.
	PatchPod(ctx context.Context, pod rules.Ref, body map[string]any) (version string, err error)
	// DeletePod deletes a Pod; with force without grace, for a kubelet that does not answer.
	DeletePod(ctx context.Context, pod rules.Ref, force bool) error
	// PatchClaim sets annotations of a claim, or removes those that are nil.
	PatchClaim(ctx context.Context, claim rules.Ref, annotations map[string]any) (version string, err error)
	// DeleteClaim deletes a claim, or only asks whether that would be refused.
	DeleteClaim(ctx context.Context, claim rules.Ref, dryRun bool) error
	// DeleteWorkload deletes a workload in the foreground: it stays until its Pods are gone.
	DeleteWorkload(ctx context.Context, workload rules.Ref) error
}

// An actor carries out one action, and notes what it wrote so that nothing is decided on an older view.
type actor struct {
	verbs  Verbs
	fleet  v1alpha1.Fleet // as it was read live
	wrote  func(written)
	memory *memory
	now    time.Time
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
		return a.scale(ctx, first, action.Replicas, action.Targets[1:])
	case rules.VerbUnmark:
		for _, claim := range action.Targets {
			if err := a.annotate(ctx, claim, v1alpha1.AnnotationKeptByScaleIn, nil); err != nil {
				return fmt.Errorf("removing the mark of claim %s: %w", claim.Name, err)
			}
		}
		return nil
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
		if len(action.Targets) == 1 {
			return a.release(ctx, first)
		}
		return a.finish(ctx, first, action.Targets[1])
	case rules.VerbAbortReplacement:
		return a.abort(ctx, first, action.Targets[1:])
	}
	return fmt.Errorf("no way to %s", action.Verb)
}

// replace hands a member's name over to a successor on a fresh disk. The finalizer keeps the name occupied, so that no
// successor starts on the old disk; the deletion of the Pod, exactly as it was judged, commits. rule_handover.go goes on
// from wherever this is interrupted.
func (a *actor) replace(ctx context.Context, pod, claim rules.Ref) error {
	// 1. prepare, and know what will be refused while nothing has happened
	version, err := a.verbs.PatchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "resourceVersion": pod.ResourceVersion,
		"finalizers":  []string{v1alpha1.FinalizerReplacingDisk},
		"labels":      map[string]any{v1alpha1.LabelReplacingDisk: "true"},
		"annotations": map[string]any{v1alpha1.AnnotationReplacement: rules.HandoverRecord(claim)},
	}})
	if err = a.note(pod, version, false, err); err != nil {
		return fmt.Errorf("preparing the replacement of %s: %w", pod.Name, err)
	}
	if err = a.verbs.DeleteClaim(ctx, claim, true); err != nil {
		return errors.Join(fmt.Errorf("the deletion of claim %s would be refused: %w", claim.Name, err), a.release(ctx, pod))
	}
	// 2. delete the Pod: a conflict means that it changed, and keeps the disk
	pod.ResourceVersion = version
	a.memory.begin(pod.UID, claim)
	if err = a.deleted(pod, a.verbs.DeletePod(ctx, pod, false)); err != nil {
		return fmt.Errorf("deleting Pod %s: %w", pod.Name, err)
	}
	// 3. and 4.
	return a.finish(ctx, pod, claim)
}

// finish deletes the claim of a hand-over, if it is the same one and as it was judged, and releases the Pod.
func (a *actor) finish(ctx context.Context, pod, claim rules.Ref) error {
	if err := a.deleted(claim, a.verbs.DeleteClaim(ctx, claim, false)); err != nil {
		if !changed(err) {
			a.memory.refused(pod.UID)
		}
		return fmt.Errorf("deleting claim %s: %w", claim.Name, err)
	}
	return a.release(ctx, pod)
}

// abort keeps the disk of a hand-over. A deletion of the claim that another healer sent long ago conflicts from here on.
func (a *actor) abort(ctx context.Context, pod rules.Ref, claims []rules.Ref) error {
	for _, claim := range claims {
		err := a.annotate(ctx, claim, v1alpha1.AnnotationReplacementAborted, a.now.UTC().Format(time.RFC3339))
		if err != nil {
			return fmt.Errorf("keeping claim %s from a deletion that was sent before: %w", claim.Name, err)
		}
	}
	return a.release(ctx, pod)
}

// annotate sets an annotation of a claim, or removes it when the value is nil.
func (a *actor) annotate(ctx context.Context, claim rules.Ref, key string, value any) error {
	version, err := a.verbs.PatchClaim(ctx, claim, map[string]any{key: value})
	return a.note(claim, version, false, err)
}

// scale marks the claim of a member that is removed, and then lowers the count.
func (a *actor) scale(ctx context.Context, workload rules.Ref, replicas int, marks []rules.Ref) error {
	for _, claim := range marks {
		if err := a.annotate(ctx, claim, v1alpha1.AnnotationKeptByScaleIn, a.now.UTC().Format(time.RFC3339)); err != nil {
			return fmt.Errorf("marking claim %s as kept: %w", claim.Name, err)
		}
	}
	version, err := a.verbs.Scale(ctx, workload, replicas)
	return a.note(workload, version, false, err)
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

// deleteClaims deletes all that can be: one that may not be deleted keeps no other from being so.
func (a *actor) deleteClaims(ctx context.Context, claims []rules.Ref) error {
	var all error
	for _, claim := range claims {
		if err := a.deleted(claim, a.verbs.DeleteClaim(ctx, claim, false)); err != nil {
			all = errors.Join(all, fmt.Errorf("deleting claim %s: %w", claim.Name, err))
		}
	}
	return all
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
