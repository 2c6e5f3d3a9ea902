// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// report says how a fleet is that nothing is to be done about.
func report(l *look) Verdict {
	if !l.Fleet.Ordered() {
		v := l.reportDeployment()
		if parts := prerequisites(l); parts.Outcome > v.Outcome {
			return parts
		}
		return v
	}
	if v := l.strayed(); v.Outcome != Passes {
		return v
	}
	m, _, refusal := l.candidate()
	v := passes() // replacement tells
	switch {
	case m == nil:
		v = l.ready()
	case refusal != "":
		v = l.reportDown(m, refusal)
	}
	if parts := prerequisites(l); parts.Outcome > v.Outcome {
		return parts
	}
	return v
}

// ready tells of a fleet all of whose members are Ready.
func (l *look) ready() Verdict {
	w := l.Workload
	if !l.RolledOut() {
		return waits(v1alpha1.ReasonRollingOut, fmt.Sprintf("%d of %d members exist, %d are ready, %d have the current template",
			w.Existing, w.Replicas, w.Ready, w.Updated))
	}
	return Verdict{Reason: v1alpha1.ReasonProvisioned, Message: fmt.Sprintf("%d of %d members are ready", w.Replicas, w.Replicas)}
}

// strayed finds members that lost what makes them the fleet's: neither the StatefulSet nor the healer may touch them.
func (l *look) strayed() Verdict {
	for i := range l.current {
		m := &l.current[i]
		if m.Pod != nil && !m.Pod.Ours {
			return blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
				"Pod %s is missing the label %s: %s, so the StatefulSet cannot manage it; put the label back",
				m.Name, v1alpha1.LabelFleetUID, l.Fleet.Identity)).recheck()
		}
		if m.Claim != nil && m.Claim.Identity != l.Fleet.Identity {
			return blocks(v1alpha1.ReasonStorageIdentityConflict, fmt.Sprintf(
				"claim %s of member %s is missing the label %s: %s; nothing is done about its disk until it is back",
				m.Claim.Name, m.Name, v1alpha1.LabelFleetUID, l.Fleet.Identity)).recheck()
		}
	}
	return passes()
}

// reportDown tells of a member that is down and not to be replaced: of one that the scheduler cannot place before others.
func (l *look) reportDown(m *Member, refusal string) Verdict {
	if refusal = "; " + refusal; !l.Fleet.Persistent {
		refusal = ""
	}
	if other := l.unplaced(); other != nil && other != m {
		if refusal != "" {
			refusal = fmt.Sprintf("; not replaced while %s is also down", m.Name)
		}
		m = other
	}
	if m.Pod == nil && l.Workload.Refused != "" {
		return blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf("Pod %s cannot be made: %s", m.Name, l.Workload.Refused)).recheck()
	}
	if m.Pod == nil { // why it cannot be made, the workload's events tell, which are not watched
		return waits(l.rolling(v1alpha1.ReasonProvisioning), fmt.Sprintf("waiting for Pod %s to be made", m.Name)).recheck()
	}
	if m.Pod.Terminating {
		return waits(l.rolling(v1alpha1.ReasonProvisioning), "waiting for "+describePods([]*Pod{m.Pod})[2:]+" to go")
	}
	text, reason := l.describeDown(m)
	limit := m.Pod.Transition.Add(l.policy.ReplacementDelay)
	if m.Pod.Unschedulable != "" {
		limit = m.Pod.UnscheduledSince.Add(l.policy.ReplacementDelay)
	}
	switch {
	case !m.Decided() && !l.now.Before(limit):
		return waits(reason, text+refusal)
	case l.now.Before(limit), refusal == "" && m.Pod.Unschedulable == "" && m.Pod.ImageWait == "":
		return waits(reason, text).until(limit)
	case m.Pod.Unschedulable != "":
		v := blocks(v1alpha1.ReasonMemberUnschedulable, text+refusal)
		v.Recheck = m.Claim != nil && m.Claim.Volume != nil // a node that comes starts no look
		return v
	case m.Pod.ImageWait != "":
		return blocks(v1alpha1.ReasonInfrastructureBlocked, text+refusal)
	default:
		return waits(v1alpha1.ReasonReplacementPending, text+refusal)
	}
}

// describeDown says since when a member is down, and why.
func (l *look) describeDown(m *Member) (string, v1alpha1.Reason) {
	switch p := m.Pod; {
	case p.Unschedulable != "":
		return fmt.Sprintf("%s has not been scheduled since %s: %s", m.Name, stamp(p.UnscheduledSince), p.Unschedulable),
			v1alpha1.ReasonWaitingForPlacement
	case p.Node == "" && len(p.ForeignGates) > 0:
		return fmt.Sprintf("Pod %s waits for scheduling gates that are not the healer's: %s", m.Name, strings.Join(p.ForeignGates, ", ")),
			v1alpha1.ReasonWaitingForPlacement
	case p.Node == "" && p.Answer != "":
		return fmt.Sprintf("%s has not been scheduled since %s: %s", m.Name, stamp(p.UnscheduledSince), p.Answer),
			v1alpha1.ReasonWaitingForPlacement
	case p.Node == "":
		return fmt.Sprintf("waiting since %s for the scheduler to place %s", stamp(p.Created), m.Name), v1alpha1.ReasonWaitingForPlacement
	default:
		return fmt.Sprintf("%s has not been ready since %s%s", m.Name, stamp(p.Transition), because(p)), l.rolling(v1alpha1.ReasonProvisioning)
	}
}

// unplaced returns the first member that the scheduler finds no node for, else the first that it gave another answer about.
func (l *look) unplaced() *Member {
	var answered *Member
	for i := range l.current {
		m := &l.current[i]
		switch {
		case m.Pod == nil || m.Pod.Terminating || !m.Down():
		case m.Pod.Unschedulable != "":
			return m
		case m.Pod.Answer != "" && answered == nil:
			answered = m
		}
	}
	return answered
}

// rolling returns RollingOut while a template is being rolled out, else the other reason.
func (l *look) rolling(other v1alpha1.Reason) v1alpha1.Reason {
	if l.Workload.CurrentRevision != l.Workload.NextRevision {
		return v1alpha1.ReasonRollingOut
	}
	return other
}

// reportDeployment tells of members without ordinals.
func (l *look) reportDeployment() Verdict {
	for _, pod := range l.Pods {
		if pod.Terminating || pod.Unschedulable == "" {
			continue
		}
		text := fmt.Sprintf("%s has not been scheduled since %s: %s", pod.Name, stamp(pod.UnscheduledSince), pod.Unschedulable)
		if limit := pod.UnscheduledSince.Add(l.policy.ReplacementDelay); l.now.Before(limit) {
			return waits(v1alpha1.ReasonWaitingForPlacement, text).until(limit)
		}
		return blocks(v1alpha1.ReasonMemberUnschedulable, text)
	}
	return l.ready()
}
