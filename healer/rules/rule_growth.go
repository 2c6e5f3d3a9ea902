// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// growth adds the next run of members. A zonal disk pins its member and the spread counts only Pods on nodes, so fresh disks
// wait until every member that is there has its place, and kept disks do not come up together with fresh ones.
func growth(l *look) Verdict {
	w := l.Workload
	if l.Target <= w.Replicas {
		return passes()
	}
	for _, check := range []func(*look) Verdict{foreignClaim, prerequisites} {
		if v := check(l); v.Outcome != Passes {
			return v
		}
	}
	next, disk := nextRun(l.Snapshot)
	if next == w.Replicas {
		c := l.Members[next].Claim
		return waits(v1alpha1.ReasonWaitingForPlacement, fmt.Sprintf(
			"waiting for claim %s, which is being deleted%s, to go before adding %s", c.Name, heldClaim(c), l.memberName(next))).recheck()
	}
	adding := l.span(w.Replicas, next) + disk
	if l.Fleet.Persistent {
		if l.undecided.n > 0 {
			m := &l.current[l.undecided.first]
			v := waits(v1alpha1.ReasonWaitingForPlacement, fmt.Sprintf("%s before adding %s", l.awaited(m), adding))
			v.Recheck = m.Pod == nil // why it cannot be made is in events, which are not watched
			return v
		}
		if m, until := l.homeless(); m != nil && !l.Members[w.Replicas].Claim.Kept() {
			return waits(v1alpha1.ReasonWaitingForPlacement, fmt.Sprintf(
				"waiting for a node for %s, which has a disk, before adding %s, not longer than until %s", m.Name, adding, stamp(until))).until(until)
		}
	}
	return acts(v1alpha1.ReasonProvisioning, "adding "+adding, Action{
		Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: next, Event: normal(EventScaled, "adding "+adding),
	})
}

// awaited says what a member is waited for that the scheduler has not placed.
func (l *look) awaited(m *Member) string {
	switch {
	case m.Pod == nil && l.Workload.Refused != "":
		return fmt.Sprintf("Pod %s cannot be made: %s; waiting for it", m.Name, l.Workload.Refused)
	case m.Pod == nil:
		return fmt.Sprintf("waiting for Pod %s to be made", m.Name)
	case len(m.Pod.ForeignGates) > 0:
		return fmt.Sprintf("waiting for scheduling gates of Pod %s, %s, which are not the healer's, to be removed", m.Name, strings.Join(m.Pod.ForeignGates, ", "))
	case m.Pod.Answer != "":
		return fmt.Sprintf("waiting for the scheduler to place %s (%s), or find no node for it,", m.Name, m.Pod.Answer)
	default:
		return fmt.Sprintf("waiting for the scheduler to place %s, or find no node for it,", m.Name)
	}
}

// homeless returns the first member with a disk that has been without a node for less than the replacement delay, and until when: a
// fresh disk could take the node that it comes back to.
func (l *look) homeless() (*Member, time.Time) {
	for i := range l.current {
		m := &l.current[i]
		if m.Pod == nil || m.Pod.Node != "" || !m.Claim.Kept() {
			continue
		}
		if until := m.Pod.Created.Add(l.policy.ReplacementDelay); l.now.Before(until) {
			return m, until
		}
	}
	return nil, time.Time{}
}

// foreignClaim finds a claim at a member's name that is not the fleet's: its Pod would start on somebody else's data.
func foreignClaim(l *look) Verdict {
	for i := range l.Members {
		c := l.Members[i].Claim
		if l.Members[i].Ordinal >= l.Target || c == nil || c.Identity == l.Fleet.Identity {
			continue
		}
		return blocks(v1alpha1.ReasonStorageIdentityConflict, fmt.Sprintf(
			"claim %s is at the name of member %s, but its label %s is %q, not %q: move its data away and delete it, or give it back to the fleet as docs/operations.md says",
			c.Name, l.Members[i].Name, v1alpha1.LabelFleetUID, c.Identity, l.Fleet.Identity)).recheck()
	}
	return passes()
}

// prerequisites finds what protects members and is missing, or not the fleet's.
func prerequisites(l *look) Verdict {
	for _, p := range l.Prerequisites {
		if p.Found && p.Foreign != "" {
			return blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
				"%s %s is not this fleet's: %s; members are not protected by it, and none is added", p.Kind, p.Name, p.Foreign)).recheck()
		}
	}
	for _, p := range l.Prerequisites {
		if !p.Found {
			return waits(v1alpha1.ReasonPrerequisitesMissing, fmt.Sprintf(
				"waiting for the sync tool to apply %s %s; no member is added without it", p.Kind, p.Name)).recheck()
		}
	}
	return passes()
}

// nextRun returns the member count after the next run: consecutive ordinals that all have a kept disk or all get a fresh one.
// A claim that is being deleted ends a run before it. Without disks there is one run.
func nextRun(s *Snapshot) (count int, disk string) {
	from := s.Workload.Replicas
	if !s.Fleet.Persistent {
		return s.Target, ""
	}
	kept := holds(s.Members[from].Claim)
	count = from
	for count < s.Target {
		c := s.Members[count].Claim
		if holds(c) != kept || c != nil && c.Terminating {
			break
		}
		count++
	}
	which := "fresh"
	if kept {
		which = "kept"
	}
	if count-from == 1 {
		return count, " on a " + which + " disk"
	}
	return count, " on " + which + " disks"
}

// holds reports whether a claim holds a disk, or held one: a claim that was never Bound is as good as none.
func holds(c *Claim) bool { return c != nil && (c.Bound || c.Lost) }

// span names ordinals from to end-1.
func (s *Snapshot) span(from, end int) string {
	switch {
	case !s.Fleet.Ordered():
		return fmt.Sprintf("%d members", end-from)
	case end-from == 1:
		return "member " + s.memberName(from)
	default:
		return fmt.Sprintf("members %s to %s", s.memberName(from), s.memberName(end-1))
	}
}

func (s *Snapshot) memberName(ordinal int) string { return fmt.Sprintf("%s-%d", s.Fleet.Name, ordinal) }
