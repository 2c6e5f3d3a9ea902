// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// maxRefusals is how often the API server may refuse to delete the claim of a hand-over before the disk is kept.
const maxRefusals = 3

// finishedReplacement ends the disk of a hand-over that was interrupted. The deletion of the Pod is the commitment point: only the
// healer that deleted it knows the claim as it was judged, and goes on while the others are still as that took them to be.
func finishedReplacement(l *look) Verdict {
	m := l.handover()
	if m == nil || !m.ends() || l.whyAbort(m) != "" {
		return passes()
	}
	claim := m.Claim.Ref
	if begun := m.Pod.Handover.Begun; begun != nil {
		claim = begun.Claim
	}
	return finish(m, m.Pod.Ref, claim)
}

// heldReplacement releases the Pod of an interrupted hand-over without ending a disk: there is none left to end, or it is kept. An
// interruption may last, and by now the others may need this disk.
func heldReplacement(l *look) Verdict {
	m := l.handover()
	if m == nil {
		return passes()
	}
	why := l.whyAbort(m)
	if why == "" {
		return finish(m, m.Pod.Ref)
	}
	disk, targets := "its disk is kept", []Ref{m.Pod.Ref}
	switch {
	case m.Claim == nil, m.Claim.UID == m.Pod.Handover.ClaimUID && m.Claim.Terminating:
		disk = "its claim was deleted already"
	case !l.Fleet.Deleting && !m.Claim.Terminating && (m.ends() || m.Pod.Handover.ClaimUID == ""):
		targets = append(targets, m.Claim.Ref)
	}
	what := fmt.Sprintf("the replacement of %s: %s; %s", m.Name, why, disk)
	v := acts(v1alpha1.ReasonReplacingMember, "aborting "+what, Action{
		Verb: VerbAbortReplacement, Targets: targets, Event: normal(EventReplacementAborted, "aborted "+what),
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
	begun := m.Pod.Handover.Begun
	switch {
	case l.Fleet.Deleting:
		return "the fleet is being deleted"
	case l.Fleet.Paused:
		return "the fleet is paused"
	case !m.Pod.Terminating:
		return "it was interrupted before the Pod was deleted"
	case m.Pod.Handover.ClaimUID == "":
		return "its record cannot be read"
	case m.Claim != nil && m.Claim.Identity != l.Fleet.Identity:
		return fmt.Sprintf("claim %s has lost the fleet's identity", m.Claim.Name)
	case !m.ends():
		return ""
	case !m.Pod.Ours || !m.Pod.Controlled:
		return fmt.Sprintf("Pod %s is not controlled by the fleet's StatefulSet under its label", m.Name)
	case begun != nil && begun.Refusals >= maxRefusals:
		return fmt.Sprintf("the API server refused to delete claim %s %d times", m.Claim.Name, begun.Refusals)
	case begun != nil && begun.Claim != m.Claim.Ref:
		return fmt.Sprintf("claim %s has changed since", m.Claim.Name)
	case m.Claim.Lost:
		return ""
	case begun == nil:
		return "another healer began it, and may have stopped long ago"
	}
	if why := l.unsettled(m); why != "" {
		return why
	}
	if !l.hasPlace(m) {
		return "a fresh disk has no place by now"
	}
	return ""
}

// unsettled says which other member keeps a disk from being deleted, empty when none does.
func (l *look) unsettled(but *Member) string {
	for i := range l.current {
		switch m := &l.current[i]; {
		case m.Ordinal == but.Ordinal:
		case m.Down():
			return m.Name + " is down by now"
		case l.now.Before(m.settledAt()):
			return fmt.Sprintf("%s has not been ready for %s by now", m.Name, settledAfter)
		}
	}
	why, _ := l.elsewhere(but)
	return why
}
