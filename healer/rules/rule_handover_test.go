// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// A hand-over that was interrupted is finished only when its record says that the Pod was deleted, and nothing
// speaks against it. Anything else keeps the disk.
func TestHeldReplacement(t *testing.T) {
	held := func(h Handover) change {
		return func(s *Snapshot) {
			down(1, time.Hour)(s)
			ending(1, -30*time.Second)(s)
			s.Members[1].Pod.Handover = &h
		}
	}
	committed := held(Handover{ClaimUID: "data-my-fleet-1-uid", Committed: true})
	finished := "finished-replacement: FinishReplacement my-fleet-1 data-my-fleet-1; Provisioning/ReplacingMember; ReplacementFinished"
	released := "held-replacement: FinishReplacement my-fleet-1; Provisioning/ReplacingMember; ReplacementFinished"
	aborted := "held-replacement: AbortReplacement my-fleet-1; Provisioning/ReplacingMember; ReplacementAborted"
	waking := ""
	why := func(text string) string {
		return "aborting the replacement of my-fleet-1: " + text + "; its disk is kept"
	}
	interrupted := why("it was interrupted before it was decided")

	runRules(t, map[string]ruleCase{
		"committed":                       {change: []change{committed}, want: finished, message: "finishing the replacement of my-fleet-1"},
		"committed, claim going":          {change: []change{committed, claim(1, func(c *Claim) { c.Terminating = true })}, want: released},
		"committed, claim gone":           {change: []change{committed, noClaim(1)}, want: released},
		"committed, another claim by now": {change: []change{committed, claim(1, func(c *Claim) { c.UID = "younger" })}, want: released},
		"committed, claim lost its identity": {
			change: []change{committed, claim(1, func(c *Claim) { c.Identity = "" })}, want: aborted + waking,
			message: why("claim data-my-fleet-1 has lost the fleet's identity"),
		},
		"committed, claim is another's": {change: []change{committed, claim(1, func(c *Claim) { c.Identity = theirs })}, want: aborted + waking},
		"committed, paused": {
			change: []change{committed, fleetIs(func(f *Fleet) { f.Paused = true })}, want: aborted, message: why("the fleet is paused"),
		},
		"committed, deleting": {
			change: []change{committed, fleetIs(func(f *Fleet) { f.Deleting = true })},
			want:   "held-replacement: AbortReplacement my-fleet-1; Deleting/Draining; ReplacementAborted", message: why("the fleet is being deleted"),
		},
		"committed, deleting by another's finalizer": {
			change: []change{committed, fleetIs(func(f *Fleet) { f.Deleting, f.Finalizer = true, false })},
			want:   "held-replacement: AbortReplacement my-fleet-1; Deleting/Draining; ReplacementAborted",
		},
		"committed, stopped":            {change: []change{committed, fleetIs(func(f *Fleet) { f.Stopped = true })}, want: finished},
		"committed, spec changed since": {change: []change{committed, workloadIs(func(w *Workload) { w.SpecDigest = "old" })}, want: finished},
		"committed, another down since": {
			change: []change{committed, down(2, 0)}, want: aborted + waking, message: why("my-fleet-2 is down by now"),
		},
		"committed, another missing since": {change: []change{committed, noPod(0)}, want: aborted + waking, message: why("my-fleet-0 is down by now")},
		"committed, another restarted since": {
			change: []change{committed, readySince(2, settledAfter-nanosecond)}, want: aborted + waking,
			message: why("my-fleet-2 has not been ready for 5m0s by now"),
		},
		"committed, the others just settled": {change: []change{committed, readySince(2, settledAfter)}, want: finished},
		"committed, another down but the volume is lost": {
			change: []change{committed, down(2, 0), claim(1, func(c *Claim) { c.Bound, c.Lost = false, true })}, want: finished,
		},
		"committed, another down but the claim is going": {
			change: []change{committed, down(2, 0), claim(1, func(c *Claim) { c.Terminating = true })}, want: released,
		},
		"committed, StatefulSet gone": {
			change: []change{committed, func(s *Snapshot) { s.Workload = nil }, pod(1, func(p *Pod) { p.Controlled = false })},
			want:   aborted, message: why("Pod my-fleet-1 is not controlled by the fleet's StatefulSet under its label"),
		},
		"committed, Pod of another":          {change: []change{committed, pod(1, func(p *Pod) { p.Controlled = false })}, want: aborted + waking},
		"committed, Pod has lost the label":  {change: []change{committed, pod(1, func(p *Pod) { p.Ours = false })}, want: aborted + waking},
		"forged: committed but not going":    {change: []change{committed, pod(1, func(p *Pod) { p.Terminating = false })}, want: aborted, message: interrupted},
		"forged: on a healthy member":        {change: []change{pod(1, func(p *Pod) { p.Handover = &Handover{"data-my-fleet-1-uid", true} })}, want: aborted, message: interrupted},
		"forged: another member's claim":     {change: []change{held(Handover{ClaimUID: "data-my-fleet-2-uid", Committed: true})}, want: released},
		"prepared only":                      {change: []change{held(Handover{ClaimUID: "data-my-fleet-1-uid"}), pod(1, func(p *Pod) { p.Terminating = false })}, want: aborted, message: interrupted},
		"deleted, not recorded":              {change: []change{held(Handover{ClaimUID: "data-my-fleet-1-uid"})}, want: aborted + waking, message: interrupted},
		"a record that cannot be read":       {change: []change{held(Handover{})}, want: aborted + waking, message: interrupted},
		"before a stuck Pod":                 {change: []change{committed, ending(2, time.Hour)}, want: aborted + waking},
		"before the reservation":             {change: []change{held(Handover{}), func(s *Snapshot) { s.Reservation = nil }}, want: aborted + waking},
		"of a removed member":                {change: []change{held(Handover{}), target(1), replicas(1)}, want: aborted + waking},
		"of a removed member, committed":     {base: fleetOf(2), change: []change{committed, target(1), replicas(1)}, want: finished},
		"while a removed one has not ended":  {change: []change{committed, target(2), replicas(2)}, want: aborted + waking},
		"while one is not back on its disk":  {change: []change{committed, target(4), kept(3)}, want: aborted + waking},
		"when the count was taken away":      {change: []change{replicas(0), func(s *Snapshot) { s.Members[1].Pod = readyPod(1) }, committed}, want: aborted + waking},
		"without the fleet's finalizer":      {change: []change{committed, fleetIs(func(f *Fleet) { f.Finalizer = false })}, want: "finalizer: AddFinalizer my-fleet; Provisioning/ReplacingMember" + waking},
		"two at once: the first of them":     {change: []change{committed, pod(2, func(p *Pod) { p.Handover = &Handover{} })}, want: finished},
		"an Ordered fleet's (forged) record": {change: []change{ordered, pod(1, func(p *Pod) { p.Terminating, p.Handover = true, &Handover{"x", true} })}, want: "held-replacement: FinishReplacement my-fleet-1; Provisioning/ReplacingMember; ReplacementFinished"},
	})
}
