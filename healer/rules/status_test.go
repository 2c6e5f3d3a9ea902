// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var update = flag.Bool("update", false, "rewrite the expected output of golden tests")

// statuses are fleets in each phase.
func statuses() map[string]*Snapshot {
	paused := fleetIs(func(f *Fleet) { f.Paused = true })
	stopped := fleetIs(func(f *Fleet) { f.Stopped = true })
	return map[string]*Snapshot{
		"ready": healthy(),
		"ready_with_route": healthy(func(s *Snapshot) {
			s.Route = &Route{Kind: "Ingress", Name: "my-fleet-routing", Ready: false, Reason: routeNoAddress, Message: "no address yet"}
		}),
		"first_start":   healthy(target(3), replicas(1), neverRan(1, 2), pending(0, 0), claim(0, func(c *Claim) { c.Created, c.Bound, c.Zone = noon, false, "" })),
		"missing":       healthy(gone, func(s *Snapshot) { s.Reservation = nil; s.Members = nil }),
		"pending":       healthy(down(1, time.Minute), pod(1, func(p *Pod) { p.Trouble = "container celld: CrashLoopBackOff" })),
		"two_down":      healthy(down(0, time.Hour), unscheduled(2, time.Hour)),
		"replacing":     healthy(down(1, fullDelay)),
		"image":         healthy(down(1, time.Hour), pod(1, func(p *Pod) { p.ImageWait, p.Failed = imageBroken, false })),
		"unschedulable": healthy(unscheduled(1, time.Hour), claim(1, func(c *Claim) { c.Created = noon.Add(-time.Hour) })),
		"disks": healthy(claim(0, func(c *Claim) { c.Lost, c.Bound = true, false }), claimGoing(1), noClaim(2), noPod(1),
			ending(2, -time.Minute)),
		"removed_members":     healthy(ending(1, -time.Minute), ending(2, 0), target(1), replicas(1)),
		"growth":              healthy(target(5), kept(3)),
		"lost_label":          healthy(pod(1, func(p *Pod) { p.Ours = false })),
		"paused":              healthy(paused),
		"paused_down":         healthy(paused, down(1, time.Hour), workloadIs(func(w *Workload) { w.Ready = 2 })),
		"stopping":            healthy(stopped),
		"stopped":             healthy(stopped, podsGone, replicas(0)),
		"deleting":            healthy(goes, foreground, ending(1, -30*time.Second)),
		"conflict":            healthy(func(s *Snapshot) { s.Reservation.Identity = theirs }),
		"foreign_statefulset": healthy(workloadIs(func(w *Workload) { w.Identity = theirs })),
		"deployment":          healthy(down(1, time.Hour), unscheduled(2, time.Minute), deployment),
		"ordered":             healthy(ordered, down(1, time.Hour)),
	}
}

// Whole statuses, in testdata/status.
func TestStatusOf(t *testing.T) {
	for name, s := range statuses() {
		t.Run(name, func(t *testing.T) {
			d := Decide(s, policy, noon)
			before := cloneSnapshot(s)
			status := StatusOf(s, &d, emptyStatus(), noon)
			require.Empty(t, cmp.Diff(before, s))
			got, err := yaml.Marshal(status)
			require.NoError(t, err)
			path := filepath.Join("testdata", "status", name+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(string(want), string(got)))

			// The same status later: nothing to write.
			require.Empty(t, cmp.Diff(status, StatusOf(s, &d, &status, noon.Add(time.Hour))))
			requireConsistent(t, &status)
		})
	}
}

// requireConsistent checks what holds of every status: one of the summary conditions is the phase, and kstatus agrees.
func requireConsistent(t *testing.T, s *v1alpha1.FleetStatus) {
	t.Helper()
	is := func(name string) bool { return meta.IsStatusConditionTrue(s.Conditions, name) }
	require.Equal(t, s.Phase == v1alpha1.PhaseProvisioning, is(v1alpha1.ConditionProvisioning))
	require.Equal(t, s.Phase == v1alpha1.PhaseBlocked, is(v1alpha1.ConditionBlocked))
	require.Equal(t, s.Phase == v1alpha1.PhasePaused, is(v1alpha1.ConditionPaused))
	require.Equal(t, s.Phase == v1alpha1.PhaseDeleting, is(v1alpha1.ConditionDeleting))
	require.Equal(t, is(v1alpha1.ConditionProvisioning) || is(v1alpha1.ConditionDeleting), is(v1alpha1.ConditionReconciling))
	require.Equal(t, is(v1alpha1.ConditionBlocked), is(v1alpha1.ConditionStalled))
	if is(v1alpha1.ConditionReady) {
		require.Contains(t, []v1alpha1.Phase{v1alpha1.PhaseReady, v1alpha1.PhasePaused}, s.Phase)
	}
	for _, c := range s.Conditions {
		require.Equal(t, s.ObservedGeneration, c.ObservedGeneration)
		require.NotEmpty(t, c.Reason, c.Type)
		require.False(t, c.LastTransitionTime.IsZero())
		require.LessOrEqual(t, len(c.Message), 32768)
	}
}

