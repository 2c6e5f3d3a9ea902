// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// The reservation, and what keeps all rules below from acting.
func TestWaits(t *testing.T) {
	noReservation := func(s *Snapshot) { s.Reservation = nil }
	runRules(t, map[string]ruleCase{
		"paused": {
			change: []change{isPaused}, want: "paused: Paused/MaintenancePaused",
			message: "nothing is replaced, added or removed until spec.maintenance.paused is false",
		},
		"paused, whatever else": {
			change: []change{isPaused, ending(1, time.Hour), noReservation, fleetIs(func(f *Fleet) { f.Stopped, f.Invalid = true, "x" })},
			want:   "paused: Paused/MaintenancePaused",
		},
		"paused without a StatefulSet": {change: []change{isPaused, gone}, want: "paused: Paused/MaintenancePaused"},
		"no reservation": {
			change: []change{noReservation}, want: "reserve: Reserve s3-123; Provisioning/Provisioning; BucketReserved", message: "reserving bucket s3://my-bucket",
		},
		"no reservation, first of all the finalizer": {
			change: []change{noReservation, gone, fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"what runs is cleaned up, too": {
			change: []change{fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"what runs on another fleet's bucket as well": {
			change: []change{func(s *Snapshot) { s.Reservation.Identity = theirs }, fleetIs(func(f *Fleet) { f.Finalizer = false })},
			want:   "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"what runs and is another's is not": {
			change: []change{workloadIs(func(w *Workload) { w.Identity = theirs }), fleetIs(func(f *Fleet) { f.Finalizer = false })},
			want:   "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"no reservation and no StatefulSet yet": {change: []change{noReservation, gone}, want: "reserve: Reserve s3-123; Provisioning/Provisioning; BucketReserved"},
		"invalid fleets reserve nothing":        {change: []change{noReservation, fleetIs(func(f *Fleet) { f.Invalid = "x" })}, want: "invalid: Blocked/InvalidConfiguration"},
		"another fleet's bucket": {
			change: []change{func(s *Snapshot) {
				*s.Reservation = Reservation{Name: "s3-123", Identity: theirs, Owner: "BucketFleet a/b"}
			}},
			want: "reservation: Blocked/StorageScopeConflict",
			message: "bucket s3://my-bucket belongs to BucketFleet a/b (StorageReservation s3-123): " +
				"two fleets that write one bucket destroy it; delete this one with all that it rendered to, and create it with a bucket or prefix of its own",
		},
		"a fleet of the same identity": {
			change: []change{func(s *Snapshot) { s.Reservation.Rival = "BucketFleet fleets/my-fleet" }},
			want:   "reservation: Blocked/StorageScopeConflict; next in 30s",
			message: "BucketFleet fleets/my-fleet has the same identity " + ours + ", and so the same bucket and disks; " +
				"delete this one, and create it without spec.identity, under another name, and with a bucket or prefix of its own",
		},
		"what runs for a fleet of the same name and identity is not this one's": {
			change: []change{func(s *Snapshot) {
				s.Reservation.Rival, s.Sibling = "BucketFleet fleets/my-fleet", "BucketFleet fleets/my-fleet"
			}, fleetIs(func(f *Fleet) { f.Finalizer = false })},
			want: "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"what runs beside a fleet of the same identity and another name is cleaned up": {
			change: []change{func(s *Snapshot) { s.Reservation.Rival = "PersistentFleet fleets/another" }, fleetIs(func(f *Fleet) { f.Finalizer = false })},
			want:   "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"nothing is claimed while paused": {
			change: []change{isPaused, fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"nothing is claimed that another controller owns": {
			change: []change{workloadIs(func(w *Workload) { w.Owned = true }), fleetIs(func(f *Fleet) { f.Finalizer = false })},
			want:   "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"reservation being deleted": {
			change: []change{func(s *Snapshot) { s.Reservation.Terminating = true }}, want: "reservation: Blocked/StorageScopeConflict",
			message: "StorageReservation s3-123 of bucket s3://my-bucket is being deleted; nothing is done until it is gone and can be made anew",
		},
		"conflict before a stuck Pod": {change: []change{ending(1, time.Hour), func(s *Snapshot) { s.Reservation.Identity = theirs }}, want: "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 58m0s ago"},
		"no StatefulSet": {
			change: []change{gone}, want: "workload: Provisioning/StatefulSetMissing",
			message: "waiting for the sync tool to apply StatefulSet my-fleet, which `fleetwright render` prints",
		},
		"no Deployment": {change: []change{deployment, gone}, want: "workload: Provisioning/StatefulSetMissing"},
		"StatefulSet of another": {
			change: []change{workloadIs(func(w *Workload) { w.Identity = theirs })}, want: "workload: Blocked/InfrastructureBlocked",
		},
		"StatefulSet without the label, which no watch shows": {
			change: []change{workloadIs(func(w *Workload) { w.Identity = "" })}, want: "workload: Blocked/InfrastructureBlocked; next in 30s",
			message: "StatefulSet my-fleet is not this fleet's: its label celld.eric.dev/fleet-uid is \"\", not \"" + ours + "\"",
		},
		"StatefulSet with an owner": {
			change: []change{workloadIs(func(w *Workload) { w.Owned = true })}, want: "workload: Blocked/InfrastructureBlocked",
			message: "StatefulSet my-fleet has owner references, so another controller may delete it; remove them",
		},
		"StatefulSet being deleted": {change: []change{workloadIs(func(w *Workload) { w.Terminating = true })}, want: "workload: Blocked/InfrastructureBlocked"},
		"digest of another spec": {
			change: []change{workloadIs(func(w *Workload) { w.SpecDigest = "other" })}, want: "not-caught-up: Provisioning/SpecNotSynced",
			message: "StatefulSet my-fleet was rendered from another version of this fleet's spec; waiting for the sync tool to apply the current one",
		},
		"digest of a newer form": {
			change: []change{workloadIs(func(w *Workload) { w.SpecDigest, w.NewerDigest = "v2:1", true })}, want: "not-caught-up: Provisioning/SpecNotSynced",
			message: "StatefulSet my-fleet was rendered by a newer version of fleetwright, whose spec digest v2:1 this healer cannot compare: update the healer",
		},
		"rollouts held after a pause": {
			change: []change{workloadIs(func(w *Workload) { w.Held = true })}, want: "not-caught-up: Provisioning/SpecNotSynced",
			message: "rollouts of StatefulSet my-fleet are still held, as while the fleet was paused; waiting for the sync tool to let them go",
		},
		"generation not observed": {
			change: []change{workloadIs(func(w *Workload) { w.Observed = false })}, want: "not-caught-up: Provisioning/SpecNotSynced",
			message: "waiting for the StatefulSet controller to see the change of my-fleet",
		},
	})
}

// Stopped, which asks for no template.
func TestStopped(t *testing.T) {
	isStopped := fleetIs(func(f *Fleet) { f.Stopped = true })
	stops := "stopped: Scale my-fleet to 0; Stopped/Draining; Stopped"
	runRules(t, map[string]ruleCase{
		"all at once":                 {change: []change{isStopped}, want: stops, message: "stopping all members; their claims are kept"},
		"a hundred":                   {base: fleetOf(100, isStopped), want: stops},
		"members down":                {change: []change{isStopped, down(0, time.Hour), noPod(1)}, want: stops},
		"not rendered from this spec": {change: []change{isStopped, workloadIs(func(w *Workload) { w.SpecDigest, w.Observed = "other", false })}, want: stops},
		"before contraction":          {change: []change{isStopped, target(1)}, want: stops},
		"before growth":               {change: []change{isStopped, target(5)}, want: stops},
		"after a stuck Pod":           {change: []change{isStopped, ending(1, stuckAfter)}, want: "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 0s ago"},
		"the finalizer first":         {change: []change{isStopped, fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning"},
		"members are going": {
			change: []change{isStopped, ending(0, -time.Minute), ending(1, -time.Minute), noPod(2), target(0), replicas(0)}, want: "stopped: Stopped/Draining; next in 3m0s",
			message: "waiting for members to stop: my-fleet-0 (force-deleted at 2026-03-04T12:03:00Z if it is still there), " +
				"my-fleet-1 (force-deleted at 2026-03-04T12:03:00Z if it is still there)",
		},
		"stopped": {
			change: []change{isStopped, podsGone, replicas(0)}, want: "stopped: Stopped/Stopped",
			message: "no member runs until spec.maintenance.stopped is false; claims are kept",
		},
		"stopped, template of the next version": {change: []change{isStopped, podsGone, replicas(0), workloadIs(func(w *Workload) { w.SpecDigest = "next" })}, want: "stopped: Stopped/Stopped"},
		"a Deployment":                          {change: []change{deployment, isStopped}, want: stops},
		"a stopped Deployment whose Pods go":    {change: []change{deployment, isStopped, workloadIs(func(w *Workload) { w.Replicas = 0 })}, want: "stopped: Stopped/Draining"},
		"an Ordered fleet":                      {change: []change{ordered, isStopped}, want: stops},
		"resumed: waits for the template":       {change: []change{podsGone, replicas(0), workloadIs(func(w *Workload) { w.SpecDigest = "old" })}, want: "not-caught-up: Provisioning/SpecNotSynced"},
		"resumed: all return in one run":        {change: []change{podsGone, replicas(0)}, want: "growth: Scale my-fleet to 3; Provisioning/Provisioning; Scaled", message: "adding members my-fleet-0 to my-fleet-2 on kept disks"},
	})
}

func goneForGood(c *Claim) { c.Lost, c.Bound, c.Terminating = true, false, true }

// A stuck Pod.
func TestStuckPod(t *testing.T) {
	acts := "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 0s ago"
	waits := "report: Provisioning/Provisioning"
	runRules(t, map[string]ruleCase{
		"two minutes after": {
			change: []change{ending(1, stuckAfter)}, want: acts,
			message: "my-fleet-1 on node node-1 should have ended by 2026-03-04T11:58:00Z and is still there; force-deleting the Pod, its disk is kept",
		},
		"a nanosecond before": {change: []change{ending(1, stuckAfter-nanosecond)}, want: waits + "; next in 1ns"},
		"within its grace":    {change: []change{ending(1, -30*time.Second)}, want: waits + "; next in 2m30s"},
		"on no node":          {change: []change{ending(1, stuckAfter), pod(1, func(p *Pod) { p.Node = "" })}, want: acts},
		"beyond the range": {
			change: []change{ending(2, time.Hour), target(2), replicas(2)},
			want:   "stuck-pod: ForceDeletePod my-fleet-2; Provisioning/ReplacingMember; MemberForceDeleted!; due 58m0s ago",
		},
		"its claim is Lost and deleted, and another looks for its place": {
			change: []change{ending(1, stuckAfter), claim(1, goneForGood), pending(2, 0)}, want: "report: Provisioning/Provisioning",
			message: "waiting for my-fleet-1 (force-deleted at 2026-03-04T12:00:00Z if it is still there) to go; my-fleet-1 on node node-1 should have ended by " +
				"2026-03-04T11:58:00Z and is still there; it is not force-deleted, since its claim data-my-fleet-1 is being deleted and would go with it: my-fleet-2 has no place yet",
		},
		"its claim is Lost and deleted, and another found no place": {
			change: []change{ending(1, stuckAfter), claim(1, goneForGood), unscheduled(2, time.Hour)}, want: acts,
			message: "my-fleet-1 on node node-1 should have ended by 2026-03-04T11:58:00Z and is still there; force-deleting the Pod, claim data-my-fleet-1, which was deleted, goes with it",
		},
		"its claim is Lost and deleted, and its StatefulSet waits for the Pod": {
			change: []change{ending(1, stuckAfter), claim(1, goneForGood), noPod(2), foreground}, want: acts,
		},
		"two: the first of them":        {change: []change{ending(1, stuckAfter), ending(2, time.Hour)}, want: acts},
		"one is due, one is not":        {change: []change{ending(0, 0), ending(1, stuckAfter)}, want: acts},
		"others down":                   {change: []change{ending(1, stuckAfter), down(0, time.Hour), noPod(2)}, want: acts},
		"not rendered from this spec":   {change: []change{ending(1, stuckAfter), workloadIs(func(w *Workload) { w.SpecDigest = "" })}, want: acts},
		"an Ordered fleet":              {change: []change{ordered, ending(1, stuckAfter)}, want: acts},
		"force-deleted before":          {change: []change{ending(1, time.Hour), forced(1), finalizerOn(1, "example.com/hold")}, want: waits, message: "waiting for my-fleet-1 (finalizers example.com/hold) to go"},
		"of another controller":         {change: []change{ending(1, time.Hour), pod(1, func(p *Pod) { p.Controlled = false })}, want: "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 58m0s ago"},
		"without the label":             {change: []change{ending(1, stuckAfter), pod(1, func(p *Pod) { p.Ours = false })}, want: "report: Blocked/InfrastructureBlocked; next in 30s"},
		"of a Deployment":               {change: []change{ending(1, time.Hour), deployment}, want: "report: Ready/Provisioned"},
		"paused":                        {change: []change{ending(1, time.Hour), isPaused}, want: "paused: Paused/MaintenancePaused"},
		"invalid":                       {change: []change{ending(1, time.Hour), fleetIs(func(f *Fleet) { f.Invalid = "x" })}, want: "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 58m0s ago"},
		"StatefulSet of another":        {change: []change{ending(1, time.Hour), workloadIs(func(w *Workload) { w.Identity = theirs })}, want: "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 58m0s ago"},
		"StatefulSet is going":          {change: []change{ending(1, time.Hour), foreground}, want: "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 58m0s ago"},
		"a future deletionTimestamp":    {change: []change{ending(1, -time.Hour)}, want: waits + "; next in 1h2m0s"},
		"before the StatefulSet's stop": {change: []change{ending(1, stuckAfter), fleetIs(func(f *Fleet) { f.Stopped = true })}, want: acts},
	})
}

// The scheduling gate of Ordered BucketFleets.
func TestGates(t *testing.T) {
	gated := func(ordinals ...int) change {
		return func(s *Snapshot) {
			for _, i := range ordinals {
				pending(i, 0)(s)
				s.Members[i].Pod.Gated = true
			}
		}
	}
	relaxed := fleetIs(func(f *Fleet) { f.Strict = false })
	runRules(t, map[string]ruleCase{
		"Strict: the zone of the ordinal": {
			base: fleetOf(5, ordered), change: []change{gated(0, 1, 3, 4)},
			want: `gate: LiftGates my-fleet-0 my-fleet-1 my-fleet-3 my-fleet-4 ["a" "b" "a" "b"]; Provisioning/Provisioning`, message: "giving members their zones",
		},
		"Relaxed: any zone":      {change: []change{ordered, gated(1), relaxed}, want: `gate: LiftGates my-fleet-1 [""]; Provisioning/Provisioning`},
		"paused":                 {change: []change{ordered, gated(1), isPaused}, want: `gate: LiftGates my-fleet-1 ["b"]; Paused/MaintenancePaused`},
		"not caught up":          {change: []change{ordered, gated(1), workloadIs(func(w *Workload) { w.SpecDigest = "" })}, want: `gate: LiftGates my-fleet-1 ["b"]; Provisioning/Provisioning`},
		"no reservation yet":     {change: []change{ordered, gated(1), func(s *Snapshot) { s.Reservation = nil }}, want: "reserve: Reserve s3-123; Provisioning/Provisioning; BucketReserved"},
		"another fleet's bucket": {change: []change{ordered, gated(1), func(s *Snapshot) { s.Reservation.Identity = theirs }}, want: "reservation: Blocked/StorageScopeConflict"},
		"a fleet of the same identity": {
			change: []change{ordered, gated(1), func(s *Snapshot) { s.Reservation.Rival = "BucketFleet fleets/another" }},
			want:   "reservation: Blocked/StorageScopeConflict; next in 30s",
		},
		"deleting":              {change: []change{ordered, gated(1), goes}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"terminating":           {change: []change{ordered, gated(1), ending(1, 0)}, want: "report: Provisioning/Provisioning; next in 2m0s"},
		"of another controller": {change: []change{ordered, gated(1), pod(1, func(p *Pod) { p.Controlled = false })}, want: "report: Provisioning/WaitingForPlacement; next in 10m0s"},
		"without the label":     {change: []change{ordered, gated(1), pod(1, func(p *Pod) { p.Ours = false })}, want: "report: Blocked/InfrastructureBlocked; next in 30s"},
		"a PersistentFleet's":   {change: []change{gated(1)}, want: "report: Provisioning/WaitingForPlacement; next in 10m0s"},
	})
}

// Whatever runs can be cleaned up, and the bucket is the fleet's before a member writes to it, paused or not.
func TestSafeguards(t *testing.T) {
	noReservation := func(s *Snapshot) { s.Reservation = nil }
	runRules(t, map[string]ruleCase{
		"paused from birth: the finalizer": {
			change: []change{isPaused, noReservation, fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: "finalizer: AddFinalizer my-fleet; Provisioning/Provisioning",
		},
		"paused from birth: the reservation": {
			change: []change{isPaused, noReservation}, want: "reserve: Reserve s3-123; Provisioning/Provisioning; BucketReserved",
		},
		"reservations are not served": {
			change: []change{noReservation, func(s *Snapshot) { s.NoReservations = true }}, want: "report: Ready/Provisioned",
		},
		"paused, and rollouts are not held yet": {
			change: []change{fleetIs(func(f *Fleet) { f.Paused = true })}, want: "paused: Provisioning/MaintenancePaused",
			message: "nothing is replaced, added or removed until spec.maintenance.paused is false; rollouts of StatefulSet my-fleet are not held yet: " +
				"waiting for the sync tool to apply what the paused fleet renders to",
		},
		"paused, and another manager stands in the way": {
			change: []change{fleetIs(func(f *Fleet) { f.Paused = true }), workloadIs(func(w *Workload) { w.Rolls = []string{"kubectl-edit"} })},
			want:   "paused: Provisioning/MaintenancePaused",
			message: "nothing is replaced, added or removed until spec.maintenance.paused is false; rollouts of StatefulSet my-fleet are not held yet: " +
				"waiting for the sync tool to apply what the paused fleet renders to, which the API server refuses while " +
				"spec.updateStrategy.rollingUpdate is also the field of manager kubectl-edit: have it give that field up",
		},
		"what cannot be changed was": {
			change: []change{fleetIs(func(f *Fleet) { f.Invalid = "spec.storage.size is 20Gi, but ..." })}, want: "invalid: Blocked/InvalidConfiguration",
		},
	})
}

// A fleet that was deleted and is protected is not taken apart, and everything else goes on.
func TestProtected(t *testing.T) {
	isProtected := fleetIs(func(f *Fleet) { f.Protected = true })
	runRules(t, map[string]ruleCase{
		"nothing is taken apart": {
			change: []change{isProtected}, want: "protected: Blocked/Protected",
			message: "the fleet was deleted, and its annotation celld.eric.dev/protect keeps it as it is: remove the annotation to delete the fleet with its disks; " +
				"or remove the finalizer celld.eric.dev/fleet-cleanup, which deletes the object and keeps members and disks, and apply the same fleet again",
		},
		"members are still replaced": {
			change: []change{isProtected, down(1, fullDelay)},
			want:   "replacement: Replace my-fleet-1 data-my-fleet-1; Blocked/Protected; MemberReplaced!; due 0s ago",
		},
		"and the bucket reserved": {
			change: []change{isProtected, func(s *Snapshot) { s.Reservation = nil }}, want: "reserve: Reserve s3-123; Provisioning/Provisioning; BucketReserved",
		},
		"paused": {change: []change{isProtected, isPaused}, want: "paused: Paused/MaintenancePaused"},
	})
}

// The disk of a claim that was deleted before ends with its Pod, however that ends.
func TestStuckPodWithDyingDisk(t *testing.T) {
	acts := "stuck-pod: ForceDeletePod my-fleet-1; Provisioning/ReplacingMember; MemberForceDeleted!; due 0s ago"
	runRules(t, map[string]ruleCase{
		"all others settled": {
			change: []change{ending(1, stuckAfter), claimGoing(1)}, want: acts,
			message: "my-fleet-1 on node node-1 should have ended by 2026-03-04T11:58:00Z and is still there; force-deleting the Pod, " +
				"claim data-my-fleet-1, which was deleted, goes with it",
		},
		"another is down":        {change: []change{ending(1, stuckAfter), claimGoing(1), down(0, time.Hour)}, want: "report: Provisioning/ReplacementPending"},
		"another is not settled": {change: []change{ending(1, stuckAfter), claimGoing(1), readySince(0, time.Minute)}, want: "report: Provisioning/Provisioning; next in 4m0s"},
		"the volume is Lost":     {change: []change{ending(1, stuckAfter), down(0, time.Hour), claim(1, func(c *Claim) { c.Terminating, c.Lost = true, true })}, want: acts},
		"the StatefulSet is gone": {
			change: []change{ending(1, stuckAfter), gone, pod(1, func(p *Pod) { p.Controlled = false })}, want: acts,
		},
		"the StatefulSet is gone, and the claim was deleted": {
			change: []change{ending(1, stuckAfter), claimGoing(1), gone}, want: "workload: Provisioning/StatefulSetMissing",
		},
	})
}
