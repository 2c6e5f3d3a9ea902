// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// report says how a fleet is that nothing is to be done about.
func report(s *Snapshot, p Policy, now time.Time) *Decision {
	w := s.Workload
	if !s.Fleet.Ordered() {
		return reportDeployment(s, p, now)
	}
	if d := strayed(s); d != nil {
		return d
	}
	c := candidate(s, p)
	if c.member == nil {
		if !s.RolledOut() {
			return rollingOut(s)
		}
		return &Decision{
			Phase: v1alpha1.PhaseReady, Reason: v1alpha1.ReasonProvisioned,
			Message: fmt.Sprintf("%d of %d members are ready%s", w.Replicas, w.Replicas, endingDisk(s)),
		}
	}
	return reportDown(s, p, now, c)
}

// endingDisk warns of a claim that is being deleted, or is Lost, under a member that is Ready.
func endingDisk(s *Snapshot) string {
	current := s.Current()
	if lost := lostClaims(current); lost > 1 {
		return fmt.Sprintf("; but %d claims are Lost: restore their volumes before these members restart", lost)
	}
	for i := range current {
		m := &current[i]
		if m.Claim == nil || !m.Claim.Terminating && !m.Claim.Lost || !m.replaceable() {
			continue
		}
		settled, ok := othersSettled(current, i)
		switch {
		case !ok || elsewhere(s, m) != "":
		case m.Claim.Terminating:
			return fmt.Sprintf("; claim %s is being deleted, and %s is restarted on a fresh disk at %s", m.Claim.Name, m.Name, stamp(settled))
		default:
			return fmt.Sprintf("; claim %s is Lost, and %s is replaced on a fresh disk at %s", m.Claim.Name, m.Name, stamp(settled))
		}
	}
	return ""
}

// strayed finds members that lost what makes them the fleet's: neither the StatefulSet nor the healer may touch them.
func strayed(s *Snapshot) *Decision {
	for _, m := range s.Current() {
		if m.Pod != nil && !m.Pod.Ours {
			return blocked(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
				"Pod %s has not the label %s: %s, so the StatefulSet cannot manage it; put the label back",
				m.Name, v1alpha1.LabelFleetUID, s.Fleet.Identity)).withRecheck()
		}
		if m.Claim != nil && m.Claim.Identity != s.Fleet.Identity {
			return blocked(v1alpha1.ReasonStorageIdentityConflict, fmt.Sprintf(
				"claim %s of member %s has not the label %s: %s; nothing is done about its disk until it has",
				m.Claim.Name, m.Name, v1alpha1.LabelFleetUID, s.Fleet.Identity)).withRecheck()
		}
	}
	return nil
}

