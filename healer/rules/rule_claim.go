// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// unmark removes the mark of a claim that was kept by a scale-in once its member is back: its disk is a member's again.
func unmark(l *look) Verdict {
	var back []Ref
	for i := range l.current {
		m := &l.current[i]
		c := m.Claim
		if c != nil && c.Marked && c.Identity == l.Fleet.Identity && !c.Terminating && !m.Down() && !l.going(m) {
			back = append(back, c.Ref)
		}
	}
	if len(back) == 0 {
		return passes()
	}
	return acts(v1alpha1.ReasonProvisioning, "members that were removed are back", Action{Verb: VerbUnmark, Targets: back})
}

// claimTerminating ends a disk whose claim somebody deleted under a running member: it stays for as long as the Pod does. Deleting
// the Pod ends the disk, so the others have to be as well as for a replacement.
func claimTerminating(l *look) Verdict {
	if !l.Fleet.Persistent {
		return passes()
	}
	var first Verdict
	for i := range l.current {
		m := &l.current[i]
		if m.Claim == nil || !m.Claim.Terminating || m.Claim.Identity != l.Fleet.Identity ||
			!m.replaceable() || m.Pod.Node == "" || l.going(m) {
			continue
		}
		if held := m.Claim.HeldBy(); len(held) > 0 {
			if first.Outcome == Passes {
				first = mentions(fmt.Sprintf("claim %s is being deleted, and held by finalizers %s: %s is left alone until they are removed",
					m.Claim.Name, strings.Join(held, ", "), m.Name), time.Time{})
			}
			continue
		}
		settled, ok := l.othersSettled(i)
		why, ended := l.elsewhere(m)
		if !ok || why != "" || l.Target > 1 && len(l.current) == 1 {
			continue
		}
		settled = later(settled, ended)
		message := fmt.Sprintf("claim %s is being deleted; restarting %s so that it can end and a fresh disk take its place",
			m.Claim.Name, m.Name)
		switch held := l.braked(m.Pod.Transition); {
		case l.now.Before(settled):
			if first.Outcome == Passes {
				first = mentions(fmt.Sprintf("claim %s is being deleted, and %s is restarted on a fresh disk at %s", m.Claim.Name, m.Name, stamp(settled)), settled)
			}
		case held != "":
			return l.heldBack(m, v1alpha1.ReasonReplacementPending, fmt.Sprintf("claim %s is being deleted; %s", m.Claim.Name, held))
		default:
			return acts(v1alpha1.ReasonReplacingMember, message, Action{
				Verb: VerbDeletePod, Targets: []Ref{m.Pod.Ref}, Event: warning(EventMemberReleased, message),
			})
		}
	}
	return first
}

// lostDisk replaces a member whose claim is Lost.
func lostDisk(l *look) Verdict {
	if !l.Fleet.Persistent || l.lost == 0 {
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
		if v := l.lostVerdict(m, due); v.Outcome > first.Outcome {
			first = v
		}
		if first.Outcome == Acts {
			return first
		}
	}
	if l.lost > 1 && l.down.n == 0 {
		return mentions(fmt.Sprintf("but %d claims are Lost: restore their volumes before these members restart", l.lost), time.Time{})
	}
	return first
}

func (l *look) lostVerdict(m *Member, due time.Time) Verdict {
	if l.now.Before(due) {
		if !m.Down() {
			return mentions(fmt.Sprintf("claim %s is Lost, and %s is replaced on a fresh disk at %s", m.Claim.Name, m.Name, stamp(due)), due)
		}
		others := "others are too"
		if l.lost == 1 {
			others = "replacements are held back over all fleets"
		}
		return waits(v1alpha1.ReasonReplacementPending, fmt.Sprintf(
			"claim %s is Lost, and %s; if its volume does not come back, %s is replaced on a fresh disk at %s; to keep the disk, pause the fleet",
			m.Claim.Name, others, m.Name, stamp(due))).until(due)
	}
	if held := l.braked(m.Pod.Transition); held != "" {
		return l.heldBack(m, v1alpha1.ReasonReplacementPending, fmt.Sprintf("claim %s is Lost; %s", m.Claim.Name, held))
	}
	message := fmt.Sprintf("claim %s is Lost, its volume is gone; replacing %s on a fresh disk", m.Claim.Name, m.Name)
	a := Action{Verb: VerbReplace, Targets: []Ref{m.Pod.Ref, m.Claim.Ref}, Event: warning(EventMemberDiskLost, message)}
	if m.Claim.Terminating { // it ends with the Pod
		a.Verb, a.Targets = VerbDeletePod, a.Targets[:1]
	}
	return acts(v1alpha1.ReasonReplacingMember, message, a)
}

// lostDue returns when a member is replaced because its claim is Lost, zero for at once; false when it is not, or something
// else has to come first. With its volume there is nothing left to wait for, but a fresh disk is only placed when every other
// member has its place, those included that are to come back on their disks: it could take the zone of one.
//
// Kubernetes says Lost of a claim whose PersistentVolume is missing or belongs to another claim. A member that is Ready has
// its disk all the same, so it is replaced as one whose claim was deleted. And when claims of several members are Lost, their
// volumes may be about to be restored: nobody who is Ready is replaced, and whoever is not waits for the replacement delay, in
// which a person can pause the fleet. So does one while the brake holds: after a restore of etcd every volume may seem lost.
func (l *look) lostDue(at int) (time.Time, bool) {
	m := &l.current[at]
	if m.Claim == nil || !m.Claim.Lost || m.Claim.Identity != l.Fleet.Identity || !m.replaceable() || l.going(m) {
		return time.Time{}, false
	}
	why, ended := l.elsewhere(m)
	if goes := m.Claim.Terminating && m.Pod.Node == ""; goes || l.undecided.but(at) >= 0 || why != "" {
		return time.Time{}, false // a claim that is deleted ends by itself when nothing runs on it
	}
	if ended.After(l.now) {
		return ended, true
	}
	several := l.lost > 1
	switch {
	case m.Pod.Ready && several:
		return time.Time{}, false
	case m.Pod.Ready:
		return l.othersSettled(at)
	case several, l.braked(m.Pod.Transition) != "":
		return m.Pod.Transition.Add(l.policy.ReplacementDelay), true
	default:
		return time.Time{}, true
	}
}
