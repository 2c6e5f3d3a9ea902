// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"testing"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/healer/rules"
)

// A fleet that is not held back any more holds back no other, whatever version it had when it was.
func TestBrakeForgetsWhoWaits(t *testing.T) {
	m := newMemory(clocktesting.NewFakePassiveClock(noon), policy)
	first := Request{Kind: "PersistentFleet", NamespacedName: simRequest}
	self := rules.Ref{Kind: first.Kind, Namespace: first.Namespace, Name: first.Name, UID: "uid", ResourceVersion: "7"}
	other := rules.Ref{Kind: first.Kind, Namespace: "fleets", Name: "another"}
	require.Equal(t, 1, m.looked(first, &rules.Waiting{Down: noon}))
	require.Len(t, m.Brake(other, "", noon).Waiting, 1)
	require.Empty(t, m.Brake(self, "", noon).Waiting, "nobody waits for itself")
	require.Zero(t, m.looked(first, nil))
	require.Empty(t, m.Brake(other, "", noon).Waiting)
}
