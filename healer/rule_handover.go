// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// heldReplacement ends a hand-over that was interrupted. The deletion of the Pod is the commitment point: before the record
// says that it was done, the disk is kept; after that, the disk goes. A fleet that is paused or deleted keeps it too.
func heldReplacement(s *Snapshot, _ Policy, _ time.Time) *Decision {
	for _, list := range [][]Member{s.Members, s.Removed} {
		for i := range list {
			m := &list[i]
			if m.Pod == nil || m.Pod.Handover == nil {
				continue
			}
			if d := endHandover(s, m); d != nil {
				return d
			}
		}
	}
	return nil
}

func endHandover(s *Snapshot, m *Member) *Decision {
	d := provisioning(v1alpha1.ReasonReplacingMember, "")
	h := m.Pod.Handover
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
	default:
		d.Message = fmt.Sprintf("finishing the replacement of %s", m.Name)
		event := normal(EventReplacementFinished, fmt.Sprintf("finished the interrupted replacement of %s", m.Name))
		targets := []Ref{m.Pod.Ref}
		if m.Claim != nil && m.Claim.UID == h.ClaimUID && !m.Claim.Terminating {
			targets = append(targets, m.Claim.Ref)
		}
		return d.act(Action{Verb: VerbFinishReplacement, Targets: targets, Event: event})
	}
	d.Message = fmt.Sprintf("aborting the replacement of %s: %s; its disk is kept", m.Name, why)
	if s.Fleet.Deleting {
		d.Phase, d.Reason = v1alpha1.PhaseDeleting, v1alpha1.ReasonDraining
	}
	return d.act(Action{
		Verb: VerbAbortReplacement, Targets: []Ref{m.Pod.Ref},
		Event: normal(EventReplacementAborted, fmt.Sprintf("aborted the replacement of %s: %s; its disk is kept", m.Name, why)),
	})
}
