// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const (
	// maxMembers is the most that a status lists.
	maxMembers = 100
	// maxMessage is the most that a condition says. The API server takes 32768 bytes and refuses the whole status beyond.
	maxMessage = 4096
)

// StatusOf returns the status of a fleet: what was seen and decided, with the transition times of the conditions that did
// not change taken from old. Equal arguments, whatever the time, give equal statuses unless a condition changed.
func StatusOf(s *Snapshot, d *Decision, old *v1alpha1.FleetStatus, now time.Time) v1alpha1.FleetStatus {
	status := v1alpha1.FleetStatus{
		ObservedGeneration: s.Fleet.Generation,
		Phase:              d.Phase,
		DesiredReplicas:    count(s.Target),
		Selector:           v1alpha1.LabelFleetUID + "=" + s.Fleet.Identity,
		Members:            membersOf(s, d),
	}
	if s.Fleet.Stopped || s.Fleet.Deleting {
		status.DesiredReplicas = 0
	}
	if w := s.Workload; w != nil && w.Identity == s.Fleet.Identity {
		status.AppliedReplicas, status.ReadyReplicas, status.Replicas = count(w.Replicas), count(w.Ready), count(w.Existing)
	}
	if r := s.Reservation; r != nil && r.Identity == s.Fleet.Identity {
		status.Reservation = r.Name
	}
	status.Conditions = conditions(s, d, old, now)
	return status
}

// conditions puts one decision into each condition that people and tools wait for.
func conditions(s *Snapshot, d *Decision, old *v1alpha1.FleetStatus, now time.Time) []metav1.Condition {
	phase := func(of ...v1alpha1.Phase) bool { return slices.Contains(of, d.Phase) }
	var out []metav1.Condition
	for _, c := range []struct {
		name string
		is   bool
	}{
		{v1alpha1.ConditionReady, phase(v1alpha1.PhaseReady) || phase(v1alpha1.PhasePaused) && s.allReady()},
		{v1alpha1.ConditionProvisioning, phase(v1alpha1.PhaseProvisioning)},
		{v1alpha1.ConditionBlocked, phase(v1alpha1.PhaseBlocked)},
		{v1alpha1.ConditionPaused, phase(v1alpha1.PhasePaused)},
		{v1alpha1.ConditionDeleting, phase(v1alpha1.PhaseDeleting)},
		{v1alpha1.ConditionReconciling, phase(v1alpha1.PhaseProvisioning, v1alpha1.PhaseDeleting)},
		{v1alpha1.ConditionStalled, phase(v1alpha1.PhaseBlocked)},
	} {
		out = append(out, condition(s, c.name, c.is, string(d.Reason), d.Message))
	}
	if r := s.Route; r != nil {
		out = append(out, condition(s, v1alpha1.ConditionRoutingReady, r.Ready, r.Reason, r.Message))
	}
	for i := range out {
		out[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		if before := meta.FindStatusCondition(old.Conditions, out[i].Type); before != nil && before.Status == out[i].Status {
			out[i].LastTransitionTime = before.LastTransitionTime
		}
	}
	return out
}

func condition(s *Snapshot, name string, is bool, reason, message string) metav1.Condition {
	c := metav1.Condition{
		Type: name, Status: metav1.ConditionFalse, ObservedGeneration: s.Fleet.Generation, Reason: reason, Message: Cut(message, maxMessage),
	}
	if is {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// allReady reports whether the fleet serves with all its members.
func (s *Snapshot) allReady() bool {
	w := s.Workload
	return w != nil && w.Identity == s.Fleet.Identity && w.Replicas == s.Target && w.Ready == w.Replicas
}

// membersOf describes the members that the workload asks for, and those it removes.
func membersOf(s *Snapshot, d *Decision) []v1alpha1.MemberStatus {
	var out []v1alpha1.MemberStatus
	if !s.Fleet.Ordered() {
		for _, pod := range s.Pods {
			out = append(out, memberStatus(&Member{Name: pod.Name, Pod: pod}))
		}
		return out[:min(len(out), maxMembers)]
	}
	current := len(s.Current())
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for i := range list {
			m := &list[i]
			if m.Ordinal >= current && m.Pod == nil {
				continue
			}
			status := memberStatus(m)
			for _, note := range d.members {
				switch {
				case note.ordinal != m.Ordinal:
				case !note.due.IsZero():
					status.ReplaceAfter = at(note.due)
				case status.State != v1alpha1.MemberStarting:
					// One that starts needs no fresh disk yet; the fleet's message tells when it takes too long.
					status.Message = Sentence(status.Message, note.refusal)
				}
			}
			out = append(out, status)
		}
	}
	return out[:min(len(out), maxMembers)]
}

func memberStatus(m *Member) v1alpha1.MemberStatus {
	out := v1alpha1.MemberStatus{Name: m.Name, Disk: m.Disk(), State: v1alpha1.MemberMissing}
	if m.Claim != nil {
		out.Zone = m.Claim.Zone
	}
	pod := m.Pod
	if pod == nil {
		return out
	}
	if pod.Node != "" {
		out.Node, out.Zone = pod.Node, orElse(pod.Zone, out.Zone)
	}
	out.Since = at(pod.Transition)
	switch {
	case pod.Terminating:
		out.State, out.Since = v1alpha1.MemberTerminating, nil // the deletionTimestamp is when it should have ended
		out.Message = describePods([]*Pod{pod})[2:]
	case pod.Unschedulable != "":
		out.State, out.Since, out.Message = v1alpha1.MemberUnschedulable, at(pod.UnscheduledSince), pod.Unschedulable
	case pod.Ready:
		out.State = v1alpha1.MemberReady
	case pod.Failed || pod.ImageWait != "":
		out.State = v1alpha1.MemberDown
	default:
		out.State = v1alpha1.MemberStarting
	}
	if out.Message == "" {
		out.Message = orElse(pod.ImageWait, pod.Trouble)
	}
	if !pod.Ours {
		out.Message = Sentence(fmt.Sprintf("the Pod has not the fleet's label %s", v1alpha1.LabelFleetUID), out.Message)
	}
	return out
}

func at(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.Truncate(time.Second).UTC()}
}

func count(n int) int32 { return int32(min(max(n, 0), 1<<30)) }
