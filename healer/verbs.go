// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// FieldManager owns spec.replicas of the workloads.
const FieldManager = "fleetwright-healer"

// verbs is the only door through which the healer changes the cluster. Every change names the UID of what it changes, and
// the resourceVersion where what was judged must not have changed since.
type verbs struct {
	client client.Client
}

// patchFleet replaces the finalizers of a fleet as it was judged.
func (v verbs) patchFleet(ctx context.Context, f v1alpha1.Fleet, finalizers []string) (metav1.Object, error) {
	body := map[string]any{"metadata": map[string]any{
		"uid": f.GetUID(), "resourceVersion": f.GetResourceVersion(), "finalizers": finalizers,
	}}
	object := f.DeepCopyObject().(v1alpha1.Fleet) //nolint:forcetypeassert // a copy of a Fleet is a Fleet
	return object, v.patch(ctx, object, types.MergePatchType, body)
}

// createReservation makes a bucket the fleet's. AlreadyExists means that another was faster.
func (v verbs) createReservation(ctx context.Context, f v1alpha1.Fleet, values Fleet) (metav1.Object, error) {
	r := &v1alpha1.StorageReservation{
		ObjectMeta: metav1.ObjectMeta{Name: values.ReservationName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}},
		Spec: v1alpha1.StorageReservationSpec{
			Bucket: values.Bucket, Identity: values.Identity,
			Fleet: v1alpha1.FleetReference{Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName()},
		},
	}
	return r, v.client.Create(ctx, r, client.FieldOwner(FieldManager))
}

// scale applies the replica count, and nothing else, to the workload that was judged. It can never create one.
func (v verbs) scale(ctx context.Context, target Ref, replicas int) (metav1.Object, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": appsv1.SchemeGroupVersion.String(), "kind": target.Kind,
		"metadata": map[string]any{
			"name": target.Name, "namespace": target.Namespace, "uid": target.UID, "resourceVersion": target.ResourceVersion,
		},
		"spec": map[string]any{"replicas": int64(replicas)},
	}}
	err := v.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(FieldManager), client.ForceOwnership)
	return object, err
}

// patchPod changes metadata or the scheduling of a Pod.
func (v verbs) patchPod(ctx context.Context, target Ref, body map[string]any) (metav1.Object, error) {
	pod := &corev1.Pod{ObjectMeta: named(target)}
	return pod, v.patch(ctx, pod, types.StrategicMergePatchType, body)
}

// deletePod deletes a Pod; without grace if the kubelet does not answer.
func (v verbs) deletePod(ctx context.Context, target Ref, options ...client.DeleteOption) error {
	return v.delete(ctx, &corev1.Pod{ObjectMeta: named(target)}, target, options...)
}

// deleteClaim deletes a claim.
func (v verbs) deleteClaim(ctx context.Context, target Ref) error {
	return v.delete(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: named(target)}, target)
}

// deleteWorkload deletes a workload in the foreground: it stays until its Pods are gone.
func (v verbs) deleteWorkload(ctx context.Context, target Ref) error {
	var object client.Object = &appsv1.StatefulSet{ObjectMeta: named(target)}
	if target.Kind == kindDeployment {
		object = &appsv1.Deployment{ObjectMeta: named(target)}
	}
	return v.delete(ctx, object, target, client.PropagationPolicy(metav1.DeletePropagationForeground))
}

func (v verbs) delete(ctx context.Context, object client.Object, target Ref, options ...client.DeleteOption) error {
	if target.UID == "" || target.ResourceVersion == "" {
		return fmt.Errorf("deleting %s %s: neither UID nor resourceVersion may be empty", target.Kind, target.Name)
	}
	uid := types.UID(target.UID)
	return v.client.Delete(ctx, object, append(options, client.Preconditions{UID: &uid, ResourceVersion: &target.ResourceVersion})...)
}

func (v verbs) patch(ctx context.Context, object client.Object, as types.PatchType, body map[string]any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return v.client.Patch(ctx, object, client.RawPatch(as, raw), client.FieldOwner(FieldManager))
}

func named(target Ref) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: target.Namespace, Name: target.Name}
}

// changed reports whether an error says that the cluster is not as it was judged: the next look decides anew.
func changed(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}
