// SPDX-License-Identifier: Apache-2.0

package rules

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
	// RecheckAfter is for what no watch shows, such as claims and Services without the fleet's label.
	RecheckAfter = 30 * time.Second
)

// A Decision says what to do about a fleet now, and what to tell.
type Decision struct {
	// Rule that decided.
	Rule Rule
	// Action to take, nil for none.
	Action *Action
	// Phase, Reason and Message sum the fleet up.
	Phase   v1alpha1.Phase
	Reason  v1alpha1.Reason
	Message string
	// Next is when to decide again if nothing is seen to change before, zero for never. With an action it is zero.
	Next time.Time
	// Due is since when the action has been due, zero where no deadline led to it.
	Due time.Time
	// Member that the decision is about, empty for none.
	Member string

	members []memberNote
}

// A memberNote is what is due for a member, or why nothing is.
type memberNote struct {
	ordinal int
	due     time.Time
	refusal string
}

// A Rule of the ladder.
type Rule struct {
	// Name is a word for logs, events and metric labels.
	Name string
	// Timed rules act after a wait, and need a clock that is right.
	Timed bool
	// Destructive rules end a disk, or a Pod by force. Their actions are counted from zero and told as warnings.
	Destructive bool
	// holds says what a verdict other than Passes and Acts keeps the rules below from.
	holds hold
	ask   func(l *look) Verdict
}

// A hold says how far a rule that waits or blocks stands in the way of those below.
type hold uint8

const (
	holdsNothing hold = iota // they are asked, and may act
	holdsActions             // they are asked, and what they wait for is told
	holdsAll                 // they are not asked
)

// ladder is the policy: the first rule that acts wins.
var ladder = []Rule{
	{Name: "finished-replacement", Timed: true, Destructive: true, ask: finishedReplacement},
	{Name: "held-replacement", ask: heldReplacement},
	{Name: "stuck-pod", Timed: true, Destructive: true, ask: stuckPod},
	{Name: "deletion", holds: holdsAll, ask: deletion},
	{Name: "gate", ask: liftGates},
	{Name: "paused", holds: holdsAll, ask: paused},
	{Name: "invalid", holds: holdsAll, ask: invalid},
	{Name: "reservation", holds: holdsAll, ask: reservation},
	{Name: "workload", holds: holdsAll, ask: workload},
	{Name: "stopped", holds: holdsAll, ask: stopped},
	{Name: "not-caught-up", holds: holdsActions, ask: notCaughtUp},
	{Name: "claim-terminating", Timed: true, Destructive: true, ask: claimTerminating},
	{Name: "lost-disk", Timed: true, Destructive: true, ask: lostDisk},
	{Name: "replacement", Timed: true, Destructive: true, ask: replacement},
	{Name: "contraction", ask: contraction},
	{Name: "growth", ask: growth},
	{Name: "report", ask: report},
}

// finalizer is the rule of whatever is the first write about a fleet: what is written from there on, or runs already, is
// cleaned up when the fleet goes.
var finalizer = Rule{Name: "finalizer"}

// Rules returns the rules in their order.
func Rules() []Rule { return append([]Rule{finalizer}, ladder...) }

// Decide returns what to do about a fleet. It is a pure function: equal arguments give equal decisions.
//
// The first rule that acts wins. Without one, what is told is the first verdict that blocks, else the first that waits, and
// after it what else is due; a rule that waits hides none that needs a person.
func Decide(s *Snapshot, p Policy, now time.Time) Decision {
	l := newLook(s, p, now)
	return decide(&l, nil)
}

// A Rung is a rule and what it made of a snapshot.
type Rung struct {
	Rule    Rule
	Verdict Verdict
	Checks  []Check
	// Reached is false for a rule that another one held: its verdict is what it would be without that.
	Reached bool
}

