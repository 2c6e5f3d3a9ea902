// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goes makes a fleet one that is being deleted; gone takes its workload away, and left leaves only what it names.
func goes(s *Snapshot)       { s.Fleet.Deleting = true }
func gone(s *Snapshot)       { s.Workload = nil }
func foreground(s *Snapshot) { s.Workload.Terminating = true }
func podsGone(s *Snapshot)   { noPod(0)(s); noPod(1)(s); noPod(2)(s) }
func claimsGone(s *Snapshot) { noClaim(0)(s); noClaim(1)(s); noClaim(2)(s) }
func leftBehind(i int) change {
	return pod(i, func(p *Pod) { p.Controlled, p.Ownerless = false, true })
}
func claimGoing(i int) change       { return claim(i, func(c *Claim) { c.Terminating = true }) }
func forced(i int) change           { return pod(i, func(p *Pod) { p.Forced = true }) }
func heldBy(i int, f string) change { return pod(i, func(p *Pod) { p.Finalizers = []string{f} }) }

func TestDeletion(t *testing.T) {
	draining := "deletion: Deleting/Draining"
	deletesClaims := "deletion: DeleteClaims data-my-fleet-0 data-my-fleet-1 data-my-fleet-2; Deleting/DeletingClaims; ClaimsDeleted"
	waitsForClaims := "deletion: Deleting/DeletingClaims"
	ends := "deletion: RemoveFinalizer my-fleet; Deleting/DeletingClaims"
	runRules(t, map[string]ruleCase{
		"workload first": {
			change: []change{goes}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted",
			message: "deleting StatefulSet my-fleet and its Pods",
		},
		"while paused":   {change: []change{goes, fleetIs(func(f *Fleet) { f.Paused = true })}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"while invalid":  {change: []change{goes, fleetIs(func(f *Fleet) { f.Invalid = "broken" })}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"while stopped":  {change: []change{goes, fleetIs(func(f *Fleet) { f.Stopped = true })}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"not caught up":  {change: []change{goes, workloadIs(func(w *Workload) { w.SpecDigest = "" })}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"conflict":       {change: []change{goes, func(s *Snapshot) { s.Reservation.Identity = theirs }}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"owned workload": {change: []change{goes, workloadIs(func(w *Workload) { w.Owned = true })}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"without our finalizer": {
			change: []change{goes, fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: draining,
			message: "the fleet is being deleted by somebody else's finalizer; nothing of it is touched",
		},
		"waits for Pods": {
			change: []change{goes, foreground, ending(0, -30*time.Second)}, want: draining + "; next in 2m30s",
			message: "waiting for StatefulSet my-fleet to go: my-fleet-0 (force-deleted at 2026-03-04T12:02:30Z if it is still there), my-fleet-1, my-fleet-2",
		},
		"a stuck Pod, a nanosecond before": {change: []change{goes, foreground, ending(1, stuckAfter-nanosecond)}, want: draining + "; next in 1ns"},
		"a stuck Pod": {
			change: []change{goes, foreground, ending(1, stuckAfter)},
			want:   "stuck-pod: ForceDeletePod my-fleet-1; Deleting/Draining; MemberForceDeleted!; due 0s ago",
		},
		"a Pod held by a finalizer": {
			change: []change{goes, foreground, noPod(0), noPod(2), ending(1, time.Hour), forced(1), heldBy(1, "example.com/hold")}, want: draining,
			message: "waiting for StatefulSet my-fleet to go: my-fleet-1 (finalizers example.com/hold)",
		},
		"waits for the StatefulSet itself": {change: []change{goes, foreground, podsGone}, want: draining, message: "waiting for StatefulSet my-fleet to go"},
		"Pods go on without their StatefulSet": {
			change: []change{goes, gone, leftBehind(0), ending(1, 0), noPod(2)},
			want:   "deletion: DeletePod my-fleet-0; Deleting/Draining; LeftoverPodDeleted", message: "deleting Pod my-fleet-0, which its workload left behind",
		},
		"Pods that the garbage collector has": {change: []change{goes, gone, pod(0, func(p *Pod) { p.Controlled = false })}, want: draining,
			message: "waiting for Pods to go: my-fleet-0, my-fleet-1, my-fleet-2"},
		"a left Pod that is stuck": {
			change: []change{goes, gone, noPod(0), noPod(2), leftBehind(1), ending(1, time.Hour)},
			want:   "stuck-pod: ForceDeletePod my-fleet-1; Deleting/Draining; MemberForceDeleted!; due 58m0s ago",
		},
		"workload of another, our Pods gone": {change: []change{goes, podsGone, workloadIs(func(w *Workload) { w.Identity = theirs })}, want: deletesClaims},
		"a fleet of another name has the same identity": {
			change: []change{goes, func(s *Snapshot) { s.Reservation.Rival = "PersistentFleet fleets/another" }},
			want:   "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted",
		},
		"a fleet of the other kind has all of it": {
			change:  []change{goes, func(s *Snapshot) { s.Sibling = "BucketFleet fleets/my-fleet" }},
			want:    "deletion: RemoveFinalizer my-fleet; Deleting/Draining",
			message: "BucketFleet fleets/my-fleet has the same name and identity, and so the same workload and disks; nothing of them is touched",
		},
		"workload that lost its label": {
			change: []change{goes, workloadIs(func(w *Workload) { w.Identity = "" })}, want: draining + "; next in 30s",
			message: "waiting for Pods to go: my-fleet-0, my-fleet-1, my-fleet-2; StatefulSet my-fleet has not the label celld.eric.dev/fleet-uid: " +
				ours + ", so it is left alone: delete it if it is this fleet's",
		},
		"claims": {
			change: []change{goes, gone, podsGone}, want: deletesClaims,
			message: "deleting 3 claims: data-my-fleet-0, data-my-fleet-1, data-my-fleet-2",
		},
		"claims of removed members too": {
			change: []change{goes, target(1), replicas(1), gone, noPod(0), func(s *Snapshot) { s.Removed[0].Pod, s.Removed[1].Pod = nil, nil }}, want: deletesClaims,
		},
		"a foreign claim stays":         {change: []change{goes, gone, podsGone, claim(1, func(c *Claim) { c.Identity = theirs })}, want: "deletion: DeleteClaims data-my-fleet-0 data-my-fleet-2; Deleting/DeletingClaims; ClaimsDeleted"},
		"a claim without label stays":   {change: []change{goes, gone, podsGone, claimsGone, kept(1), claim(1, func(c *Claim) { c.Identity = "" })}, want: ends},
		"the rest of them":              {change: []change{goes, gone, podsGone, claimGoing(0)}, want: "deletion: DeleteClaims data-my-fleet-1 data-my-fleet-2; Deleting/DeletingClaims; ClaimsDeleted"},
		"a foreign Pod on our claim":    {change: []change{goes, gone, podsGone, claimsGone, kept(1), claimGoing(1), func(s *Snapshot) { s.Members[1].Pod = readyPod(1); s.Members[1].Pod.Ours = false }}, want: waitsForClaims, message: "waiting for claims to go: data-my-fleet-1 is used by Pod my-fleet-1"},
		"a claim held by a finalizer":   {change: []change{goes, gone, podsGone, claimsGone, kept(1), claimGoing(1)}, want: waitsForClaims, message: "waiting for claims to go: data-my-fleet-1 (finalizers kubernetes.io/pvc-protection)"},
		"a claim that is just going":    {change: []change{goes, gone, podsGone, claimsGone, kept(1), claimGoing(1), claim(1, func(c *Claim) { c.Finalizers = nil })}, want: waitsForClaims, message: "waiting for claims to go: data-my-fleet-1"},
		"everything gone":               {change: []change{goes, gone, podsGone, claimsGone}, want: ends, message: "everything of the fleet is gone"},
		"reservation already gone":      {change: []change{goes, gone, podsGone, claimsGone, func(s *Snapshot) { s.Reservation = nil }}, want: ends},
		"a Deployment":                  {change: []change{deployment, goes}, want: "deletion: DeleteWorkload my-fleet; Deleting/Draining; WorkloadDeleted"},
		"a Deployment's stuck Pod":      {change: []change{ending(1, time.Hour), deployment, goes, foreground}, want: "stuck-pod: ForceDeletePod my-fleet-1; Deleting/Draining; MemberForceDeleted!; due 58m0s ago"},
		"a Deployment that is gone":     {change: []change{deployment, goes, gone}, want: ends},
		"an Ordered fleet's left Pod":   {change: []change{ordered, goes, gone, leftBehind(0)}, want: "deletion: DeletePod my-fleet-0; Deleting/Draining; LeftoverPodDeleted"},
		"an Ordered fleet that is gone": {change: []change{ordered, goes, gone, podsGone}, want: ends},
	})
}

// Everything of a hundred members goes in one step each, and a message names no more than five Pods.
func TestDeletionOfManyMembers(t *testing.T) {
	s := fleetOf(100, goes, foreground)
	d := decideAt(t, s, noon)
	require.True(t, strings.HasSuffix(d.Message, "my-fleet-3, my-fleet-4, and 95 more"), d.Message)
	for i := range s.Members {
		s.Members[i].Pod = nil
	}
	gone(s)
	d = decideAt(t, s, noon)
	require.Equal(t, VerbDeleteClaims, d.Action.Verb)
	require.Len(t, d.Action.Targets, 100)
}
