// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AddStorageClass makes a class like StorageClass with another name.
func (c *Cluster) AddStorageClass(ctx context.Context, name string) error {
	class := &storagev1.StorageClass{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: StorageClass}, class); err != nil {
		return err
	}
	class.ObjectMeta = metav1.ObjectMeta{Name: name}
	return c.Client.Create(ctx, class)
}

// LoseVolume loses the volume of a claim: a cloud's disk that was deleted
// behind the cluster's back, and whose object somebody removed by force. It
// returns once the claim is Lost, or somebody has replaced it already.
func (w *World) LoseVolume(claim string) {
	w.tb.Helper()
	w.Needs(w.tb, Disks)
	object := w.WaitClaim(claim, corev1.ClaimBound)
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: object.Spec.VolumeName}}
	w.must(w.Client.Delete(w.tb.Context(), volume), "deleting volume "+volume.Name)
	w.patch(volume, map[string]any{"metadata": map[string]any{"finalizers": nil}})
	lost := object.UID
	Wait(w.tb, "claim "+claim+" to be Lost", w.Object(object, func() (bool, string) {
		return object.Status.Phase == corev1.ClaimLost || object.UID != lost, DescribeClaim(object)
	}))
}

// HoldVolumes makes the provisioner slow: new volumes wait until the returned
// function is called.
func (w *World) HoldVolumes() (release func()) {
	w.tb.Helper()
	w.Needs(w.tb, Disks)
	release = w.disks.Hold(w.Namespace)
	w.tb.Cleanup(release)
	return release
}

// FailVolumes makes the provisioner fail: new volumes are refused with a
// message, until the returned function is called.
func (w *World) FailVolumes(message string) (heal func()) {
	w.tb.Helper()
	w.Needs(w.tb, Disks)
	heal = w.disks.Fail(w.Namespace, errors.New(message))
	w.tb.Cleanup(heal)
	return heal
}
