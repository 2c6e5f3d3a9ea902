// SPDX-License-Identifier: Apache-2.0

package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const (
	// revisionHistory is the API server's default, written out.
	revisionHistory = 10
	// progressDeadlineSeconds is the API server's default, written out.
	progressDeadlineSeconds = 600
)

// statefulSet has no replicas: the healer owns them, and a count in Git would undo its work.
func (b *builder) statefulSet() *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		TypeMeta:   typeMeta("apps/v1", "StatefulSet"),
		ObjectMeta: b.workloadMeta(),
		Spec: appsv1.StatefulSetSpec{
			Selector:             b.labelSelector(),
			Template:             b.podTemplate(),
			ServiceName:          PeerServiceName(b.name),
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			UpdateStrategy:       b.updateStrategy(),
			RevisionHistoryLimit: ptrTo[int32](revisionHistory),
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			},
		},
	}
	if f, ok := b.fleet.(*v1alpha1.PersistentFleet); ok {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{b.claimTemplate(f)}
	}
	return set
}

// updateStrategy restarts nobody while the fleet is paused, and stops a rollout that has started. A partition would do that too,
// but it would also give a Pod that is recreated the older template, and celld cannot go back to an older image.
func (b *builder) updateStrategy() appsv1.StatefulSetUpdateStrategy {
	if b.spec.Maintenance.Paused {
		return appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	}
	return appsv1.StatefulSetUpdateStrategy{
		Type:          appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptrTo[int32](0)},
	}
}

// claimTemplate carries apiVersion and kind, and nothing that could ever change: the API server refuses every later change
// of a claim template, so these bytes are for ever.
func (b *builder) claimTemplate(f *v1alpha1.PersistentFleet) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		TypeMeta: typeMeta("v1", "PersistentVolumeClaim"),
		ObjectMeta: metav1.ObjectMeta{
			Name:        v1alpha1.DataVolume,
			Labels:      b.selector(),
			Annotations: map[string]string{v1alpha1.AnnotationStorageReservation: ReservationName(b.bucket)},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod},
			Resources: corev1.VolumeResourceRequirements{
				Requests: stored(corev1.ResourceList{corev1.ResourceStorage: *f.Spec.Storage.Size}),
			},
			StorageClassName: ptrTo(f.Spec.Storage.StorageClassName),
			VolumeMode:       ptrTo(corev1.PersistentVolumeFilesystem),
		},
	}
}

// deployment has no replicas either. Paused stops its rollout as OnDelete stops a StatefulSet's.
func (b *builder) deployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   typeMeta("apps/v1", "Deployment"),
		ObjectMeta: b.workloadMeta(),
		Spec: appsv1.DeploymentSpec{
			Selector: b.labelSelector(),
			Template: b.podTemplate(),
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxUnavailable: ptrTo(intstr.FromInt32(1)),
					MaxSurge:       ptrTo(intstr.FromInt32(0)),
				},
			},
			RevisionHistoryLimit:    ptrTo[int32](revisionHistory),
			Paused:                  b.spec.Maintenance.Paused,
			ProgressDeadlineSeconds: ptrTo[int32](progressDeadlineSeconds),
		},
	}
}

// disruptionBudget lets one member go at a time, and none while another is not ready.
func (b *builder) disruptionBudget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   typeMeta("policy/v1", "PodDisruptionBudget"),
		ObjectMeta: b.meta(b.name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector:                   b.labelSelector(),
			MaxUnavailable:             ptrTo(intstr.FromInt32(1)),
			UnhealthyPodEvictionPolicy: ptrTo(policyv1.IfHealthyBudget),
		},
	}
}
