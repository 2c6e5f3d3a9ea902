// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// publish writes the status if it changed, tells of a reason that changed, and sets the gauges.
func (h *Healer) publish(
	ctx context.Context, request Request, fleet v1alpha1.Fleet, s *rules.Snapshot, d *rules.Decision, now time.Time,
) error {
	old := fleet.State().DeepCopy()
	status := rules.StatusOf(s, d, old, now)
	h.Metrics.observe(s, d, &status, now)
	if equality.Semantic.DeepEqual(*old, status) {
		return nil
	}
	patched := fleet.DeepCopyObject().(v1alpha1.Fleet)
	*patched.State() = status
	err := h.Client.Status().Patch(ctx, patched, client.MergeFrom(fleet), client.FieldOwner(FieldManager))
	if changed(err) {
		return nil // the fleet went meanwhile
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	h.views.wrote(request, written{Ref: rules.RefOf(fleet.Kind(), fleet), version: patched.GetResourceVersion()})
	if before := reasonOf(old); before != d.Reason || old.Phase != d.Phase {
		log.FromContext(ctx).Info("now "+string(d.Phase), "rule", d.Rule.Name, "reason", d.Reason, "member", d.Member,
			"message", d.Message, "before", before)
		if old.Phase != d.Phase {
			h.Metrics.waited(before, old, now)
		}
		if (d.Action == nil || d.Action.Verb == rules.VerbAddFinalizer) && worthTelling(old, d) {
			h.event(fleet, d.Rule.Name, waitEvent(d))
		}
	}
	return nil
}

// reasonOf returns the reason that a status gives, empty for none.
func reasonOf(status *v1alpha1.FleetStatus) v1alpha1.Reason {
	if c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); c != nil {
		return v1alpha1.Reason(c.Reason)
	}
	return ""
}

// worthTelling leaves the steps of an ordinary start or rollout to the status: an event is for another phase, and for a wait
// that somebody may want to end.
func worthTelling(old *v1alpha1.FleetStatus, d *rules.Decision) bool {
	switch d.Reason {
	case v1alpha1.ReasonReplacementPending, v1alpha1.ReasonPrerequisitesMissing:
		return true
	case v1alpha1.ReasonSpecNotSynced, v1alpha1.ReasonWaitingForPlacement, v1alpha1.ReasonRollingOut, v1alpha1.ReasonProvisioning:
		return false
	default:
		return old.Phase != d.Phase || d.Phase == v1alpha1.PhaseBlocked
	}
}

// waitEvent tells of a fleet that starts to wait, is blocked, or is well.
func waitEvent(d *rules.Decision) *rules.Event {
	return &rules.Event{Reason: string(d.Reason), Message: d.Message, Warning: d.Phase == v1alpha1.PhaseBlocked}
}

// event publishes what was done or seen.
func (h *Healer) event(fleet v1alpha1.Fleet, rule string, e *rules.Event) {
	if e == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	fleet.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(fleet.Kind()))
	h.Recorder.Eventf(fleet, nil, kind, e.Reason, rule, "%s", rules.Sentence(e.Message))
}

// failed tells that an action was refused.
func (h *Healer) failed(fleet v1alpha1.Fleet, d *rules.Decision, err error) {
	h.event(fleet, d.Rule.Name, &rules.Event{
		Reason: rules.EventActionFailed, Message: fmt.Sprintf("%s: %v", rules.Cut(d.Message, 140), err), Warning: true,
	})
}
