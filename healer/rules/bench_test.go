// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// manyFleets are the cases that look at most of a fleet of a hundred members.
func manyFleets() map[string]*Snapshot {
	return map[string]*Snapshot{
		"ready":       fleetOf(100),
		"replacement": fleetOf(100, down(99, fullDelay)),
		"pending":     fleetOf(100, down(99, time.Minute)),
		"growth":      fleetOf(50, target(100)),
		"lost":        fleetOf(100, claim(99, func(c *Claim) { c.Bound, c.Lost = false, true })),
		"all down":    fleetOf(100, allDown),
		"deleting":    fleetOf(100, goes, gone, func(s *Snapshot) { withoutPods(s) }),
	}
}

func allDown(s *Snapshot) {
	for i := range s.Members {
		down(i, time.Hour)(s)
		ending(i, -time.Minute)(s)
	}
}

func withoutPods(s *Snapshot) {
	for i := range s.Members {
		s.Members[i].Pod = nil
	}
}

// A decision about a hundred members is to take less than 50 microseconds.
func BenchmarkDecide(b *testing.B) {
	for name, s := range manyFleets() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Decide(s, policy, noon)
			}
		})
	}
}

func BenchmarkStatusOf(b *testing.B) {
	for name, s := range manyFleets() {
		b.Run(name, func(b *testing.B) {
			d := Decide(s, policy, noon)
			old := StatusOf(s, &d, emptyStatus(), noon)
			b.ReportAllocs()
			for b.Loop() {
				StatusOf(s, &d, &old, noon)
			}
		})
	}
}
