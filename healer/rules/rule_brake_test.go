// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// One cause can make every fleet want a disk at the same minute: only some may be replaced within a delay.
func TestBrake(t *testing.T) {
	brake := func(b Brake) change {
		return func(s *Snapshot) {
			if b.Max == 0 {
				b.Max = 3
			}
			b.Until = noon.Add(4 * time.Minute)
			s.Brake = &b
		}
	}
	lost := claim(1, func(c *Claim) { c.Bound, c.Lost = false, true })
	due := down(1, fullDelay)
	held := "replacement: Provisioning/ReplacementPending; next in 4m0s"
	older, younger := Waiting{Down: noon.Add(-time.Hour)}, Waiting{Down: noon.Add(-time.Minute)}
	runRules(t, map[string]ruleCase{
		"room": {change: []change{due, brake(Brake{Recent: 2})}, want: replaceNow},
		"full": {
			change: []change{due, brake(Brake{Recent: 3})}, want: held,
			message: oneDown + "; held back: 3 of at most 3 replacements over all fleets within 10m0s are taken, and 0 fleets are ahead; the next one at 2026-03-04T12:04:00Z",
		},
		"room for one, another is down longer":         {change: []change{due, brake(Brake{Recent: 2, Waiting: []Waiting{older}})}, want: held},
		"room for one, another is down for less":       {change: []change{due, brake(Brake{Recent: 2, Waiting: []Waiting{younger}})}, want: replaceNow},
		"room for two, another is down longer":         {change: []change{due, brake(Brake{Recent: 1, Waiting: []Waiting{older}})}, want: replaceNow},
		"this fleet had one, another did not":          {change: []change{due, brake(Brake{Recent: 2, Own: true, Waiting: []Waiting{younger}})}, want: held},
		"another had one, this fleet did not":          {change: []change{due, brake(Brake{Recent: 2, Waiting: []Waiting{{Own: true, Down: older.Down}}})}, want: replaceNow},
		"not due yet: the wait is told, not the brake": {change: []change{down(1, time.Minute), brake(Brake{Recent: 3})}, want: isPending + "; next in 9m0s"},
		"just begun": {
			change: []change{due, brake(Brake{KnownAt: noon.Add(time.Minute)})}, want: held,
			message: oneDown + "; held back until 2026-03-04T12:01:00Z: this healer began less than 10m0s ago, and does not know which disks were replaced before",
		},
		"a Lost claim beyond it waits for the delay": {
			change: []change{down(1, time.Minute), lost, brake(Brake{Recent: 3})}, want: "lost-disk: Provisioning/ReplacementPending; next in 9m0s",
			message: "claim data-my-fleet-1 is Lost, and replacements are held back over all fleets; if its volume does not come back, " +
				"my-fleet-1 is replaced on a fresh disk at 2026-03-04T12:09:00Z; to keep the disk, pause the fleet",
		},
		"a Lost claim within it is replaced at once": {
			change: []change{down(1, time.Minute), lost, brake(Brake{Recent: 2})},
			want:   "lost-disk: Replace my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; MemberDiskLost!",
		},
		"a claim that is being deleted": {
			change: []change{claimGoing(1), brake(Brake{Recent: 3})}, want: "claim-terminating: Provisioning/ReplacementPending; next in 4m0s",
		},
	})
}

// Waits that end a disk trust neither a node's clock nor what a kubelet remembers.
func TestObserved(t *testing.T) {
	seen := func(i int, since time.Duration) change { return pod(i, func(p *Pod) { p.Seen = noon.Add(-since) }) }
	runRules(t, map[string]ruleCase{
		"down for long by its node's clock, seen so for a second": {
			change: []change{down(1, time.Hour), seen(1, time.Second)}, want: isPending + "; next in 59s",
		},
		"another Ready for long by its node's clock, seen so for a minute": {
			change: []change{down(1, time.Hour), seen(2, time.Minute)}, want: isPending + "; next in 4m0s",
		},
		"all seen for long": {change: []change{down(1, fullDelay), seen(0, time.Hour), seen(1, fullDelay), seen(2, time.Hour)}, want: replaceNow},
		"a removed member ended a minute ago": {
			change: []change{down(1, fullDelay), func(s *Snapshot) { s.RemovalEnded = noon.Add(-time.Minute) }}, want: isPending + "; next in 4m0s",
		},
		"only a readiness gate is missing": {
			change: []change{down(1, time.Hour), pod(1, func(p *Pod) { p.GatesNotReady = true })}, want: isDown,
			message: "my-fleet-1 has not been ready since 2026-03-04T11:00:00Z (its containers are ready, a readiness gate is not); " +
				"its containers are ready, and a fresh disk does not help a readiness gate that is not",
		},
		"only a readiness gate is missing, and the kubelet names it": {
			change: []change{down(1, time.Hour), pod(1, func(p *Pod) { p.GatesNotReady, p.Trouble = true, "gate x" })}, want: isDown,
			message: "my-fleet-1 has not been ready since 2026-03-04T11:00:00Z (its containers are ready, a readiness gate is not: gate x); " +
				"its containers are ready, and a fresh disk does not help a readiness gate that is not",
		},
		"to be removed": {
			change: []change{down(2, time.Hour), target(2)}, want: "contraction: Scale my-fleet data-my-fleet-2 to 2; Provisioning/Provisioning; Scaled",
		},
		"nobody else is there": {
			base: fleetOf(1), change: []change{down(0, time.Hour), target(3), func(s *Snapshot) {
				s.Prerequisites = []Prerequisite{{Kind: "Service", Name: "my-fleet"}}
			}},
			want: "growth: Provisioning/PrerequisitesMissing; next in 30s",
		},
	})
}
