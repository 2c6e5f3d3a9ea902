// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// Whatever goes first, in the end nothing is left but the reservation.
func TestDeletionInAnyOrder(t *testing.T) {
	t.Parallel()
	firsts := map[string]func(s *subject){
		"the fleet":       func(*subject) {},
		"the StatefulSet": func(s *subject) { s.w.Delete(s.set()) },
		"the StatefulSet, leaving its Pods": func(s *subject) {
			set := s.set()
			s.w.Delete(set, client.PropagationPolicy("Orphan"))
			s.w.WaitGone(set)
		},
		"a Pod":   func(s *subject) { s.w.Delete(s.pod(1)) },
		"a claim": func(s *subject) { s.w.Delete(s.claim(1)) },
		"everything else": func(s *subject) {
			s.w.Delete(&policyv1.PodDisruptionBudget{ObjectMeta: s.named("my-fleet")})
			s.w.Delete(&networkingv1.NetworkPolicy{ObjectMeta: s.named("my-fleet")})
			s.w.Delete(&corev1.Service{ObjectMeta: s.named("my-fleet")})
			s.w.Delete(&corev1.Service{ObjectMeta: s.named("my-fleet-peers")})
		},
		"nothing, while paused": func(s *subject) {
			s.maintain(v1alpha1.Maintenance{Paused: true})
			s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
		},
	}
	for name, first := range firsts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRoomyFleet(t, 4, 1)
			s.scale(3) // the claim of a removed member goes too
			s.waitReady()
			first(s)
			s.w.Delete(s.stored())
			s.requireGone(4)
		})
	}
}

// A fleet that is paused from birth can be cleaned up all the same, and no other
// gets its bucket.
func TestFleetPausedFromBirth(t *testing.T) {
	t.Parallel()
	s := newFleet(t, 3)
	s.maintain(v1alpha1.Maintenance{Paused: true})
	s.waitReason(v1alpha1.PhasePaused, v1alpha1.ReasonMaintenancePaused)
	s.w.WaitReady("my-fleet-0") // the one that the StatefulSet begins with
	require.Contains(t, s.stored().GetFinalizers(), v1alpha1.FinalizerFleetCleanup)
	s.waitEvent("BucketReserved")
	s.holds("no member is added", 1)
	s.w.Delete(s.stored())
	s.requireGone(1)
}

// A protected fleet that is deleted stays as it is until its protection goes.
func TestProtectedFleetIsKept(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	s.SetAnnotations(map[string]string{v1alpha1.AnnotationProtect: "true"})
	s.sync()
	s.w.Delete(s.stored())
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonProtected, "remove the annotation to delete the fleet with its disks")
	s.holdsAfter(60, "nothing is taken apart", 3)
	restarted, disks := s.pod(1), s.disks(3)
	s.w.Delete(restarted)
	s.w.WaitReplaced(restarted)
	s.w.WaitReady(restarted.Name)
	require.Equal(t, disks, s.disks(3), "its members live on")

	waitCalm(t, s.w, s.byHealer) // the annotation alone wakes the healer
	unprotect := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1alpha1.AnnotationProtect+`":null}}}`))
	require.NoError(t, s.w.Client.Patch(t.Context(), s.stored(), unprotect))
	s.requireGone(3)
}

// requireGone waits until the fleet, its workload, Pods and claims are gone.
func (s *subject) requireGone(claims int) {
	s.t.Helper()
	s.w.WaitGone(s.empty())
	for ordinal := range claims {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: s.named(render.ClaimName(s.GetName(), ordinal))}
		require.NoError(s.t, client.IgnoreNotFound(s.w.Client.Get(s.t.Context(), client.ObjectKeyFromObject(claim), claim)))
		require.Empty(s.t, claim.UID, "claim %s is left", claim.Name)
	}
	var pods corev1.PodList
	require.NoError(s.t, s.w.Client.List(s.t.Context(), &pods, client.InNamespace(s.GetNamespace())))
	require.Empty(s.t, pods.Items)
	reservation := &v1alpha1.StorageReservation{}
	reservation.Name = render.ReservationName(s.Store().BucketURL())
	s.w.Get(reservation)
	require.Empty(s.t, reservation.DeletionTimestamp)
}

func TestDeletionWithADeadNode(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	pod := s.pod(2)
	s.w.SilenceNode(pod.Spec.NodeName)
	s.w.Delete(s.stored())
	s.waitReason(v1alpha1.PhaseDeleting, v1alpha1.ReasonDraining,
		"StatefulSet my-fleet")
	s.w.WaitPod(pod.Name, "to be told to go", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	s.passMinutes(3)
	s.requireGone(3)
}

func TestDeletionWithAClaimStuckOnAFinalizer(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	claim := s.claim(1)
	claim.Finalizers = append(claim.Finalizers, "example.com/backup")
	require.NoError(t, s.w.Client.Update(t.Context(), claim))
	s.w.Delete(s.stored())
	s.waitStatus("to wait for the claim", func(status *v1alpha1.FleetStatus) bool {
		return reasonOf(status) == string(v1alpha1.ReasonDeletingClaims) &&
			messageOf(status) == "waiting for claims to go: data-my-fleet-1 (finalizers example.com/backup)"
	})
	cluster.Holds(t, settle, "the fleet stays", func(ctx) (bool, string) { return len(s.stored().GetFinalizers()) > 0, "" })
	s.w.Get(claim)
	claim.Finalizers = nil
	require.NoError(t, s.w.Client.Update(t.Context(), claim))
	s.requireGone(3)
}

// A claim at a member's name that lost the identity is not the fleet's to delete.
func TestDeletionLeavesAClaimWithoutTheIdentity(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	claim := s.claim(1)
	claim.Labels = nil
	require.NoError(t, s.w.Client.Update(t.Context(), claim))
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonStorageIdentityConflict, "data-my-fleet-1")
	s.w.Delete(s.stored())
	s.w.WaitGone(s.empty())
	s.w.Get(claim)
	require.Empty(t, claim.DeletionTimestamp)
}
