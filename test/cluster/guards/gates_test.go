// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/definitions"
)

// An API server that fills in the limit of a rollout, which is not rendered,
// lets fleets be created, synced again and changed.
func TestMaxUnavailableIsFilledIn(t *testing.T) {
	c := cluster.Start(t, "--feature-gates=MaxUnavailableStatefulSet=true")
	definitions.Install(t, c)
	g := newGuards(t, c)
	g.running = g.start(t)
	defer g.running.end(t)
	g.service.route(g.running)
	g.waitAsked(t)

	f := inNamespace(t, c, newNamespace(t, c))
	f.sync()
	limit, found, err := nested(f.read("apps/v1", "StatefulSet", f.GetName()), "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
	require.NoError(t, err)
	require.True(t, found, "the feature gate is off")
	require.EqualValues(t, 1, limit)
	f.sync()
	f.Shared().Maintenance.RestartToken = "again"
	f.sync()
	said, err := f.kubectl("", patch("statefulset/my-fleet", `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}}}}`)...)
	require.Error(t, err)
	require.Contains(t, said, "spec.updateStrategy.rollingUpdate.maxUnavailable: differs")

	// A pause has no rollingUpdate, and what was filled in does not stay.
	for _, paused := range []bool{true, false} {
		f.Shared().Maintenance.Paused = paused
		f.sync()
		f.sync()
		_, found, err = nested(f.read("apps/v1", "StatefulSet", f.GetName()), "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
		require.NoError(t, err)
		require.Equal(t, !paused, found)
	}
}
