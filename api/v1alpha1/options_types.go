// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// Cells bounds the cells that a member keeps in memory.
type Cells struct {
	// MaxResident cells in memory (CELLD_MAX_RESIDENT_CELLS), 1 to 1000000. Default: celld's own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxResident *int32 `json:"maxResident,omitempty"`
	// IdleEvictSeconds after which an idle cell leaves memory (CELLD_IDLE_EVICT_S), 1 to 86400. Default: celld's own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	IdleEvictSeconds *int32 `json:"idleEvictSeconds,omitempty"`
}

// Lifecycle bounds the time that a member takes to stop.
//
// +kubebuilder:validation:XValidation:rule="!has(self.shutdownSeconds) || !has(self.terminationGraceSeconds) || self.terminationGraceSeconds >= self.shutdownSeconds + 5",fieldPath=.terminationGraceSeconds,message="must be at least shutdownSeconds + 5, so that celld ends before it is killed"
type Lifecycle struct {
	// ShutdownSeconds that celld takes to hand its cells over (CELLD_SHUTDOWN_TOTAL_MS), 1 to 3600. Default 20, or what
	// terminationGraceSeconds leaves if that is less.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ShutdownSeconds *int32 `json:"shutdownSeconds,omitempty"`
	// TerminationGraceSeconds until a member that does not stop is killed, 6 to 3605, at least shutdownSeconds + 5. Default
	// 30, or shutdownSeconds + 5 if that is more.
	// +optional
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=3605
	TerminationGraceSeconds *int32 `json:"terminationGraceSeconds,omitempty"`
}

// EnvVar is a variable of the container: a value, or a key of a Secret.
//
// +kubebuilder:validation:XValidation:rule="!has(self.value) || self.value == \"\" || !has(self.secretKeyRef)",fieldPath=.secretKeyRef,message="must not be set beside value"
// +kubebuilder:validation:XValidation:rule="!(self.name in ['CELLD_NODE','CELLD_ADVERTISE','CELLD_BUCKET','CELLD_DURABILITY','CELLD_ADDR','CELLD_INTERNAL_ADDR','CELLD_WATCH','CELLD_TTL_MS','CELLD_SHUTDOWN_TOTAL_MS','CELLD_TOKIO_THREADS','CELLD_MAX_RESIDENT_CELLS','CELLD_IDLE_EVICT_S'])",fieldPath=.name,message="is set by Fleetwright itself; the spec has a field for what may change"
// +kubebuilder:validation:XValidation:rule="!(self.name.startsWith('CELLD_REEXEC_') || self.name.startsWith('CELLD_OTEL') || self.name.startsWith('CELLD_UNSAFE_') || self.name.startsWith('CELLD_TEST_') || self.name.startsWith('CELLD_STRICT_') || self.name.startsWith('CELLD_EXPORT'))",fieldPath=.name,message="has a reserved prefix (CELLD_REEXEC_, CELLD_OTEL, CELLD_UNSAFE_, CELLD_TEST_, CELLD_STRICT_, CELLD_EXPORT)"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('CELLD_VAR_')",fieldPath=.name,message="has the prefix CELLD_VAR_, with which celld 0.5 and newer does not start: use another name"
// +kubebuilder:validation:XValidation:rule="!(self.name in ['CELLD_SHUTDOWN_DRAIN_MS','CELLD_DRAIN_TOKEN_WAIT_MS'])",fieldPath=.name,message="stops celld 0.6 from starting as soon as it exists; use lifecycle.shutdownSeconds"
type EnvVar struct {
	// Name, CELLD_ and upper-case letters, digits and underscores.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^CELLD_[A-Z0-9_]+$`
	Name string `json:"name"`
	// Value of the variable, at most 4096 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
	// SecretKeyRef takes the value from a key of a Secret instead.
	// +optional
	SecretKeyRef *SecretKeyReference `json:"secretKeyRef,omitempty"`
}

