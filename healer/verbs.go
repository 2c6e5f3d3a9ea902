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
	"github.com/fleetwright/fleetwright/healer/rules"
)

// FieldManager owns spec.replicas of the workloads.
const FieldManager = "fleetwright-healer"

// verbs are those of a client.
type verbs struct{ client client.Client }

var _ Verbs = verbs{}

func (v verbs) PatchFleet(ctx context.Context, f v1alpha1.Fleet, finalizers []string) (string, error) {
	body := map[string]any{"metadata": map[string]any{
		"uid": f.GetUID(), "resourceVersion": f.GetResourceVersion(), "finalizers": finalizers,
	}}
	object := f.DeepCopyObject().(v1alpha1.Fleet)
	return v.patch(ctx, object, types.MergePatchType, body)
}

func (v verbs) CreateReservation(ctx context.Context, f v1alpha1.Fleet, values rules.Fleet) (string, error) {
	r := &v1alpha1.StorageReservation{
		ObjectMeta: metav1.ObjectMeta{Name: values.ReservationName, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}},
		Spec: v1alpha1.StorageReservationSpec{
			Bucket: values.Bucket, Identity: values.Identity,
			Fleet: v1alpha1.FleetReference{Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName()},
		},
	}
	err := v.client.Create(ctx, r, client.FieldOwner(FieldManager))
	return r.ResourceVersion, err
}

func (v verbs) Scale(ctx context.Context, target rules.Ref, replicas int) (string, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": appsv1.SchemeGroupVersion.String(), "kind": target.Kind,
		"metadata": map[string]any{
			"name": target.Name, "namespace": target.Namespace, "uid": target.UID, "resourceVersion": target.ResourceVersion,
		},
		"spec": map[string]any{"replicas": int64(replicas)},
	}}
	err := v.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(FieldManager), client.ForceOwnership)
	return object.GetResourceVersion(), err
}

func (v verbs) PatchPod(ctx context.Context, target rules.Ref, body map[string]any) (string, error) {
	return v.patch(ctx, &corev1.Pod{ObjectMeta: named(target)}, types.StrategicMergePatchType, body)
}

func (v verbs) DeletePod(ctx context.Context, target rules.Ref, force bool) error {
	if force {
		return v.delete(ctx, target, client.GracePeriodSeconds(0))
	}
	return v.delete(ctx, target)
}

func (v verbs) PatchClaim(ctx context.Context, target rules.Ref, annotations map[string]any) (string, error) {
	body := map[string]any{"metadata": map[string]any{
		"uid": target.UID, "resourceVersion": target.ResourceVersion, "annotations": annotations,
	}}
	return v.patch(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: named(target)}, types.MergePatchType, body)
}

func (v verbs) DeleteClaim(ctx context.Context, target rules.Ref, dryRun bool) error {
	if dryRun {
		return v.delete(ctx, target, client.DryRunAll)
	}
	return v.delete(ctx, target)
}

func (v verbs) DeleteWorkload(ctx context.Context, target rules.Ref) error {
	return v.delete(ctx, target, client.PropagationPolicy(metav1.DeletePropagationForeground))
}

func (v verbs) delete(ctx context.Context, target rules.Ref, options ...client.DeleteOption) error {
	if target.UID == "" || target.ResourceVersion == "" {
		return fmt.Errorf("deleting %s %s: neither UID nor resourceVersion may be empty", target.Kind, target.Name)
	}
	object, err := newObject(target.Kind)
	if err != nil {
		return err
	}
	object.SetNamespace(target.Namespace)
	object.SetName(target.Name)
	uid := types.UID(target.UID)
	return v.client.Delete(ctx, object, append(options, client.Preconditions{UID: &uid, ResourceVersion: &target.ResourceVersion})...)
}

func (v verbs) patch(ctx context.Context, object client.Object, as types.PatchType, body map[string]any) (string, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	err = v.client.Patch(ctx, object, client.RawPatch(as, raw), client.FieldOwner(FieldManager))
	return object.GetResourceVersion(), err
}

func named(target rules.Ref) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: target.Namespace, Name: target.Name}
}

// changed reports whether an error says that the cluster is not as it was judged: the next look decides anew.
func changed(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}
