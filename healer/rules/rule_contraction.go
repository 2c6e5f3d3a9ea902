// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// contraction removes the last member, one at a time. Its claim is kept, and marked. Whoever is to be removed is never waited for: a
// last member that was never placed is removed at once, one that is down as soon as all that stay are settled, and a Ready one when
// nobody else is in trouble.
func contraction(l *look) Verdict {
	w := l.Workload
	if l.Target >= w.Replicas {
		return passes()
	}
	if !l.Fleet.Ordered() {
		return l.contractDeployment()
	}
	if w.Replicas > len(l.Members) {
		return passes() // a count beyond all bounds; its validator blocks the fleet
	}
	last := &l.Members[w.Replicas-1]
	why, until := l.keepsLast(last)
	if why != "" {
		return waits(v1alpha1.ReasonRollingOut, fmt.Sprintf("waiting before removing %s: %s", last.Name, why)).until(until)
	}
	message := fmt.Sprintf("removing %s, %d of %d members stay", last.Name, w.Replicas-1, w.Replicas)
	a := Action{Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: w.Replicas - 1}
	if l.Fleet.Persistent {
		message += "; its claim is kept"
		if c := last.Claim; c.Kept() && c.Identity == l.Fleet.Identity && !c.Marked {
			a.Targets = append(a.Targets, c.Ref)
		}
	}
	a.Event = normal(EventScaled, message)
	return acts(v1alpha1.ReasonProvisioning, message, a)
}

// keepsLast says why the last member is not removed yet, empty when it is, and until when that holds, if time alone ends it.
func (l *look) keepsLast(last *Member) (string, time.Time) {
	w := l.Workload
	if last.NeverPlaced() {
		return "", time.Time{}
	}
	if last.Down() && !l.Fleet.Persistent {
		return "", time.Time{} // it serves nothing, and holds nothing
	}
	var settled time.Time
	for i := range l.current {
		m := &l.current[i]
		switch {
		case m.Ordinal == last.Ordinal, l.going(m) && m.Down():
		case m.Down():
			return m.Name + " is not ready", time.Time{}
		case !l.going(m) && !last.Down() && m.Pod.Revision != w.NextRevision && !l.goesDown():
			return m.Name + " does not run the current template yet", time.Time{}
		default:
			settled = later(settled, m.settledAt())
		}
	}
	if l.now.Before(settled) {
		return fmt.Sprintf("the others will have been ready for %s at %s", settledAfter, stamp(settled)), settled
	}
	if last.Down() {
		return "", time.Time{}
	}
	for i := range l.Removed {
		if p := l.Removed[i].Pod; p != nil && !p.Forced {
			return fmt.Sprintf("Pod %s has not ended", l.Removed[i].Name), time.Time{}
		}
	}
	if ended := l.RemovalEnded.Add(settledAfter); !l.RemovalEnded.IsZero() && l.now.Before(ended) {
		return fmt.Sprintf("the last removal ended at %s, and the next is not before %s", stamp(l.RemovalEnded), stamp(ended)), ended
	}
	return "", time.Time{}
}

// goesDown reports whether a member that is to be removed is down: the StatefulSet's controller waits for it before it rolls out to
// those that stay, so a removal cannot wait for the rollout.
func (l *look) goesDown() bool {
	return slices.ContainsFunc(l.current, func(m Member) bool { return l.going(&m) && m.Down() })
}

// contractDeployment removes a member of a Deployment, whose controller chooses one that is not ready first.
func (l *look) contractDeployment() Verdict {
	w := l.Workload
	for _, pod := range l.Pods {
		if pod.Terminating {
			return waits(v1alpha1.ReasonRollingOut, fmt.Sprintf("waiting for Pod %s to end before removing another member", pod.Name))
		}
	}
	// One that is not ready goes first, and is waited for by nobody: it may be what keeps a rollout from going on.
	if w.Ready < l.Target || w.Ready >= w.Replicas && w.Updated != w.Replicas {
		return waits(v1alpha1.ReasonRollingOut, fmt.Sprintf(
			"waiting for %d members to be ready on the current template (%d exist, %d are ready, %d updated) before removing one",
			l.Target, w.Existing, w.Ready, w.Updated))
	}
	message := fmt.Sprintf("removing one member, %d of %d stay", w.Replicas-1, w.Replicas)
	return acts(v1alpha1.ReasonProvisioning, message, Action{
		Verb: VerbScale, Targets: []Ref{w.Ref}, Replicas: w.Replicas - 1, Event: normal(EventScaled, message),
	})
}
