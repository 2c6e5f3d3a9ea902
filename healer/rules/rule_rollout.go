// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// oldTemplateAfter a member went down on an older template, it is restarted on the newest one.
const oldTemplateAfter = time.Minute

// oldTemplate restarts a member that is down on an older template than the workload's: it returns on its disk, and a revert or a
// repair reaches it. A StatefulSet controller with MaxUnavailableStatefulSet waits for any member that is down, and so for ever for
// the one that the change would repair. A member with a node that is down on the newest template may show that this is the fault
// itself; after the replacement delay that is not asked any more, since no disk is deleted.
func oldTemplate(l *look) Verdict {
	w := l.Workload
	if !l.Fleet.Ordered() || w.NextRevision == "" {
		return passes()
	}
	doubt := ""
	for i := range l.current {
		if m := &l.current[i]; m.Pod != nil && m.Down() && m.Pod.Revision == w.NextRevision && m.Pod.Node != "" {
			doubt = m.Name
			break
		}
	}
	var next time.Time
	for i := range l.current {
		m := &l.current[i]
		if !m.Down() || !m.replaceable() || l.going(m) || m.Pod.Revision == "" || m.Pod.Revision == w.NextRevision ||
			m.Claim != nil && m.Claim.Terminating {
			continue
		}
		due := m.Pod.Transition.Add(oldTemplateAfter)
		if doubt != "" {
			due = m.Pod.Transition.Add(l.policy.ReplacementDelay)
		}
		if l.now.Before(due) {
			next = sooner(next, due)
			continue
		}
		message := fmt.Sprintf("%s has not been ready since %s%s on an older template; restarting it on its disk and the newest one",
			m.Name, stamp(m.Pod.Transition), because(m.Pod))
		return acts(v1alpha1.ReasonRollingOut, message, Action{
			Verb: VerbDeletePod, Targets: []Ref{m.Pod.Ref}, Event: normal(EventMemberRestarted, message),
		}).due(due)
	}
	return passes().until(next)
}

// suspected reports whether a member may be down because of its template: no Pod of it has been Ready, and another template runs
// beside it. Where the templates do not differ in what places a Pod, the zone or the disk of one that finds no node, or whose volume
// does not attach, is at fault instead.
func (l *look) suspected(m *Member) bool {
	if m.Pod == nil || m.Pod.Ready || m.Pod.Proven || m.Pod.Revision == "" || l.beside(m) == "" {
		return false
	}
	placed := m.Pod.Node != "" && !m.Pod.Unstarted
	return placed || l.Change == nil || !l.Change.Known || l.Change.Places
}

// stuckRollout tells of a member that keeps its disk because the change of its template is at fault, or may be.
func (l *look) stuckRollout(m *Member, text string) Verdict {
	limit := m.Pod.Transition.Add(l.policy.ReplacementDelay)
	what := "the template"
	if c := l.Change; c != nil && len(c.Fields) > 0 {
		what = strings.Join(c.Fields[:min(len(c.Fields), maxFields)], ", ")
		if n := len(c.Fields) - maxFields; n > 0 {
			what += fmt.Sprintf(" and %d more", n)
		}
	}
	if l.now.Before(limit) {
		return waits(l.rolling(v1alpha1.ReasonRollingOut), text).until(limit)
	}
	return blocks(v1alpha1.ReasonRolloutStuck, fmt.Sprintf(
		"%s; it is the first member on a changed template (%s), so the change is suspected and the disk is kept: revert the change in Git, or commit its repair",
		text, what))
}

// maxFields is how many changed fields a message names.
const maxFields = 6
