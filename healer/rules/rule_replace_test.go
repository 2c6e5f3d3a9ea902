// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

const (
	oneDown     = "my-fleet-1 has not been ready since 2026-03-04T11:50:00Z"
	replaceNow  = "replacement: Replace my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago"
	isDown      = "report: Provisioning/ReplacementPending"
	isPending   = "replacement: Provisioning/ReplacementPending"
	tooYoung    = "not replaced, since its disk was made for this Pod and another would fare no better"
	nanosecond  = time.Nanosecond
	almostTen   = fullDelay - nanosecond
	imageBroken = "container celld: ErrImagePull: no such image"
)

// Replacement acts.
func TestReplacement(t *testing.T) {
	runRules(t, map[string]ruleCase{
		"due to the nanosecond": {
			change: []change{down(1, fullDelay)}, want: replaceNow, message: oneDown + "; replacing it on a fresh disk",
		},
		"a nanosecond before": {
			change: []change{down(1, almostTen)}, want: isPending + "; next in 1ns",
		},
		"just down": {
			change: []change{down(1, 0)}, want: isPending + "; next in 10m0s",
			message: "my-fleet-1 has not been ready since 2026-03-04T12:00:00Z; it is replaced on a fresh disk at 2026-03-04T12:10:00Z",
		},
		"long due": {
			change: []change{down(1, 30*time.Minute)},
			want:   "replacement: Replace my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; MemberReplaced!; due 20m0s ago",
		},
		"the first member": {
			change: []change{down(0, fullDelay)},
			want:   "replacement: Replace my-fleet-0 data-my-fleet-0; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"the last of a hundred": {
			base: fleetOf(100), change: []change{down(99, fullDelay)},
			want: "replacement: Replace my-fleet-99 data-my-fleet-99; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"the only member": {
			base: fleetOf(1), change: []change{down(0, fullDelay)},
			want: "replacement: Replace my-fleet-0 data-my-fleet-0; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"crash loop": {
			change:  []change{down(1, fullDelay), pod(1, func(p *Pod) { p.Trouble = "container celld: CrashLoopBackOff" })},
			want:    replaceNow,
			message: oneDown + " (container celld: CrashLoopBackOff); replacing it on a fresh disk",
		},
		"unschedulable, alone": {
			change:  []change{unscheduled(1, fullDelay)},
			want:    replaceNow,
			message: oneDown + " (the scheduler: 0/3 nodes are available); replacing it on a fresh disk",
		},
		"a disk in the place of a member to come that is another's": {
			change: []change{down(1, fullDelay), target(4), kept(3), claim(3, func(c *Claim) { c.Identity = theirs })}, want: replaceNow,
		},
		// Its disk is given up already, so nobody waits for it to come back.
		"a disk in the place of a member to come that is being deleted": {
			change: []change{down(1, fullDelay), target(4), kept(3), claim(3, func(c *Claim) { c.Terminating = true })}, want: replaceNow,
		},
		"a removed member that only a finalizer holds": {
			change: []change{down(1, fullDelay), target(2), replicas(2), func(s *Snapshot) {
				s.Removed[0].Pod.Terminating, s.Removed[0].Pod.Forced = true, true
			}},
			want: replaceNow,
		},
		// The scheduler does not work: a fresh disk would wait as well, and each fleet with such a Pod would lose one.
		"not yet seen by the scheduler": {
			change: []change{pending(1, time.Hour)}, want: "report: Provisioning/WaitingForPlacement",
			message: "waiting since 2026-03-04T11:00:00Z for the scheduler to place my-fleet-1; its disk is kept until the scheduler has tried to place the Pod",
		},
		"others ready for exactly five minutes": {
			change: []change{down(1, fullDelay), readySince(0, settledAfter), readySince(2, settledAfter)}, want: replaceNow,
		},
		"an other ready for a nanosecond less": {
			change: []change{down(1, fullDelay), readySince(2, settledAfter-nanosecond)}, want: isPending + "; next in 1ns",
		},
		"due once the youngest other has settled": {
			change: []change{down(1, time.Hour), readySince(0, 4*time.Minute), readySince(2, time.Minute)},
			want:   isPending + "; next in 4m0s",
			message: "my-fleet-1 has not been ready since 2026-03-04T11:00:00Z; " +
				"it is replaced on a fresh disk at 2026-03-04T12:04:00Z",
		},
		"due from when the youngest other settled": {
			change: []change{down(1, time.Hour), readySince(2, 6*time.Minute)},
			want:   "replacement: Replace my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; MemberReplaced!; due 1m0s ago",
		},
		"a disk a nanosecond more than a minute older than its Pod": {
			change: []change{down(1, fullDelay), claim(1, func(c *Claim) { c.Created = noon.Add(-time.Hour - time.Minute - nanosecond) })},
			want:   replaceNow,
		},
		"a member to be removed soon": {change: []change{target(2), down(1, fullDelay)}, want: replaceNow},
		"before growth":               {change: []change{target(5), down(1, fullDelay)}, want: replaceNow},
		"during a rollout": {
			change: []change{down(1, fullDelay), workloadIs(func(w *Workload) { w.NextRevision, w.Updated = "rev-2", 1 })}, want: "old-template: DeletePod my-fleet-1; Provisioning/RollingOut; MemberRestarted; due 9m0s ago",
		},
		"the finalizer first": {
			change: []change{down(1, fullDelay), fleetIs(func(f *Fleet) { f.Finalizer = false })},
			want:   "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
	})
}

// Replacement leaves alone: each of its conditions turned.
func TestNoReplacement(t *testing.T) {
	long := 2 * time.Hour
	pending := func(message string) ruleCase {
		return ruleCase{want: isDown, message: "my-fleet-1 has not been ready since 2026-03-04T11:00:00Z" + message}
	}
	cases := map[string]ruleCase{}
	add := func(name string, c ruleCase, changes ...change) {
		c.change = append([]change{down(1, time.Hour)}, changes...)
		cases[name] = c
	}
	add("two down", ruleCase{want: isDown, message: "my-fleet-0 has not been ready since 2026-03-04T10:00:00Z; not replaced while my-fleet-1 is also down"},
		down(0, long))
	add("another missing", pending("; not replaced while my-fleet-2 is also down"), noPod(2))
	add("another terminating", ruleCase{want: isDown + "; next in 1m59s"}, ending(2, time.Second))
	add("another without the label", ruleCase{want: "report: Blocked/InfrastructureBlocked; next in 30s"}, pod(2, func(p *Pod) { p.Ours = false }))
	add("another unschedulable", ruleCase{want: "report: Blocked/MemberUnschedulable", message: "my-fleet-2 has not been scheduled since " +
		"2026-03-04T10:00:00Z: 0/3 nodes are available; not replaced while my-fleet-1 is also down"}, unscheduled(2, long))
	add("another pending", pending("; not replaced while my-fleet-2 is also down"), func(s *Snapshot) { s.Members[2].Pod.Ready, s.Members[2].Pod.Node = false, "" })
	// Whoever is not running may have the only other copy of a write.
	add("a member not back yet", ruleCase{want: "growth: Scale my-fleet to 4; Provisioning/Provisioning; Scaled"}, target(4), kept(3))
	add("a member that cannot come back yet", ruleCase{want: "growth: Provisioning/PrerequisitesMissing; next in 30s"}, target(4), kept(3),
		func(s *Snapshot) { s.Prerequisites = []Prerequisite{{Kind: "Service", Name: "my-fleet"}} })
	add("a workload that was lost and begins with one member", ruleCase{want: "growth: Provisioning/PrerequisitesMissing; next in 30s"},
		down(0, time.Hour), replicas(1), target(3), kept(1, 2), func(s *Snapshot) { s.Prerequisites = []Prerequisite{{Kind: "Service", Name: "my-fleet"}} })
	add("a disk in its place that may be its own", ruleCase{want: "growth: Blocked/StorageIdentityConflict; next in 30s"}, target(4), kept(3),
		claim(3, func(c *Claim) { c.Identity = "" }))
	add("a removed member that has not ended", pending("; not replaced while my-fleet-2, which is removed, has not ended"), target(2), replicas(2))
	add("all down", ruleCase{want: isDown}, down(0, long), down(2, long))
	add("Pod missing", ruleCase{want: "report: Provisioning/Provisioning; next in 30s", message: "waiting for Pod my-fleet-1 to be made"}, noPod(1))
	add("Pod terminating", ruleCase{want: "report: Provisioning/Provisioning; next in 1m0s"}, ending(1, time.Minute))
	add("Pod without the label", ruleCase{want: "report: Blocked/InfrastructureBlocked; next in 30s",
		message: "Pod my-fleet-1 is missing the label celld.eric.dev/fleet-uid: aaaaaaaa-0000-5000-8000-000000000001, so the StatefulSet cannot manage it; put the label back"},
		pod(1, func(p *Pod) { p.Ours = false }))
	add("Pod of another controller", pending("; Pod my-fleet-1 is not controlled by the fleet's StatefulSet under its label"),
		pod(1, func(p *Pod) { p.Controlled = false }))
	add("Pod of nobody", pending("; Pod my-fleet-1 is not controlled by the fleet's StatefulSet under its label"),
		pod(1, func(p *Pod) { p.Controlled, p.Ownerless = false, true }))
	add("no claim", pending("; it has no claim"), noClaim(1))
	add("foreign claim", ruleCase{want: "report: Blocked/StorageIdentityConflict; next in 30s"}, claim(1, func(c *Claim) { c.Identity = theirs }))
	add("claim without the label", ruleCase{want: "report: Blocked/StorageIdentityConflict; next in 30s"}, claim(1, func(c *Claim) { c.Identity = "" }))
	add("claim pending", pending("; claim data-my-fleet-1 is not bound"), claim(1, func(c *Claim) { c.Bound = false }))
	add("disk made for this Pod", pending("; "+tooYoung), claim(1, func(c *Claim) { c.Created = noon.Add(-time.Hour) }))
	add("disk a minute older", pending("; "+tooYoung), claim(1, func(c *Claim) { c.Created = noon.Add(-time.Hour - time.Minute) }))
	add("disk younger than the Pod", pending("; "+tooYoung), claim(1, func(c *Claim) { c.Created = noon }))
	add("image", ruleCase{want: "report: Blocked/InfrastructureBlocked", message: "my-fleet-1 has not been ready since 2026-03-04T11:00:00Z (" +
		imageBroken + "); a fresh disk does not help a container that waits on its image or configuration"},
		pod(1, func(p *Pod) { p.ImageWait = imageBroken }))
	add("paused", ruleCase{want: "paused: Paused/MaintenancePaused"}, isPaused)
	add("invalid", ruleCase{want: "invalid: Blocked/InvalidConfiguration", message: "spec.replicas: Required value"},
		fleetIs(func(f *Fleet) { f.Invalid = "spec.replicas: Required value" }))
	add("foreign bucket", ruleCase{want: "reservation: Blocked/StorageScopeConflict"}, func(s *Snapshot) { s.Reservation.Identity = theirs })
	add("not rendered from this spec", ruleCase{want: "not-caught-up: Provisioning/SpecNotSynced"}, workloadIs(func(w *Workload) { w.SpecDigest = "old" }))
	add("controller has not seen the template", ruleCase{want: "not-caught-up: Provisioning/SpecNotSynced"}, workloadIs(func(w *Workload) { w.Observed = false }))
	add("StatefulSet with an owner", ruleCase{want: "workload: Blocked/InfrastructureBlocked"}, workloadIs(func(w *Workload) { w.Owned = true }))
	add("StatefulSet going", ruleCase{want: "workload: Blocked/InfrastructureBlocked"}, workloadIs(func(w *Workload) { w.Terminating = true }))
	add("StatefulSet gone", ruleCase{want: "workload: Provisioning/StatefulSetMissing"}, func(s *Snapshot) { s.Workload = nil })
	add("temporary disks", ruleCase{want: "report: Provisioning/Provisioning"}, ordered)
	runRules(t, cases)
}

// A lost disk.
func TestLostDisk(t *testing.T) {
	lost := func(i int) change { return claim(i, func(c *Claim) { c.Lost, c.Bound = true, false }) }
	replaced := "lost-disk: Replace my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; MemberDiskLost!"
	runRules(t, map[string]ruleCase{
		"Ready, and all others settled": {
			change: []change{lost(1)}, want: replaced, message: "claim data-my-fleet-1 is Lost, its volume is gone; replacing my-fleet-1 on a fresh disk",
		},
		"Ready, and an other not for long": {
			change: []change{lost(1), readySince(2, settledAfter-nanosecond)}, want: "report: Ready/Provisioned; next in 1ns",
			message: "3 of 3 members are ready; claim data-my-fleet-1 is Lost, and my-fleet-1 is replaced on a fresh disk at 2026-03-04T12:00:00Z",
		},
		"Ready, as the only one": {change: []change{lost(1), down(0, time.Hour), down(2, time.Hour)}, want: isDown},
		"Ready, and an other is due": {
			change: []change{lost(1), down(0, time.Hour)}, want: "replacement: Replace my-fleet-0 data-my-fleet-0; Provisioning/ReplacingMember; MemberReplaced!; due 50m0s ago",
		},
		"Ready, and another unschedulable": {change: []change{lost(1), unscheduled(2, 0)}, want: isPending + "; next in 10m0s"},
		"others are to come back on their disks": {
			change: []change{lost(0), unscheduled(0, 0), replicas(1), target(3), kept(1, 2)}, want: "growth: Scale my-fleet to 3; Provisioning/Provisioning; Scaled",
		},
		"others cannot come back on their disks yet": {
			change: []change{lost(0), unscheduled(0, 0), replicas(1), target(3), kept(1, 2), func(s *Snapshot) {
				s.Prerequisites = []Prerequisite{{Kind: "Service", Name: "my-fleet"}}
			}},
			want: "growth: Provisioning/PrerequisitesMissing; next in 30s",
		},
		"deleted as well, and another is down": {
			change: []change{lost(1), claimGoing(1), down(1, 0), down(2, 0)},
			want:   "lost-disk: DeletePod my-fleet-1; Provisioning/ReplacingMember; MemberDiskLost!",
		},
		"deleted as well, on no node: the claim goes by itself": {
			change: []change{lost(1), claimGoing(1), unscheduled(1, 0)}, want: "report: Provisioning/WaitingForPlacement; next in 10m0s",
		},
		"two deleted as well, and down": {
			change: []change{lost(1), claimGoing(1), lost(2), claimGoing(2), down(1, fullDelay), down(2, 0)},
			want:   "lost-disk: DeletePod my-fleet-1; Provisioning/ReplacingMember; MemberDiskLost!",
		},
		"all Ready": {
			change: []change{lost(0), lost(1), lost(2)}, want: "report: Ready/Provisioned",
			message: "3 of 3 members are ready; but 3 claims are Lost: restore their volumes before these members restart",
		},
		"all Ready but the first, which starts on its fresh disk": {
			change: []change{lost(1), lost(2), starting(0, time.Minute), fresh(0)}, want: "report: Provisioning/Provisioning; next in 9m0s",
		},
		"all down: their volumes may come back": {
			change: []change{lost(0), lost(1), lost(2), unscheduled(0, almostTen), unscheduled(1, 0), unscheduled(2, 0)}, want: "lost-disk: Provisioning/ReplacementPending; next in 1ns",
			message: "claim data-my-fleet-0 is Lost, and others are too; if its volume does not come back, my-fleet-0 is replaced on a fresh disk at 2026-03-04T12:00:00Z; to keep the disk, pause the fleet",
		},
		"all down: their volumes do not come back": {
			change: []change{lost(0), lost(1), lost(2), unscheduled(0, 0), unscheduled(1, fullDelay), unscheduled(2, 0)}, want: replaced,
		},
		"not Ready":                         {change: []change{lost(1), down(1, 0)}, want: replaced},
		"unschedulable":                     {change: []change{lost(1), unscheduled(1, 0)}, want: replaced},
		"not seen by the scheduler":         {change: []change{lost(1), pending(1, 0)}, want: replaced},
		"others down on their nodes":        {change: []change{lost(1), down(1, 0), down(0, time.Hour), down(2, time.Hour)}, want: replaced},
		"another unschedulable is decided":  {change: []change{lost(1), down(1, 0), unscheduled(2, 0)}, want: replaced},
		"whatever the age of the disk":      {change: []change{lost(1), claim(1, func(c *Claim) { c.Created = noon })}, want: replaced},
		"whatever the image":                {change: []change{lost(1), pod(1, func(p *Pod) { p.Ready, p.ImageWait = false, imageBroken })}, want: replaced},
		"before a member that is due":       {base: fleetOf(4), change: []change{lost(1), down(1, 0), down(0, time.Hour)}, want: replaced},
		"another pending":                   {change: []change{lost(1), down(1, 0), pending(2, 0)}, want: "report: Provisioning/Provisioning; next in 10m0s"},
		"another terminating":               {change: []change{lost(1), ending(2, 0)}, want: "report: Provisioning/Provisioning; next in 2m0s"},
		"another missing":                   {change: []change{lost(1), noPod(2)}, want: "report: Provisioning/Provisioning; next in 30s"},
		"its Pod missing":                   {change: []change{lost(1), noPod(1)}, want: "report: Provisioning/Provisioning; next in 30s"},
		"its Pod terminating":               {change: []change{lost(1), ending(1, 0)}, want: "report: Provisioning/Provisioning; next in 2m0s"},
		"its claim terminating":             {change: []change{lost(1), claim(1, func(c *Claim) { c.Terminating = true }), noPod(1)}, want: "report: Provisioning/Provisioning; next in 30s"},
		"its claim foreign":                 {change: []change{lost(1), claim(1, func(c *Claim) { c.Identity = theirs })}, want: "report: Blocked/StorageIdentityConflict; next in 30s"},
		"its Pod foreign":                   {change: []change{lost(1), pod(1, func(p *Pod) { p.Ours = false })}, want: "report: Blocked/InfrastructureBlocked; next in 30s"},
		"its Pod controlled by another":     {change: []change{lost(1), pod(1, func(p *Pod) { p.Controlled = false })}, want: "report: Ready/Provisioned"},
		"a removed member's":                {change: []change{lost(2), target(2), replicas(2)}, want: "report: Ready/Provisioned"},
		"paused":                            {change: []change{lost(1), isPaused}, want: "paused: Paused/MaintenancePaused"},
		"not rendered from this spec":       {change: []change{lost(1), workloadIs(func(w *Workload) { w.SpecDigest = "" })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"an interrupted hand-over is first": {change: []change{lost(1), pod(2, func(p *Pod) { p.Handover = &Handover{} })}, want: "held-replacement: AbortReplacement my-fleet-2 data-my-fleet-2; Provisioning/ReplacingMember; ReplacementAborted"},
	})
}

// A claim that is terminating, with every other member Ready for five minutes: deleting the Pod ends the disk.
func TestClaimTerminating(t *testing.T) {
	going := func(i int) change { return claim(i, func(c *Claim) { c.Terminating = true }) }
	restarted := "claim-terminating: DeletePod my-fleet-1; Provisioning/ReplacingMember; MemberReleased!"
	runRules(t, map[string]ruleCase{
		"Ready member": {
			change: []change{going(1)}, want: restarted,
			message: "claim data-my-fleet-1 is being deleted; restarting my-fleet-1 so that it can end and a fresh disk take its place",
		},
		"member down":                   {change: []change{going(1), down(1, 0)}, want: restarted},
		"two claims: the first of them": {change: []change{going(1), going(2)}, want: restarted},
		"others ready exactly five":     {change: []change{going(1), readySince(0, settledAfter)}, want: restarted},
		"an other a nanosecond less": {change: []change{going(1), readySince(0, settledAfter-nanosecond)}, want: "report: Ready/Provisioned; next in 1ns",
			message: "3 of 3 members are ready; claim data-my-fleet-1 is being deleted, and my-fleet-1 is restarted on a fresh disk at 2026-03-04T12:00:00Z"},
		"an other down":        {change: []change{going(1), down(0, time.Hour)}, want: "replacement: Replace my-fleet-0 data-my-fleet-0; Provisioning/ReplacingMember; MemberReplaced!; due 50m0s ago"},
		"an other just down":   {change: []change{going(1), down(0, 0)}, want: isPending + "; next in 10m0s"},
		"an other missing":     {change: []change{going(1), noPod(0)}, want: "report: Provisioning/Provisioning; next in 30s"},
		"an other terminating": {change: []change{going(1), ending(0, 0)}, want: "report: Provisioning/Provisioning; next in 2m0s"},
		"an other pending":     {change: []change{going(1), pending(0, 0)}, want: "report: Provisioning/WaitingForPlacement; next in 10m0s"},
		"an other not back yet": {
			change: []change{going(1), target(4), kept(3), func(s *Snapshot) { s.Prerequisites = []Prerequisite{{Kind: "Service", Name: "my-fleet"}} }},
			want:   "growth: Provisioning/PrerequisitesMissing; next in 30s",
		},
		"a removed one has not ended":     {change: []change{going(1), target(2), replicas(2)}, want: "report: Ready/Provisioned"},
		"its Pod terminating":             {change: []change{going(1), ending(1, 0)}, want: "report: Provisioning/Provisioning; next in 2m0s"},
		"its Pod on no node":              {change: []change{going(1), unscheduled(1, 0)}, want: "report: Provisioning/WaitingForPlacement; next in 10m0s"},
		"its Pod missing":                 {change: []change{going(1), noPod(1)}, want: "report: Provisioning/Provisioning; next in 30s"},
		"its Pod foreign":                 {change: []change{going(1), pod(1, func(p *Pod) { p.Ours = false })}, want: "report: Blocked/InfrastructureBlocked; next in 30s"},
		"its Pod controlled by another":   {change: []change{going(1), pod(1, func(p *Pod) { p.Controlled = false })}, want: "report: Ready/Provisioned"},
		"its claim foreign":               {change: []change{going(1), claim(1, func(c *Claim) { c.Identity = theirs })}, want: "report: Blocked/StorageIdentityConflict; next in 30s"},
		"a removed member's claim":        {change: []change{going(2), target(2), replicas(2)}, want: "report: Ready/Provisioned"},
		"paused":                          {change: []change{going(1), isPaused}, want: "paused: Paused/MaintenancePaused"},
		"not rendered from this spec":     {change: []change{going(1), workloadIs(func(w *Workload) { w.Observed = false })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"stopped: the Pods go anyhow":     {change: []change{going(1), fleetIs(func(f *Fleet) { f.Stopped = true })}, want: "stopped: Scale my-fleet to 0; Stopped/Draining; Stopped"},
		"the fleet's only member":         {base: fleetOf(1), change: []change{claim(0, func(c *Claim) { c.Terminating = true })}, want: "claim-terminating: DeletePod my-fleet-0; Provisioning/ReplacingMember; MemberReleased!"},
		"not replaced a second time":      {change: []change{going(1), unscheduled(1, time.Hour)}, want: "report: Blocked/MemberUnschedulable"},
		"lost as well: the claim goes on": {change: []change{going(1), claim(1, func(c *Claim) { c.Lost = true })}, want: restarted},
	})
}
