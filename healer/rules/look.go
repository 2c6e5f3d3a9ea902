// SPDX-License-Identifier: Apache-2.0

package rules

import "time"

// A look is a snapshot with what several rules ask of its members, assessed once.
type look struct {
	*Snapshot
	policy  Policy
	now     time.Time
	current []Member // that the workload asks for

	down      few // members that are down
	undecided few // members that the scheduler has not had its say about
	lost      int // claims that are Lost
	// settled is when every member that is up will have been Ready for settledAfter, and butLast the same without the last one
	// to be so, at youngest.
	settled, butLast time.Time
	youngest         int

	notes     []memberNote
	recording bool
	checks    []Check
}

// few counts members, and keeps the first two.
type few struct {
	n             int
	first, second int
}

func (f *few) add(i int) {
	switch f.n {
	case 0:
		f.first = i
	case 1:
		f.second = i
	}
	f.n++
}

// but returns the first member that is not i, -1 for none.
func (f *few) but(i int) int {
	switch {
	case f.n == 0, f.n == 1 && f.first == i:
		return -1
	case f.first == i:
		return f.second
	default:
		return f.first
	}
}

func newLook(s *Snapshot, p Policy, now time.Time) look {
	l := look{Snapshot: s, policy: p, now: now, current: s.Current(), youngest: -1}
	for i := range l.current {
		m := &l.current[i]
		if m.Claim != nil && m.Claim.Lost {
			l.lost++
		}
		if !m.Decided() {
			l.undecided.add(i)
		}
		if m.Down() {
			l.down.add(i)
			continue
		}
		switch at := m.Pod.Transition.Add(settledAfter); {
		case at.After(l.settled) || l.youngest < 0:
			l.butLast, l.settled, l.youngest = l.settled, at, i
		case at.After(l.butLast):
			l.butLast = at
		}
	}
	return l
}

// othersSettled returns when every member but one will have been Ready for settledAfter; false when one of them is down or,
// as no cluster should show, Ready before the scheduler has had its say.
func (l *look) othersSettled(but int) (time.Time, bool) {
	if l.down.but(but) >= 0 || l.undecided.but(but) >= 0 {
		return time.Time{}, false
	}
	if l.youngest == but {
		return l.butLast, true
	}
	return l.settled, true
}

// note keeps for the status when a member is replaced.
func (l *look) note(m *Member, due time.Time) {
	l.notes = append(l.notes, memberNote{ordinal: m.Ordinal, due: due})
}

// check records a condition that a rule looked at, when somebody wants to read it, and returns whether it holds.
func (l *look) check(what string, holds bool, detail func() string) bool {
	if l.recording {
		l.checks = append(l.checks, Check{What: what, Holds: holds, Detail: detail()})
	}
	return holds
}

// concerned names the member that a decision is about: the one that it acts on, else the first that is down.
func (l *look) concerned(d *Decision) string {
	switch {
	case d.Action != nil && d.Action.Targets[0].Kind == KindPod:
		return d.Action.Targets[0].Name
	case l.Workload != nil && l.Fleet.Ordered() && l.down.n > 0:
		return l.current[l.down.first].Name
	default:
		return ""
	}
}

// eachPod visits the Pods of an ordered fleet, in and beyond the range, then those without ordinals.
func (s *Snapshot) eachPod(visit func(*Pod)) {
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for i := range list {
			if list[i].Pod != nil {
				visit(list[i].Pod)
			}
		}
	}
	for _, pod := range s.Pods {
		visit(pod)
	}
}
