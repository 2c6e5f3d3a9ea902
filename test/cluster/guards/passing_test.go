// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// orders is how many orders of a fleet's objects are tried, each from a seed
// of its own.
const orders = 12

func shuffled(objects []*unstructured.Unstructured, seed uint64) []*unstructured.Unstructured {
	objects = slices.Clone(objects)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	return objects
}

// A first sync passes in any order of objects, and a second one changes
// nothing.
func TestFirstSyncInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(orders) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, routed)
			for range 2 {
				for _, object := range shuffled(f.rendered(), seed) {
					require.NoError(t, f.apply(object, client.DryRunAll))
					require.NoError(t, f.apply(object), "%s %s", object.GetKind(), object.GetName())
				}
			}
			f.sync()
		})
	}
}

// Whatever order somebody deletes in, and however often it is refused at
// first, nothing is left in the end but the reservation.
func TestDeletionInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(orders) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, routed, func(f *v1alpha1.PersistentFleet) { f.Finalizers = []string{v1alpha1.FinalizerFleetCleanup} })
			f.sync()
			objects := f.rendered()
			for ordinal := range 3 {
				claim := f.claim(ordinal)
				require.NoError(t, client.IgnoreAlreadyExists(f.c.Client.Create(t.Context(), claim)))
				objects = append(objects, f.named("v1", "PersistentVolumeClaim", claim.Name))
			}
			left := shuffled(objects, seed)
			for round := 0; len(left) > 0; round++ {
				require.Less(t, round, 3, "what is left is refused for ever: %v", left)
				left = slices.DeleteFunc(left, func(o *unstructured.Unstructured) bool {
					err := f.c.Client.Delete(t.Context(), o)
					require.True(t, err == nil || denied(err), "%v", err)
					return err == nil
				})
			}
			// The healer takes its finalizer off, although the fleet's references are gone.
			f.releaseFleet()
			for _, object := range objects {
				cluster.Wait(t, object.GetKind()+" "+object.GetName()+" to be gone", f.c.Gone(object))
			}
		})
	}
}

func (f *fleet) claim(ordinal int) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.GetNamespace(), Name: render.ClaimName(f.GetName(), ordinal),
		Labels: map[string]string{v1alpha1.LabelFleetUID: render.Identity(f.Fleet)},
	}}
	objects, err := render.Render(f.Fleet, render.Options{})
	require.NoError(f.t, err)
	claim.Spec = objects[1].Typed.(*appsv1.StatefulSet).Spec.VolumeClaimTemplates[0].Spec
	return claim
}

func (f *fleet) releaseFleet() {
	f.t.Helper()
	gone := f.named(v1alpha1.GroupVersion.String(), f.Kind(), f.GetName())
	err := f.healer.Patch(f.t.Context(), gone, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	require.NoError(f.t, client.IgnoreNotFound(err))
}

// A namespace with a fleet that runs ends, although nobody heals it.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	w := newCluster(t).World(t)
	f := inNamespace(t, w.Cluster, newNamespace(t, w.Cluster), func(f *v1alpha1.PersistentFleet) { f.Spec.Placement.Zones = w.Zones })
	f.run()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.GetNamespace()}}
	require.NoError(t, f.c.Client.Delete(t.Context(), namespace))
	cluster.Wait(t, "the namespace to be gone", f.c.Gone(namespace))
}

// Nobody gives a member's disk an owner. When it got one while the webhook was
// away, what the garbage collector deletes is deleted.
func TestGarbageCollector(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: "owner"}}
	require.NoError(t, f.c.Client.Create(t.Context(), owner))
	claim := f.claim(0)
	require.NoError(t, client.IgnoreAlreadyExists(f.c.Client.Create(t.Context(), claim.DeepCopy())))
	give := patch("pvc/"+claim.Name,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+string(owner.UID)+`"}]}}`)
	said, err := f.kubectl("", give...)
	require.Error(t, err)
	require.Contains(t, said, "metadata.ownerReferences: an owner (ConfigMap owner "+string(owner.UID)+
		") would take the disk of my-fleet-0, a member of PersistentFleet "+f.GetNamespace()+"/my-fleet, with it: remove the reference")
	owned := f.claim(7)
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}}
	cluster.Wait(t, "a new disk with an owner to be refused", func(ctx ctx) (bool, string) { // once the fleet is seen
		err := f.c.Client.Create(ctx, owned.DeepCopy(), client.DryRunAll)
		return denied(err) && strings.Contains(err.Error(), "would take the disk of my-fleet-7"), errorText(err)
	})

	f.guarded(false)
	said, err = f.kubectl("", give...)
	require.NoError(t, err, said)
	f.guarded(true)
	said, err = f.kubectl("", "label", "pvc/"+claim.Name, "team=a") // an owner that is there stays
	require.NoError(t, err, said)
	require.True(t, denied(f.c.Client.Delete(t.Context(), claim.DeepCopy())))
	require.NoError(t, f.c.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	old := claim.UID
	require.NoError(t, f.c.Client.Delete(t.Context(), owner))
	// The StatefulSet controller makes another.
	cluster.Wait(t, "the garbage collector to delete the claim", func(ctx ctx) (bool, string) {
		err := f.c.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return apierrors.IsNotFound(err) || claim.UID != old, errorText(err)
	})
}

