// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// onNext puts a member on the template that is rolled out now, where no Pod has been Ready.
func onNext(i int) change {
	return func(s *Snapshot) {
		s.Members[i].Pod.Revision, s.Members[i].Pod.Proven = "rev-2", false
		s.Workload.NextRevision = "rev-2"
	}
}

func differs(places bool, fields ...string) change {
	return func(s *Snapshot) { s.Change = &Change{Known: true, Places: places, Fields: fields} }
}

// A member that fails on a template on which nobody has been Ready keeps its disk, and somebody is told what to revert.
func TestSuspectTheChange(t *testing.T) {
	stuck := "replacement: Blocked/RolloutStuck"
	env := "spec.containers[celld].env[CELLD_LOG].value"
	runRules(t, map[string]ruleCase{
		"a setting that crashes celld": {
			change: []change{down(2, fullDelay), onNext(2), differs(false, env)}, want: stuck,
			message: "my-fleet-2 has not been ready since 2026-03-04T11:50:00Z; it is the first member on a changed template (" + env +
				"), so the change is suspected and the disk is kept: revert the change in Git, or commit its repair",
		},
		"before the delay":     {change: []change{down(2, time.Minute), onNext(2)}, want: "replacement: Provisioning/RollingOut; next in 9m0s"},
		"templates not read":   {change: []change{down(2, fullDelay), onNext(2)}, want: stuck},
		"a selector of a typo": {change: []change{unscheduled(2, fullDelay), onNext(2), differs(true, "spec.nodeSelector")}, want: stuck},
		"no node for it, and the change places nothing": {
			change: []change{unscheduled(2, fullDelay), onNext(2), differs(false, env)},
			want:   "replacement: Replace my-fleet-2 data-my-fleet-2; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"no node for it, and the change is not known": {
			change: []change{unscheduled(2, fullDelay), onNext(2), func(s *Snapshot) { s.Change = &Change{} }}, want: stuck,
		},
		"its volume does not attach, and the change places nothing": {
			change: []change{down(2, fullDelay), onNext(2), differs(false, env), pod(2, func(p *Pod) { p.Unstarted = true })},
			want:   "replacement: Replace my-fleet-2 data-my-fleet-2; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"another was Ready on the template": {
			change: []change{onNext(1), onNext(2), pod(1, func(p *Pod) { p.Proven = true }), pod(2, func(p *Pod) { p.Proven = true }), down(2, fullDelay)},
			want:   "replacement: Replace my-fleet-2 data-my-fleet-2; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"all run the template": {
			change: []change{onNext(0), onNext(1), onNext(2), down(2, fullDelay)},
			want:   "replacement: Replace my-fleet-2 data-my-fleet-2; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"an only member, with an older revision": {
			base: fleetOf(1), change: []change{down(0, fullDelay), onNext(0)}, want: stuck,
		},
		"an only member, and no other revision": {
			base:   fleetOf(1),
			change: []change{down(0, fullDelay), pod(0, func(p *Pod) { p.Proven = false })},
			want:   "replacement: Replace my-fleet-0 data-my-fleet-0; Provisioning/ReplacingMember; MemberReplaced!; due 0s ago",
		},
		"a Lost claim on it": {
			change: []change{down(2, time.Minute), onNext(2), claim(2, func(c *Claim) { c.Bound, c.Lost = false, true })},
			want:   "lost-disk: Replace my-fleet-2 data-my-fleet-2; Provisioning/ReplacingMember; MemberDiskLost!",
		},
	})
}

// Who is down on an older template than the newest restarts on its disk.
func TestOldTemplate(t *testing.T) {
	reverted := workloadIs(func(w *Workload) { w.NextRevision = "rev-3" })
	restarts := "old-template: DeletePod my-fleet-2; Provisioning/RollingOut; MemberRestarted; due 0s ago"
	runRules(t, map[string]ruleCase{
		"a minute after": {
			change: []change{down(2, time.Minute), onNext(2), reverted}, want: restarts,
			message: "my-fleet-2 has not been ready since 2026-03-04T11:59:00Z on an older template; restarting it on its disk and the newest one",
		},
		"a nanosecond before": {change: []change{down(2, time.Minute-nanosecond), onNext(2), reverted}, want: "replacement: Provisioning/RollingOut; next in 1ns"},
		"no node for it":      {change: []change{unscheduled(2, time.Minute), onNext(2), reverted}, want: restarts},
		"another is down on the newest one": {
			change: []change{down(2, time.Minute), reverted, down(1, time.Minute), pod(1, func(p *Pod) { p.Revision = "rev-3" })},
			want:   "report: Provisioning/RollingOut; next in 9m0s",
		},
		"another is down on the newest one, for the delay": {
			change: []change{down(2, fullDelay), reverted, down(1, time.Minute), pod(1, func(p *Pod) { p.Revision = "rev-3" })}, want: restarts,
		},
		"its claim is being deleted": {
			change: []change{down(2, time.Minute), reverted, claimGoing(2)},
			want:   "claim-terminating: DeletePod my-fleet-2; Provisioning/ReplacingMember; MemberReleased!",
		},
		"Ready":              {change: []change{reverted}, want: "report: Provisioning/RollingOut"},
		"paused":             {change: []change{down(2, time.Hour), reverted, isPaused}, want: "paused: Paused/MaintenancePaused"},
		"to be removed":      {change: []change{down(2, time.Minute), reverted, target(2)}, want: "contraction: Scale my-fleet data-my-fleet-2 to 2; Provisioning/Provisioning; Scaled"},
		"an Ordered fleet's": {change: []change{ordered, down(2, time.Minute), reverted}, want: restarts},
	})
}

func TestDifferences(t *testing.T) {
	container := func(name, image string, env ...any) map[string]any {
		return map[string]any{"name": name, "image": image, "env": env}
	}
	variable := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	template := func(containers ...any) any { return map[string]any{"spec": map[string]any{"containers": containers}} }
	old := template(container("celld", "a", variable("A", "1"), variable("B", "1")))
	require.Empty(t, differences("", old, old))
	require.Equal(t, []string{"spec.containers[celld].env[B].value", "spec.containers[celld].image"},
		differences("", old, template(container("celld", "b", variable("B", "2"), variable("A", "1")))))
	require.Equal(t, []string{"spec.containers[proxy]"}, differences("", old, template(
		container("celld", "a", variable("A", "1"), variable("B", "1")), container("proxy", "x"))))
	require.Equal(t, []string{"spec"}, differences("", old, map[string]any{"spec": "text"}))
	for field, want := range map[string]bool{
		"spec.nodeSelector.disk": true, "spec.affinity": true, "spec.tolerations": true, "spec.containers[celld].resources.requests.cpu": true,
		"spec.containers[celld].image": false, "spec.containers[celld].env[A].value": false, "spec.nodeSelectorish": false,
	} {
		require.Equal(t, want, places(field), field)
	}
}
