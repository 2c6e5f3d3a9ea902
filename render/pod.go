// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const (
	// runtimeUser is the user, group and volume group of the celld image.
	runtimeUser = 10001
	// healthPath is celld's own health; the rest of port 8080 is the application's.
	healthPath = "/.well-known/celld/health"
)

func (b *builder) podTemplate() corev1.PodTemplateSpec {
	labels, annotations := maps.Clone(b.spec.PodMetadata.Labels), maps.Clone(b.spec.PodMetadata.Annotations)
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(labels, b.labels())
	annotations[v1alpha1.AnnotationDefaultContainer] = v1alpha1.ContainerName
	if token := b.spec.Maintenance.RestartToken; token != "" {
		annotations[v1alpha1.AnnotationRestartToken] = token
	}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
		Spec:       b.podSpec(),
	}
}

// podSpec meets the restricted Pod Security standard.
func (b *builder) podSpec() corev1.PodSpec {
	spec := corev1.PodSpec{
		Containers:                    []corev1.Container{b.container()},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: ptrTo(int64(*b.spec.Lifecycle.TerminationGraceSeconds)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		NodeSelector:                  b.spec.Placement.NodeSelector,
		ServiceAccountName:            b.spec.ServiceAccountName,
		AutomountServiceAccountToken:  ptrTo(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser:    ptrTo[int64](runtimeUser),
			RunAsGroup:   ptrTo[int64](runtimeUser),
			RunAsNonRoot: ptrTo(true),
			FSGroup:      ptrTo[int64](runtimeUser),
			// The volume's files change hands once, not at each start: a full disk would keep a member from its peers.
			FSGroupChangePolicy: ptrTo(corev1.FSGroupChangeOnRootMismatch),
			SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Affinity:                  b.affinity(),
		SchedulerName:             corev1.DefaultSchedulerName,
		Tolerations:               b.spec.Placement.Tolerations,
		PriorityClassName:         b.spec.Placement.PriorityClassName,
		TopologySpreadConstraints: b.spread(),
	}
	for _, s := range b.spec.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: s.Name})
	}
	if b.zoneGated() {
		spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: v1alpha1.GateBucketZone}}
	}
	if f, ok := b.fleet.(*v1alpha1.BucketFleet); ok {
		spec.Volumes = []corev1.Volume{{
			Name:         v1alpha1.DataVolume,
			VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: f.Spec.Storage.Size}},
		}}
	}
	return spec
}

func (b *builder) container() corev1.Container {
	return corev1.Container{
		Name:            v1alpha1.ContainerName,
		Image:           b.spec.RuntimeImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Ports: []corev1.ContainerPort{
			{Name: v1alpha1.PortApplication, ContainerPort: v1alpha1.ApplicationPort, Protocol: corev1.ProtocolTCP},
			{Name: v1alpha1.PortPeer, ContainerPort: v1alpha1.PeerPort, Protocol: corev1.ProtocolTCP},
		},
		Env:          b.env(),
		Resources:    b.resources(),
		VolumeMounts: []corev1.VolumeMount{{Name: v1alpha1.DataVolume, MountPath: v1alpha1.DataPath}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: healthPath, Port: intstr.FromInt32(v1alpha1.ApplicationPort), Scheme: corev1.URISchemeHTTP,
			}},
			TimeoutSeconds:   1,
			PeriodSeconds:    2,
			SuccessThreshold: 1,
			FailureThreshold: 3,
		},
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptrTo(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// resources of the container; a BucketFleet's temporary disk counts as ephemeral storage.
func (b *builder) resources() corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: stored(b.spec.Resources.Requests), Limits: stored(b.spec.Resources.Limits)}
	if f, ok := b.fleet.(*v1alpha1.BucketFleet); ok {
		disk := stored(corev1.ResourceList{corev1.ResourceEphemeralStorage: *f.Spec.Storage.Size})
		maps.Copy(r.Requests, disk)
		maps.Copy(r.Limits, disk)
	}
	return r
}

// stored rounds quantities up to thousandths, as the API server does before it stores them.
func stored(list corev1.ResourceList) corev1.ResourceList {
	out := make(corev1.ResourceList, len(list))
	for name, q := range list {
		q.RoundUp(resource.Milli)
		out[name] = q
	}
	return out
}
