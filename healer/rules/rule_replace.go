// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// replacement gives a fresh disk to the one member that cannot come back on its own.
func replacement(l *look) Verdict {
	m, due, refusal := l.candidate()
	switch {
	case m == nil:
		return passes()
	case refusal != "":
		if m.Pod != nil && l.Fleet.Persistent {
			l.notes = append(l.notes, memberNote{ordinal: m.Ordinal, refusal: refusal})
		}
		return passes()
	}
	text, reason := l.describeDown(m)
	if l.suspected(m) {
		return l.stuckRollout(m, text)
	}
	l.note(m, due)
	if reason != v1alpha1.ReasonRollingOut || m.Pod.Failed || m.Pod.Unschedulable != "" {
		reason = v1alpha1.ReasonReplacementPending // a member that starts on a new template is no news
	}
	switch held := l.braked(m.Pod.Transition); {
	case l.held:
		return waits(reason, fmt.Sprintf("%s; once the workload is in sync it is replaced on a fresh disk, not before %s", text, stamp(due))).until(due)
	case l.now.Before(due):
		return waits(reason, fmt.Sprintf("%s; it is replaced on a fresh disk at %s", text, stamp(due))).until(due)
	case held != "":
		return l.heldBack(m, reason, text+"; "+held)
	}
	message := fmt.Sprintf("%s has not been ready since %s%s; replacing it on a fresh disk", m.Name, stamp(m.Pod.Transition), because(m.Pod))
	return acts(v1alpha1.ReasonReplacingMember, message, Action{
		Verb: VerbReplace, Targets: []Ref{m.Pod.Ref, m.Claim.Ref}, Event: warning(EventMemberReplaced, message),
	}).due(due)
}

// candidate looks for the member to replace: the one that is down, or the first of several. It returns when it is replaced if
// nothing changes, or why it is not until something does.
func (l *look) candidate() (m *Member, due time.Time, refusal string) {
	if l.down.n == 0 {
		return nil, due, ""
	}
	m = &l.current[l.down.first]
	if other := l.down.but(l.down.first); !l.check("no other member is down", other < 0, func() string { return l.nameOf(other) }) {
		return m, due, fmt.Sprintf("not replaced while %s is also down", l.current[other].Name)
	}
	for i := range keeps {
		k := &keeps[i]
		if !l.check(k.what, k.holds(l, m), func() string { return k.refusal(m) }) {
			return m, due, k.refusal(m)
		}
	}
	why, ended := l.elsewhere(m)
	if !l.check("every member is back, or gone", why == "", func() string { return why }) {
		return m, due, "not replaced while " + why
	}
	if !l.check("another member is Ready", l.Target <= 1 || len(l.current) > 1, func() string { return "" }) {
		return m, due, "not replaced before another member is ready"
	}
	settled, ok := l.othersSettled(l.down.first)
	if !ok {
		return m, due, "not replaced before every other member has its place"
	}
	due = later(later(m.Pod.Transition.Add(l.policy.ReplacementDelay), m.Pod.Seen.Add(seenDown)), later(settled, ended))
	l.check("it is down, and all others are Ready, for long enough", !l.now.Before(due), func() string { return stamp(due) })
	return m, due, ""
}

// seenDown is how long a member has to be seen down, whatever its node's clock says.
const seenDown = time.Minute

func (l *look) nameOf(i int) string {
	if i < 0 {
		return ""
	}
	return l.current[i].Name
}

// A keep is a condition without which a member that is down keeps its disk, whatever the others do.
type keep struct {
	what    string
	holds   func(*look, *Member) bool
	refusal func(*Member) string
}

