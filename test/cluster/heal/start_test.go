// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

func TestFleetComesUp(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	var zones []string
	for ordinal := range 3 {
		zones = append(zones, s.w.ZoneOf(s.pod(ordinal)))
	}
	require.ElementsMatch(t, s.w.Zones, zones)

	stored := s.stored()
	require.Contains(t, stored.GetFinalizers(), v1alpha1.FinalizerFleetCleanup)
	status := stored.State()
	require.Equal(t, stored.GetGeneration(), status.ObservedGeneration)
	require.Equal(t, render.ReservationName(s.Store().BucketURL()), status.Reservation)
	require.Len(t, status.Members, 3)
	for i, member := range status.Members {
		require.Equal(t, v1alpha1.MemberReady, member.State)
		require.Equal(t, zones[i], member.Zone)
		require.Equal(t, v1alpha1.DiskFresh, member.Disk)
	}
	s.waitEvent("BucketReserved")
	s.waitEvent("Scaled")
}
