// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

const zoneLabel = "topology.kubernetes.io/zone"

// CacheOptions limits what the healer watches and keeps: of fleets, reservations and nodes all, of everything else what
// carries a fleet's identity, and of each object what a snapshot needs. No namespaces means all.
func CacheOptions(namespaces []string) (cache.Options, error) {
	ours, err := labels.NewRequirement(v1alpha1.LabelFleetUID, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	all := labels.Everything()
	options := cache.Options{
		DefaultLabelSelector: labels.NewSelector().Add(*ours),
		DefaultTransform:     stripMetadata,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.PersistentFleet{}:     {Label: all},
			&v1alpha1.BucketFleet{}:         {Label: all},
			&v1alpha1.StorageReservation{}:  {Label: all},
			nodeMetadata():                  {Label: all, Transform: strip(stripNode), UnsafeDisableDeepCopy: new(true)},
			&corev1.Pod{}:                   {Transform: strip(stripPod)},
			&corev1.PersistentVolumeClaim{}: {Transform: strip(stripClaim)},
			&appsv1.StatefulSet{}:           {Transform: strip(stripStatefulSet)},
			&appsv1.Deployment{}:            {Transform: strip(stripDeployment)},
		},
	}
	if len(namespaces) > 0 {
		options.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			options.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return options, nil
}

// strip makes a transform of a function; what is of another type, such as a tombstone, passes.
func strip[T any](do func(T)) func(any) (any, error) {
	return func(object any) (any, error) {
		if o, ok := object.(T); ok {
			do(o)
		}
		return object, nil
	}
}

// stripMetadata keeps of metadata what a snapshot needs, for kinds without a function of their own.
func stripMetadata(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
		if _, ours := object.(v1alpha1.Fleet); !ours {
			o.SetAnnotations(nil)
			o.SetLabels(keep(o.GetLabels(), v1alpha1.LabelFleetUID))
		}
	}
	return object, nil
}

// keep returns some keys of a map, nil for none.
func keep(m map[string]string, keys ...string) map[string]string {
	var out map[string]string
	for _, key := range keys {
		if value, ok := m[key]; ok {
			if out == nil {
				out = make(map[string]string, len(keys))
			}
			out[key] = value
		}
	}
	return out
}

func stripNode(n *metav1.PartialObjectMetadata) {
	n.ManagedFields, n.Annotations, n.Labels = nil, nil, keep(n.Labels, zoneLabel)
}

func stripPod(p *corev1.Pod) {
	p.ManagedFields, p.Annotations = nil, keep(p.Annotations, v1alpha1.AnnotationReplacement)
	p.Labels = keep(p.Labels, v1alpha1.LabelFleetUID, appsv1.StatefulSetRevisionLabel)
	p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName, SchedulingGates: p.Spec.SchedulingGates}
	status := corev1.PodStatus{
		Phase: p.Status.Phase, Conditions: p.Status.Conditions, StartTime: p.Status.StartTime,
		InitContainerStatuses: p.Status.InitContainerStatuses, ContainerStatuses: p.Status.ContainerStatuses,
	}
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
		for i, c := range list {
			list[i] = corev1.ContainerStatus{Name: c.Name, State: c.State, RestartCount: c.RestartCount, Ready: c.Ready}
		}
	}
	p.Status = status
}

func stripClaim(c *corev1.PersistentVolumeClaim) {
	c.ManagedFields, c.Labels = nil, keep(c.Labels, v1alpha1.LabelFleetUID)
	c.Annotations = keep(c.Annotations, rules.SelectedNode, v1alpha1.AnnotationKeptByScaleIn)
	c.Spec = corev1.PersistentVolumeClaimSpec{VolumeName: c.Spec.VolumeName}
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase}
}

func stripStatefulSet(s *appsv1.StatefulSet) {
	s.ManagedFields = slices.DeleteFunc(s.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return !rules.Rolls(e) })
	s.Labels, s.Annotations = keep(s.Labels, v1alpha1.LabelFleetUID), keep(s.Annotations, v1alpha1.AnnotationSpecDigest)
	s.Spec = appsv1.StatefulSetSpec{
		Replicas: s.Spec.Replicas, UpdateStrategy: s.Spec.UpdateStrategy,
		Template: stripTemplate(&s.Spec.Template), VolumeClaimTemplates: s.Spec.VolumeClaimTemplates,
	}
}

func stripDeployment(d *appsv1.Deployment) {
	d.ManagedFields, d.Labels, d.Annotations = nil, keep(d.Labels, v1alpha1.LabelFleetUID), keep(d.Annotations, v1alpha1.AnnotationSpecDigest)
	d.Spec = appsv1.DeploymentSpec{Replicas: d.Spec.Replicas, Paused: d.Spec.Paused, Template: stripTemplate(&d.Spec.Template)}
}

// stripTemplate keeps which bucket members write to.
func stripTemplate(t *corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	var out corev1.PodTemplateSpec
	for _, c := range t.Spec.Containers {
		for _, e := range c.Env {
			if c.Name == v1alpha1.ContainerName && e.Name == v1alpha1.EnvBucket {
				out.Spec.Containers = []corev1.Container{{Name: c.Name, Env: []corev1.EnvVar{e}}}
			}
		}
	}
	return out
}

func nodeMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
}

// nodeZones reads zones from the labels of nodes. A node that is gone has none.
func nodeZones(ctx context.Context, reader client.Reader) func(node string) string {
	return func(node string) string {
		object := nodeMetadata()
		if err := reader.Get(ctx, client.ObjectKey{Name: node}, object); err != nil {
			return ""
		}
		return object.Labels[zoneLabel]
	}
}

// zoneNodes lists the nodes of a zone.
func zoneNodes(reader client.Reader) func(ctx context.Context, zone string) ([]string, error) {
	return func(ctx context.Context, zone string) ([]string, error) {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}}
		if err := reader.List(ctx, list, client.MatchingLabels{zoneLabel: zone}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return names, nil
	}
}
