// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// newCapped is a fleet of six members in three zones of two nodes, with at most
// two members in each.
func newCapped(t *testing.T) *live {
	t.Helper()
	return newLive(t, 6, func(f *live) {
		most := int32(2)
		f.Spec.Placement.MaxPerZone = &most
		for _, zone := range f.w.Zones {
			f.w.AddNode(zone)
		}
	})
}

// members returns the ordinals that are in a zone.
func (f *live) members(zone string) []int {
	f.t.Helper()
	var in []int
	for ordinal := range int(*f.Spec.Replicas) {
		if pod := f.pod(ordinal); pod.Spec.NodeName != "" && f.w.ZoneOf(pod) == zone {
			in = append(in, ordinal)
		}
	}
	return in
}

// A zone that takes no Pods keeps no member of another zone off its disk, and
// sends none of its own there.
func TestZonesHoldNoMoreThanTheirCap(t *testing.T) {
	t.Parallel()
	f := newCapped(t)
	disks := f.disks(6)
	for _, zone := range f.w.Zones {
		require.Len(t, f.members(zone), 2, zone)
	}

	closed, open := f.w.Zones[2], f.w.Zones[0]
	for _, node := range f.w.Nodes(closed) {
		f.w.Cordon(node)
	}
	inClosed, inOpen := f.members(closed)[0], f.members(open)[0]
	waiting := f.pod(inClosed)
	f.w.Delete(waiting)
	f.w.WaitReplaced(waiting)
	f.w.WaitUnschedulable(waiting.Name)

	restarted := f.pod(inOpen)
	f.w.Delete(restarted)
	f.w.WaitReplaced(restarted)
	require.Equal(t, open, f.w.ZoneOf(f.w.WaitReady(restarted.Name)))

	// A member on a fresh disk goes nowhere else either.
	f.w.Delete(f.claim(inClosed))
	again := f.pod(inClosed)
	f.w.Delete(again)
	f.w.WaitReplaced(again)
	f.w.WaitUnschedulable(again.Name)
	cluster.Holds(t, settle, "no zone holds more", func(ctx) (bool, string) {
		most := 0
		for _, zone := range f.w.Zones {
			most = max(most, len(f.members(zone)))
		}
		return most == 2, strconv.Itoa(most) + " members in a zone"
	})

	for _, node := range f.w.Nodes(closed) {
		f.w.Uncordon(node)
	}
	f.waitRolledOut()
	require.Len(t, f.members(closed), 2)
	for ordinal, disk := range f.disks(6) {
		require.Equal(t, ordinal != inClosed, disk == disks[ordinal], "disk %d", ordinal)
	}
}
