// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// noon is the time at which tables decide.
var noon = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

const (
	ours      = "aaaaaaaa-0000-5000-8000-000000000001"
	theirs    = "bbbbbbbb-0000-5000-8000-000000000002"
	fullDelay = DefaultReplacementDelay
)

var policy = Policy{ReplacementDelay: DefaultReplacementDelay}

// A change makes one thing about a snapshot different.
type change func(*Snapshot)

// healthy is a PersistentFleet of three members that have been Ready for an hour on disks that are a day old, with changes.
func healthy(changes ...change) *Snapshot { return fleetOf(3, changes...) }

// fleetOf is healthy with any number of members.
func fleetOf(n int, changes ...change) *Snapshot {
	s := &Snapshot{
		Fleet: Fleet{
			Kind: "PersistentFleet", Namespace: "fleets", Name: "my-fleet", UID: "fleet-uid", Generation: 7, Persistent: true,
			WorkloadKind: KindStatefulSet, Identity: ours, SpecDigest: "digest", Bucket: "s3://my-bucket", ReservationName: "s3-123",
			Zones: []string{"a", "b", "c"}, Strict: true, Finalizer: true,
		},
		Target:      n,
		Reservation: &Reservation{Name: "s3-123", Identity: ours, Owner: "PersistentFleet fleets/my-fleet"},
		Workload: &Workload{
			Ref: ref(KindStatefulSet, "my-fleet"), Identity: ours, SpecDigest: "digest", Observed: true,
			Replicas: n, Existing: n, Ready: n, Updated: n, CurrentRevision: "rev-1", NextRevision: "rev-1",
		},
	}
	for i := range n {
		s.Members = append(s.Members, Member{Ordinal: i, Name: render.PodName("my-fleet", i), Pod: readyPod(i), Claim: boundClaim(i)})
	}
	for _, do := range changes {
		do(s)
	}
	return s
}

func ref(kind, name string) Ref {
	return Ref{Kind: kind, Namespace: "fleets", Name: name, UID: name + "-uid", ResourceVersion: "10"}
}

func readyPod(i int) *Pod {
	return &Pod{
		Ref: ref("Pod", render.PodName("my-fleet", i)), Ours: true, Controlled: true, Created: noon.Add(-time.Hour),
		Node: fmt.Sprintf("node-%d", i), Zone: zoneOf(i), Ready: true, Transition: noon.Add(-time.Hour),
	}
}

func boundClaim(i int) *Claim {
	return &Claim{
		Ref: ref("PersistentVolumeClaim", render.ClaimName("my-fleet", i)), Identity: ours,
		Created: noon.Add(-24 * time.Hour), Bound: true, Zone: zoneOf(i), Finalizers: []string{"kubernetes.io/pvc-protection"},
	}
}

func zoneOf(i int) string { return string(rune('a' + i%3)) }

func fleetIs(do func(*Fleet)) change       { return func(s *Snapshot) { do(&s.Fleet) } }
func workloadIs(do func(*Workload)) change { return func(s *Snapshot) { do(s.Workload) } }
func pod(i int, do func(*Pod)) change      { return func(s *Snapshot) { do(s.Members[i].Pod) } }
func claim(i int, do func(*Claim)) change  { return func(s *Snapshot) { do(s.Members[i].Claim) } }
func noPod(i int) change                   { return func(s *Snapshot) { s.Members[i].Pod = nil } }
func noClaim(i int) change                 { return func(s *Snapshot) { s.Members[i].Claim = nil } }

// down makes a member's Pod not Ready for some time.
func down(i int, since time.Duration) change {
	return pod(i, func(p *Pod) { p.Ready, p.Transition, p.Failed = false, noon.Add(-since), true })
}

// readySince makes a member Ready for some time only.
func readySince(i int, since time.Duration) change {
	return pod(i, func(p *Pod) { p.Transition = noon.Add(-since) })
}

// unscheduled makes a member's Pod a new one that the scheduler finds no node for.
func unscheduled(i int, since time.Duration) change {
	return func(s *Snapshot) {
		pending(i, since)(s)
		p := s.Members[i].Pod
		p.Unschedulable, p.UnscheduledSince = "0/3 nodes are available", noon.Add(-since)
	}
}

