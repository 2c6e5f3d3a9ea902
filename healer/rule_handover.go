// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// heldReplacement ends a hand-over that was interrupted. The deletion of the Pod is the commitment point: before the record
// says that it was done, the disk is kept; after that, the disk goes. A fleet that is paused or deleted keeps it too, and so
// does one whose other members did not stay settled: an interruption may last, and by now their disks may need this one.
func heldReplacement(s *Snapshot, _ Policy, now time.Time) *Decision {
	for _, list := range [][]Member{s.Members, s.Removed} {
		for i := range list {
			m := &list[i]
			if m.Pod == nil || m.Pod.Handover == nil {
				continue
			}
			if d := endHandover(s, m, now); d != nil {
				return d
			}
		}
	}
	return nil
}

func endHandover(s *Snapshot, m *Member, now time.Time) *Decision {
	d := provisioning(v1alpha1.ReasonReplacingMember, "")
	h := m.Pod.Handover
	ends := m.Claim != nil && m.Claim.UID == h.ClaimUID && !m.Claim.Terminating // finishing would delete it
	why := ""
	switch {
	case s.Fleet.Deleting:
		why = "the fleet is being deleted"
	case s.Fleet.Paused:
		why = "the fleet is paused"
	case !h.Committed || !m.Pod.Terminating:
		why = "it was interrupted before it was decided"
	case m.Claim != nil && m.Claim.Identity != s.Fleet.Identity:
		why = fmt.Sprintf("claim %s has lost the fleet's identity", m.Claim.Name)
	case ends && (!m.Pod.Ours || !m.Pod.Controlled):
		why = fmt.Sprintf("Pod %s is not controlled by the fleet's StatefulSet under its label", m.Name)
	case ends && !m.Claim.Lost && unsettled(s, m, now) != "":
		why = unsettled(s, m, now)
	default:
		d.Message = fmt.Sprintf("finishing the replacement of %s", m.Name)
		event := normal(EventReplacementFinished, fmt.Sprintf("finished the interrupted replacement of %s", m.Name))
		targets := []Ref{m.Pod.Ref}
		if ends {
			targets = append(targets, m.Claim.Ref)
		}
		return d.act(Action{Verb: VerbFinishReplacement, Targets: targets, Event: event})
	}
	disk := "its disk is kept"
	if m.Claim == nil || m.Claim.UID == h.ClaimUID && m.Claim.Terminating {
		disk = "its disk was let go already"
	}
	d.Message = fmt.Sprintf("aborting the replacement of %s: %s; %s", m.Name, why, disk)
	if s.Fleet.Deleting {
		d.Phase, d.Reason = v1alpha1.PhaseDeleting, v1alpha1.ReasonDraining
	}
	return d.act(Action{
		Verb: VerbAbortReplacement, Targets: []Ref{m.Pod.Ref},
		Event: normal(EventReplacementAborted, fmt.Sprintf("aborted the replacement of %s: %s; %s", m.Name, why, disk)),
	})
}

// unsettled says which other member keeps a disk from going, empty when none does.
func unsettled(s *Snapshot, but *Member, now time.Time) string {
	current := s.Current()
	for i := range current {
		switch m := &current[i]; {
		case m.Ordinal == but.Ordinal:
		case m.Down():
			return m.Name + " is down by now"
		case now.Before(m.Pod.Transition.Add(settledAfter)):
			return fmt.Sprintf("%s has not been ready for %s by now", m.Name, settledAfter)
		}
	}
	return ""
}
