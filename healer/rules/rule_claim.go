// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// claimTerminating lets a claim go that somebody deleted under a running member: it stays for as long as the Pod does.
// Deleting the Pod ends the disk, so the others have to be as well as for a replacement.
func claimTerminating(l *look) Verdict {
	if !l.Fleet.Persistent {
		return passes()
	}
	var first Verdict
	for i := range l.current {
		m := &l.current[i]
		if m.Claim == nil || !m.Claim.Terminating || m.Claim.Identity != l.Fleet.Identity ||
			!m.replaceable() || m.Pod.Node == "" {
			continue
		}
		settled, ok := l.othersSettled(i)
		if !ok || elsewhere(l.Snapshot, m) != "" {
			continue
		}
		if l.now.Before(settled) {
			if first.Outcome == Passes {
				first = mentions(fmt.Sprintf("claim %s is being deleted, and %s is restarted on a fresh disk at %s", m.Claim.Name, m.Name, stamp(settled)), settled)
			}
			continue
		}
		message := fmt.Sprintf("claim %s is being deleted; restarting %s so that it can go and a fresh disk take its place",
			m.Claim.Name, m.Name)
		return acts(v1alpha1.ReasonReplacingMember, message, Action{
			Verb: VerbDeletePod, Targets: []Ref{m.Pod.Ref}, Event: warning(EventMemberReleased, message),
		})
	}
	return first
}

// lostDisk replaces a member whose claim is Lost.
func lostDisk(l *look) Verdict {
	if !l.Fleet.Persistent {
		return passes()
	}
	var first Verdict
	for i := range l.current {
		due, ok := l.lostDue(i)
		if !ok {
			continue
		}
		m := &l.current[i]
		if !due.IsZero() {
			l.note(m, due)
		}
		switch {
		case !l.now.Before(due):
		case m.Down() && first.Outcome != Waits:
			first = waits(v1alpha1.ReasonReplacementPending, fmt.Sprintf(
				"claim %s is Lost, and others are too; if their volumes do not come back, %s is replaced on a fresh disk at %s; to keep the disks, pause the fleet",
				m.Claim.Name, m.Name, stamp(due))).until(due)
			continue
		case first.Outcome == Passes:
			first = mentions(fmt.Sprintf("claim %s is Lost, and %s is replaced on a fresh disk at %s", m.Claim.Name, m.Name, stamp(due)), due)
			continue
		default:
			continue
		}
		message := fmt.Sprintf("claim %s is Lost, its volume is gone; replacing %s on a fresh disk", m.Claim.Name, m.Name)
		a := Action{Verb: VerbReplace, Targets: []Ref{m.Pod.Ref, m.Claim.Ref}, Event: warning(EventMemberDiskLost, message)}
		if m.Claim.Terminating { // it goes with the Pod
			a.Verb, a.Targets = VerbDeletePod, a.Targets[:1]
		}
		return acts(v1alpha1.ReasonReplacingMember, message, a)
	}
	if l.lost > 1 && l.down.n == 0 {
		return mentions(fmt.Sprintf("but %d claims are Lost: restore their volumes before these members restart", l.lost), time.Time{})
	}
	return first
}

// lostDue returns when a member is replaced because its claim is Lost, zero for at once; false when it is not, or something
// else has to come first. With its volume there is nothing left to wait for, but a fresh disk is only placed when every other
// member has its place, those included that are to come back on their disks: it could take the zone of one.
//
// Kubernetes says Lost of a claim whose PersistentVolume is missing or belongs to another claim. A member that is Ready has
// its disk all the same, so it is replaced as one whose claim was deleted. And when claims of several members are Lost, their
// volumes may be about to be restored: nobody who is Ready is replaced, and whoever is not waits for the replacement delay, in
// which a person can pause the fleet.
func (l *look) lostDue(at int) (time.Time, bool) {
	m := &l.current[at]
	if m.Claim == nil || !m.Claim.Lost || m.Claim.Identity != l.Fleet.Identity || !m.replaceable() {
		return time.Time{}, false
	}
	if goes := m.Claim.Terminating && m.Pod.Node == ""; goes || l.undecided.but(at) >= 0 || elsewhere(l.Snapshot, m) != "" {
		return time.Time{}, false // a claim that is deleted goes by itself when nothing runs on it
	}
	several := l.lost > 1
	switch {
	case m.Pod.Ready && several:
		return time.Time{}, false
	case m.Pod.Ready:
		return l.othersSettled(at)
	case several:
		return m.Pod.Transition.Add(l.policy.ReplacementDelay), true
	default:
		return time.Time{}, true
	}
}
