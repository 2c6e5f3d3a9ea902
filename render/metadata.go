// SPDX-License-Identifier: Apache-2.0

package render

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// labels are on every object and on the Pod template.
func (p *plan) labels() map[string]string {
	return map[string]string{
		v1alpha1.LabelFleetUID:  p.identity,
		v1alpha1.LabelFleet:     p.name,
		v1alpha1.LabelAppName:   v1alpha1.AppName,
		v1alpha1.LabelManagedBy: v1alpha1.ManagedBy,
	}
}

// selector selects by identity alone: names can be taken over, and some sync tools overwrite well-known labels.
func (p *plan) selector() map[string]string {
	return map[string]string{v1alpha1.LabelFleetUID: p.identity}
}

func (p *plan) labelSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: p.selector()}
}

func (p *plan) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: p.ns, Labels: p.labels()}
}

// workloadMeta adds the digest of the spec, which tells the healer whether the sync tool has caught up.
func (p *plan) workloadMeta() metav1.ObjectMeta {
	m := p.meta(p.name)
	m.Annotations = map[string]string{v1alpha1.AnnotationSpecDigest: specDigest(p.arena, p.fleet)}
	return m
}

func typeMeta(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

// metaOf returns the metadata of an object that this package made; every one has some.
func metaOf(o runtime.Object) metav1.Object {
	return o.(metav1.Object) //nolint:forcetypeassert // each kind here embeds ObjectMeta
}

func ptrTo[T any](v T) *T { return &v }
