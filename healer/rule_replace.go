// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// claimTerminating lets a claim go that somebody deleted under a running member: it stays for as long as the Pod does.
// Deleting the Pod ends the disk, so the others have to be as well as for a replacement.
func claimTerminating(s *Snapshot, _ Policy, now time.Time) *Decision {
	if !s.Fleet.Persistent {
		return nil
	}
	current := s.Current()
	for i := range current {
		m := &current[i]
		if m.Claim == nil || !m.Claim.Terminating || m.Claim.Identity != s.Fleet.Identity ||
			!m.replaceable() || m.Pod.Node == "" {
			continue
		}
		settled, ok := othersSettled(current, i)
		if !ok || now.Before(settled) || elsewhere(s, m) != "" {
			continue
		}
		message := fmt.Sprintf("claim %s is being deleted; restarting %s so that it can go and a fresh disk take its place",
			m.Claim.Name, m.Name)
		d := provisioning(v1alpha1.ReasonReplacingMember, message)
		return d.act(Action{
			Verb: VerbDeletePod, Targets: []Ref{m.Pod.Ref},
			Event: warning(EventMemberReleased, message),
		})
	}
	return nil
}

// lostDisk replaces a member whose claim is Lost.
func lostDisk(s *Snapshot, p Policy, now time.Time) *Decision {
	if !s.Fleet.Persistent {
		return nil
	}
	current := s.Current()
	for i := range current {
		due, ok := lostDue(s, i, p)
		if !ok || now.Before(due) {
			continue
		}
		m := &current[i]
		message := fmt.Sprintf("claim %s is Lost, its volume is gone; replacing %s on a fresh disk", m.Claim.Name, m.Name)
		a := Action{Verb: VerbReplace, Targets: []Ref{m.Pod.Ref, m.Claim.Ref}, Event: warning(EventMemberDiskLost, message)}
		if m.Claim.Terminating { // it goes with the Pod
			a.Verb, a.Targets = VerbDeletePod, a.Targets[:1]
		}
		return provisioning(v1alpha1.ReasonReplacingMember, message).act(a)
	}
	return nil
}

// lostDue returns when a member is replaced because its claim is Lost, zero for at once; false when it is not, or something
// else has to come first. With its volume there is nothing left to wait for, but a fresh disk is only placed when every other
// member has its place, those included that are to come back on their disks: it could take the zone of one.
//
// Kubernetes says Lost of a claim whose PersistentVolume is missing or belongs to another claim. A member that is Ready has
// its disk all the same, so it is replaced as one whose claim was deleted. And when claims of several members are Lost, their
// volumes may be about to be restored: nobody who is Ready is replaced, and whoever is not waits for the replacement delay, in
// which a person can pause the fleet.
func lostDue(s *Snapshot, at int, p Policy) (time.Time, bool) {
	current := s.Current()
	m := &current[at]
	if m.Claim == nil || !m.Claim.Lost || m.Claim.Identity != s.Fleet.Identity || !m.replaceable() {
		return time.Time{}, false
	}
	if goes := m.Claim.Terminating && m.Pod.Node == ""; goes || undecided(current, at) != nil || elsewhere(s, m) != "" {
		return time.Time{}, false // a claim that is deleted goes by itself when nothing runs on it
	}
	several := lostClaims(current) > 1
	switch {
	case m.Pod.Ready && several:
		return time.Time{}, false
	case m.Pod.Ready:
		return othersSettled(current, at)
	case several:
		return m.Pod.Transition.Add(p.ReplacementDelay), true
	default:
		return time.Time{}, true
	}
}

// lostClaims counts the members whose claims are Lost.
func lostClaims(members []Member) int {
	n := 0
	for i := range members {
		if c := members[i].Claim; c != nil && c.Lost {
			n++
		}
	}
	return n
}

// replacement gives a fresh disk to the one member that cannot come back on its own.
func replacement(s *Snapshot, p Policy, now time.Time) *Decision {
	c := candidate(s, p)
	if c.member == nil || c.refusal != "" || now.Before(c.due) {
		return nil
	}
	m := c.member
	message := fmt.Sprintf("%s has not been ready since %s%s; replacing it on a fresh disk", m.Name, stamp(m.Pod.Transition), because(m.Pod))
	d := provisioning(v1alpha1.ReasonReplacingMember, message)
	d.Due = c.due
	return d.act(Action{
		Verb: VerbReplace, Targets: []Ref{m.Pod.Ref, m.Claim.Ref}, Event: warning(EventMemberReplaced, message),
	})
}

