// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"
	"time"
)

// What is told of a fleet that nothing is to be done about.
func TestReport(t *testing.T) {
	rolls := workloadIs(func(w *Workload) { w.NextRevision, w.Updated, w.Ready = "rev-2", 1, 2 })
	runRules(t, map[string]ruleCase{
		"ready":       {want: "report: Ready/Provisioned", message: "3 of 3 members are ready"},
		"one hundred": {base: fleetOf(100), want: "report: Ready/Provisioned", message: "100 of 100 members are ready"},
		"rolling out": {change: []change{rolls}, want: "report: Provisioning/RollingOut", message: "3 of 3 members exist, 2 are ready, 1 have the current template"},
		"starting on a fresh disk": {
			change: []change{starting(1, time.Minute), fresh(1)}, want: "report: Provisioning/Provisioning; next in 9m0s",
			message: "my-fleet-1 has not been ready since 2026-03-04T11:59:00Z",
		},
		"starting on its disk, while a template rolls": {
			change: []change{rolls, starting(1, time.Minute)}, want: "old-template: DeletePod my-fleet-1; Provisioning/RollingOut; MemberRestarted; due 0s ago",
			message: "my-fleet-1 has not been ready since 2026-03-04T11:59:00Z on an older template; restarting it on its disk and the newest one",
		},
		"failing on its disk, while a template rolls":      {change: []change{rolls, down(1, time.Minute)}, want: "old-template: DeletePod my-fleet-1; Provisioning/RollingOut; MemberRestarted; due 0s ago"},
		"starting on a fresh disk, while a template rolls": {change: []change{rolls, starting(1, time.Minute), fresh(1)}, want: "old-template: DeletePod my-fleet-1; Provisioning/RollingOut; MemberRestarted; due 0s ago"},
		"the first start of all": {
			change: []change{pending(0, 0), pending(1, 0), pending(2, 0), fresh(0), fresh(1), fresh(2)}, want: "report: Provisioning/WaitingForPlacement; next in 10m0s",
			message: "waiting since 2026-03-04T12:00:00Z for the scheduler to place my-fleet-0",
		},
		"unschedulable on a fresh disk, not for long": {
			change: []change{unscheduled(1, almostTen), fresh(1)}, want: "report: Provisioning/WaitingForPlacement; next in 1ns",
			message: "my-fleet-1 has not been scheduled since 2026-03-04T11:50:00Z: 0/3 nodes are available",
		},
		"unschedulable on a fresh disk, for long": {
			change: []change{unscheduled(1, fullDelay), fresh(1)}, want: "report: Blocked/MemberUnschedulable",
			message: "my-fleet-1 has not been scheduled since 2026-03-04T11:50:00Z: 0/3 nodes are available; " + tooYoung,
		},
		"unschedulable with another down": {
			change: []change{unscheduled(1, fullDelay), down(2, 0)}, want: "report: Blocked/MemberUnschedulable",
			message: "my-fleet-1 has not been scheduled since 2026-03-04T11:50:00Z: 0/3 nodes are available; not replaced while my-fleet-2 is also down",
		},
		"another down, unschedulable second": {
			change: []change{down(0, time.Hour), unscheduled(2, time.Hour)}, want: "report: Blocked/MemberUnschedulable",
			message: "my-fleet-2 has not been scheduled since 2026-03-04T11:00:00Z: 0/3 nodes are available; not replaced while my-fleet-0 is also down",
		},
		"another down, not placed for another reason, not for long": {
			change: []change{down(0, time.Hour), pending(2, time.Minute), pod(2, func(p *Pod) {
				p.Answer, p.UnscheduledSince, p.DecidedAt = "SchedulerError: no volume", noon.Add(-time.Minute), noon.Add(time.Minute)
			})},
			want:    "report: Provisioning/WaitingForPlacement; next in 1m0s",
			message: "my-fleet-2 has not been scheduled since 2026-03-04T11:59:00Z: SchedulerError: no volume",
		},
		"image, not for long": {change: []change{down(1, 0), pod(1, func(p *Pod) { p.ImageWait = imageBroken })}, want: "report: Provisioning/Provisioning; next in 10m0s"},
		"image, for long": {
			change: []change{down(1, fullDelay), pod(1, func(p *Pod) { p.ImageWait = imageBroken })}, want: "report: Blocked/InfrastructureBlocked",
		},
		"Pod missing, while a template rolls":            {change: []change{rolls, noPod(1)}, want: "report: Provisioning/RollingOut; next in 30s", message: "waiting for Pod my-fleet-1 to be made"},
		"claim without the label, Ready":                 {change: []change{claim(1, func(c *Claim) { c.Identity = "" })}, want: "report: Blocked/StorageIdentityConflict; next in 30s"},
		"a Deployment":                                   {change: []change{deployment}, want: "report: Ready/Provisioned", message: "3 of 3 members are ready"},
		"a Deployment that rolls":                        {change: []change{deployment, workloadIs(func(w *Workload) { w.Updated = 2 })}, want: "report: Provisioning/RollingOut"},
		"a Deployment's unschedulable Pod, not for long": {change: []change{unscheduled(1, time.Minute), deployment}, want: "report: Provisioning/WaitingForPlacement; next in 9m0s"},
		"a Deployment's unschedulable Pod": {
			change: []change{unscheduled(1, fullDelay), deployment}, want: "report: Blocked/MemberUnschedulable",
			message: "my-fleet-1 has not been scheduled since 2026-03-04T11:50:00Z: 0/3 nodes are available",
		},
		"an Ordered fleet's unschedulable Pod": {change: []change{unscheduled(1, fullDelay), ordered}, want: "report: Blocked/MemberUnschedulable",
			message: "my-fleet-1 has not been scheduled since 2026-03-04T11:50:00Z: 0/3 nodes are available"},
		"an Ordered fleet's member down":  {change: []change{down(1, time.Hour), ordered}, want: "report: Provisioning/Provisioning", message: "my-fleet-1 has not been ready since 2026-03-04T11:00:00Z"},
		"an Ordered fleet's broken image": {change: []change{down(1, fullDelay), ordered, pod(1, func(p *Pod) { p.ImageWait = imageBroken })}, want: "report: Blocked/InfrastructureBlocked", message: oneDown + " (" + imageBroken + ")"},
	})
}