// pending makes a member's Pod a new one that the scheduler has not looked at.
func pending(i int, since time.Duration) change {
	return pod(i, func(p *Pod) {
		p.Ready, p.Node, p.Zone, p.Created, p.Transition = false, "", "", noon.Add(-since), noon.Add(-since)
	})
}

// starting makes a member's Pod a new one on its node; fresh makes its disk as new as the Pod.
func starting(i int, since time.Duration) change {
	return pod(i, func(p *Pod) { p.Ready, p.Created, p.Transition = false, noon.Add(-since), noon.Add(-since) })
}

func fresh(i int) change {
	return func(s *Snapshot) { s.Members[i].Claim.Created = s.Members[i].Pod.Created }
}

// ending makes a member's Pod terminating, with a deletionTimestamp some time ago.
func ending(i int, ago time.Duration) change {
	return pod(i, func(p *Pod) { p.Terminating, p.DeletedAt = true, noon.Add(-ago) })
}

// target asks for another number of members than there are; replicas makes the workload ask for another number.
func target(n int) change {
	return func(s *Snapshot) {
		s.Target = n
		s.resize()
	}
}

func replicas(n int) change {
	return func(s *Snapshot) {
		w := s.Workload
		w.Replicas, w.Existing, w.Ready, w.Updated = n, n, n, n
		s.resize()
	}
}

// resize gives a snapshot its ordinals: those that came have nothing, those that went are removed members with what they had.
func (s *Snapshot) resize() {
	want := max(s.Workload.Replicas, s.Target)
	for i := len(s.Members); i < want; i++ {
		s.Members = append(s.Members, Member{Ordinal: i, Name: render.PodName("my-fleet", i)})
	}
	s.Removed = append(slices.Clone(s.Members[want:]), s.Removed...)
	s.Members = s.Members[:want]
	for i := s.Workload.Replicas; i < want; i++ {
		s.Members[i].Pod = nil
	}
}

// kept gives ordinals that do not run a disk; neverRan takes it away.
func kept(ordinals ...int) change {
	return func(s *Snapshot) {
		for _, i := range ordinals {
			s.Members[i].Claim = boundClaim(i)
		}
	}
}

func neverRan(ordinals ...int) change {
	return func(s *Snapshot) {
		for _, i := range ordinals {
			s.Members[i].Pod, s.Members[i].Claim = nil, nil
		}
	}
}

// ordered and deployment make BucketFleets of a snapshot.
func ordered(s *Snapshot) {
	s.Fleet.Kind, s.Fleet.Persistent = "BucketFleet", false
	for i := range s.Members {
		s.Members[i].Claim = nil
	}
}

func deployment(s *Snapshot) {
	ordered(s)
	s.Fleet.WorkloadKind = KindDeployment
	w := s.Workload
	w.Ref, w.CurrentRevision, w.NextRevision = ref(KindDeployment, "my-fleet"), "", ""
	for i := range s.Members {
		if p := s.Members[i].Pod; p != nil {
			s.Pods = append(s.Pods, p)
		}
	}
	s.Members = nil
}

// A ruleCase is a snapshot, and what is decided about it, summed up in a line. An empty message is not compared.
type ruleCase struct {
	base    *Snapshot // healthy() when nil
	change  []change
	want    string
	message string
}

func runRules(t *testing.T, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := c.base
			if s == nil {
				s = healthy()
			}
			for _, do := range c.change {
				do(s)
			}
			d := decideAt(t, s, noon)
			require.Equal(t, c.want, summary(&d), d.Message)
			if c.message != "" {
				require.Equal(t, c.message, d.Message)
			}
		})
	}
}

