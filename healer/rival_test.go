// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// Two fleets of both kinds, of one name and bucket and so of one identity, came while no webhook was there. The second one is
// blocked, touches nothing, and goes without taking anything of the first along.
func TestFleetOfTheSameIdentity(t *testing.T) {
	w := newWorld(t)
	first := &v1alpha1.BucketFleet{}
	require.NoError(t, yaml.Unmarshal([]byte(simFleet), first))
	first.Spec.Workload = v1alpha1.WorkloadOrdered
	w.add(first)
	w.sync("kind: BucketFleet")
	bucket := first.Store().BucketURL()
	w.add(&v1alpha1.StorageReservation{
		ObjectMeta: metav1.ObjectMeta{Name: render.ReservationName(bucket)},
		Spec: v1alpha1.StorageReservationSpec{Bucket: bucket.String(), Identity: render.Identity(first), Fleet: v1alpha1.FleetReference{
			Kind: v1alpha1.KindBucketFleet, Namespace: simNamespace, Name: first.Name,
		}},
	})
	set := w.set()
	require.NotNil(t, set)

	second := &v1alpha1.PersistentFleet{}
	require.NoError(t, yaml.Unmarshal([]byte(simFleet), second))
	second.Spec.Storage.StorageClassName = "ebs-delete"
	require.Equal(t, render.Identity(first), render.Identity(second))
	second.Finalizers = []string{v1alpha1.FinalizerFleetCleanup}
	w.add(second)
	look := func() {
		_, err := w.healer.Reconcile(w.ctx, Request{Kind: v1alpha1.KindPersistentFleet, NamespacedName: simRequest})
		require.NoError(t, err)
	}
	look()
	require.True(t, w.get(second, second.Name))
	require.Equal(t, v1alpha1.PhaseBlocked, second.Status.Phase)
	require.Equal(t, v1alpha1.ReasonStorageScopeConflict, reasonOf(&second.Status))

	require.NoError(t, w.api.Delete(t.Context(), second))
	look()
	require.False(t, w.get(second, second.Name), w.trace.String())
	require.Equal(t, set, w.set())

	// Nor does the one that the bucket is reserved for.
	second.ResourceVersion, second.DeletionTimestamp, second.Status = "", nil, v1alpha1.FleetStatus{}
	second.Finalizers = []string{v1alpha1.FinalizerFleetCleanup}
	w.add(second)
	first.Finalizers = []string{v1alpha1.FinalizerFleetCleanup}
	w.update(first)
	require.NoError(t, w.api.Delete(t.Context(), first))
	_, err := w.healer.Reconcile(w.ctx, Request{Kind: v1alpha1.KindBucketFleet, NamespacedName: simRequest})
	require.NoError(t, err)
	require.False(t, w.get(first, first.Name), w.trace.String())
	require.Equal(t, set, w.set())

	// When both go, one of them takes along what they share.
	first.ResourceVersion, first.DeletionTimestamp = "", nil
	first.Finalizers = []string{v1alpha1.FinalizerFleetCleanup}
	w.add(first)
	require.NoError(t, w.api.Delete(t.Context(), first))
	require.True(t, w.get(second, second.Name))
	require.NoError(t, w.api.Delete(t.Context(), second))
	_, err = w.healer.Reconcile(w.ctx, Request{Kind: v1alpha1.KindBucketFleet, NamespacedName: simRequest})
	require.NoError(t, err)
	require.False(t, w.get(first, first.Name))
	require.Equal(t, set, w.set())
	w.settle(time.Hour)
	require.False(t, w.get(second, second.Name), w.trace.String())
	require.Nil(t, w.set())
	second.ResourceVersion, second.DeletionTimestamp, second.Status = "", nil, v1alpha1.FleetStatus{}
	w.add(second)
	w.sync("")

	// A fleet that was renamed has the identity of one that is gone, and the bucket with it.
	look()
	require.True(t, w.get(second, second.Name))
	require.NotEqual(t, v1alpha1.ReasonStorageScopeConflict, reasonOf(&second.Status))
}

// A fleet of the other kind that has the name, and another identity, is somebody else's: it keeps nothing of this fleet.
func TestNamesakeOfAnotherIdentity(t *testing.T) {
	w := newWorld(t)
	w.started("kind: PersistentFleet")
	fleet := w.fleet()
	namesake := &v1alpha1.BucketFleet{}
	require.NoError(t, yaml.Unmarshal([]byte(simFleet), namesake))
	namesake.Spec.Identity = "3d594650-3436-4f0f-9c3f-1a1a1a1a1a1a"
	w.add(namesake)
	require.NoError(t, w.api.Delete(t.Context(), fleet))
	_, err := w.healer.Reconcile(w.ctx, Request{Kind: v1alpha1.KindPersistentFleet, NamespacedName: simRequest})
	require.NoError(t, err)
	require.NotNil(t, w.set().DeletionTimestamp, w.trace.String())
}

// The bucket's reservation names another fleet of the same identity.
func TestOwnerOfTheReservation(t *testing.T) {
	for name, tc := range map[string]struct {
		identity string // of the owner as it is now; empty for this fleet's
		deleted  bool
		blocked  bool
	}{
		"is there":                     {blocked: true},
		"is there, and is going":       {deleted: true, blocked: true}, // its members write until they are gone
		"is another fleet by now":      {identity: "3d594650-3436-4f0f-9c3f-1a1a1a1a1a1a"},
		"is another one, and is going": {identity: "3d594650-3436-4f0f-9c3f-1a1a1a1a1a1a", deleted: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fleet := &v1alpha1.PersistentFleet{}
			require.NoError(t, yaml.Unmarshal([]byte(simFleet), fleet))
			fleet.Spec.Storage.StorageClassName = "ebs-delete"
			identity := render.Identity(fleet)
			owner := fleet.DeepCopy()
			owner.Name, owner.Finalizers = "owner", []string{v1alpha1.FinalizerFleetCleanup}
			owner.Spec.Identity = identity
			if tc.identity != "" {
				owner.Spec.Identity = tc.identity
			}
			bucket := fleet.Store().BucketURL()
			w.add(&v1alpha1.StorageReservation{
				ObjectMeta: metav1.ObjectMeta{Name: render.ReservationName(bucket)},
				Spec: v1alpha1.StorageReservationSpec{Bucket: bucket.String(), Identity: identity, Fleet: v1alpha1.FleetReference{
					Kind: v1alpha1.KindPersistentFleet, Namespace: simNamespace, Name: owner.Name,
				}},
			})
			w.add(owner)
			if tc.deleted {
				require.NoError(t, w.api.Delete(t.Context(), owner))
			}
			fleet.Finalizers = []string{v1alpha1.FinalizerFleetCleanup}
			w.add(fleet)
			_, err := w.healer.Reconcile(w.ctx, Request{Kind: v1alpha1.KindPersistentFleet, NamespacedName: simRequest})
			require.NoError(t, err)
			require.True(t, w.get(fleet, fleet.Name))
			require.Equal(t, tc.blocked, reasonOf(&fleet.Status) == v1alpha1.ReasonStorageScopeConflict, reasonOf(&fleet.Status))
		})
	}
}
