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
	case r == nil && !s.NoReservations, r != nil && (r.Identity != ours || r.Terminating):
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
		return p.Ready && p.Ours && now.Sub(p.Transition) >= 5*time.Minute && now.Sub(p.Seen) >= 5*time.Minute
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
	if why := s.others(m, "decided", func(p *Pod) bool { return p.Node != "" || p.Unschedulable != "" }); why != "" {
		return why
	}
	if why := s.notYet(m, now); why != "" {
		return why
	}
	if m.Ordinal >= s.Target {
		return "its disk is to be kept"
	}
	if b := s.Brake; b != nil && (b.Recent >= b.Max || now.Before(b.KnownAt)) {
		return "the brake is full"
	}
	if c.Lost {
		return ""
	}
	switch {
	case p.Node == "" && p.Unschedulable == "":
		return "the scheduler has not tried to place it"
	case p.Ready, now.Sub(p.Transition) < 10*time.Minute, now.Sub(p.Seen) < time.Minute:
		return "not down for ten minutes, or not seen so for one"
	case p.GatesNotReady:
		return "only a readiness gate is missing"
	case s.Target > 1 && s.Workload.Replicas < 2:
		return "nobody else is Ready"
	case s.changeSuspected(m):
		return "the change of its template may be at fault"
	case !c.Bound, p.Created.Sub(c.Created) <= time.Minute:
		return "the disk is not a kept one"
	case p.ImageWait != "":
		return "waits on its image"
	case p.Node == "" && s.Fleet.ZoneCap > 0 && !s.placeFor(m):
		return "a fresh disk has no place"
	}
	return s.othersReady(m, now)
}

// placeFor says that a zone holds fewer others than its cap and its nodes allow, which is not that of a disk that any node there can use.
func (s *Snapshot) placeFor(m *Member) bool {
	v := m.Claim.Volume
	if v == nil || v.Unknown != "" {
		return false
	}
	for _, zone := range s.Fleet.Zones {
		others := 0
		for i := range s.Current() {
			if o := &s.Members[i]; o.Ordinal != m.Ordinal && (o.Pod.Zone == zone || o.Pod.Zone == "") {
				others++
			}
		}
		if others < s.Fleet.ZoneCap && others < v.Nodes[zone] && (v.Local || v.Zones[0] != zone) {
			return true
		}
	}
	return false
}

// changeSuspected says that no Pod of a member's template has been Ready, while another template runs beside it.
func (s *Snapshot) changeSuspected(m *Member) bool {
	p := m.Pod
	if p.Proven || p.Revision == "" {
		return false
	}
	beside := s.Workload.Replicas == 1 && s.Workload.CurrentRevision != s.Workload.NextRevision
	for i := range s.Current() {
		if o := s.Members[i].Pod; o != nil && o.Revision != "" && o.Revision != p.Revision {
			beside = true
		}
	}
	blameless := s.Change != nil && s.Change.Known && !s.Change.Places && (p.Node == "" || p.Unstarted)
	return beside && !blameless
}

