// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// byHealer matches the requests of the healer in the World, and those about
// what is in no namespace; watches and the lease are not about any fleet.
func (s *subject) byHealer(r cluster.Request) bool {
	return strings.HasPrefix(r.UserAgent, account) && r.Verb != "watch" && r.Resource != "leases" && r.Namespace == s.GetNamespace()
}

func TestIdleFleetCostsNoRequest(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	cluster.Holds(t, settle, "the fleet is idle", func(ctx) (bool, string) { return true, "" }) // the last event is published
	mark := s.w.Mark(t)
	s.passMinutes(600)
	s.holds("nothing changes", 3)
	require.Empty(t, s.w.Requests(t, mark, s.byHealer))
}

// From due to done in under a second, and with a bounded number of requests.
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
	t.Logf("one member's fault cost %d requests; %s from due to the first write", len(requests), firstWrite(requests).Sub(began))
	require.Less(t, len(requests), 60)
	require.Contains(t, s.metric("fleetwright_action_delay_seconds_count"), `rule="replacement"`)
}

func firstWrite(requests []cluster.Request) time.Time {
	for _, r := range requests {
		if r.Writes() && r.Resource == "pods" {
			return r.Time
		}
	}
	return time.Time{}
}