// PodMetadata adds labels and annotations to the members' Pods. Keys under celld.eric.dev/ and those that render sets are
// refused.
type PodMetadata struct {
	// Labels of the Pods, at most 32.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('celld.eric.dev/') && !(k in ['app.kubernetes.io/name','app.kubernetes.io/managed-by']))",message="must not hold keys under celld.eric.dev/, app.kubernetes.io/name or app.kubernetes.io/managed-by: Fleetwright sets them"
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the Pods, at most 32.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('celld.eric.dev/') && k != 'kubectl.kubernetes.io/default-container')",message="must not hold keys under celld.eric.dev/ or kubectl.kubernetes.io/default-container: Fleetwright sets them"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Telemetry exports traces with OTLP. Empty means none; with a collectorURL, egress is required.
//
// +kubebuilder:validation:XValidation:rule="(has(self.collectorURL) && self.collectorURL != \"\") == has(self.egress)",fieldPath=.egress,message="is required with collectorURL, and must not be set without it"
// +kubebuilder:validation:XValidation:rule="(has(self.collectorURL) && self.collectorURL != \"\") || !(has(self.sampler) && self.sampler != \"\" || has(self.samplerArg) && self.samplerArg != \"\" || has(self.flushMilliseconds) || has(self.flushBytes) || has(self.headersSecretKeyRef))",fieldPath=.collectorURL,message="is required with the other telemetry fields"
// +kubebuilder:validation:XValidation:rule="!has(self.samplerArg) || self.samplerArg == \"\" || (has(self.sampler) && self.sampler != \"\")",fieldPath=.sampler,message="is required with samplerArg"
type Telemetry struct {
	// CollectorURL of the OTLP collector, http or https, without credentials, query or fragment.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == \"\" || self.matches('^https?://([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|\\\\[[0-9a-fA-F:.]+\\\\])(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(/[-a-zA-Z0-9_.~%/]*)?$')",message="must be http://HOST[:PORT][/PATH] or https://..., without credentials, query or fragment"
	CollectorURL string `json:"collectorURL,omitempty"`
	// Egress opens the NetworkPolicy towards the collector, on the port of its URL.
	// +optional
	Egress *TelemetryEgress `json:"egress,omitempty"`
	// Sampler of traces (OTEL_TRACES_SAMPLER). Default: celld's own.
	// +optional
	// +kubebuilder:validation:Enum="";always_on;always_off;traceidratio;parentbased_always_on;parentbased_always_off;parentbased_traceidratio
	Sampler string `json:"sampler,omitempty"`
	// SamplerArg (OTEL_TRACES_SAMPLER_ARG), for the ratio samplers a number from 0 to 1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^$|^(0(\.[0-9]+)?|1(\.0+)?)$`
	SamplerArg string `json:"samplerArg,omitempty"`
	// FlushMilliseconds between exports (CELLD_OTEL_FLUSH_MS), 1 to 3600000. Default: celld's own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	FlushMilliseconds *int32 `json:"flushMilliseconds,omitempty"`
	// FlushBytes that start an export early (CELLD_OTEL_FLUSH_BYTES), 1 to 1073741824. Default: celld's own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1073741824
	FlushBytes *int32 `json:"flushBytes,omitempty"`
	// HeadersSecretKeyRef takes OTEL_EXPORTER_OTLP_HEADERS from a key of a Secret.
	// +optional
	HeadersSecretKeyRef *SecretKeyReference `json:"headersSecretKeyRef,omitempty"`
}

// TelemetryEgress is where the collector is: one address, or Pods.
//
// +kubebuilder:validation:XValidation:rule="(has(self.cidr) && self.cidr != \"\") != has(self.podLabels)",message="must hold exactly one of cidr and podLabels"
// +kubebuilder:validation:XValidation:rule="!has(self.__namespace__) || self.__namespace__ == \"\" || has(self.podLabels)",fieldPath=.namespace,message="must not be set without podLabels"
type TelemetryEgress struct {
	// CIDR of one address, /32 or /128.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == \"\" || (isCIDR(self) && cidr(self).prefixLength() == (cidr(self).ip().family() == 4 ? 32 : 128))",message="must be one address, as a.b.c.d/32 or an IPv6 address with /128"
	CIDR string `json:"cidr,omitempty"`
	// PodLabels select the collector's Pods.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	PodLabels map[string]string `json:"podLabels,omitempty"`
	// Namespace of the collector's Pods. Default: the fleet's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
}

// Network adjusts the fleet's NetworkPolicy.
type Network struct {
	// Credentials opens the cloud's credential endpoint: EKS (169.254.170.23:80), GKE or Azure (169.254.169.254:80), or
	// None. Default by the bucket's scheme: s3 EKS, gs GKE, az Azure.
	// +optional
	// +kubebuilder:validation:Enum="";EKS;GKE;Azure;None
	Credentials CredentialSource `json:"credentials,omitempty"`
	// DNS is where name resolution goes. Default: Pods labelled k8s-app=kube-dns in kube-system.
	// +optional
	DNS DNS `json:"dns,omitempty,omitzero"`
	// ExtraEgress adds rules, at most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	ExtraEgress []networkingv1.NetworkPolicyEgressRule `json:"extraEgress,omitempty"`
}

// CredentialSource is where celld gets cloud credentials.
type CredentialSource string

// Credential sources.
const (
	CredentialsEKS   CredentialSource = "EKS"
	CredentialsGKE   CredentialSource = "GKE"
	CredentialsAzure CredentialSource = "Azure"
	CredentialsNone  CredentialSource = "None"
)

// DNS is where name resolution goes.
type DNS struct {
	// Namespace of the DNS Pods. Default kube-system.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
	// PodLabels select the DNS Pods. Default k8s-app=kube-dns.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	PodLabels map[string]string `json:"podLabels,omitempty"`
}

// Maintenance pauses, stops or restarts the fleet.
type Maintenance struct {
	// Paused keeps the healer's hands off and holds rollouts: nobody is restarted, and a rollout that runs stops. A Pod that
	// is recreated meanwhile gets no older template than it had.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// Stopped scales the fleet to zero in one step; disks are kept. Take it back to return every member on its own disk.
	// +optional
	Stopped bool `json:"stopped,omitempty"`
	// RestartToken restarts the members one at a time whenever it changes. At most 128 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	RestartToken string `json:"restartToken,omitempty"`
}

// Capacity says who decides the member count.
type Capacity struct {
	// Mode is Manual (the default, and the only mode): spec.replicas is the member count.
	// +optional
	// +kubebuilder:validation:Enum="";Manual
	Mode CapacityMode `json:"mode,omitempty"`
}

// CapacityMode says who decides the member count.
type CapacityMode string

// CapacityManual makes spec.replicas the member count.
const CapacityManual CapacityMode = "Manual"
