// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Defaults, as the docs of the fields state them.
const (
	DefaultDiskSize                = "10Gi"
	DefaultCPURequest              = "250m"
	DefaultMemoryRequest           = "512Mi"
	DefaultMemoryLimit             = "1Gi"
	DefaultShutdownSeconds         = 20
	DefaultTerminationGraceSeconds = 30
	DefaultDNSNamespace            = "kube-system"
	DefaultMaxPerZone              = 1

	// GraceMargin is what terminationGraceSeconds must leave celld after its own shutdown limit, in seconds.
	GraceMargin = 5
)

// Default fills in every default. It is total and idempotent, and leaves what is set alone.
func (f *PersistentFleet) Default() {
	f.Spec.FleetSpec.setDefaults(f.Spec.Storage.BucketURL().Scheme)
	f.Spec.Placement.setCap()
	f.Spec.Storage.Size = defaultSize(f.Spec.Storage.Size)
}

// Default fills in every default. It is total and idempotent, and leaves what is set alone.
func (f *BucketFleet) Default() {
	f.Spec.FleetSpec.setDefaults(f.Spec.Storage.BucketURL().Scheme)
	f.Spec.Storage.Size = defaultSize(f.Spec.Storage.Size)
	if f.Spec.Workload == "" {
		f.Spec.Workload = WorkloadDeployment
	}
	if !f.Ordered() {
		f.Spec.Placement.setCap()
	}
}

func defaultSize(size *resource.Quantity) *resource.Quantity {
	if size != nil {
		return size
	}
	q := resource.MustParse(DefaultDiskSize)
	return &q
}

func (s *FleetSpec) setDefaults(scheme string) {
	if s.Placement.Mode == "" {
		s.Placement.Mode = PlacementStrict
	}
	defaultResources(&s.Resources)
	s.Lifecycle.setDefaults()
	if s.Network.Credentials == "" {
		s.Network.Credentials = credentialsFor(scheme)
	}
	if s.Network.DNS.Namespace == "" {
		s.Network.DNS.Namespace = DefaultDNSNamespace
	}
	if len(s.Network.DNS.PodLabels) == 0 {
		s.Network.DNS.PodLabels = map[string]string{"k8s-app": "kube-dns"}
	}
	if s.Capacity.Mode == "" {
		s.Capacity.Mode = CapacityManual
	}
}

// setCap is for fleets whose zones have a cap, once the mode is set.
func (p *Placement) setCap() {
	if p.Mode == PlacementStrict && p.MaxPerZone == nil {
		most := int32(DefaultMaxPerZone)
		p.MaxPerZone = &most
	}
}

func credentialsFor(scheme string) CredentialSource {
	switch scheme {
	case SchemeGS:
		return CredentialsGKE
	case SchemeAzure:
		return CredentialsAzure
	default:
		return CredentialsEKS
	}
}

// defaultResources fills in what is missing, so that no request exceeds its limit because of a default.
func defaultResources(r *corev1.ResourceRequirements) {
	if _, set := r.Requests[corev1.ResourceCPU]; !set {
		setResource(&r.Requests, corev1.ResourceCPU, atMost(DefaultCPURequest, r.Limits, corev1.ResourceCPU))
	}
	if _, set := r.Requests[corev1.ResourceMemory]; !set {
		setResource(&r.Requests, corev1.ResourceMemory, atMost(DefaultMemoryRequest, r.Limits, corev1.ResourceMemory))
	}
	if _, set := r.Limits[corev1.ResourceMemory]; !set {
		limit := resource.MustParse(DefaultMemoryLimit)
		if request := r.Requests[corev1.ResourceMemory]; request.Cmp(limit) > 0 {
			limit = request
		}
		setResource(&r.Limits, corev1.ResourceMemory, limit)
	}
}

func atMost(value string, limits corev1.ResourceList, name corev1.ResourceName) resource.Quantity {
	q := resource.MustParse(value)
	if limit, set := limits[name]; set && limit.Cmp(q) < 0 {
		return limit
	}
	return q
}

func setResource(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}

func (l *Lifecycle) setDefaults() {
	shutdown, grace := int32(DefaultShutdownSeconds), int32(DefaultTerminationGraceSeconds)
	switch {
	case l.ShutdownSeconds != nil:
		grace = max(grace, *l.ShutdownSeconds+GraceMargin)
	case l.TerminationGraceSeconds != nil:
		shutdown = max(1, min(shutdown, *l.TerminationGraceSeconds-GraceMargin))
	}
	if l.ShutdownSeconds == nil {
		l.ShutdownSeconds = &shutdown
	}
	if l.TerminationGraceSeconds == nil {
		l.TerminationGraceSeconds = &grace
	}
}
