// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// deletion takes a fleet apart: workload, Pods that it left, claims, then the finalizer. Each step waits for what the one
// before it deleted to be gone. It goes on while the fleet is paused. The reservation stays.
func deletion(s *Snapshot, _ Policy, now time.Time) *Decision {
	if !s.Fleet.Deleting {
		return nil
	}
	if !s.Fleet.Finalizer {
		return deleting(v1alpha1.ReasonDraining, "the fleet is being deleted by somebody else's finalizer; nothing of it is touched")
	}
	if s.Sibling != "" {
		return deleting(v1alpha1.ReasonDraining, s.Sibling+" has the same name and identity, and so the same workload and disks; nothing of them is touched").
			act(Action{Verb: VerbRemoveFinalizer, Targets: []Ref{s.fleetRef()}})
	}
	for _, step := range []func(*Snapshot, time.Time) *Decision{deleteWorkload, deleteLeftovers, deleteClaims} {
		if d := step(s, now); d != nil {
			return d
		}
	}
	return deleting(v1alpha1.ReasonDeletingClaims, "everything of the fleet is gone").
		act(Action{Verb: VerbRemoveFinalizer, Targets: []Ref{s.fleetRef()}})
}

func deleting(reason v1alpha1.Reason, message string) *Decision {
	return &Decision{Phase: v1alpha1.PhaseDeleting, Reason: reason, Message: message}
}

// deleteWorkload deletes the workload in the foreground, so that it stays until its Pods are gone.
func deleteWorkload(s *Snapshot, now time.Time) *Decision {
	w := s.Workload
	if w == nil || w.Identity != s.Fleet.Identity {
		return nil // gone, or never ours
	}
	if !w.Terminating {
		follow := ""
		if s.Fleet.Persistent {
			follow = "; its claims follow when its Pods are gone"
		}
		return deleting(v1alpha1.ReasonDraining, fmt.Sprintf("deleting %s %s and its Pods", w.Kind, w.Name)).act(Action{
			Verb: VerbDeleteWorkload, Targets: []Ref{w.Ref},
			Event: normal(EventWorkloadDeleted, fmt.Sprintf("deleted %s %s%s", w.Kind, w.Name, follow)),
		})
	}
	pods := s.podsLeft(func(p *Pod) bool { return p.Controlled })
	if d := forceDelete(s, pods, now); d != nil {
		return d.during(v1alpha1.PhaseDeleting, v1alpha1.ReasonDraining)
	}
	d := deleting(v1alpha1.ReasonDraining, fmt.Sprintf("waiting for %s %s to go%s", w.Kind, w.Name, describePods(pods)))
	wakeForStuck(d, pods, now)
	return d
}

// deleteLeftovers deletes Pods without an owner, which a workload that was deleted with propagation Orphan left behind: as
// long as they run, their claims stay. Pods of a Deployment hold nothing.
func deleteLeftovers(s *Snapshot, now time.Time) *Decision {
	if !s.Fleet.Ordered() {
		return nil
	}
	pods := s.podsLeft(func(p *Pod) bool { return p.Ours })
	if d := forceDelete(s, pods, now); d != nil {
		return d.during(v1alpha1.PhaseDeleting, v1alpha1.ReasonDraining)
	}
	for _, pod := range pods {
		if pod.Ownerless && !pod.Terminating {
			return deleting(v1alpha1.ReasonDraining, fmt.Sprintf("deleting Pod %s, which its workload left behind", pod.Name)).act(Action{
				Verb: VerbDeletePod, Targets: []Ref{pod.Ref},
				Event: normal(EventLeftoverPodDeleted, fmt.Sprintf("deleted Pod %s, which its workload left behind", pod.Name)),
			})
		}
	}
	if len(pods) == 0 {
		return nil
	}
	d := deleting(v1alpha1.ReasonDraining, "waiting for Pods to go"+describePods(pods))
	if w := s.Workload; w != nil {
		d.Message += fmt.Sprintf("; %s %s has not the label %s: %s, so it is left alone: delete it if it is this fleet's",
			w.Kind, w.Name, v1alpha1.LabelFleetUID, s.Fleet.Identity)
		d.Recheck = true
	}
	wakeForStuck(d, pods, now)
	return d
}

// deleteClaims deletes the claims of all ordinals, those of removed members too.
func deleteClaims(s *Snapshot, _ time.Time) *Decision {
	var due []Ref
	var names, waits []string
	for _, list := range [][]Member{s.Members, s.Removed} {
		for _, m := range list {
			switch c := m.Claim; {
			case c == nil || c.Identity != s.Fleet.Identity:
			case c.Terminating:
				waits = append(waits, describeClaim(c, m.Pod))
			default:
				due = append(due, c.Ref)
				names = append(names, c.Name)
			}
		}
	}
	if len(due) > 0 {
		what := fmt.Sprintf("%d claims: %s", len(due), strings.Join(names, ", "))
		return deleting(v1alpha1.ReasonDeletingClaims, "deleting "+what).act(Action{
			Verb: VerbDeleteClaims, Targets: due, Event: normal(EventClaimsDeleted, "deleted "+what),
		})
	}
	if len(waits) > 0 {
		return deleting(v1alpha1.ReasonDeletingClaims, "waiting for claims to go: "+strings.Join(waits, "; "))
	}
	return nil
}

func describeClaim(c *Claim, pod *Pod) string {
	if pod != nil {
		return fmt.Sprintf("%s is used by Pod %s", c.Name, pod.Name)
	}
	return c.Name + heldClaim(c)
}

func heldClaim(c *Claim) string {
	if len(c.Finalizers) == 0 {
		return ""
	}
	return " (finalizers " + strings.Join(c.Finalizers, ", ") + ")"
}

// podsLeft returns the fleet's Pods that a condition holds for, with or without ordinals.
func (s *Snapshot) podsLeft(want func(*Pod) bool) []*Pod {
	var pods []*Pod
	for _, pod := range append(s.memberPods(), s.Pods...) {
		if want(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// describePods names at most five Pods and what holds each.
func describePods(pods []*Pod) string {
	var parts []string
	for i, pod := range pods {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d more", len(pods)-i))
			break
		}
		part := pod.Name
		switch {
		case pod.Forced && len(pod.Finalizers) > 0:
			part += " (finalizers " + strings.Join(pod.Finalizers, ", ") + ")"
		case pod.Terminating && pod.Waited:
			part += " (terminating)"
		case pod.Terminating:
			part += fmt.Sprintf(" (force-deleted at %s if it is still there)", stamp(pod.DeletedAt.Add(stuckAfter)))
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
