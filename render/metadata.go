// SPDX-License-Identifier: Apache-2.0

package render

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// labels are on every object and on the Pod template.
func (b *builder) labels() map[string]string {
	return map[string]string{
		v1alpha1.LabelFleetUID:  b.identity,
		v1alpha1.LabelFleet:     b.name,
		v1alpha1.LabelAppName:   v1alpha1.AppName,
		v1alpha1.LabelManagedBy: v1alpha1.ManagedBy,
	}
}

// selector selects by identity alone: names can be taken over, and some sync tools overwrite well-known labels.
func (b *builder) selector() map[string]string {
	return map[string]string{v1alpha1.LabelFleetUID: b.identity}
}

func (b *builder) labelSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: b.selector()}
}

func (b *builder) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: b.ns, Labels: b.labels()}
}

// workloadMeta adds the digest of the spec, which tells the healer whether the sync tool has caught up.
func (b *builder) workloadMeta() metav1.ObjectMeta {
	m := b.meta(b.name)
	m.Annotations = map[string]string{v1alpha1.AnnotationSpecDigest: specDigest(b.arena, b.fleet)}
	return m
}

func typeMeta(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

func ptrTo[T any](v T) *T { return &v }
