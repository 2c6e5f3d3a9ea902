// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// Growth: runs of consecutive ordinals on kept or on fresh disks, once every member is decided.
func TestGrowth(t *testing.T) {
	to := func(n string) string { return "growth: Scale my-fleet to " + n + "; Provisioning/Provisioning; Scaled" }
	waits := "growth: Provisioning/WaitingForPlacement"
	runRules(t, map[string]ruleCase{
		"one fresh":     {change: []change{target(4)}, want: to("4"), message: "adding member my-fleet-3 on a fresh disk"},
		"several fresh": {change: []change{target(5)}, want: to("5"), message: "adding members my-fleet-3 to my-fleet-4 on fresh disks"},
		"several kept":  {change: []change{target(5), kept(3, 4)}, want: to("5"), message: "adding members my-fleet-3 to my-fleet-4 on kept disks"},
		"kept, then fresh": {
			change: []change{target(8), kept(3, 4)}, want: to("5"), message: "adding members my-fleet-3 to my-fleet-4 on kept disks",
		},
		"fresh, then kept": {change: []change{target(8), kept(4, 5, 6)}, want: to("4")},
		"alternating":      {change: []change{target(9), kept(3, 5, 7)}, want: to("4")},
		"from nothing, all kept": {
			change: []change{replicas(0), target(3), kept(0, 1, 2)}, want: to("3"), message: "adding members my-fleet-0 to my-fleet-2 on kept disks",
		},
		"from nothing, all fresh":      {change: []change{replicas(0), neverRan(0, 1, 2)}, want: to("3")},
		"from nothing, some kept":      {change: []change{replicas(0), neverRan(1, 2)}, want: to("1")},
		"from one, as the webhook has": {change: []change{replicas(1), neverRan(1, 2)}, want: to("3"), message: "adding members my-fleet-1 to my-fleet-2 on fresh disks"},
		"to a hundred":                 {base: fleetOf(1), change: []change{target(100)}, want: to("100")},
		"a kept disk that is lost":     {change: []change{target(4), kept(3), claim(3, func(c *Claim) { c.Lost, c.Bound = true, false })}, want: to("4")},
		"a kept disk never bound":      {change: []change{target(4), kept(3), claim(3, func(c *Claim) { c.Bound = false })}, want: to("4")},
		"a claim that is going first": {
			change: []change{target(5), kept(3, 4), claimGoing(3)}, want: waits + "; next in 30s",
			message: "waiting for claim data-my-fleet-3, which is being deleted (finalizers kubernetes.io/pvc-protection), to go before adding my-fleet-3",
		},
		"a claim that is going later ends a run": {change: []change{target(6), kept(3, 4, 5), claimGoing(4)}, want: to("4")},
		"a member pending": {
			change: []change{target(5), pending(2, time.Minute), claim(2, func(c *Claim) { c.Created = noon })}, want: waits + "; next in 9m0s",
			message: "waiting for the scheduler to place my-fleet-2, or find no node for it, before adding members my-fleet-3 to my-fleet-4 on fresh disks",
		},
		"a member missing":       {change: []change{target(4), noPod(1)}, want: waits + "; next in 30s"},
		"a member terminating":   {change: []change{target(4), ending(1, 0)}, want: waits + "; next in 2m0s"},
		"even on kept disks":     {change: []change{target(4), kept(3), noPod(1)}, want: waits + "; next in 30s"},
		"a member unschedulable": {change: []change{target(4), unscheduled(1, 0)}, want: "replacement: Provisioning/ReplacementPending; next in 10m0s"},
		"a member down":          {change: []change{target(4), down(1, 0)}, want: to("4")},
		"while a template rolls": {change: []change{target(4), workloadIs(func(w *Workload) { w.NextRevision, w.Updated = "rev-2", 1 })}, want: to("4")},
		"foreign claim at a name to come": {
			change: []change{target(5), kept(4), claim(4, func(c *Claim) { c.Identity = theirs })}, want: "growth: Blocked/StorageIdentityConflict; next in 30s",
			message: "claim data-my-fleet-4 is at the name of member my-fleet-4, but its label celld.eric.dev/fleet-uid is \"" + theirs + "\", not \"" + ours +
				"\": move its data away and delete it, or give it back to the fleet as docs/operations.md says",
		},
		"claim without the label":              {change: []change{target(4), kept(3), claim(3, func(c *Claim) { c.Identity = "" })}, want: "growth: Blocked/StorageIdentityConflict; next in 30s"},
		"a current member's claim is foreign":  {change: []change{target(4), claim(0, func(c *Claim) { c.Identity = theirs })}, want: "growth: Blocked/StorageIdentityConflict; next in 30s"},
		"a claim beyond the target is foreign": {change: []change{replicas(2), kept(2), claim(2, func(c *Claim) { c.Identity = theirs }), target(2)}, want: "report: Ready/Provisioned"},
		"paused":                               {change: []change{target(4), isPaused}, want: "paused: Paused/MaintenancePaused"},
		"not rendered from this spec":          {change: []change{target(4), workloadIs(func(w *Workload) { w.SpecDigest = "" })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"not seen by its controller":           {change: []change{target(4), workloadIs(func(w *Workload) { w.Observed = false })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"a Deployment in one step":             {change: []change{deployment, target(9)}, want: to("9"), message: "adding 6 members"},
		"an Ordered fleet in one step":         {change: []change{ordered, target(9), noPod(1)}, want: to("9"), message: "adding members my-fleet-3 to my-fleet-8"},
	})
}

// Growth waits for what protects members.
func TestGrowthPrerequisites(t *testing.T) {
	with := func(at int, p Prerequisite) change {
		return func(s *Snapshot) {
			target(4)(s)
			s.Prerequisites = []Prerequisite{
				{Kind: "PodDisruptionBudget", Name: "my-fleet", Found: true}, {Kind: "NetworkPolicy", Name: "my-fleet", Found: true},
				{Kind: "Service", Name: "my-fleet", Found: true}, {Kind: "Service", Name: "my-fleet-peers", Found: true},
			}
			p.Kind, p.Name = s.Prerequisites[at].Kind, s.Prerequisites[at].Name
			s.Prerequisites[at] = p
		}
	}
	missing, blocked := "growth: Provisioning/PrerequisitesMissing; next in 30s", "growth: Blocked/InfrastructureBlocked; next in 30s"
	runRules(t, map[string]ruleCase{
		"all there":       {change: []change{with(0, Prerequisite{Found: true})}, want: "growth: Scale my-fleet to 4; Provisioning/Provisioning; Scaled"},
		"budget missing":  {change: []change{with(0, Prerequisite{})}, want: missing, message: "waiting for the sync tool to apply PodDisruptionBudget my-fleet; no member is added without it"},
		"policy missing":  {change: []change{with(1, Prerequisite{})}, want: missing},
		"Service missing": {change: []change{with(2, Prerequisite{})}, want: missing},
		"peers missing":   {change: []change{with(3, Prerequisite{})}, want: missing},
		"policy foreign": {
			change: []change{with(1, Prerequisite{Found: true, Foreign: "it has owner references"})}, want: blocked,
			message: "NetworkPolicy my-fleet is not this fleet's: it has owner references; members are not protected by it, and none is added",
		},
		"one foreign, one missing":   {change: []change{with(3, Prerequisite{Found: true, Foreign: "x"}), func(s *Snapshot) { s.Prerequisites[0].Found = false }}, want: blocked},
		"missing says nothing else":  {change: []change{with(0, Prerequisite{Foreign: "its label is missing"})}, want: missing},
		"nothing is to be added":     {change: []change{with(0, Prerequisite{}), target(3)}, want: "report: Provisioning/PrerequisitesMissing; next in 30s"},
		"a claim conflict is first":  {change: []change{with(0, Prerequisite{}), kept(3), claim(3, func(c *Claim) { c.Identity = theirs })}, want: "growth: Blocked/StorageIdentityConflict; next in 30s"},
		"before a member is decided": {change: []change{with(0, Prerequisite{}), noPod(1)}, want: missing},
	})
}
