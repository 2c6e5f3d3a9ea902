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
			if m := &list[i]; m.Pod != nil && m.Pod.Handover != nil {
				return endHandover(s, m, now)
			}
		}
	}
	return nil
}

// finishedReplacement is the name of held-replacement when it ends a disk, so that all such actions can be counted.
const finishedReplacement = "finished-replacement"

func endHandover(s *Snapshot, m *Member, now time.Time) *Decision {
	ends := m.Claim != nil && m.Claim.UID == m.Pod.Handover.ClaimUID && !m.Claim.Terminating // finishing would delete it
	why := whyAbort(s, m, ends, now)
	if why == "" {
		d := provisioning(v1alpha1.ReasonReplacingMember, fmt.Sprintf("finishing the replacement of %s", m.Name))
		targets := []Ref{m.Pod.Ref}
		if ends {
			targets = append(targets, m.Claim.Ref)
			d.Rule = finishedReplacement
		}
		return d.act(Action{
			Verb: VerbFinishReplacement, Targets: targets,
			Event: normal(EventReplacementFinished, fmt.Sprintf("finished the interrupted replacement of %s", m.Name)),
		})
	}
	disk := "its disk is kept"
	if m.Claim == nil || m.Claim.UID == m.Pod.Handover.ClaimUID && m.Claim.Terminating {
		disk = "its disk was let go already"
	}
	what := fmt.Sprintf("the replacement of %s: %s; %s", m.Name, why, disk)
	d := provisioning(v1alpha1.ReasonReplacingMember, "aborting "+what)
	if s.Fleet.Deleting {
		d.during(v1alpha1.PhaseDeleting, v1alpha1.ReasonDraining)
	}
	return d.act(Action{
		Verb: VerbAbortReplacement, Targets: []Ref{m.Pod.Ref}, Event: normal(EventReplacementAborted, "aborted "+what),
	})
}

// whyAbort says why a hand-over is not finished, empty when it is. ends says that finishing deletes the claim.
func whyAbort(s *Snapshot, m *Member, ends bool, now time.Time) string {
	switch {
	case s.Fleet.Deleting:
		return "the fleet is being deleted"
	case s.Fleet.Paused:
		return "the fleet is paused"
	case !m.Pod.Handover.Committed || !m.Pod.Terminating:
		return "it was interrupted before it was decided"
	case m.Claim != nil && m.Claim.Identity != s.Fleet.Identity:
		return fmt.Sprintf("claim %s has lost the fleet's identity", m.Claim.Name)
	case !ends:
		return ""
	case !m.Pod.Ours || !m.Pod.Controlled:
		return fmt.Sprintf("Pod %s is not controlled by the fleet's StatefulSet under its label", m.Name)
	case m.Claim.Lost:
		return ""
	default:
		return unsettled(s, m, now)
	}
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
	return elsewhere(s, but)
}
