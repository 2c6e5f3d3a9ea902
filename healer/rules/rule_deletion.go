// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// deletion takes a fleet apart: workload, Pods that it left, claims, then the finalizer. Each step waits for what the one
// before it deleted to be gone. It goes on while the fleet is paused. The reservation stays.
func deletion(l *look) Verdict {
	if !l.Fleet.Deleting {
		return passes()
	}
	if !l.Fleet.Finalizer {
		return deleting(v1alpha1.ReasonDraining, "the fleet is being deleted by somebody else's finalizer; nothing of it is touched")
	}
	if l.Sibling != "" {
		return deletes(v1alpha1.ReasonDraining, l.Sibling+" has the same name and identity, and so the same workload and disks; nothing of them is touched",
			Action{Verb: VerbRemoveFinalizer, Targets: []Ref{l.fleetRef()}})
	}
	for _, step := range []func(*look) Verdict{deleteWorkload, deleteLeftovers, deleteClaims} {
		if v := step(l); v.Outcome != Passes {
			return v
		}
	}
	return deletes(v1alpha1.ReasonDeletingClaims, "everything of the fleet is gone",
		Action{Verb: VerbRemoveFinalizer, Targets: []Ref{l.fleetRef()}})
}

func deleting(reason v1alpha1.Reason, message string) Verdict {
	return waits(reason, message).during(v1alpha1.PhaseDeleting)
}

func deletes(reason v1alpha1.Reason, message string, a Action) Verdict {
	return acts(reason, message, a).during(v1alpha1.PhaseDeleting)
}

// deleteWorkload deletes the workload in the foreground, so that it stays until its Pods are gone.
func deleteWorkload(l *look) Verdict {
	w := l.Workload
	if w == nil || w.Identity != l.Fleet.Identity {
		return passes() // gone, or never ours
	}
	if !w.Terminating {
		follow := ""
		if l.Fleet.Persistent {
			follow = "; its claims follow when its Pods are gone"
		}
		return deletes(v1alpha1.ReasonDraining, fmt.Sprintf("deleting %s %s and its Pods", w.Kind, w.Name), Action{
			Verb: VerbDeleteWorkload, Targets: []Ref{w.Ref},
			Event: normal(EventWorkloadDeleted, fmt.Sprintf("deleted %s %s%s", w.Kind, w.Name, follow)),
		})
	}
	pods := l.podsLeft(func(p *Pod) bool { return p.Controlled })
	held := heldBy(w.Finalizers, metav1.FinalizerDeleteDependents)
	return deleting(v1alpha1.ReasonDraining, fmt.Sprintf("waiting for %s %s%s to end%s", w.Kind, w.Name, held, describePods(pods)))
}

// deleteLeftovers deletes Pods without an owner, which a workload that was deleted with propagation Orphan left behind: as
// long as they run, their claims stay. Pods of a Deployment hold nothing.
func deleteLeftovers(l *look) Verdict {
	if !l.Fleet.Ordered() {
		return passes()
	}
	pods := l.podsLeft(func(p *Pod) bool { return p.Ours })
	for _, pod := range pods {
		if pod.Ownerless && !pod.Terminating {
			return deletes(v1alpha1.ReasonDraining, fmt.Sprintf("deleting Pod %s, which its workload left behind", pod.Name), Action{
				Verb: VerbDeletePod, Targets: []Ref{pod.Ref},
				Event: normal(EventLeftoverPodDeleted, fmt.Sprintf("deleted Pod %s, which its workload left behind", pod.Name)),
			})
		}
	}
	if len(pods) == 0 {
		return passes()
	}
	v := deleting(v1alpha1.ReasonDraining, "waiting for Pods to go"+describePods(pods))
	if w := l.Workload; w != nil {
		v.Message += fmt.Sprintf("; %s %s has not the label %s: %s, so it is left alone: delete it if it is this fleet's",
			w.Kind, w.Name, v1alpha1.LabelFleetUID, l.Fleet.Identity)
		v.Recheck = true
	}
	return v
}

// deleteClaims deletes the claims of all ordinals, those of removed members too.
func deleteClaims(l *look) Verdict {
	due, names := make([]Ref, 0, len(l.Members)+len(l.Removed)), make([]string, 0, len(l.Members)+len(l.Removed))
	var waits []string
	for _, list := range [...][]Member{l.Members, l.Removed} {
		for i := range list {
			switch m, c := &list[i], list[i].Claim; {
			case c == nil || c.Identity != l.Fleet.Identity:
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
		return deletes(v1alpha1.ReasonDeletingClaims, "deleting "+what, Action{
			Verb: VerbDeleteClaims, Targets: due, Event: normal(EventClaimsDeleted, "deleted "+what),
		})
	}
	if len(waits) > 0 {
		return deleting(v1alpha1.ReasonDeletingClaims, "waiting for claims to go: "+strings.Join(waits, "; "))
	}
	return passes()
}

func describeClaim(c *Claim, pod *Pod) string {
	if pod != nil {
		return fmt.Sprintf("%s is used by Pod %s", c.Name, pod.Name)
	}
	return c.Name + heldClaim(c)
}

func heldClaim(c *Claim) string { return heldBy(c.Finalizers) }

// heldBy names finalizers, but some.
func heldBy(finalizers []string, but ...string) string {
	left := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return slices.Contains(but, f) })
	if len(left) == 0 {
		return ""
	}
	return " (finalizers " + strings.Join(left, ", ") + ")"
}

// podsLeft returns the fleet's Pods that a condition holds for, with or without ordinals.
func (s *Snapshot) podsLeft(want func(*Pod) bool) []*Pod {
	var pods []*Pod
	s.eachPod(func(pod *Pod) {
		if want(pod) {
			pods = append(pods, pod)
		}
	})
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
