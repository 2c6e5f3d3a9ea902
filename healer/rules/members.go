// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/render"
)

// maxOrdinal bounds what a name can make the healer hold: ordinals above it are nobody's members (a fleet has at most 100).
const maxOrdinal = 9999

// memberTable collects Pods and claims by ordinal.
type memberTable struct {
	fleet   string
	current []Member
	removed map[int]*Member
}

func newMembers(s *Snapshot) *memberTable {
	count := s.Target
	if s.Workload != nil {
		count = max(count, s.Workload.Replicas)
	}
	count = min(count, maxOrdinal+1)
	t := &memberTable{fleet: s.Fleet.Name, current: make([]Member, count), removed: map[int]*Member{}}
	for i := range t.current {
		t.current[i] = Member{Ordinal: i, Name: render.PodName(s.Fleet.Name, i)}
	}
	return t
}

// at returns the member that a parsed name means, nil when it is not one of this fleet's.
func (t *memberTable) at(fleet string, ordinal int, ok bool) *Member {
	switch {
	case !ok || fleet != t.fleet || ordinal > maxOrdinal:
		return nil
	case ordinal < len(t.current):
		return &t.current[ordinal]
	}
	m := t.removed[ordinal]
	if m == nil {
		m = &Member{Ordinal: ordinal, Name: render.PodName(fleet, ordinal)}
		t.removed[ordinal] = m
	}
	return m
}

// into puts the members into a snapshot, in order.
func (t *memberTable) into(s *Snapshot) {
	s.Members = t.current
	for _, m := range t.removed {
		s.Removed = append(s.Removed, *m)
	}
	slices.SortFunc(s.Removed, func(a, b Member) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
}
