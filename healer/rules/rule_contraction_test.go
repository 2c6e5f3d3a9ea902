// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// Contraction: one member at a time, the last, when the StatefulSet is rolled out.
func TestContraction(t *testing.T) {
	waits := "contraction: Provisioning/RollingOut"
	removes := "contraction: Scale my-fleet data-my-fleet-2 to 2; Provisioning/Provisioning; Scaled"
	takes := "contraction: Scale my-fleet to 2; Provisioning/Provisioning; Scaled" // and marks no claim
	unplaced := func(s *Snapshot) {
		unscheduled(2, 6*time.Hour)(s)
		s.Members[2].Claim.Bound = false
	}
	runRules(t, map[string]ruleCase{
		"one": {
			change: []change{target(2)}, want: removes, message: "removing my-fleet-2, 2 of 3 members stay; its claim is kept",
		},
		"several: one at a time": {change: []change{target(1)}, want: removes},
		"a hundred to one":       {base: fleetOf(100), change: []change{target(1)}, want: "contraction: Scale my-fleet data-my-fleet-99 to 99; Provisioning/Provisioning; Scaled"},
		"nobody asked for":       {change: []change{target(0)}, want: removes},
		"two members to one":     {base: fleetOf(2), change: []change{target(1)}, want: "contraction: Scale my-fleet data-my-fleet-1 to 1; Provisioning/Provisioning; Scaled"},
		"as many as asked for":   {want: "report: Ready/Provisioned", message: "3 of 3 members are ready"},
		"members are missing": {
			change: []change{target(2), workloadIs(func(w *Workload) { w.Existing, w.Ready = 2, 2 })}, want: removes, message: "removing my-fleet-2, 2 of 3 members stay; its claim is kept",
		},
		"more than asked for":         {change: []change{target(2), workloadIs(func(w *Workload) { w.Existing = 4 })}, want: removes},
		"one is not ready":            {change: []change{target(2), workloadIs(func(w *Workload) { w.Ready = 2 })}, want: removes, message: "removing my-fleet-2, 2 of 3 members stay; its claim is kept"},
		"one is not updated":          {change: []change{target(2), workloadIs(func(w *Workload) { w.Updated = 2 })}, want: removes, message: "removing my-fleet-2, 2 of 3 members stay; its claim is kept"},
		"revisions differ":            {change: []change{target(2), workloadIs(func(w *Workload) { w.NextRevision = "rev-2" })}, want: waits},
		"not rendered from this spec": {change: []change{target(2), workloadIs(func(w *Workload) { w.SpecDigest = "" })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"not seen by its controller":  {change: []change{target(2), workloadIs(func(w *Workload) { w.Observed = false })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"paused":                      {change: []change{target(2), isPaused}, want: "paused: Paused/MaintenancePaused"},
		"a Pod is not ready, and its controller has not seen that": {
			change: []change{target(2), down(0, 0)}, want: isPending + "; next in 10m0s",
			message: "my-fleet-0 has not been ready since 2026-03-04T12:00:00Z; it is replaced on a fresh disk at 2026-03-04T12:10:00Z",
		},
		"a claim is being deleted": {
			change: []change{target(2), claimGoing(0), readySince(1, 0)}, want: waits + "; next in 5m0s",
			message: "waiting before removing my-fleet-2: the others will have been ready for 5m0s at 2026-03-04T12:05:00Z; claim data-my-fleet-0 is being deleted, and my-fleet-0 is restarted on a fresh disk at 2026-03-04T12:05:00Z",
		},
		"a claim is Lost": {
			change: []change{target(2), claim(0, func(c *Claim) { c.Lost, c.Bound = true, false }), readySince(1, 0)}, want: waits + "; next in 5m0s",
			message: "waiting before removing my-fleet-2: the others will have been ready for 5m0s at 2026-03-04T12:05:00Z; claim data-my-fleet-0 is Lost, and my-fleet-0 is replaced on a fresh disk at 2026-03-04T12:05:00Z",
		},
		"the one before has not ended": {
			base: fleetOf(4), change: []change{target(2), replicas(3), func(s *Snapshot) {
				s.Removed[0].Pod.Terminating, s.Removed[0].Pod.DeletedAt = true, noon
			}},
			want: waits + "; next in 2m0s", message: "waiting before removing my-fleet-2: Pod my-fleet-3 has not ended",
		},
		"a Deployment": {
			change: []change{deployment, target(2)}, want: takes, message: "removing one member, 2 of 3 stay",
		},
		"a Deployment that cannot roll out, since some of its Pods have no node: they go first": {
			base: fleetOf(5), change: []change{deployment, target(3), workloadIs(func(w *Workload) { w.Ready, w.Updated = 3, 4 })},
			want: "contraction: Scale my-fleet to 4; Provisioning/Provisioning; Scaled", message: "removing one member, 4 of 5 stay",
		},
		"a Deployment that cannot roll out, with fewer Ready than are to stay": {
			base: fleetOf(5), change: []change{deployment, target(3), workloadIs(func(w *Workload) { w.Ready, w.Updated = 2, 4 })}, want: waits,
		},
		"a Deployment that rolls": {change: []change{deployment, target(2), workloadIs(func(w *Workload) { w.Updated = 1 })}, want: waits},
		"an Ordered fleet":        {change: []change{ordered, target(2)}, want: takes, message: "removing my-fleet-2, 2 of 3 members stay"},
		// Whoever is to be removed is never waited for.
		"a last member that was never placed": {change: []change{unplaced, target(2)}, want: takes, message: "removing my-fleet-2, 2 of 3 members stay; its claim is kept"},
		"a last member that has neither Pod nor claim": {
			change: []change{target(2), noPod(2), noClaim(2)}, want: takes,
		},
		"a last member that was never placed, others down and rolling": {
			change: []change{unplaced, target(2), down(0, 0), workloadIs(func(w *Workload) { w.NextRevision = "rev-2" })}, want: takes,
		},
		"a last member that is down on its disk": {change: []change{target(2), down(2, 0)}, want: removes},
		"a last member that is down, and its image is broken": {
			change: []change{target(2), down(2, time.Hour), pod(2, func(p *Pod) { p.ImageWait = imageBroken })}, want: removes,
		},
		"a last member that is down, whatever is rolled out": {
			change: []change{target(2), down(2, 0), workloadIs(func(w *Workload) { w.NextRevision = "rev-2" })}, want: removes,
		},
		// The controller waits for my-fleet-3 before it goes on with the rollout, so the removal of my-fleet-4 cannot wait for that.
		"another that goes is down, and keeps the rollout from those that stay": {
			base: fleetOf(5), change: []change{target(3), down(3, time.Hour), workloadIs(func(w *Workload) { w.NextRevision = "rev-2" })},
			want: "contraction: Scale my-fleet data-my-fleet-4 to 4; Provisioning/Provisioning; Scaled",
		},
		"a last member that is down, one that stays not settled": {
			change: []change{target(2), down(2, 0), readySince(1, time.Minute)}, want: waits + "; next in 4m0s",
			message: "waiting before removing my-fleet-2: the others will have been ready for 5m0s at 2026-03-04T12:04:00Z",
		},
		"a last member that is down, and so is one that stays": {
			change: []change{target(2), down(2, time.Hour), down(1, time.Hour)}, want: waits,
			message: "waiting before removing my-fleet-2: my-fleet-1 is not ready",
		},
		"of two that are to be removed one is down": {change: []change{target(1), down(1, time.Hour)}, want: removes},
		"a Lost claim of one that is to be removed": {
			change: []change{target(2), down(2, time.Hour), claim(2, func(c *Claim) { c.Bound, c.Lost = false, true })}, want: takes,
		},
		"several Ready members with Lost claims": {
			change: []change{target(2), claim(0, func(c *Claim) { c.Bound, c.Lost = false, true }), claim(1, func(c *Claim) { c.Bound, c.Lost = false, true })}, want: removes,
		},
		"a claim that is marked already": {change: []change{target(2), claim(2, func(c *Claim) { c.Marked = true })}, want: takes},
		"one that stays was seen Ready only just now": {
			change: []change{target(2), pod(0, func(p *Pod) { p.Seen = noon.Add(-time.Minute) })}, want: waits + "; next in 4m0s",
		},
		"one that stays runs an older template": {
			change: []change{target(2), workloadIs(func(w *Workload) { w.NextRevision = "rev-2" })}, want: waits,
			message: "waiting before removing my-fleet-2: my-fleet-0 does not run the current template yet",
		},
		"the last removal ended a minute ago": {
			change: []change{target(2), func(s *Snapshot) { s.RemovalEnded = noon.Add(-time.Minute) }}, want: waits + "; next in 4m0s",
			message: "waiting before removing my-fleet-2: the last removal ended at 2026-03-04T11:59:00Z, and the next is not before 2026-03-04T12:04:00Z",
		},
		"an Ordered fleet's last member that is down": {change: []change{ordered, target(2), down(2, 0), down(0, 0)}, want: takes},
		"a Deployment's Pod that has not ended": {
			change: []change{ending(0, -time.Minute), deployment, target(2)}, want: waits,
			message: "waiting for Pod my-fleet-0 to end before removing another member",
		},
		"a Deployment's member that is not ready": {
			change: []change{deployment, target(2), workloadIs(func(w *Workload) { w.Ready = 2 })}, want: takes, message: "removing one member, 2 of 3 stay",
		},
		"a Deployment of whose members too few are ready": {change: []change{deployment, target(2), workloadIs(func(w *Workload) { w.Ready = 1 })}, want: waits},
	})
}

// A claim that was kept on request waits for nobody, and loses its mark once its member is back.
func TestUnmark(t *testing.T) {
	marked := func(i int) change { return claim(i, func(c *Claim) { c.Marked = true }) }
	runRules(t, map[string]ruleCase{
		"back":          {change: []change{marked(2)}, want: "unmark: Unmark data-my-fleet-2; Provisioning/Provisioning"},
		"not Ready yet": {change: []change{marked(2), down(2, 0)}, want: isPending + "; next in 10m0s"},
		"its claim is being deleted": {
			change: []change{marked(2), claimGoing(2)}, want: "claim-terminating: DeletePod my-fleet-2; Provisioning/ReplacingMember; MemberReleased!",
		},
		"to come back, while another cannot": {
			change: []change{down(1, fullDelay), target(4), kept(3), marked(3)},
			want:   "replacement: Replace my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
	})
}
