// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"time"
)

// forbidden says which rule of the design an action breaks, empty for none. It is written from the design alone: it uses
// none of the functions that decide.
func forbidden(s *Snapshot, a *Action, now time.Time) string {
	if a == nil {
		return ""
	}
	for _, target := range a.Targets {
		if target.Name == "" || target.UID == "" && a.Verb != VerbReserve {
			return "a target without a name or UID"
		}
	}
	live := !s.Fleet.Deleting
	switch {
	case a.Verb == VerbAddFinalizer:
		return unless(live && !s.Fleet.Finalizer, "the finalizer is there, or comes too late")
	case live && !s.Fleet.Finalizer:
		return "the first write is not the finalizer"
	case !live && !s.Fleet.Finalizer && a.Verb != VerbAbortReplacement:
		return "a fleet that others delete was touched"
	}
	check := map[Verb]func(*Snapshot, *Action, time.Time) string{
		VerbReplace: badReplace, VerbFinishReplacement: badFinish, VerbDeletePod: badDeletePod, VerbForceDeletePod: badForceDelete,
		VerbDeleteClaims: badDeleteClaims, VerbRemoveFinalizer: badRemoveFinalizer, VerbScale: badScale,
	}[a.Verb]
	if check == nil {
		return ""
	}
	return check(s, a, now)
}

func unless(ok bool, why string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(why, args...)
}

// in returns the member whose Pod or claim an object is, and whether the StatefulSet asks for it.
func (s *Snapshot) in(r Ref) (m *Member, current bool) {
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for i := range list {
			m := &list[i]
			if m.Pod != nil && m.Pod.Ref == r || m.Claim != nil && m.Claim.Ref == r {
				return m, s.Workload != nil && m.Ordinal < s.Workload.Replicas
			}
		}
	}
	return nil, false
}

// quiet lists what has to hold before any rule below "not caught up" acts.
func quiet(s *Snapshot) string {
	w, r := s.Workload, s.Reservation
	switch {
	case s.Fleet.Paused, s.Fleet.Stopped, s.Fleet.Deleting, s.Fleet.Invalid != "":
		return "the fleet is paused, stopped, deleting or invalid"
	case r == nil || r.Identity != ours || r.Terminating:
		return "the bucket is not the fleet's"
	case w == nil || w.Identity != ours || w.Owned || w.Terminating:
		return "the workload is not the fleet's alone"
	case w.SpecDigest != s.Fleet.SpecDigest || !w.Observed:
		return "not caught up"
	}
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for _, m := range list {
			if m.Pod != nil && m.Pod.Handover != nil {
				return "another hand-over is in progress"
			}
		}
	}
	return ""
}

// others returns "" when a condition holds of every other member that the StatefulSet asks for.
func (s *Snapshot) others(m *Member, what string, hold func(*Pod) bool) string {
	for i := range s.Members {
		o := &s.Members[i]
		if o.Ordinal == m.Ordinal || s.Workload == nil || o.Ordinal >= s.Workload.Replicas {
			continue
		}
		if o.Pod == nil || o.Pod.Terminating || !hold(o.Pod) {
			return fmt.Sprintf("%s is not %s", o.Name, what)
		}
	}
	return ""
}

func (s *Snapshot) othersReady(m *Member, now time.Time) string {
	return s.others(m, "ready for five minutes", func(p *Pod) bool {
		return p.Ready && p.Ours && now.Sub(p.Transition) >= 5*time.Minute
	})
}

func badReplace(s *Snapshot, a *Action, now time.Time) string {
	m, current := s.in(a.Targets[0])
	if why := quiet(s); why != "" {
		return why
	}
	if len(a.Targets) != 2 || m == nil || !current || !s.Fleet.Persistent {
		return "not a member with a disk"
	}
	p, c := m.Pod, m.Claim
	switch {
	case p == nil || p.Terminating || !p.Ours || !p.Controlled || p.Ref != a.Targets[0]:
		return "not the Pod"
	case c == nil || c.Terminating || c.Identity != ours || c.Ref != a.Targets[1]:
		return "not the claim"
	}
	if why := s.others(m, "decided", func(p *Pod) bool { return p.Node != "" || p.Unschedulable != "" }); why != "" || c.Lost {
		return why
	}
	if why := s.notYet(m); why != "" {
		return why
	}
	switch {
	case p.Node == "" && p.Unschedulable == "":
		return "the scheduler has not had its say"
	case p.Ready, now.Sub(p.Transition) < 10*time.Minute:
		return "not down for ten minutes"
	case !c.Bound, p.Created.Sub(c.Created) <= time.Minute:
		return "the disk is not a kept one"
	case p.ImageWait != "":
		return "waits on its image"
	}
	return s.othersReady(m, now)
}

// notYet names a member that runs beyond the count, or that has a claim and does not run yet.
func (s *Snapshot) notYet(but *Member) string {
	for i := range s.Members {
		if m := &s.Members[i]; m != but && m.Ordinal >= s.Workload.Replicas && (m.Pod != nil || m.Claim != nil && !m.Claim.Terminating) {
			return m.Name + " is not back, or not gone"
		}
	}
	for i := range s.Removed {
		if m := &s.Removed[i]; m != but && m.Pod != nil {
			return m.Name + " is not gone"
		}
	}
	return ""
}