// Dry runs and diffs are answered, and show no difference after a sync.
func TestDryRunAndDiff(t *testing.T) {
	t.Parallel()
	f := newFleet(t, routed)
	objects, err := render.Render(f.Fleet, render.Options{})
	require.NoError(t, err)
	manifest := string(objects.AppendYAML(nil))
	said, err := f.kubectl(manifest, "apply", "--server-side", "--dry-run=server", "-f", "-")
	require.NoError(t, err, said)
	said, err = f.kubectl(manifest, "apply", "--server-side", "-f", "-")
	require.NoError(t, err, said)
	// It also shows a status that changes between its two reads.
	cluster.Wait(t, "a diff without a difference", func(ctx) (bool, string) {
		said, err := f.kubectl(manifest, "diff", "--server-side", "-f", "-")
		return err == nil && said == "", said
	})
}

// Status and scale of the fleet pass, within what its zones can hold, and so does
// what controllers write.
func TestSubresourcesPass(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	for _, args := range [][]string{
		{"scale", "pfleet/my-fleet", "--replicas=3"},
		{"patch", "pfleet/my-fleet", "--subresource=status", "--type=merge", "-p", `{"status":{"phase":"Ready","desiredReplicas":4}}`},
		{"patch", "statefulset/my-fleet", "--subresource=status", "--type=merge", "-p", `{"status":{"replicas":1,"conditions":[]}}`},
		{"patch", "pfleet/my-fleet", "--type=merge", "-p", `{"metadata":{"finalizers":["celld.eric.dev/fleet-cleanup"]}}`},
		{"patch", "pfleet/my-fleet", "--type=merge", "-p", `{"metadata":{"finalizers":[]}}`},
	} {
		said, err := f.kubectl("", args...)
		require.NoError(t, err, said)
	}
}

// seed is the order in which a backup is restored.
var seed = flag.Uint64("seed", 0, "restore a backup in the order of this seed; 0 takes another each time")

// A fleet comes back from a backup as it was, in any order: disks with their
// label, the reservation, the workload with its count. The workload may have
// to wait for the disks.
func TestRestoreOfABackup(t *testing.T) {
	t.Parallel()
	order := *seed
	if order == 0 {
		order = rand.Uint64()
	}
	t.Logf("the order is that of -seed %d", order)
	f := newLive(t, routedByIngress)
	var backup []*unstructured.Unstructured
	for _, kind := range [][2]string{ // the fleet first
		{v1alpha1.GroupVersion.String(), "PersistentFleet"}, {"v1", "PersistentVolumeClaim"}, {"apps/v1", "StatefulSet"}, {"policy/v1", "PodDisruptionBudget"},
		{"networking.k8s.io/v1", "NetworkPolicy"}, {"networking.k8s.io/v1", "Ingress"}, {"v1", "Service"},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(kind[0])
		list.SetKind(kind[1] + "List")
		require.NoError(t, f.c.Client.List(t.Context(), list, client.InNamespace(f.GetNamespace())))
		require.NotEmpty(t, list.Items, kind)
		for i := range list.Items {
			backup = append(backup, &list.Items[i])
		}
	}

	// The disaster: everything is deleted, properly.
	for _, object := range backup {
		require.NoError(t, f.c.Client.Delete(t.Context(), object.DeepCopy()), object.GetKind())
	}
	for _, object := range backup {
		cluster.Wait(t, object.GetKind()+" "+object.GetName()+" to be gone", f.c.Gone(object.DeepCopy()))
	}
	for ordinal := range 3 {
		cluster.Wait(t, "the members to be gone", f.c.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: render.PodName(f.GetName(), ordinal)}}))
	}

	// Another cluster has no reservation, and its backup holds one.
	left := shuffled(append(backup, f.reservation()), order)
	for round := 0; len(left) > 0; round++ {
		require.Less(t, round, 2, "what is left is refused for ever: %v", left)
		left = slices.DeleteFunc(left, func(o *unstructured.Unstructured) bool {
			err := f.c.Client.Create(t.Context(), restorable(o))
			require.True(t, err == nil || denied(err) && o.GetKind() == "StatefulSet", "%s: %v", o.GetKind(), err)
			return err == nil
		})
	}
	f.waitReady(3)
	f.sync()
}

// restorable is what a restore creates: without what the server allocates.
func restorable(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "finalizers"} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	delete(u.Object, "status")
	if u.GetKind() == "PersistentVolumeClaim" {
		unstructured.RemoveNestedField(u.Object, "spec", "volumeName")
		u.SetAnnotations(nil)
	}
	return u
}

func (f *fleet) reservation() *unstructured.Unstructured {
	return reservation(render.ReservationName(f.Store().BucketURL()), f.Store().Bucket, render.Identity(f.Fleet))
}

// Warnings reach whoever makes the change.
func TestWarnings(t *testing.T) {
	t.Parallel()
	f := newLive(t)
	said, err := f.kubectl("", patch("pfleet/my-fleet", `{"spec":{"placement":{"zones":["`+f.Shared().Placement.Zones[0]+`"],"maxPerZone":3},"replicas":2}}`)...)
	require.NoError(t, err, said)
	require.Contains(t, said, "Warning: spec.placement: moves members with a disk in "+f.Shared().Placement.Zones[1])
	require.Contains(t, said, "Warning: spec.replicas: 3 members are ready; those from my-fleet-2 on stop one at a time")

	cache := newBucketFleet(t, f.c)
	cache.sync()
	said, err = cache.kubectl("", patch("bfleet/cache", `{"spec":{"runtimeImage":"registry.test/other`+digest+`"}}`)...)
	require.NoError(t, err, said)
	require.Contains(t, said, "Warning: spec.runtimeImage: 1 of 1 members are not ready")
}