// decideAt decides, and checks what holds of every decision.
func decideAt(t require.TestingT, s *Snapshot, at time.Time) Decision {
	before := cloneSnapshot(s)
	d := Decide(s, policy, at)
	require.Empty(t, cmp.Diff(before, s), "the snapshot was changed")
	require.Empty(t, cmp.Diff(d, Decide(s, policy, at), ignoreRule), "the same question was answered differently")
	require.True(t, d.Next.IsZero() || d.Next.After(at), "to be looked at again at %s, which is past", d.Next)
	require.False(t, d.Due.After(at), "acted before it was due")
	require.NotEmpty(t, d.Phase)
	require.NotEmpty(t, d.Reason)
	require.NotEmpty(t, d.Message)
	if d.Action != nil {
		require.NotEmpty(t, d.Action.Targets)
		require.Equal(t, endsByWaiting(&d), d.Rule.Timed, "%s needs a true clock, or does not", d.Rule.Name)
	}
	explained, rungs := Explain(s, policy, at)
	require.Empty(t, cmp.Diff(d, explained, ignoreRule), "explained otherwise than decided")
	for i, rung := range rungs {
		require.Equal(t, Rules()[i+1].Name, rung.Rule.Name)
	}
	return d
}

// ignoreRule compares rules by name, and what a decision notes of members.
var ignoreRule = cmp.Options{
	cmp.Comparer(func(a, b Rule) bool { return a.Name == b.Name }), cmp.AllowUnexported(Decision{}, memberNote{}),
}

// endsByWaiting says that an action ends a disk, or a Pod by force, because time passed.
func endsByWaiting(d *Decision) bool {
	switch a := d.Action; a.Verb {
	case VerbReplace, VerbForceDeletePod:
		return true
	case VerbFinishReplacement:
		return len(a.Targets) > 1
	case VerbDeletePod:
		return d.Phase != v1alpha1.PhaseDeleting
	default:
		return false
	}
}

// summary is a decision in a line: RULE: ACTION; PHASE/REASON; EVENT; due TIME ago; next in TIME.
func summary(d *Decision) string {
	parts := []string{d.Rule.Name + ":"}
	event := ""
	if a := d.Action; a != nil {
		parts = append(parts, string(a.Verb))
		for _, target := range a.Targets {
			parts = append(parts, target.Name)
		}
		if a.Verb == VerbScale {
			parts = append(parts, fmt.Sprintf("to %d", a.Replicas))
		}
		if a.Verb == VerbLiftGates {
			parts = append(parts, fmt.Sprintf("%q", a.Zones))
		}
		if a.Event != nil {
			event = "; " + a.Event.Reason
			if a.Event.Warning {
				event += "!"
			}
		}
		parts[len(parts)-1] += ";"
	}
	text := strings.Join(parts, " ") + fmt.Sprintf(" %s/%s", d.Phase, d.Reason) + event
	if !d.Due.IsZero() {
		text += fmt.Sprintf("; due %s ago", noon.Sub(d.Due))
	}
	if !d.Next.IsZero() {
		text += fmt.Sprintf("; next in %s", d.Next.Sub(noon))
	}
	return text
}

// cloneSnapshot copies everything that a snapshot points at.
func cloneSnapshot(s *Snapshot) *Snapshot {
	out := *s
	out.Fleet.Zones = slices.Clone(s.Fleet.Zones)
	out.Reservation, out.Workload, out.Route = cloned(s.Reservation), cloned(s.Workload), cloned(s.Route)
	out.Prerequisites = slices.Clone(s.Prerequisites)
	out.Members, out.Removed, out.Pods = slices.Clone(s.Members), slices.Clone(s.Removed), slices.Clone(s.Pods)
	for i := range out.Pods {
		out.Pods[i] = clonePod(out.Pods[i])
	}
	for _, list := range [][]Member{out.Members, out.Removed} {
		for i := range list {
			list[i].Pod = clonePod(list[i].Pod)
			if list[i].Claim = cloned(list[i].Claim); list[i].Claim != nil {
				list[i].Claim.Finalizers = slices.Clone(list[i].Claim.Finalizers)
			}
		}
	}
	return &out
}

func clonePod(p *Pod) *Pod {
	if p = cloned(p); p != nil {
		p.Finalizers, p.Handover = slices.Clone(p.Finalizers), cloned(p.Handover)
	}
	return p
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	out := *p
	return &out
}

func emptyStatus() *v1alpha1.FleetStatus { return &v1alpha1.FleetStatus{} }
