// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
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
	l.note(m, due)
	if l.now.Before(due) {
		text, reason := l.describeDown(m)
		if reason != v1alpha1.ReasonRollingOut || m.Pod.Failed || m.Pod.Unschedulable != "" {
			reason = v1alpha1.ReasonReplacementPending // a member that starts on a new template is no news
		}
		return waits(reason, fmt.Sprintf("%s; it is replaced on a fresh disk at %s", text, stamp(due))).until(due)
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
	if why := elsewhere(l.Snapshot, m); !l.check("every member is back, or gone", why == "", func() string { return why }) {
		return m, due, "not replaced while " + why
	}
	settled, ok := l.othersSettled(l.down.first)
	if !ok {
		return m, due, "not replaced before every other member has its place"
	}
	due = later(m.Pod.Transition.Add(l.policy.ReplacementDelay), settled)
	l.check("it is down, and all others are Ready, for long enough", !l.now.Before(due), func() string { return stamp(due) })
	return m, due, ""
}

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
		func(m *Member) string { return fmt.Sprintf("claim %s has not the fleet's identity", m.Claim.Name) }},
	{"its claim stays", func(_ *look, m *Member) bool { return !m.Claim.Terminating },
		func(m *Member) string { return fmt.Sprintf("claim %s is being deleted already", m.Claim.Name) }},
	{"its volume is there", func(_ *look, m *Member) bool { return !m.Claim.Lost },
		func(m *Member) string { return fmt.Sprintf("claim %s is Lost", m.Claim.Name) }}, // see lostDisk
	{"its claim is Bound", func(_ *look, m *Member) bool { return m.Claim.Bound },
		func(m *Member) string { return fmt.Sprintf("claim %s is not bound", m.Claim.Name) }},
	{"its Pod is on a node, or found none", func(_ *look, m *Member) bool { return m.Decided() },
		func(*Member) string { return "no disk goes before the scheduler has had its say about it" }},
	{"no container waits on its image or configuration", func(_ *look, m *Member) bool { return m.Pod.ImageWait == "" },
		func(*Member) string {
			return "a fresh disk does not help a container that waits on its image or configuration"
		}},
	{"its claim is older than its Pod", func(_ *look, m *Member) bool { return outlives(m.Claim, m.Pod) },
		func(*Member) string {
			return "not replaced, since its disk was made for this Pod and another would fare no better"
		}},
}

// replaceable reports whether the Pod is there, stays, and is the fleet's.
func (m *Member) replaceable() bool {
	return m.Pod != nil && !m.Pod.Terminating && m.Pod.Ours && m.Pod.Controlled
}

// elsewhere says which ordinal beyond the workload's count keeps a member's disk from going, empty when none does: one that
// was removed and has not ended, or one that is to come back, whose claim is there already, with its label or without one.
// Either may have the only other copy of a write.
func elsewhere(s *Snapshot, but *Member) string {
	for _, list := range [...][]Member{s.Members[len(s.Current()):], s.Removed} {
		for i := range list {
			switch m := &list[i]; {
			case m.Ordinal == but.Ordinal:
			case m.Pod != nil && !m.Pod.Forced:
				return m.Name + ", which is removed, has not ended"
			case m.Ordinal < s.Target && m.Claim != nil && !m.Claim.Terminating && (m.Claim.Identity == s.Fleet.Identity || m.Claim.Identity == ""):
				return m.Name + " is not back on its disk"
			}
		}
	}
	return ""
}

// because says what is wrong with a Pod, as a clause.
func because(pod *Pod) string {
	switch {
	case pod.Unschedulable != "":
		return " (the scheduler: " + pod.Unschedulable + ")"
	case pod.ImageWait != "":
		return " (" + pod.ImageWait + ")"
	case pod.Trouble != "":
		return " (" + pod.Trouble + ")"
	default:
		return ""
	}
}
