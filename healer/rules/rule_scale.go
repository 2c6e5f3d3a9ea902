// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// contraction removes the last member, one at a time, each when all that stay are ready. Its claim is kept.
func contraction(l *look) Verdict {
	w := l.Workload
	if l.Target >= w.Replicas {
		return passes()
	}
	last := "the last member"
	if l.Fleet.Ordered() {
		last = l.memberName(w.Replicas - 1)
	}
	if !l.RolledOut() {
		return waits(v1alpha1.ReasonRollingOut, fmt.Sprintf(
			"waiting for all %d members to be ready on the current template (%d exist, %d are ready, %d updated) before removing %s",
			w.Replicas, w.Existing, w.Ready, w.Updated, last))
	}
	if what := l.unsteady(); l.Fleet.Ordered() && what != "" {
		return waits(v1alpha1.ReasonRollingOut, fmt.Sprintf("waiting before removing %s: %s", last, what))
	}
	message := fmt.Sprintf("removing %s, %d of %d members stay", last, w.Replicas-1, w.Replicas)
	if l.Fleet.Persistent {
		message += "; its claim is kept"
	}
	return acts(v1alpha1.ReasonProvisioning, message, Action{
		Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: w.Replicas - 1, Event: normal(EventScaled, message),
	})
}

// unsteady says which member keeps another from being removed, though the StatefulSet's status shows all of them ready: that
// is as old as its controller's last look.
func (l *look) unsteady() string {
	for _, m := range l.current {
		switch {
		case m.Down():
			return m.Name + " is not ready"
		case m.Claim != nil && m.Claim.Terminating:
			return fmt.Sprintf("claim %s is being deleted", m.Claim.Name)
		case m.Claim != nil && m.Claim.Lost:
			return fmt.Sprintf("claim %s is Lost", m.Claim.Name)
		}
	}
	for _, m := range l.Removed {
		if m.Pod != nil && !m.Pod.Forced {
			return fmt.Sprintf("Pod %s has not ended", m.Name)
		}
	}
	return ""
}

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
			return waits(v1alpha1.ReasonWaitingForPlacement, fmt.Sprintf(
				"waiting for the scheduler to place %s, or find no node for it, before adding %s", l.current[l.undecided.first].Name, adding))
		}
	}
	return acts(v1alpha1.ReasonProvisioning, "adding "+adding, Action{
		Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: next, Event: normal(EventScaled, "adding "+adding),
	})
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

// prerequisites waits for what protects members to be there before there are more of them.
func prerequisites(l *look) Verdict {
	for _, p := range l.Prerequisites {
		if p.Found && p.Foreign != "" {
			return blocks(v1alpha1.ReasonInfrastructureBlocked, fmt.Sprintf(
				"%s %s is not this fleet's: %s; no member is added", p.Kind, p.Name, p.Foreign)).recheck()
		}
	}
	for _, p := range l.Prerequisites {
		if !p.Found {
			return waits(v1alpha1.ReasonPrerequisitesMissing, fmt.Sprintf(
				"waiting for the sync tool to apply %s %s before members are added", p.Kind, p.Name)).recheck()
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
	kept := s.Members[from].Claim != nil
	count = from
	for count < s.Target {
		c := s.Members[count].Claim
		if (c != nil) != kept || c != nil && c.Terminating {
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
