// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Labels. Each says who sets it and where.
const (
	// LabelFleetUID holds the fleet's identity (a UUID). render sets it on every object, the Pod template and the claim
	// template. Every selector uses this key alone.
	LabelFleetUID = "celld.eric.dev/fleet-uid"
	// LabelFleet holds the fleet's name, for people. render sets it on every object and the Pod template.
	LabelFleet = "celld.eric.dev/fleet"
	// LabelClientOf admits a Pod of the fleet's namespace to port 8080. Users set it on their own Pods, value: fleet name.
	LabelClientOf = "celld.eric.dev/client-of"
	// LabelReplacingDisk indexes Pods in a replacement hand-over. The healer sets and removes it.
	LabelReplacingDisk = "celld.eric.dev/replacing-disk"
	// LabelAppName is "celld" on everything that render prints.
	LabelAppName = "app.kubernetes.io/name"
	// LabelManagedBy is "fleetwright" on everything that render prints.
	LabelManagedBy = "app.kubernetes.io/managed-by"
)

// Values of the labels above.
const (
	AppName       = "celld"
	ManagedBy     = "fleetwright"
	HealerAppName = "fleetwright-healer"
)

// Annotations. Each says who sets it and where.
const (
	// AnnotationSeal holds the digests of what render owns. render sets it on every object but the fleet.
	AnnotationSeal = "celld.eric.dev/seal"
	// AnnotationSpecDigest holds the digest of the fleet spec. render sets it on the workload.
	AnnotationSpecDigest = "celld.eric.dev/spec-digest"
	// AnnotationStorageReservation names the StorageReservation of the bucket. render sets it on the claim template.
	AnnotationStorageReservation = "celld.eric.dev/storage-reservation"
	// AnnotationRestartToken holds maintenance.restartToken. render sets it on the Pod template, when not empty.
	AnnotationRestartToken = "celld.eric.dev/restart-token"
	// AnnotationProtect, with any value but "false", keeps the fleet from being deleted: the webhook refuses the deletion, and
	// the healer takes nothing apart. Users set it on the fleet.
	AnnotationProtect = "celld.eric.dev/protect"
	// AnnotationReplacement records a replacement hand-over. The healer sets it on the Pod that goes away.
	AnnotationReplacement = "celld.eric.dev/replacement"
	// AnnotationReplacementAborted fences a hand-over that was aborted: a deletion of the claim that was sent before conflicts.
	// The healer sets it on the claim; its value says when.
	AnnotationReplacementAborted = "celld.eric.dev/replacement-aborted"
	// AnnotationKeptByScaleIn marks the claim of a member that was removed on request: nothing waits for it to come back. The
	// healer sets it on the claim before it lowers the count, and removes it when the member is back; its value says when.
	AnnotationKeptByScaleIn = "celld.eric.dev/kept-by-scale-in"
	// AnnotationCurrentOperation holds capacity history. The healer sets it on the StorageReservation.
	AnnotationCurrentOperation = "celld.eric.dev/current-operation"
	// AnnotationFluxSubstitute, when "disabled", keeps Flux from substituting variables in the object. render sets it on
	// objects whose text holds a dollar sign and an opening brace.
	AnnotationFluxSubstitute = "kustomize.toolkit.fluxcd.io/substitute"
	// AnnotationDefaultContainer names the container that kubectl logs and exec take. render sets it on the Pod template.
	AnnotationDefaultContainer = "kubectl.kubernetes.io/default-container"
)

// KeyPrefix starts every key of this project; users may not set such keys in podMetadata.
const KeyPrefix = "celld.eric.dev/"

// Finalizers and gates.
const (
	// FinalizerFleetCleanup keeps a fleet until its workload and claims are gone. The healer sets it on the fleet.
	FinalizerFleetCleanup = "celld.eric.dev/fleet-cleanup"
	// FinalizerReplacingDisk keeps a member's name occupied while its disk goes. The healer sets it on the Pod.
	FinalizerReplacingDisk = "celld.eric.dev/replacing-disk"
	// GateBucketZone holds a Pod of an Ordered, Strict BucketFleet until the healer has set its zone. render sets it.
	GateBucketZone = "celld.eric.dev/bucket-zone"
)

// Names inside the Pod, and its ports.
const (
	ContainerName   = "celld"
	DataVolume      = "data"
	DataPath        = "/work"
	PortApplication = "application" // 8080, the application and celld's health
	PortPeer        = "peer"        // 8081, peers and the operator API without authentication

	ApplicationPort int32 = 8080
	PeerPort        int32 = 8081
)

// Environment that render sets on the container, in the order of the Pod.
const (
	EnvPodIP            = "POD_IP"
	EnvPodName          = "POD_NAME"
	EnvNode             = "CELLD_NODE"
	EnvAdvertise        = "CELLD_ADVERTISE"
	EnvBucket           = "CELLD_BUCKET"
	EnvAWSRegion        = "AWS_REGION"
	EnvDurability       = "CELLD_DURABILITY"
	EnvAddr             = "CELLD_ADDR"
	EnvInternalAddr     = "CELLD_INTERNAL_ADDR"
	EnvWatch            = "CELLD_WATCH"
	EnvTTL              = "CELLD_TTL_MS"
	EnvShutdownTotal    = "CELLD_SHUTDOWN_TOTAL_MS"
	EnvTokioThreads     = "CELLD_TOKIO_THREADS"
	EnvMaxResidentCells = "CELLD_MAX_RESIDENT_CELLS"
	EnvIdleEvict        = "CELLD_IDLE_EVICT_S"
	EnvS3Endpoint       = "S3_ENDPOINT"
	EnvAWSAllowHTTP     = "AWS_ALLOW_HTTP"
	EnvAWSAccessKeyID   = "AWS_ACCESS_KEY_ID"
	EnvAWSSecretKey     = "AWS_SECRET_ACCESS_KEY"
	EnvAzureAccount     = "AZURE_STORAGE_ACCOUNT_NAME"
	EnvOTEL             = "CELLD_OTEL"
	EnvOTELFlush        = "CELLD_OTEL_FLUSH_MS"
	EnvOTELFlushBytes   = "CELLD_OTEL_FLUSH_BYTES"
	EnvOTELAttributes   = "OTEL_RESOURCE_ATTRIBUTES"
	EnvOTELSampler      = "OTEL_TRACES_SAMPLER"
	EnvOTELSamplerArg   = "OTEL_TRACES_SAMPLER_ARG"
	EnvOTELHeaders      = "OTEL_EXPORTER_OTLP_HEADERS"
)

// Keys of the Secret that storage.endpoint.credentialsSecretName names.
const (
	SecretKeyAccessKeyID     = "accessKeyId"
	SecretKeySecretAccessKey = "secretAccessKey"
)
