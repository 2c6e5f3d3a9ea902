// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// finishedReplacement ends the disk of a hand-over that was interrupted. The deletion of the Pod is the commitment point: before
// the record says that it was done, the disk is kept; after that, the disk goes.
func finishedReplacement(l *look) Verdict {
	m := l.handover()
	if m == nil || !m.ends() || l.whyAbort(m) != "" {
		return passes()
	}
	return finish(m, m.Pod.Ref, m.Claim.Ref)
}

// heldReplacement lets the Pod of an interrupted hand-over go without ending a disk: there is none left to end, or it is kept. A
// fleet that is paused or deleted keeps it, and so does one whose other members did not stay settled: an interruption may last,
// and by now their disks may need this one.
func heldReplacement(l *look) Verdict {
	m := l.handover()
	if m == nil {
		return passes()
	}
	why := l.whyAbort(m)
	if why == "" {
		return finish(m, m.Pod.Ref)
	}
	disk := "its disk is kept"
	if m.Claim == nil || m.Claim.UID == m.Pod.Handover.ClaimUID && m.Claim.Terminating {
		disk = "its disk was let go already"
	}
	what := fmt.Sprintf("the replacement of %s: %s; %s", m.Name, why, disk)
	v := acts(v1alpha1.ReasonReplacingMember, "aborting "+what, Action{
		Verb: VerbAbortReplacement, Targets: []Ref{m.Pod.Ref}, Event: normal(EventReplacementAborted, "aborted "+what),
	})
	if l.Fleet.Deleting {
		v.Reason = v1alpha1.ReasonDraining
		return v.during(v1alpha1.PhaseDeleting)
	}
	return v
}

func finish(m *Member, targets ...Ref) Verdict {
	return acts(v1alpha1.ReasonReplacingMember, fmt.Sprintf("finishing the replacement of %s", m.Name), Action{
		Verb: VerbFinishReplacement, Targets: targets,
		Event: normal(EventReplacementFinished, fmt.Sprintf("finished the interrupted replacement of %s", m.Name)),
	})
}

// handover returns the first member that is being replaced, nil for none.
func (s *Snapshot) handover() *Member {
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for i := range list {
			if m := &list[i]; m.Pod != nil && m.Pod.Handover != nil {
				return m
			}
		}
	}
	return nil
}

// ends says that finishing the hand-over of a member deletes its claim.
func (m *Member) ends() bool {
	return m.Claim != nil && m.Claim.UID == m.Pod.Handover.ClaimUID && !m.Claim.Terminating
}

// whyAbort says why a hand-over is not finished, empty when it is.
func (l *look) whyAbort(m *Member) string {
	switch {
	case l.Fleet.Deleting:
		return "the fleet is being deleted"
	case l.Fleet.Paused:
		return "the fleet is paused"
	case !m.Pod.Handover.Committed || !m.Pod.Terminating:
		return "it was interrupted before it was decided"
	case m.Claim != nil && m.Claim.Identity != l.Fleet.Identity:
		return fmt.Sprintf("claim %s has lost the fleet's identity", m.Claim.Name)
	case !m.ends():
		return ""
	case !m.Pod.Ours || !m.Pod.Controlled:
		return fmt.Sprintf("Pod %s is not controlled by the fleet's StatefulSet under its label", m.Name)
	case m.Claim.Lost:
		return ""
	default:
		return l.unsettled(m)
	}
}

// unsettled says which other member keeps a disk from going, empty when none does.
func (l *look) unsettled(but *Member) string {
	for i := range l.current {
		switch m := &l.current[i]; {
		case m.Ordinal == but.Ordinal:
		case m.Down():
			return m.Name + " is down by now"
		case l.now.Before(m.Pod.Transition.Add(settledAfter)):
			return fmt.Sprintf("%s has not been ready for %s by now", m.Name, settledAfter)
		}
	}
	return elsewhere(l.Snapshot, but)
}