// reportDown tells of a member that is down, and of what it waits for: of one that the scheduler cannot place before others.
func reportDown(s *Snapshot, p Policy, now time.Time, c candidacy) *Decision {
	if d := reportLost(s, p); d != nil {
		return d
	}
	m, refusal := c.member, ""
	if c.refusal != "" && s.Fleet.Persistent {
		refusal = "; " + c.refusal
	}
	if other := unplaced(s); other != nil && other != m {
		if m = other; refusal != "" {
			refusal = fmt.Sprintf("; not replaced while %s is also down", c.member.Name)
		}
	}
	if m.Pod == nil || m.Pod.Terminating {
		text := fmt.Sprintf("waiting for Pod %s to be made", m.Name)
		if m.Pod != nil {
			text = "waiting for " + describePods([]*Pod{m.Pod})[2:] + " to go"
		}
		return provisioning(rolling(s, v1alpha1.ReasonProvisioning), text)
	}
	since, limit := m.Pod.Transition, m.Pod.Transition.Add(p.ReplacementDelay)
	text := fmt.Sprintf("%s has not been ready since %s%s", m.Name, stamp(since), because(m.Pod))
	reason := rolling(s, v1alpha1.ReasonProvisioning)
	switch {
	case m.Pod.Unschedulable != "":
		limit = m.Pod.UnscheduledSince.Add(p.ReplacementDelay)
		text = fmt.Sprintf("%s has not been scheduled since %s: %s", m.Name, stamp(m.Pod.UnscheduledSince), m.Pod.Unschedulable)
		reason = v1alpha1.ReasonWaitingForPlacement
	case m.Pod.Node == "":
		text = fmt.Sprintf("waiting since %s for the scheduler to place %s", stamp(m.Pod.Created), m.Name)
		reason = v1alpha1.ReasonWaitingForPlacement
	}
	var d *Decision
	switch {
	case c.refusal == "":
		wait := v1alpha1.ReasonReplacementPending
		if !m.Pod.Failed && m.Pod.Unschedulable == "" {
			wait = rolling(s, wait) // a member that starts on a new template is no news
		}
		d = provisioning(wait, fmt.Sprintf("%s; it is replaced on a fresh disk at %s", text, stamp(c.due)))
	case !m.Decided() && !now.Before(limit):
		d = provisioning(reason, text+refusal)
	case now.Before(limit), refusal == "" && m.Pod.Unschedulable == "" && m.Pod.ImageWait == "":
		d = provisioning(reason, text)
	case m.Pod.Unschedulable != "":
		d = blocked(v1alpha1.ReasonMemberUnschedulable, text+refusal)
	case m.Pod.ImageWait != "":
		d = blocked(v1alpha1.ReasonInfrastructureBlocked, text+refusal)
	default:
		d = provisioning(v1alpha1.ReasonReplacementPending, text+refusal)
	}
	d.wake(limit, now)
	return d
}

// reportLost tells of claims that are Lost and wait for their volumes to come back.
func reportLost(s *Snapshot, p Policy) *Decision {
	current := s.Current()
	for i := range current {
		m := &current[i]
		if due, ok := lostDue(s, i, p); ok && m.Down() && !due.IsZero() {
			return provisioning(v1alpha1.ReasonReplacementPending, fmt.Sprintf(
				"claim %s is Lost, and others are too; if their volumes do not come back, %s is replaced on a fresh disk at %s; to keep the disks, pause the fleet",
				m.Claim.Name, m.Name, stamp(due)))
		}
	}
	return nil
}

// unplaced returns the first member that the scheduler finds no node for.
func unplaced(s *Snapshot) *Member {
	current := s.Current()
	for i := range current {
		if pod := current[i].Pod; pod != nil && pod.Unschedulable != "" && !pod.Terminating && current[i].Down() {
			return &current[i]
		}
	}
	return nil
}

func rollingOut(s *Snapshot) *Decision {
	w := s.Workload
	return provisioning(v1alpha1.ReasonRollingOut, fmt.Sprintf("%d of %d members exist, %d are ready, %d have the current template",
		w.Existing, w.Replicas, w.Ready, w.Updated))
}

// rolling returns RollingOut while a template is being rolled out, else the other reason.
func rolling(s *Snapshot, other v1alpha1.Reason) v1alpha1.Reason {
	if s.Workload.CurrentRevision != s.Workload.NextRevision {
		return v1alpha1.ReasonRollingOut
	}
	return other
}

// reportDeployment tells of members without ordinals.
func reportDeployment(s *Snapshot, p Policy, now time.Time) *Decision {
	for _, pod := range s.Pods {
		if pod.Terminating || pod.Unschedulable == "" {
			continue
		}
		text := fmt.Sprintf("%s has not been scheduled since %s: %s", pod.Name, stamp(pod.UnscheduledSince), pod.Unschedulable)
		limit := pod.UnscheduledSince.Add(p.ReplacementDelay)
		if now.Before(limit) {
			d := provisioning(v1alpha1.ReasonWaitingForPlacement, text)
			d.wake(limit, now)
			return d
		}
		return blocked(v1alpha1.ReasonMemberUnschedulable, text)
	}
	if !s.RolledOut() {
		return rollingOut(s)
	}
	return &Decision{
		Phase: v1alpha1.PhaseReady, Reason: v1alpha1.ReasonProvisioned,
		Message: fmt.Sprintf("%d of %d members are ready", s.Workload.Replicas, s.Workload.Replicas),
	}
}