func badFinish(s *Snapshot, a *Action, now time.Time) string {
	m, _ := s.in(a.Targets[0])
	switch {
	case s.Fleet.Paused || s.Fleet.Deleting:
		return "paused or deleting"
	case m == nil || m.Pod == nil || m.Pod.Handover == nil || !m.Pod.Handover.Committed || !m.Pod.Terminating:
		return "not committed"
	case len(a.Targets) == 1:
		return ""
	case !m.Pod.Ours || !m.Pod.Controlled:
		return "not the StatefulSet's Pod"
	case m.Claim == nil || m.Claim.Ref != a.Targets[1] || m.Claim.Identity != ours || m.Claim.UID != m.Pod.Handover.ClaimUID:
		return "not the claim"
	case m.Claim.Lost:
		return ""
	}
	return s.othersReady(m, now)
}

func badDeletePod(s *Snapshot, a *Action, now time.Time) string {
	m, current := s.in(a.Targets[0])
	if m == nil || m.Pod == nil || m.Pod.Terminating || !m.Pod.Ours {
		return "not a Pod that runs"
	}
	if s.Fleet.Deleting {
		return unless(m.Pod.Ownerless && (s.Workload == nil || s.Workload.Identity != ours), "not a Pod that was left")
	}
	if why := quiet(s); why != "" {
		return why
	}
	if c := m.Claim; c == nil || !c.Terminating || c.Identity != ours || !current || !m.Pod.Controlled || m.Pod.Node == "" {
		return "no claim waits for it"
	}
	if m.Claim.Lost { // there is no disk to lose
		return s.others(m, "decided", func(p *Pod) bool { return p.Node != "" || p.Unschedulable != "" })
	}
	return s.othersReady(m, now)
}

func badForceDelete(s *Snapshot, a *Action, now time.Time) string {
	p := s.pod(a.Targets[0])
	switch {
	case p == nil || !p.Terminating || p.Forced || now.Sub(p.DeletedAt) < 2*time.Minute:
		return "not stuck for two minutes"
	case s.Fleet.Deleting:
		return unless(p.Controlled || p.Ours, "not the fleet's Pod")
	}
	return unless(p.Controlled && !s.Fleet.Paused, "not the StatefulSet's Pod, or paused")
}

func (s *Snapshot) pod(r Ref) *Pod {
	if m, _ := s.in(r); m != nil {
		return m.Pod
	}
	for _, p := range s.Pods {
		if p.Ref == r {
			return p
		}
	}
	return nil
}

func badDeleteClaims(s *Snapshot, a *Action, _ time.Time) string {
	if !s.Fleet.Deleting || s.Workload != nil && s.Workload.Identity == ours {
		return "the fleet lives, or its workload is still there"
	}
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for _, m := range list {
			if m.Pod != nil && m.Pod.Ours {
				return m.Name + " still runs"
			}
		}
	}
	for _, target := range a.Targets {
		if m, _ := s.in(target); m == nil || m.Claim == nil || m.Claim.Ref != target || m.Claim.Identity != ours {
			return target.Name + " is not the fleet's"
		}
	}
	return ""
}

func badRemoveFinalizer(s *Snapshot, _ *Action, _ time.Time) string {
	if !s.Fleet.Deleting || s.Workload != nil && s.Workload.Identity == ours {
		return "something is left"
	}
	for _, list := range [...][]Member{s.Members, s.Removed} {
		for _, m := range list {
			if m.Pod != nil && m.Pod.Ours || m.Claim != nil && m.Claim.Identity == ours {
				return m.Name + " is left"
			}
		}
	}
	return ""
}

func badScale(s *Snapshot, a *Action, _ time.Time) string {
	w := s.Workload
	switch {
	case s.Fleet.Paused || s.Fleet.Deleting || w == nil || w.Identity != ours || w.Owned || w.Terminating || a.Targets[0] != w.Ref:
		return "paused, deleting, or not the fleet's workload"
	case s.Fleet.Stopped:
		return unless(a.Replicas == 0, "stopped fleets have no members")
	case quiet(s) != "":
		return quiet(s)
	case a.Replicas < w.Replicas:
		return unless(a.Replicas == w.Replicas-1 && a.Replicas >= s.Target && w.Ready == w.Replicas && w.Updated == w.Replicas &&
			w.Existing == w.Replicas && w.CurrentRevision == w.NextRevision, "contracted too far, too fast or too early")
	case a.Replicas == w.Replicas || a.Replicas > s.Target:
		return "grown too far"
	case !s.Fleet.Persistent:
		return unless(a.Replicas == s.Target, "not in one step")
	}
	for i := w.Replicas; i < a.Replicas; i++ {
		c := s.Members[i].Claim
		if (c == nil) != (s.Members[w.Replicas].Claim == nil) {
			return "kept and fresh disks in one run"
		}
		if c != nil && (c.Identity != ours || c.Terminating) {
			return c.Name + " is foreign or going"
		}
	}
	return s.others(&Member{Ordinal: -1}, "decided", func(p *Pod) bool { return p.Node != "" || p.Unschedulable != "" })
}