// A candidacy says whether and when a member is replaced.
type candidacy struct {
	member *Member // the one that is down, or the first of several
	// due is when it is replaced if nothing changes.
	due time.Time
	// refusal is why it is not, until something changes.
	refusal string
}

// candidate looks for the member to replace. It returns no member when none is down.
func candidate(s *Snapshot, p Policy) candidacy {
	current := s.Current()
	var c candidacy
	at := -1
	for i := range current {
		if !current[i].Down() {
			continue
		}
		if at >= 0 {
			c.refusal = fmt.Sprintf("not replaced while %s is also down", current[i].Name)
			return c
		}
		at, c.member = i, &current[i]
	}
	if at < 0 {
		return c
	}
	if c.refusal = unreplaceable(s, c.member); c.refusal != "" {
		return c
	}
	if c.refusal = elsewhere(s, c.member); c.refusal != "" {
		c.refusal = "not replaced while " + c.refusal
		return c
	}
	settled, ok := othersSettled(current, at) // nobody else is down
	if !ok {
		c.refusal = "not replaced before every other member has its place"
	}
	c.due = later(c.member.Pod.Transition.Add(p.ReplacementDelay), settled)
	return c
}

// unreplaceable says why a member that is down keeps its disk whatever the others do.
func unreplaceable(s *Snapshot, m *Member) string {
	switch pod, claim := m.Pod, m.Claim; {
	case !s.Fleet.Persistent:
		return "it has no disk of its own"
	case pod == nil:
		return "its Pod is missing, and a missing Pod never costs a disk"
	case pod.Terminating:
		return "its Pod is terminating"
	case !m.replaceable():
		return fmt.Sprintf("Pod %s is not controlled by the fleet's StatefulSet under its label", pod.Name)
	case claim == nil:
		return "it has no claim"
	case claim.Identity != s.Fleet.Identity:
		return fmt.Sprintf("claim %s has not the fleet's identity", claim.Name)
	case claim.Terminating:
		return fmt.Sprintf("claim %s is being deleted already", claim.Name)
	case claim.Lost:
		return fmt.Sprintf("claim %s is Lost", claim.Name) // see lostDisk
	case !claim.Bound:
		return fmt.Sprintf("claim %s is not bound", claim.Name)
	case !m.Decided():
		return "no disk goes before the scheduler has had its say about it"
	case pod.ImageWait != "":
		return "a fresh disk does not help a container that waits on its image or configuration"
	case !outlives(claim, pod):
		return "not replaced, since its disk was made for this Pod and another would fare no better"
	}
	return ""
}

// replaceable reports whether the Pod is there, stays, and is the fleet's.
func (m *Member) replaceable() bool {
	return m.Pod != nil && !m.Pod.Terminating && m.Pod.Ours && m.Pod.Controlled
}

// othersSettled returns when every member but one will have been Ready for settledAfter; false when one of them is down or,
// as no cluster should show, Ready before the scheduler has had its say.
func othersSettled(members []Member, but int) (time.Time, bool) {
	var at time.Time
	for i := range members {
		if i == but {
			continue
		}
		if members[i].Down() || !members[i].Decided() {
			return time.Time{}, false
		}
		at = later(at, members[i].Pod.Transition.Add(settledAfter))
	}
	return at, true
}

// elsewhere says which ordinal beyond the workload's count keeps a member's disk from going, empty when none does: one that
// was removed and has not ended, or one that is to come back, whose claim is there already, with its label or without one.
// Either may have the only other copy of a write.
func elsewhere(s *Snapshot, but *Member) string {
	for _, list := range [][]Member{s.Members[len(s.Current()):], s.Removed} {
		for i := range list {
			switch m := &list[i]; {
			case m.Ordinal == but.Ordinal:
			case m.Pod != nil && !m.Pod.Forced:
				return m.Name + ", which is removed, has not ended"
			case m.Ordinal < s.Target && m.Claim != nil && !m.Claim.Terminating && (m.Claim.Identity == s.Fleet.Identity || m.Claim.Identity == ""):
				return m.Name + " is not back on its disk"
			}
		}
	}
	return ""
}

// undecided returns the first member, but one, that the scheduler has not had its say about.
func undecided(members []Member, but int) *Member {
	for i := range members {
		if i != but && !members[i].Decided() {
			return &members[i]
		}
	}
	return nil
}

// because says what is wrong with a Pod, as a clause.
func because(pod *Pod) string {
	switch {
	case pod.Unschedulable != "":
		return " (the scheduler: " + pod.Unschedulable + ")"
	case pod.ImageWait != "":
		return " (" + pod.ImageWait + ")"
	case pod.Trouble != "":
		return " (" + pod.Trouble + ")"
	default:
		return ""
	}
}