// notYet names a member that runs beyond the count or ended just now, or that has a disk to come back on and does not run yet.
func (s *Snapshot) notYet(but *Member, now time.Time) string {
	for i := range s.Members {
		m := &s.Members[i]
		if m == but || m.Ordinal < s.Workload.Replicas {
			continue
		}
		if m.Pod != nil && !m.Pod.Forced || m.Ordinal < s.Target && m.Claim.Kept() && !m.Claim.Marked && m.Claim.Identity == ours {
			return m.Name + " is not back, or not gone"
		}
	}
	if !s.RemovalEnded.IsZero() && now.Sub(s.RemovalEnded) < 5*time.Minute {
		return "a removed member ended just now"
	}
	for i := range s.Removed {
		if m := &s.Removed[i]; m != but && m.Pod != nil && !m.Pod.Forced {
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
	case m == nil || m.Pod == nil || m.Pod.Handover == nil || !m.Pod.Terminating:
		return "the Pod was not deleted"
	case len(a.Targets) == 1:
		return ""
	case !m.Pod.Ours || !m.Pod.Controlled:
		return "not the StatefulSet's Pod"
	case m.Claim == nil || m.Claim.Ref != a.Targets[1] || m.Claim.Identity != ours || m.Claim.UID != m.Pod.Handover.ClaimUID:
		return "not the claim, or not as it was judged"
	case m.Claim.Lost:
		return ""
	case m.Pod.Handover.Begun == nil || m.Pod.Handover.Begun.Refusals >= 3:
		return "not this healer's, or refused three times"
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
	c := m.Claim
	if !current || !m.Pod.Controlled {
		return "not the StatefulSet's Pod"
	}
	if c == nil || !c.Terminating { // its disk stays
		return unless(!m.Pod.Ready && m.Pod.Revision != s.Workload.NextRevision && now.Sub(m.Pod.Transition) >= time.Minute,
			"it is Ready, or not on an older template, or down for less than a minute")
	}
	if c.Identity != ours || m.Pod.Node == "" || m.Ordinal >= s.Target || len(c.HeldBy()) > 0 && !c.Lost {
		return "no claim waits for it, or it may not end"
	}
	if why := s.notYet(m, now); why != "" {
		return why
	}
	if c.Lost { // there is no disk to lose
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
	if m, _ := s.in(a.Targets[0]); m != nil && m.Claim != nil && m.Claim.Terminating && !m.Claim.Lost && m.Claim.Identity == ours {
		if why := s.othersReady(m, now); why != "" {
			return "its disk goes with it: " + why
		}
	}
	return unless(p.Ours && !s.Fleet.Paused, "not the fleet's Pod, or paused")
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

func badScale(s *Snapshot, a *Action, now time.Time) string {
	w := s.Workload
	switch {
	case s.Fleet.Paused || s.Fleet.Deleting || w == nil || w.Identity != ours || w.Owned || w.Terminating || a.Targets[0] != w.Ref:
		return "paused, deleting, or not the fleet's workload"
	case s.Fleet.Stopped:
		return unless(a.Replicas == 0, "stopped fleets have no members")
	case quiet(s) != "":
		return quiet(s)
	case a.Replicas < w.Replicas:
		return unless(a.Replicas == w.Replicas-1 && a.Replicas >= s.Target, "contracted too far or too fast") + s.badRemoval(now)
	case a.Replicas == w.Replicas || a.Replicas > s.Target:
		return "grown too far"
	case !s.Fleet.Persistent:
		return unless(a.Replicas == s.Target, "not in one step")
	}
	for i := w.Replicas; i < a.Replicas; i++ {
		c, first := s.Members[i].Claim, s.Members[w.Replicas].Claim
		if (c != nil && (c.Bound || c.Lost)) != (first != nil && (first.Bound || first.Lost)) {
			return "kept and fresh disks in one run"
		}
		if c != nil && (c.Identity != ours || c.Terminating) {
			return c.Name + " is foreign or going"
		}
	}
	return s.others(&Member{Ordinal: -1}, "decided", func(p *Pod) bool { return p.Node != "" || p.Unschedulable != "" })
}

// badRemoval says why the last member may not be removed now. One without a place holds nothing.
func (s *Snapshot) badRemoval(now time.Time) string {
	if !s.Fleet.Ordered() {
		for _, p := range s.Pods {
			if p.Terminating {
				return p.Name + " has not ended"
			}
		}
		return ""
	}
	last := &s.Members[s.Workload.Replicas-1]
	placed := last.Pod != nil && last.Pod.Node != "" || last.Claim != nil && (last.Claim.Bound || last.Claim.Lost)
	up := last.Pod != nil && last.Pod.Ready && !last.Pod.Terminating && last.Pod.Ours
	if !placed || !up && !s.Fleet.Persistent {
		return ""
	}
	for i := range s.Members[:min(s.Target, len(s.Members))] {
		p := s.Members[i].Pod
		if p == nil || !p.Ready || p.Terminating || now.Sub(p.Transition) < 5*time.Minute || now.Sub(p.Seen) < 5*time.Minute {
			return s.Members[i].Name + ", which stays, is not settled"
		}
		if up && p.Revision != s.Workload.NextRevision {
			return s.Members[i].Name + ", which stays, does not run the newest template"
		}
	}
	return ""
}
