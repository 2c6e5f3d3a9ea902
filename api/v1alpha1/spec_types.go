// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// FleetSpec is what both profiles share. An empty optional string, number or object means the default.
type FleetSpec struct {
	// Replicas is the number of members, 1 to 100, at least the number of zones.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas"`
	// RuntimeImage is the celld image, pinned by digest: REPOSITORY[:TAG]@sha256:<64 hex digits>. A tag alone is refused,
	// since a member that restarts later could come back on another version.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]+)?/)?[a-z0-9]+((\\\\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\\\\.|_|__|-+)[a-z0-9]+)*)*(:[a-zA-Z0-9_][-a-zA-Z0-9_.]{0,127})?@sha256:[a-f0-9]{64}$')",message="must be pinned by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>: a tag can move under a running fleet"
	RuntimeImage string `json:"runtimeImage"`
	// ServiceAccountName is the ServiceAccount of the members. It exists already; celld reaches the bucket with it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName string `json:"serviceAccountName"`
	// ImagePullSecrets name Secrets of the fleet's namespace that pull RuntimeImage. At most 16.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`
	// Placement says where members run.
	// +required
	Placement Placement `json:"placement"`
	// Resources of the container. Defaults: requests cpu 250m and memory 512Mi, limit memory 1Gi; a request is lowered to
	// its limit, and the memory limit is raised to its request, where only one of the two is set. Memory and ephemeral-storage
	// are whole bytes, at most 64Ti; memory is at least 64Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !('memory' in self.limits) || isQuantity(string(self.limits['memory'])) && quantity(string(self.limits['memory'])).compareTo(quantity('64Mi')) >= 0 && quantity(string(self.limits['memory'])).compareTo(quantity('64Ti')) <= 0 && quantity(string(self.limits['memory'])).sub(int(quantity(string(self.limits['memory'])).asApproximateFloat() + 0.5)).compareTo(quantity('0')) == 0",fieldPath=.limits,message="memory must be whole bytes, from 64Mi to 64Ti"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !('memory' in self.requests) || isQuantity(string(self.requests['memory'])) && quantity(string(self.requests['memory'])).compareTo(quantity('64Mi')) >= 0 && quantity(string(self.requests['memory'])).compareTo(quantity('64Ti')) <= 0 && quantity(string(self.requests['memory'])).sub(int(quantity(string(self.requests['memory'])).asApproximateFloat() + 0.5)).compareTo(quantity('0')) == 0",fieldPath=.requests,message="memory must be whole bytes, from 64Mi to 64Ti"
	// +kubebuilder:validation:XValidation:rule="!has(self.claims) || size(self.claims) == 0",fieldPath=.claims,message="is not supported: the fleet's Pods have no resource claims"
	Resources corev1.ResourceRequirements `json:"resources,omitempty,omitzero"`
	// Cells bounds the cells that a member keeps in memory.
	// +optional
	Cells Cells `json:"cells,omitempty,omitzero"`
	// Lifecycle bounds the time that a member takes to stop.
	// +optional
	Lifecycle Lifecycle `json:"lifecycle,omitempty,omitzero"`
	// Env adds variables named CELLD_* to the container, at most 32. Names that render sets, prefixes that celld reserves,
	// and names that stop celld from starting are refused.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Env []EnvVar `json:"env,omitempty"`
	// PodMetadata adds labels and annotations to the members' Pods.
	// +optional
	PodMetadata PodMetadata `json:"podMetadata,omitempty,omitzero"`
	// Telemetry exports traces. Empty means none.
	// +optional
	Telemetry Telemetry `json:"telemetry,omitempty,omitzero"`
	// Network adjusts the fleet's NetworkPolicy.
	// +optional
	Network Network `json:"network,omitempty,omitzero"`
	// Maintenance pauses, stops or restarts the fleet.
	// +optional
	Maintenance Maintenance `json:"maintenance,omitempty,omitzero"`
	// Capacity says who decides the member count.
	// +optional
	Capacity Capacity `json:"capacity,omitempty,omitzero"`
	// Routing publishes port 8080 at hostnames. Empty means none.
	// +optional
	Routing Routing `json:"routing,omitempty,omitzero"`
	// Identity is the UUID that marks everything of the fleet. Default: the UUID version 5 of namespace, name and bucket, so
	// that a fleet restored from Git finds its disks. Set it to adopt a fleet that another controller created. Immutable.
	// +optional
	// +kubebuilder:validation:Pattern=`^$|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
	// +kubebuilder:validation:MaxLength=36
	Identity string `json:"identity,omitempty"`
}

// SecretReference names a Secret of the fleet's namespace.
type SecretReference struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// SecretKeyReference names a key of a Secret of the fleet's namespace.
type SecretKeyReference struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Key in the Secret's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`
}

