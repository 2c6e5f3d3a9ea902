// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// stuckPod removes a Pod whose kubelet does not answer, in or beyond the range, whatever became of its StatefulSet: none makes a
// successor while the name is taken. The disk is kept; ReadWriteOncePod and the volume's own attachment keep a second writer off
// it. A claim that was deleted before ends with its Pod, so then the others have to be as well as for a replacement.
//
// A Deployment needs none of this while it lives: it makes successors at once.
func stuckPod(l *look) Verdict {
	if l.Fleet.Deleting {
		return l.stuckWhileDeleting()
	}
	if !l.Fleet.Ordered() || l.Fleet.Paused {
		return passes()
	}
	var next time.Time
	var waiting Verdict
	for _, list := range [...][]Member{l.Members, l.Removed} {
		for i := range list {
			m := &list[i]
			if m.Pod == nil || !m.Pod.Ours {
				continue
			}
			v := l.forceDelete(m.Pod)
			if v.Outcome != Acts {
				next = sooner(next, v.Until)
				continue
			}
			c := m.Claim
			if c == nil || !c.Terminating || c.Identity != l.Fleet.Identity {
				return v
			}
			why, until := l.unsettled(m), l.settledBut(m)
			if c.Lost { // there is no disk to keep, but the fresh one may take the place of a member that waits for its own
				why, until = l.unplacedBut(m), time.Time{}
			}
			if why != "" {
				waiting = mentions(fmt.Sprintf("%s on %s should have ended by %s and is still there; it is not force-deleted, since its claim %s is being deleted and would go with it: %s",
					m.Name, place(m.Pod), stamp(m.Pod.DeletedAt), c.Name, why), until)
				continue
			}
			v.Message = strings.Replace(v.Message, "its disk is kept", fmt.Sprintf("claim %s, which was deleted, goes with it", c.Name), 1)
			v.Action.Event.Message = strings.Replace(v.Message, "force-deleting", "force-deleted", 1)
			return v
		}
	}
	if waiting.Outcome != Passes {
		waiting.Until = sooner(waiting.Until, next)
		return waiting
	}
	return passes().until(next)
}

// unplacedBut says which other member has no place yet, empty when each has one, or found none. A StatefulSet that is being deleted
// makes no more Pods, and waits for this one.
func (l *look) unplacedBut(m *Member) string {
	if l.Workload == nil || l.Workload.Terminating {
		return ""
	}
	for i := range l.current {
		if other := &l.current[i]; other.Ordinal != m.Ordinal && !other.Decided() {
			return other.Name + " has no place yet"
		}
	}
	return ""
}

// settledBut returns when every member but one will have settled, zero when one of them is down.
func (l *look) settledBut(m *Member) time.Time {
	but := -1
	if m.Ordinal < len(l.current) {
		but = m.Ordinal
	}
	at, _ := l.othersSettled(but)
	return at
}

// stuckWhileDeleting looks at the Pods that the deletion of the fleet waits for.
func (l *look) stuckWhileDeleting() Verdict {
	w := l.Workload
	ours := w != nil && w.Identity == l.Fleet.Identity
	if !l.Fleet.Finalizer || l.Sibling != "" || ours && !w.Terminating || !ours && !l.Fleet.Ordered() {
		return passes()
	}
	var next time.Time
	for _, pod := range l.podsLeft(func(p *Pod) bool { return p.Terminating && (p.Ours || p.Controlled) }) {
		v := l.forceDelete(pod)
		if v.Outcome == Acts {
			v.Reason, v.Phase = v1alpha1.ReasonDraining, v1alpha1.PhaseDeleting
			return v
		}
		next = sooner(next, v.Until)
	}
	return passes().until(next)
}

// forceDelete acts on a Pod that is still there stuckAfter its deletionTimestamp. One that was force-deleted before is held by
// finalizers, and another try would change nothing.
func (l *look) forceDelete(pod *Pod) Verdict {
	if !pod.Terminating || pod.Forced {
		return passes()
	}
	due := pod.DeletedAt.Add(stuckAfter)
	if l.now.Before(due) {
		return passes().until(due)
	}
	kept := ""
	if l.Fleet.Persistent && !l.Fleet.Deleting {
		kept = ", its disk is kept"
	}
	message := fmt.Sprintf("%s on %s should have ended by %s and is still there; force-deleting the Pod%s",
		pod.Name, place(pod), stamp(pod.DeletedAt), kept)
	return acts(v1alpha1.ReasonReplacingMember, message, Action{
		Verb: VerbForceDeletePod, Targets: []Ref{pod.Ref},
		Event: warning(EventMemberForceDeleted, strings.Replace(message, "force-deleting", "force-deleted", 1)),
	}).due(due)
}

func place(pod *Pod) string {
	if pod.Node == "" {
		return "no node"
	}
	return "node " + pod.Node
}

// sooner returns the earlier of two times, of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
