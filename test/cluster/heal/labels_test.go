// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// unlabel takes the fleet's identity from an object, which leaves the healer's
// watches with it.
func (s *subject) unlabel(object client.Object) {
	s.t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+v1alpha1.LabelFleetUID+`":null}}}`))
	require.NoError(s.t, s.w.Client.Patch(s.t.Context(), object, patch))
}

func TestPodWithoutItsLabelIsSeen(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	s.unlabel(s.pod(2))
	s.w.Behave("my-fleet-0", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonInfrastructureBlocked,
		"Pod my-fleet-2 has not the label celld.eric.dev/fleet-uid")
	s.holdsAfter(60, "nobody is replaced while a member is astray", 3)
}

func TestClaimWithoutItsLabelIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	s.unlabel(s.claim(1))
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonStorageIdentityConflict)
	s.holdsAfter(60, "a claim that is not known to be the fleet's stays", 3)
}

// A Pod that loses its label in the middle of a hand-over is found by its name.
func TestHandoverOfAPodWithoutItsLabelIsEnded(t *testing.T) {
	t.Parallel()
	f := &fuse{}
	f.left.Store(1)
	s := newReadyFleet(t, 3, oldDisks, f.option)
	disks := s.disks(3)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.passMinutes(11)
	cluster.Wait(t, "the healer to die", func(ctx) (bool, string) { return f.blown.Load(), "" })
	s.stop()
	s.unlabel(s.pod(1))
	s.running = startHealer(t, s.w, oldDisks)
	s.w.WaitPod("my-fleet-1", "to be released", func(pod *corev1.Pod) bool { return len(pod.Finalizers) == 0 })
	require.Equal(t, disks, s.disks(3))
}

// Two fleets want one bucket at the same time: one of them gets it.
func TestOneBucketOneFleet(t *testing.T) {
	t.Parallel()
	w := newCluster(t).World(t)
	r := startHealer(t, w)
	fleets := []*subject{fleetIn(t, w, 3, r), fleetIn(t, w, 3, r)}
	fleets[1].SetName("other-fleet")
	fleets[1].Shared().Placement.Mode = v1alpha1.PlacementRelaxed
	for _, s := range fleets {
		s.syncFleet()
	}
	for _, s := range fleets {
		s.syncObjects()
	}
	settledOn := func(status *v1alpha1.FleetStatus) bool {
		return status.Phase == v1alpha1.PhaseReady || reasonOf(status) == string(v1alpha1.ReasonStorageScopeConflict)
	}
	var phases []v1alpha1.Phase
	for _, s := range fleets {
		status := s.waitStatus("to have the bucket or not", settledOn)
		phases = append(phases, status.Phase)
		if status.Phase == v1alpha1.PhaseBlocked {
			require.Contains(t, messageOf(status), "bucket s3://"+w.Namespace+" belongs to PersistentFleet "+w.Namespace+"/")
			require.EqualValues(t, 1, s.replicas())
		}
	}
	require.ElementsMatch(t, []v1alpha1.Phase{v1alpha1.PhaseReady, v1alpha1.PhaseBlocked}, phases)
}

// A healer that is told to stop in the middle of an action ends it first.
func TestStopFinishesTheActionInProgress(t *testing.T) {
	t.Parallel()
	var deleting atomic.Bool
	stopping := make(chan struct{})
	s := newReadyFleet(t, 3, oldDisks, func(o *options) {
		o.Client = wrap(o.Client, interceptor.Funcs{
			Delete: func(ctx ctx, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				if _, ok := object.(*corev1.Pod); ok {
					deleting.Store(true)
					<-stopping // the API server takes its time
				}
				return c.Delete(ctx, object, options...)
			},
		})
	})
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending)
	s.passMinutes(11)
	cluster.Wait(t, "the action", func(ctx) (bool, string) { return deleting.Load(), fmt.Sprint(deleting.Load()) })
	stopped := make(chan struct{})
	go func() { s.stop(); close(stopped) }()
	<-s.stopping.Done()
	close(stopping)
	<-stopped
	s.w.WaitReplaced(pods[1])
	require.NotEqual(t, disks[1], s.disks(3)[1])
	require.Empty(t, s.w.WaitReady("my-fleet-1").Finalizers)
}
