// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Policy is what the person who runs the healer decides.
type Policy struct {
	// ReplacementDelay is how long a member is not Ready before it is replaced. Default 10m, at least 1m: shorter than a
	// reboot or an upgrade of a node, every such event would cost a disk.
	ReplacementDelay time.Duration
}

// Limits of the delay.
const (
	DefaultReplacementDelay = 10 * time.Minute
	MinReplacementDelay     = time.Minute
)

const (
	// stuckAfter a Pod's deletionTimestamp, which includes its grace period, its kubelet is taken not to answer.
	stuckAfter = 2 * time.Minute
	// settledAfter is how long the other members are Ready before a disk may go: celld sweeps dead leaders every 30 s and
	// recovers their logs from followers, so five minutes are ten rounds.
	settledAfter = 5 * time.Minute
	// freshWithin this of a Pod's creation, a claim was made for it.
	freshWithin = time.Minute
	// recheckAfter is for what no watch shows, such as claims and Services without the fleet's label.
	recheckAfter = 30 * time.Second
)

// A Decision says what to do about a fleet now, and what to tell.
type Decision struct {
	// Rule that decided, a word for logs and metric labels.
	Rule string
	// Action to take, nil for none.
	Action *Action
	// Phase, Reason and Message sum the fleet up.
	Phase   v1alpha1.Phase
	Reason  v1alpha1.Reason
	Message string
	// Next is when to decide again if nothing is seen to change before; zero for never.
	Next time.Time
	// Recheck says that what the decision waits for may be something that no watch shows, so it is looked at again soon.
	Recheck bool
	// Due is since when the action has been due, zero where no deadline led to it.
	Due time.Time
}

// A rule looks at the snapshot and returns its decision, or nil to leave it to the rules below.
type rule struct {
	name   string
	decide func(s *Snapshot, p Policy, now time.Time) *Decision
}

// rules is the policy: the first that returns a decision wins.
var rules = []rule{
	{"held-replacement", heldReplacement},
	{"deletion", deletion},
	{"gate", liftGates},
	{"paused", paused},
	{"invalid", invalid},
	{"reservation", reservation},
	{"workload", workload},
	{"stuck-pod", stuckPod},
	{"stopped", stopped},
	{"not-caught-up", notCaughtUp},
	{"claim-terminating", claimTerminating},
	{"lost-disk", lostDisk},
	{"replacement", replacement},
	{"contraction", contraction},
	{"growth", growth},
	{"report", report},
}

// Decide returns what to do about a fleet. It is a pure function: equal arguments give equal decisions.
func Decide(s *Snapshot, p Policy, now time.Time) Decision {
	for _, rule := range rules {
		d := rule.decide(s, p, now)
		if d == nil {
			continue
		}
		d.Rule = orElse(d.Rule, rule.name)
		if !s.Fleet.Deleting && !s.Fleet.Finalizer && (d.Action != nil || s.runs()) {
			// Whatever is written from here on, or runs already, is cleaned up when the fleet goes.
			d.Rule, d.Action, d.Due = "finalizer", &Action{Verb: VerbAddFinalizer, Targets: []Ref{s.fleetRef()}}, time.Time{}
		}
		d.wakeFor(s, p, now)
		return *d
	}
	panic("healer: the last rule always decides")
}

// runs reports whether there is a workload that is the fleet's to take apart.
func (s *Snapshot) runs() bool {
	w := s.Workload
	return w != nil && w.Identity == s.Fleet.Identity && !w.Owned && !s.Fleet.Paused && s.Sibling == ""
}

// wakeFor makes sure that rules which wait for a time get to decide when it has come, whatever rule reports meanwhile.
func (d *Decision) wakeFor(s *Snapshot, p Policy, now time.Time) {
	if d.Recheck {
		d.wake(now.Add(recheckAfter), now)
	}
	if s.Workload == nil || !s.Fleet.Ordered() || s.Fleet.Paused || s.Fleet.Deleting {
		return
	}
	wakeForStuck(d, s.memberPods(), now)
	if !s.Fleet.Persistent || s.Fleet.Stopped {
		return
	}
	if c := candidate(s, p); c.member != nil && c.refusal == "" {
		d.wake(c.due, now)
	}
	current := s.Current()
	for i := range current {
		if claim := current[i].Claim; claim != nil && claim.Terminating {
			settled, _ := othersSettled(current, i)
			d.wake(settled, now)
		}
		due, _ := lostDue(s, i, p)
		d.wake(due, now)
	}
}

// wake brings Next forward to t, unless t has passed.
func (d *Decision) wake(t, now time.Time) {
	if t.After(now) && (d.Next.IsZero() || t.Before(d.Next)) {
		d.Next = t
	}
}

func provisioning(reason v1alpha1.Reason, message string) *Decision {
	return &Decision{Phase: v1alpha1.PhaseProvisioning, Reason: reason, Message: message}
}

func blocked(reason v1alpha1.Reason, message string) *Decision {
	return &Decision{Phase: v1alpha1.PhaseBlocked, Reason: reason, Message: message}
}

// act adds the action to a decision.
func (d *Decision) act(a Action) *Decision {
	d.Action = &a
	return d
}

// memberPods returns the Pods of an ordered fleet, in and beyond the range.
func (s *Snapshot) memberPods() []*Pod {
	pods := make([]*Pod, 0, len(s.Members))
	for _, list := range [][]Member{s.Members, s.Removed} {
		for i := range list {
			if list[i].Pod != nil {
				pods = append(pods, list[i].Pod)
			}
		}
	}
	return pods
}

func (s *Snapshot) fleetRef() Ref {
	return Ref{Kind: s.Fleet.Kind, Namespace: s.Fleet.Namespace, Name: s.Fleet.Name, UID: s.Fleet.UID}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