// Explain returns the decision of Decide, and what each rule contributed. Rules that need a workload are left out without one.
func Explain(s *Snapshot, p Policy, now time.Time) (Decision, []Rung) {
	l := newLook(s, p, now)
	l.recording = true
	var rungs []Rung
	d := decide(&l, func(r *Rule, v Verdict, reached bool) {
		rungs = append(rungs, Rung{Rule: *r, Verdict: v, Checks: l.checks, Reached: reached})
		l.checks = nil
	})
	return d, rungs
}

// decide folds the verdicts of the ladder. With tell, every rule is asked that can be, and told.
func decide(l *look, tell func(*Rule, Verdict, bool)) Decision {
	var f fold
	for i := range ladder {
		r := &ladder[i]
		if f.held == holdsAll {
			if tell == nil || l.Workload == nil {
				break
			}
			tell(r, r.ask(l), false)
			continue
		}
		v := r.ask(l)
		if tell != nil {
			tell(r, v, f.held == holdsNothing)
		}
		f.add(l, r, v)
	}
	return f.decision(l)
}

// A fold is what the rules said so far.
type fold struct {
	held     hold
	rule     *Rule // that decides
	deciding Verdict
	blocked  Verdict  // the first that blocks
	also     []string // what else is due
	next     time.Time
	members  []memberNote
}

func (f *fold) add(l *look, r *Rule, v Verdict) {
	if v.Outcome == Acts && f.held == holdsActions {
		return // it acts once the rule above does not hold it any more
	}
	f.members = l.notes
	f.wake(l, v.Until)
	if v.Recheck {
		f.wake(l, l.now.Add(RecheckAfter))
	}
	if v.Outcome == Blocks && f.blocked.Outcome != Blocks {
		f.blocked = v
	}
	switch before := f.rule; {
	case before == nil && v.Reason != "", v.Outcome > max(f.deciding.Outcome, Mentions):
		if before != nil && told(before, &f.deciding) {
			f.also = append([]string{f.deciding.Message}, f.also...)
		}
		f.rule, f.deciding = r, v
	case told(r, &v):
		f.also = append(f.also, v.Message)
	}
	switch {
	case v.Outcome == Acts:
		f.held = holdsAll
	case v.Outcome > Mentions:
		f.held = max(f.held, r.holds)
	}
}

// told says that a verdict is told although another one decides: something will happen at a time, or is to be known.
func told(r *Rule, v *Verdict) bool {
	return v.Outcome == Mentions && v.Message != "" || v.Outcome == Waits && r.Timed && !v.Until.IsZero()
}

// wake brings the next look forward to t, unless t has passed.
func (f *fold) wake(l *look, t time.Time) {
	if t.After(l.now) && (f.next.IsZero() || t.Before(f.next)) {
		f.next = t
	}
}

func (f *fold) decision(l *look) Decision {
	v := &f.deciding
	d := Decision{
		Rule: *f.rule, Action: v.Action, Phase: v.phase(), Reason: v.Reason, Message: v.Message, Next: f.next, Due: v.Due, members: f.members,
	}
	if b := &f.blocked; b.Outcome == Blocks && v.Outcome == Acts {
		d.Phase, d.Reason, d.Message = b.phase(), b.Reason, b.Message+"; "+v.Message
	}
	if d.Action != nil {
		d.Next = time.Time{} // it is looked at again once the action is done
	}
	for _, text := range f.also {
		d.Message += "; " + text
	}
	d.Member = l.concerned(&d)
	if !l.Fleet.Deleting && !l.Fleet.Finalizer && (d.Action != nil || l.runs()) {
		d.Rule, d.Action, d.Due = finalizer, &Action{Verb: VerbAddFinalizer, Targets: []Ref{l.fleetRef()}}, time.Time{}
	}
	return d
}

// runs reports whether there is a workload that is the fleet's to take apart.
func (s *Snapshot) runs() bool {
	w := s.Workload
	return w != nil && w.Identity == s.Fleet.Identity && !w.Owned && !s.Fleet.Paused && s.Sibling == ""
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