// ObjectStore is the bucket that the members of a fleet share.
//
// +kubebuilder:validation:XValidation:rule="(self.bucket.startsWith('gs://') || self.bucket.startsWith('az://')) != (has(self.region) && self.region != \"\")",fieldPath=.region,message="is required for an s3 bucket and must not be set for another: celld on gs:// and az:// refuses AWS variables"
// +kubebuilder:validation:XValidation:rule="self.bucket.startsWith('az://') == (has(self.azureAccount) && self.azureAccount != \"\")",fieldPath=.azureAccount,message="is required for an az:// bucket and must not be set for another"
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !(self.bucket.startsWith('gs://') || self.bucket.startsWith('az://')) || ((!has(self.endpoint.url) || self.endpoint.url == \"\") && (!has(self.endpoint.credentialsSecretName) || self.endpoint.credentialsSecretName == \"\"))",fieldPath=.endpoint,message="is for s3 buckets: celld on gs:// and az:// refuses S3_ENDPOINT"
// +kubebuilder:validation:XValidation:rule="!has(self.store) || self.store == \"\" || (has(self.endpoint) && has(self.endpoint.url) && self.endpoint.url != \"\")",fieldPath=.store,message="names an S3-compatible store, so it needs endpoint.url"
type ObjectStore struct {
	// Bucket is the bucket URL, s3://NAME[/PREFIX], gs://NAME[/PREFIX] or az://CONTAINER[/PREFIX]; a bare name means s3://.
	// One fleet per bucket or prefix. Immutable.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^((s3://)?[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]|gs://[a-z0-9][-a-z0-9._]{1,220}[a-z0-9]|az://[a-z0-9](-?[a-z0-9]){2,62})(/[a-zA-Z0-9_][-a-zA-Z0-9_.=]*)*$')",message="must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], az://CONTAINER[/PREFIX] or a bare S3 name, without a trailing slash"
	Bucket string `json:"bucket"`
	// Region of an s3 bucket (AWS_REGION); required there, and not allowed elsewhere. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Region string `json:"region,omitempty"`
	// Endpoint of an S3-compatible store that is not AWS.
	// +optional
	Endpoint Endpoint `json:"endpoint,omitempty,omitzero"`
	// AzureAccount is the storage account of an az:// bucket; required there, and not allowed elsewhere. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]{3,24}$`
	AzureAccount string `json:"azureAccount,omitempty"`
	// Store names the S3-compatible store behind Endpoint, where bucket names are its own: the same bucket name in two stores
	// is two buckets. A DNS label of your choice, one for each store. Without it a bucket name means one bucket everywhere.
	// Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Store string `json:"store,omitempty"`
}

// Endpoint is an S3-compatible store. Empty means AWS.
//
// +kubebuilder:validation:XValidation:rule="(has(self.url) && self.url != \"\") || !has(self.credentialsSecretName) || self.credentialsSecretName == \"\"",fieldPath=.url,message="is required with credentialsSecretName"
type Endpoint struct {
	// URL of the store, http or https, without credentials, query or fragment.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == \"\" || self.matches('^https?://([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|\\\\[[0-9a-fA-F:.]+\\\\])(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(/[-a-zA-Z0-9_.~%/]*)?$')",message="must be http://HOST[:PORT][/PATH] or https://..., without credentials, query or fragment"
	URL string `json:"url,omitempty"`
	// CredentialsSecretName names a Secret of the fleet's namespace with the keys accessKeyId and secretAccessKey. Without
	// it the store must accept the ServiceAccount's own identity.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	CredentialsSecretName string `json:"credentialsSecretName,omitempty"`
}

// Placement says where members run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxPerZone) || !has(self.mode) || self.mode != 'Relaxed'",fieldPath=.maxPerZone,message="is for mode Strict only: remove it, or set mode to Strict"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeSelector) || !('topology.kubernetes.io/zone' in self.nodeSelector)",fieldPath=.nodeSelector,message="must not select topology.kubernetes.io/zone: list the zones in placement.zones instead"
type Placement struct {
	// Zones that members may run in, 1 to 6, values of the node label topology.kubernetes.io/zone.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-zA-Z0-9]([-a-zA-Z0-9_.]*[a-zA-Z0-9])?$`
	Zones []string `json:"zones"`
	// Mode is Strict (the default): a zone holds at most MaxPerZone members and a host one, and a member without such a
	// place waits; or Relaxed: an even spread over zones and hosts is preferred, not required.
	// +optional
	Mode PlacementMode `json:"mode,omitempty"`
	// MaxPerZone is the most members that a zone may hold, 1 to 100. Default 1. For mode Strict only, and not for a
	// BucketFleet with workload Ordered. The zones times MaxPerZone must be at least the number of members.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxPerZone *int32 `json:"maxPerZone,omitempty"`
	// NodeSelector narrows the nodes further. It must not select zones: list those in Zones.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations of the members. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// PriorityClassName of the members.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// PlacementMode says whether the spread over zones and hosts is required or preferred.
//
// +kubebuilder:validation:Enum="";Strict;Relaxed
type PlacementMode string

// Placement modes.
const (
	PlacementStrict  PlacementMode = "Strict"
	PlacementRelaxed PlacementMode = "Relaxed"
)
