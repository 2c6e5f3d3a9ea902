// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// objects reads through a client: the caches, or the API server.
type objects struct{ client.Reader }

var _ rules.Objects = objects{}

// Get returns false for an object that is not there.
func (o objects) Get(ctx context.Context, kind, namespace, name string) (rules.Object, bool, error) {
	object, err := newObject(kind)
	if err != nil {
		return nil, false, err
	}
	err = o.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	if unserved(err) {
		return nil, false, fmt.Errorf("%w: %s", rules.ErrNotServed, kind)
	}
	found, err := exists(err)
	return object, found, err
}

// unserved reports whether an error says that the cluster does not know a kind: its definition is missing.
func unserved(err error) bool {
	var status apierrors.APIStatus
	return meta.IsNoMatchError(err) ||
		apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == ""
}

// List returns Pods or claims with an identity. Those of caches are not copied: a snapshot takes values of them and is done.
func (o objects) List(ctx context.Context, kind, namespace, identity string) ([]rules.Object, error) {
	which := []client.ListOption{
		client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelFleetUID: identity}, client.UnsafeDisableDeepCopy,
	}
	switch kind {
	case rules.KindPod:
		var list corev1.PodList
		err := o.Reader.List(ctx, &list, which...)
		return pointers(list.Items, func(p *corev1.Pod) rules.Object { return p }), err
	case rules.KindClaim:
		var list corev1.PersistentVolumeClaimList
		err := o.Reader.List(ctx, &list, which...)
		return pointers(list.Items, func(c *corev1.PersistentVolumeClaim) rules.Object { return c }), err
	default:
		return nil, fmt.Errorf("%s is not listed", kind)
	}
}

func pointers[T any](items []T, object func(*T) rules.Object) []rules.Object {
	out := make([]rules.Object, len(items))
	for i := range items {
		out[i] = object(&items[i])
	}
	return out
}

// newObject returns an empty object of a kind. Of what the healer reads the metadata of alone, it holds no more.
func newObject(kind string) (client.Object, error) {
	if fleet := v1alpha1.NewFleet(kind); fleet != nil {
		return fleet, nil
	}
	switch kind {
	case v1alpha1.KindStorageReservation:
		return &v1alpha1.StorageReservation{}, nil
	case rules.KindStatefulSet:
		return &appsv1.StatefulSet{}, nil
	case rules.KindDeployment:
		return &appsv1.Deployment{}, nil
	case rules.KindClaim:
		return &corev1.PersistentVolumeClaim{}, nil
	case rules.KindVolume:
		return &corev1.PersistentVolume{}, nil
	case rules.KindPod:
		return &corev1.Pod{}, nil
	case rules.KindHTTPRoute:
		return &gatewayv1.HTTPRoute{}, nil
	case rules.KindIngress:
		return &networkingv1.Ingress{}, nil
	case rules.KindControllerRevision:
		return &appsv1.ControllerRevision{}, nil
	case rules.KindNamespace:
		return metadata(corev1.SchemeGroupVersion, kind), nil
	case rules.KindBudget:
		return metadata(policyv1.SchemeGroupVersion, kind), nil
	case rules.KindNetworkPolicy:
		return metadata(networkingv1.SchemeGroupVersion, kind), nil
	case rules.KindService:
		return metadata(corev1.SchemeGroupVersion, kind), nil
	default:
		return nil, fmt.Errorf("%q is no kind that the healer reads", kind)
	}
}

func metadata(gv schema.GroupVersion, kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: gv.String(), Kind: kind}}
}

// getFleet returns nil for a fleet that is not there.
func getFleet(ctx context.Context, reader client.Reader, request Request) (v1alpha1.Fleet, error) {
	fleet := v1alpha1.NewFleet(request.Kind)
	if fleet == nil {
		return nil, fmt.Errorf("no fleet is a %q", request.Kind)
	}
	found, err := exists(reader.Get(ctx, request.NamespacedName, fleet))
	if !found {
		return nil, err
	}
	return fleet, nil
}

func exists(err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
