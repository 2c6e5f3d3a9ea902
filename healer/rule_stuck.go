// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// stuckPod removes a Pod whose kubelet does not answer, in or beyond the range: the StatefulSet makes no successor while its
// name is taken. The disk is kept; ReadWriteOncePod and the volume's own attachment keep a second writer off it.
//
// A Deployment needs none of this: it makes successors at once.
func stuckPod(s *Snapshot, _ Policy, now time.Time) *Decision {
	if !s.Fleet.Ordered() {
		return nil
	}
	return forceDelete(s, s.podsLeft(func(p *Pod) bool { return p.Controlled }), now)
}

// forceDelete acts on the first Pod that is still there stuckAfter its deletionTimestamp. One that was force-deleted before
// is held by finalizers, and another try would change nothing.
func forceDelete(s *Snapshot, pods []*Pod, now time.Time) *Decision {
	kept := ""
	if s.Fleet.Persistent && !s.Fleet.Deleting {
		kept = ", its disk is kept"
	}
	for _, pod := range pods {
		due := pod.DeletedAt.Add(stuckAfter)
		if !pod.Terminating || pod.Forced || now.Before(due) {
			continue
		}
		where := "no node"
		if pod.Node != "" {
			where = "node " + pod.Node
		}
		message := fmt.Sprintf("%s on %s should have ended by %s and is still there; force-deleting the Pod%s",
			pod.Name, where, stamp(pod.DeletedAt), kept)
		d := provisioning(v1alpha1.ReasonReplacingMember, message)
		d.Due = due
		return d.act(Action{
			Verb: VerbForceDeletePod, Targets: []Ref{pod.Ref},
			Event: warning(EventMemberForceDeleted, strings.Replace(message, "force-deleting", "force-deleted", 1)),
		})
	}
	return nil
}

// during moves a decision into another phase.
func (d *Decision) during(phase v1alpha1.Phase, reason v1alpha1.Reason) *Decision {
	d.Phase, d.Reason = phase, reason
	return d
}

// wakeForStuck looks at terminating Pods again when they are due to be force-deleted.
func wakeForStuck(d *Decision, pods []*Pod, now time.Time) {
	for _, pod := range pods {
		if pod.Terminating && !pod.Forced {
			d.wake(pod.DeletedAt.Add(stuckAfter), now)
		}
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
