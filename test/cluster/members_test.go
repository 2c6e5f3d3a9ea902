// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// Everything in these tests is about one set of members, as a fleet has them:
// a disk each, at most one to a node, spread over the World's zones.
const members = "members"

var memberLabels = map[string]string{"app": members}

// newMembers creates three members with the budget of a fleet and waits until
// they are ready.
func newMembers(w *cluster.World) *appsv1.StatefulSet {
	set := memberSet(w, 3)
	w.Create(set, memberBudget())
	for _, name := range memberNames(3) {
		w.WaitReady(name)
	}
	return set
}

func memberName(ordinal int) string { return members + "-" + string(rune('0'+ordinal)) }

func memberNames(count int) []string {
	var names []string
	for ordinal := range count {
		names = append(names, memberName(ordinal))
	}
	return names
}

func memberSet(w *cluster.World, replicas int32) *appsv1.StatefulSet {
	class := cluster.StorageClass
	zones := int32(len(w.Zones))
	spread := memberPod("registry.test/celld:1")
	spread.Affinity = &corev1.Affinity{
		NodeAffinity: inZones(w.Zones...),
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: memberLabels},
		}}},
	}
	spread.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, MinDomains: &zones, TopologyKey: corev1.LabelTopologyZone,
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: memberLabels},
	}}
	spread.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/work"}}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: members},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            &replicas,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:            &metav1.LabelSelector{MatchLabels: memberLabels},
			Template:            corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: memberLabels}, Spec: spread},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					StorageClassName: &class,
					AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
					},
				},
			}},
		},
	}
}

func memberBudget() *policyv1.PodDisruptionBudget {
	one, policy := intstr.FromInt32(1), policyv1.IfHealthyBudget
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: members},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &one, UnhealthyPodEvictionPolicy: &policy,
			Selector: &metav1.LabelSelector{MatchLabels: memberLabels},
		},
	}
}

// memberPod is a Pod that the restricted Pod Security standard admits.
func memberPod(image string) corev1.PodSpec {
	yes, no, user := true, false, int64(10001)
	return corev1.PodSpec{
		AutomountServiceAccountToken: &no,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: &yes, RunAsUser: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "celld", Image: image,
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no,
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}

// loosePod is a Pod without an owner, on any node of the given zones.
func loosePod(name, image string, zones ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: memberPod(image)}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: inZones(zones...)}
	return pod
}

func inZones(zones ...string) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones},
		}}},
	}}
}
