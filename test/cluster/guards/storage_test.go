// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

func TestForeignClaimsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	claim := func(name string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}
	}
	// The watch may be a moment behind the fleet.
	cluster.Wait(t, "a claim at a member's name to be refused", func(ctx ctx) (bool, string) {
		err := f.c.Client.Create(ctx, claim("data-my-fleet-7"), client.DryRunAll)
		return denied(err), errorText(err)
	})
	err := f.c.Client.Create(t.Context(), claim("data-my-fleet-7"))
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "the name is that of a member's claim of PersistentFleet")
	require.NoError(t, f.c.Client.Create(t.Context(), claim("data-postgres-0")))

	moved := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"celld.eric.dev/fleet-uid":"`+render.Identity(f.Fleet)+`"}}}`))
	err = f.c.Client.Patch(t.Context(), claim("data-postgres-0"), moved)
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "the disk would become that of PersistentFleet")

	// The name may be there before the fleet's workload is.
	g := inNamespace(t, f.c, newNamespace(t, f.c))
	early := claim("data-my-fleet-2")
	early.Namespace = g.GetNamespace()
	require.NoError(t, g.c.Client.Create(t.Context(), early))
	objects := g.rendered()
	require.NoError(t, g.apply(objects[0]))
	err = g.apply(objects[1])
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "StorageIdentityConflict: claim data-my-fleet-2 is at a member's name and has no identity")
}

// Deleting all of a kind at once is judged object by object.
func TestDeletingACollectionIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	require.NoError(t, client.IgnoreAlreadyExists(f.c.Client.Create(t.Context(), f.claim(0))))
	err := f.c.Client.DeleteAllOf(t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace(f.GetNamespace()))
	require.True(t, denied(err), "%v", err)
	err = f.c.Client.DeleteAllOf(t.Context(), &appsv1.StatefulSet{}, client.InNamespace(f.GetNamespace()))
	require.True(t, denied(err), "%v", err)
}

func TestSecondFleetOnTheBucketIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	second := inNamespace(t, f.c, newNamespace(t, f.c), func(g *v1alpha1.PersistentFleet) { g.Spec.Storage.Bucket = f.Store().Bucket })
	objects := second.rendered()
	// The watch may be a moment behind the first fleet.
	cluster.Wait(t, "the second fleet to be refused", func(ctx) (bool, string) {
		err := second.apply(objects[0], client.DryRunAll)
		return denied(err) && strings.Contains(err.Error(), "uses the bucket already"), errorText(err)
	})
	err := second.apply(objects[1])
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "spec.template: PersistentFleet "+f.GetNamespace()+"/my-fleet uses the bucket already")

	third := inNamespace(t, f.c, newNamespace(t, f.c))
	require.NoError(t, f.c.Client.Create(t.Context(),
		reservation(render.ReservationName(third.Store().BucketURL()), third.Store().Bucket, identity)))
	cluster.Wait(t, "the fleet on a reserved bucket to be refused", func(ctx) (bool, string) {
		err := third.apply(third.rendered()[0], client.DryRunAll)
		return denied(err) && strings.Contains(err.Error(), "belongs to PersistentFleet elsewhere/first"), errorText(err)
	})
}

// Two fleets that want one bucket at the same instant may both be admitted. At
// most one of them gets a workload: who was created later, or comes later in
// the alphabet, is refused it, and in the end the reservation decides.
func TestTwoFleetsAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	bucket := "s3://" + newNamespace(t, c)
	var both []*fleet
	for range 2 {
		both = append(both, inNamespace(t, c, newNamespace(t, c), func(f *v1alpha1.PersistentFleet) { f.Spec.Storage.Bucket = bucket }))
	}
	var done sync.WaitGroup
	for _, f := range both {
		object := f.rendered()[0]
		done.Go(func() { _ = f.apply(object) })
	}
	done.Wait()
	cluster.Wait(t, "one of two to be refused a workload", func(ctx) (bool, string) {
		var admitted []string
		for _, f := range both {
			err := f.apply(f.rendered()[1], client.DryRunAll)
			if err == nil {
				admitted = append(admitted, f.GetNamespace())
			}
		}
		return len(admitted) == 1, "admitted: " + strings.Join(admitted, " ")
	})
	for _, f := range both {
		fleet := f.rendered()[0]
		if err := f.c.Client.Get(t.Context(), client.ObjectKeyFromObject(fleet), fleet.DeepCopy()); err != nil {
			require.True(t, apierrors.IsNotFound(err), "%v", err)
			continue
		}
		f.Shared().Maintenance.Paused = true
		require.NoError(t, f.apply(f.rendered()[0]), "whoever lost can be paused")
	}
}
