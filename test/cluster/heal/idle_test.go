// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// byHealer matches the requests of the healer in the World.
func (s *subject) byHealer(r cluster.Request) bool {
	return byAnyHealer(r) && r.Namespace == s.GetNamespace()
}

func TestIdleFleetCostsNoRequest(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	waitCalm(t, s.w, s.byHealer)
	mark := s.w.Mark(t)
	s.passMinutes(600)
	s.holds("nothing changes", 3)
	require.Empty(t, s.w.Requests(t, mark, s.byHealer))
}

// waitCalm waits until requests that match have ceased for a second: a status
// and an event come after what they tell of.
func waitCalm(tb testing.TB, w *cluster.World, match func(cluster.Request) bool) {
	tb.Helper()
	mark, seen, calm := w.Mark(tb), 0, 0
	cluster.Wait(tb, "requests to cease", func(ctx) (bool, string) {
		asked := len(w.Requests(tb, mark, match))
		calm++
		if asked != seen {
			seen, calm = asked, 0
		}
		return calm > 10, fmt.Sprint(asked, " requests")
	})
}

func TestWhatAReplacementCosts(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 5-2, oldDisks)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
	disks, pods := s.disks(3), s.pods(3)
	mark := s.w.Mark(t)
	s.passMinutes(10)
	began := time.Now()
	s.requireReplaced(1, disks, pods)
	requests := s.w.Requests(t, mark, s.byHealer)
	for _, r := range requests {
		t.Log(r)
	}
	var written []string
	for _, r := range requests {
		if of := r.Verb + " " + r.Resource; r.Resource == "pods" && r.Writes() || r.Resource == "persistentvolumeclaims" && r.Verb == "delete" {
			if len(written) == 0 {
				t.Logf("one member's fault cost %d requests; %s from due to the first write", len(requests), r.Time.Sub(began))
			}
			if r.DryRun {
				of += ", a dry run"
			}
			written = append(written, of)
		}
	}
	require.Equal(t, []string{
		"patch pods", "delete persistentvolumeclaims, a dry run", "delete pods", "delete persistentvolumeclaims", "patch pods",
	}, written, "prepare, ask, delete the Pod, delete the claim, release")
	require.Less(t, len(requests), 60)
	require.Contains(t, s.metric("fleetwright_action_delay_seconds_count"), `rule="replacement"`)
}