// A condition keeps its transition time until its status changes, whatever its reason.
func TestTransitionTimes(t *testing.T) {
	ready := healthy()
	d := Decide(ready, policy, noon)
	first := StatusOf(ready, &d, emptyStatus(), noon)
	waiting := healthy(down(1, 0))
	d = Decide(waiting, policy, noon.Add(time.Minute))
	second := StatusOf(waiting, &d, &first, noon.Add(time.Minute))
	at := func(s *v1alpha1.FleetStatus, name string) time.Duration {
		return meta.FindStatusCondition(s.Conditions, name).LastTransitionTime.Sub(noon)
	}
	require.Equal(t, time.Minute, at(&second, v1alpha1.ConditionReady))
	require.Equal(t, time.Minute, at(&second, v1alpha1.ConditionReconciling))
	require.Equal(t, time.Duration(0), at(&second, v1alpha1.ConditionBlocked))
	d = Decide(waiting, policy, noon.Add(time.Hour))
	third := StatusOf(waiting, &d, &second, noon.Add(time.Hour))
	require.Equal(t, time.Minute, at(&third, v1alpha1.ConditionReady))
	require.Equal(t, string(v1alpha1.ReasonReplacingMember), meta.FindStatusCondition(third.Conditions, v1alpha1.ConditionReady).Reason)
	// Transition times are whole seconds, as the API server keeps them.
	fourth := StatusOf(ready, &d, emptyStatus(), noon.Add(1500*time.Millisecond))
	require.Equal(t, time.Second, at(&fourth, v1alpha1.ConditionReady))
}

func membersIn(s *Snapshot) []v1alpha1.MemberStatus {
	d := Decide(s, policy, noon)
	return membersOf(s, &d)
}

func TestMembersOfStatus(t *testing.T) {
	t.Run("at most a hundred", func(t *testing.T) {
		s := fleetOf(100)
		for i := range 20 {
			s.Removed = append(s.Removed, Member{Ordinal: 100 + i, Name: "my-fleet-100", Pod: readyPod(100 + i)})
		}
		require.Len(t, membersIn(s), 100)
		deployment(s)
		s.Pods = append(s.Pods, s.Pods...)
		require.Len(t, membersIn(s), 100)
	})
	t.Run("due only for the one that is replaced", func(t *testing.T) {
		members := membersIn(healthy(down(1, time.Minute)))
		require.Nil(t, members[0].ReplaceAfter)
		require.Equal(t, metav1.NewTime(noon.Add(9*time.Minute)), *members[1].ReplaceAfter)
	})
	t.Run("not due", func(t *testing.T) {
		for name, change := range map[string]change{
			"paused": fleetIs(func(f *Fleet) { f.Paused = true }), "deleting": goes, "stopped": fleetIs(func(f *Fleet) { f.Stopped = true }),
			"two down": down(2, 0), "temporary disks": ordered,
		} {
			for _, m := range membersIn(healthy(down(1, time.Minute), change)) {
				require.Nil(t, m.ReplaceAfter, name)
				if name == "temporary disks" || name == "stopped" {
					require.Empty(t, m.Message, name)
				}
			}
		}
	})
	t.Run("names are unique", func(t *testing.T) {
		seen := map[string]bool{}
		for _, m := range membersIn(fleetOf(100)) {
			require.False(t, seen[m.Name])
			seen[m.Name] = true
		}
	})
}

// A message of the scheduler's may be long; conditions take 32768 characters, and nobody reads them.
func TestLongMessages(t *testing.T) {
	s := healthy(unscheduled(1, time.Hour), fleetIs(func(f *Fleet) { f.Invalid = strings.Repeat("x", 100000) }))
	d := Decide(s, policy, noon)
	status := StatusOf(s, &d, emptyStatus(), noon)
	requireConsistent(t, &status)
}
