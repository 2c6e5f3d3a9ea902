// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

func electing(o *options) { o.LeaderElect, o.LeaderElectionNamespace = true, system }

// Two healers run for one lease; when the one that works stops, the other takes
// over at once. Not parallel: there is one lease.
func TestTwoHealersOneLease(t *testing.T) {
	w := newCluster(t).World(t)
	first := startHealer(t, w, electing, oldDisks)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	holder := ""
	cluster.Wait(t, "a leader", w.Object(lease, func() (bool, string) {
		if id := lease.Spec.HolderIdentity; id != nil {
			holder = *id
		}
		return holder != "", holder
	}))
	second := startHealer(t, w, electing, oldDisks)
	s := fleetIn(t, w, 3, second)
	s.sync()
	s.waitReady()
	w.Get(lease)
	require.Equal(t, holder, *lease.Spec.HolderIdentity)

	first.stop()
	cluster.Wait(t, "another leader", w.Object(lease, func() (bool, string) {
		id := lease.Spec.HolderIdentity
		return id != nil && *id != "" && *id != holder, fmt.Sprint(id)
	}))
	disks, pods := s.disks(3), s.pods(3)
	w.Behave("my-fleet-2", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
	s.passMinutes(11)
	s.requireReplaced(2, disks, pods)
}

// Two healers at work at once, as after a network partition: preconditions keep
// them from doing anything twice.
func TestTwoHealersAtOnce(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	clock := s.clock
	startHealer(t, s.w, func(o *options) {
		o.Clock, o.QueueClock, o.Client = clock, clock, reading(nil, clock.object)
	}, oldDisks)
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-0", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
	s.passMinutes(11)
	s.requireReplaced(0, disks, pods)
	fresh := s.disks(3)
	s.holds("nobody is replaced twice", 3)
	require.Equal(t, fresh, s.disks(3))
}