// keeps are asked in this order: each may rely on those before it.
var keeps = []keep{
	{"it has a disk of its own", func(l *look, _ *Member) bool { return l.Fleet.Persistent },
		func(*Member) string { return "it has no disk of its own" }},
	{"it is to stay", func(l *look, m *Member) bool { return !l.going(m) },
		func(*Member) string { return "it is to be removed, and its disk is kept" }},
	{"its Pod is there", func(_ *look, m *Member) bool { return m.Pod != nil },
		func(*Member) string { return "its Pod is missing, and a missing Pod never costs a disk" }},
	{"its Pod stays", func(_ *look, m *Member) bool { return !m.Pod.Terminating },
		func(*Member) string { return "its Pod is terminating" }},
	{"its Pod is the fleet's", func(_ *look, m *Member) bool { return m.replaceable() },
		func(m *Member) string {
			return fmt.Sprintf("Pod %s is not controlled by the fleet's StatefulSet under its label", m.Pod.Name)
		}},
	{"it has a claim", func(_ *look, m *Member) bool { return m.Claim != nil },
		func(*Member) string { return "it has no claim" }},
	{"its claim is the fleet's", func(l *look, m *Member) bool { return m.Claim.Identity == l.Fleet.Identity },
		func(m *Member) string {
			return fmt.Sprintf("claim %s does not have the fleet's identity", m.Claim.Name)
		}},
	{"its claim stays", func(_ *look, m *Member) bool { return !m.Claim.Terminating },
		func(m *Member) string {
			if held := m.Claim.HeldBy(); len(held) > 0 {
				return fmt.Sprintf("claim %s is being deleted, and held by finalizers %s: a fresh disk takes its place once they are removed",
					m.Claim.Name, strings.Join(held, ", "))
			}
			return fmt.Sprintf("claim %s is being deleted already", m.Claim.Name)
		}},
	{"its volume is there", func(_ *look, m *Member) bool { return !m.Claim.Lost },
		func(m *Member) string { return fmt.Sprintf("claim %s is Lost", m.Claim.Name) }}, // see lostDisk
	{"its claim is Bound", func(_ *look, m *Member) bool { return m.Claim.Bound },
		func(m *Member) string { return fmt.Sprintf("claim %s is not bound", m.Claim.Name) }},
	{"its Pod is on a node, or found none", func(_ *look, m *Member) bool { return m.Decided() },
		func(*Member) string { return "its disk is kept until the scheduler has tried to place the Pod" }},
	{"no readiness gate of others is missing", func(_ *look, m *Member) bool { return !m.Pod.GatesNotReady },
		func(*Member) string {
			return "its containers are ready, and a fresh disk does not help a readiness gate that is not"
		}},
	{"no container waits on its image or configuration", func(_ *look, m *Member) bool { return m.Pod.ImageWait == "" },
		func(*Member) string {
			return "a fresh disk does not help a container that waits on its image or configuration"
		}},
	{"its claim is older than its Pod", func(_ *look, m *Member) bool { return outlives(m.Claim, m.Pod) },
		func(*Member) string {
			return "not replaced, since its disk was made for this Pod and another would fare no better"
		}},
	{"it has a node, or a fresh disk has a place", (*look).hasPlace, (*Member).noPlace},
}

// replaceable reports whether the Pod is there, stays, and is the fleet's.
func (m *Member) replaceable() bool {
	return m.Pod != nil && !m.Pod.Terminating && m.Pod.Ours && m.Pod.Controlled
}

// elsewhere says which ordinal beyond the workload's count keeps a member's disk from being deleted, empty when none does: one that
// was removed and has not ended, or one that is to come back, whose claim is there already, with its label or without one. Either
// may have the only other copy of a write; one that was removed on request is not waited for. It also returns when the last that
// was removed will have been gone for settledAfter.
func (l *look) elsewhere(but *Member) (why string, ended time.Time) {
	s := l.Snapshot
	for _, list := range [...][]Member{s.Members[len(l.current):], s.Removed} {
		for i := range list {
			switch m, c := &list[i], list[i].Claim; {
			case m.Ordinal == but.Ordinal:
			case m.Pod != nil && !m.Pod.Forced:
				return m.Name + ", which is removed, has not ended", ended
			case m.Ordinal < s.Target && c != nil && c.Bound && !c.Terminating && !c.Marked && (c.Identity == s.Fleet.Identity || c.Identity == ""):
				return m.Name + " is not back on its disk", ended
			}
		}
	}
	if s.RemovalEnded.IsZero() {
		return "", ended
	}
	return "", s.RemovalEnded.Add(settledAfter)
}

// because says what is wrong with a Pod, as a clause.
func because(pod *Pod) string {
	switch {
	case pod.Unschedulable != "":
		return " (the scheduler: " + pod.Unschedulable + ")"
	case pod.ImageWait != "":
		return " (" + pod.ImageWait + ")"
	case pod.GatesNotReady:
		return " (" + Sentence("its containers are ready, a readiness gate is not", pod.Trouble) + ")"
	case pod.Trouble != "":
		return " (" + pod.Trouble + ")"
	default:
		return ""
	}
}
