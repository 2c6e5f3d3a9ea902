// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// A fleet that is not held back any more holds back no other, whatever version it had when it was.
func TestBrakeForgetsWhoWaits(t *testing.T) {
	m := newMemory(clocktesting.NewFakePassiveClock(noon), policy)
	first := Request{Kind: "PersistentFleet", NamespacedName: simRequest}
	self := rules.Ref{Kind: first.Kind, Namespace: first.Namespace, Name: first.Name, UID: "uid", ResourceVersion: "7"}
	other := rules.Ref{Kind: first.Kind, Namespace: "fleets", Name: "another"}
	require.Equal(t, 1, m.looked(first, "", &rules.Waiting{Down: noon}))
	require.Len(t, m.Brake(other, "", noon).Waiting, 1)
	require.Empty(t, m.Brake(self, "", noon).Waiting, "nobody waits for itself")
	require.Zero(t, m.looked(first, "", nil))
	require.Empty(t, m.Brake(other, "", noon).Waiting)
}

// What was seen of a fleet that is gone is dropped, unless a rival that is still there has the same identity.
func TestMemoryForgetsFleetsThatAreGone(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(noon)
	m := newMemory(clock, policy)
	request := Request{Kind: "PersistentFleet", NamespacedName: simRequest}
	rival := request
	rival.Name = "rival"
	const identity, revision = "3d594650-3436-4f0f-9c3f-1a1a1a1a1a1a", "my-fleet-1"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: request.Namespace, Name: "my-fleet-2", UID: "pod",
		Labels: map[string]string{v1alpha1.LabelFleetUID: identity, appsv1.StatefulSetRevisionLabel: revision},
	}, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	m.looked(request, identity, nil)
	m.looked(rival, identity, &rules.Waiting{Down: noon})
	m.observed(pod)
	clock.SetTime(noon.Add(time.Minute))
	m.gone(pod)
	knows := func() (proven, ended bool) {
		_, ended = m.Ended(request.Namespace, identity, 2)
		return m.Proven(request.Namespace, identity, revision), ended
	}
	require.Zero(t, m.forget(rival), "it was the only one that the brake held back")
	proven, ended := knows()
	require.True(t, proven && ended, "the fleet is still there")
	m.forget(request)
	proven, ended = knows()
	require.False(t, proven || ended)
}
