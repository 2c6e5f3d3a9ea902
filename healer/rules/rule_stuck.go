// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// stuckPod removes a Pod whose kubelet does not answer, in or beyond the range: the StatefulSet makes no successor while its
// name is taken. The disk is kept; ReadWriteOncePod and the volume's own attachment keep a second writer off it.
//
// A Deployment needs none of this while it lives: it makes successors at once.
func stuckPod(l *look) Verdict {
	if l.Fleet.Deleting {
		return l.stuckWhileDeleting()
	}
	r, w := l.Reservation, l.Workload
	if !l.Fleet.Ordered() || l.Fleet.Paused || l.Fleet.Invalid != "" || w == nil || w.Identity != l.Fleet.Identity || w.Owned || w.Terminating ||
		r == nil || r.Identity != l.Fleet.Identity || r.Rival != "" || r.Terminating {
		return passes()
	}
	return l.forceDelete(l.podsLeft(func(p *Pod) bool { return p.Controlled && p.Terminating }))
}

// stuckWhileDeleting looks at the Pods that the deletion of the fleet waits for.
func (l *look) stuckWhileDeleting() Verdict {
	w := l.Workload
	var pods []*Pod
	switch ours := w != nil && w.Identity == l.Fleet.Identity; {
	case !l.Fleet.Finalizer || l.Sibling != "" || ours && !w.Terminating:
	case ours:
		pods = l.podsLeft(func(p *Pod) bool { return p.Controlled && p.Terminating })
	case l.Fleet.Ordered():
		pods = l.podsLeft(func(p *Pod) bool { return p.Ours && p.Terminating })
	}
	v := l.forceDelete(pods)
	if v.Outcome == Acts {
		v.Reason, v.Phase = v1alpha1.ReasonDraining, v1alpha1.PhaseDeleting
	}
	return v
}

// forceDelete acts on the first Pod that is still there stuckAfter its deletionTimestamp. One that was force-deleted before
// is held by finalizers, and another try would change nothing.
func (l *look) forceDelete(pods []*Pod) Verdict {
	var next time.Time
	for _, pod := range pods {
		if !pod.Terminating || pod.Forced {
			continue
		}
		due := pod.DeletedAt.Add(stuckAfter)
		if l.now.Before(due) {
			if next.IsZero() || due.Before(next) {
				next = due
			}
			continue
		}
		kept, where := "", "no node"
		if l.Fleet.Persistent && !l.Fleet.Deleting {
			kept = ", its disk is kept"
		}
		if pod.Node != "" {
			where = "node " + pod.Node
		}
		message := fmt.Sprintf("%s on %s should have ended by %s and is still there; force-deleting the Pod%s",
			pod.Name, where, stamp(pod.DeletedAt), kept)
		return acts(v1alpha1.ReasonReplacingMember, message, Action{
			Verb: VerbForceDeletePod, Targets: []Ref{pod.Ref},
			Event: warning(EventMemberForceDeleted, strings.Replace(message, "force-deleting", "force-deleted", 1)),
		}).due(due)
	}
	return passes().until(next)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
