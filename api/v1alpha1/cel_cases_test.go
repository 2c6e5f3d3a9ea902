// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "github.com/fleetwright/fleetwright/api/v1alpha1"

// celCases by what is wrong.
var celCases = map[string]celCase{
	"name starts with a digit": {
		patch: `metadata: {name: 1-fleet}`,
		want:  "<nil>: metadata.name must be a DNS label that starts with a letter, at most 40 characters long"},
	"name of another fleet's Service": {
		patch: `metadata: {name: my-fleet-peers}`,
		want:  "<nil>: metadata.name must not end in -peers or -routing: objects of other fleets have such names"},
	"replicas below zones": {
		patch: `spec: {replicas: 2}`,
		want:  "spec.replicas: must be at least the number of placement.zones, so that no zone is left empty"},
	"a cap in Relaxed": {
		patch: `spec: {placement: {maxPerZone: 2, mode: Relaxed}}`,
		want:  "spec.placement.maxPerZone: is for mode Strict only: remove it, or set mode to Strict"},
	"a cap for ordinals that have their zones": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: {placement: {maxPerZone: 2}, workload: Ordered}`,
		want:  "spec.placement.maxPerZone: is not for workload Ordered, where each ordinal has its zone: remove it"},
	"selector of a zone": {
		patch: `spec: {placement: {nodeSelector: {topology.kubernetes.io/zone: us-east-1a}}}`,
		want:  "spec.placement.nodeSelector: must not select topology.kubernetes.io/zone: list the zones in placement.zones instead"},
	"image by tag": {
		patch: `spec: {runtimeImage: ghcr.io/ewhauser/celld:v0.6.1}`,
		want: "spec.runtimeImage: must be pinned by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>: " +
			"a tag can move under a running fleet"},
	"resource claims": {
		patch: `spec: {resources: {claims: [{name: gpu}]}}`,
		want:  "spec.resources.claims: is not supported: the fleet's Pods have no resource claims"},
	"ephemeral storage beside the cache": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: {resources: {limits: {ephemeral-storage: 1Gi}}}`,
		want:  "spec.resources: must not set ephemeral-storage: storage.size sets its request and limit"},
	"grace below shutdown": {
		patch: `spec: {lifecycle: {shutdownSeconds: 20, terminationGraceSeconds: 24}}`,
		want:  "spec.lifecycle.terminationGraceSeconds: must be at least shutdownSeconds + 5, so that celld ends before it is killed"},

	"bucket with a trailing slash": {
		patch: `spec: {storage: {bucket: "s3://my-bucket/"}}`,
		want: "spec.storage.bucket: must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], az://CONTAINER[/PREFIX] or a bare S3 name, " +
			"without a trailing slash"},
	"s3 without region": {
		patch: `spec: {storage: {region: null}}`,
		want:  "spec.storage.region: " + regionMessage},
	"azureAccount beside s3": {
		patch: `spec: {storage: {azureAccount: mine}}`,
		want:  "spec.storage.azureAccount: is required for an az:// bucket and must not be set for another"},
	"endpoint beside gs": {
		patch: `spec: {storage: {bucket: "gs://my-bucket", region: null, endpoint: {url: "https://minio"}}}`,
		want:  "spec.storage.endpoint: is for s3 buckets: celld on gs:// and az:// refuses S3_ENDPOINT"},
	"endpoint that is no URL": {
		patch: `spec: {storage: {endpoint: {url: minio:9000}}}`,
		want:  "spec.storage.endpoint.url: " + urlMessage},
	"credentials without endpoint": {
		patch: `spec: {storage: {endpoint: {credentialsSecretName: creds}}}`,
		want:  "spec.storage.endpoint.url: is required with credentialsSecretName"},
	"size in thousandths": {
		patch: `spec: {storage: {size: 1073741824500m}}`,
		want:  "spec.storage.size: must be whole bytes, from 1Gi to 64Ti"},
	"memory in thousandths": {
		patch: `spec: {resources: {limits: {memory: 3500m}}}`,
		want:  "spec.resources.limits: memory must be whole bytes, from 64Mi to 64Ti"},
	"ephemeral storage requested in thousandths": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: {resources: {requests: {ephemeral-storage: 500m}}}`,
		want:  "spec.resources.requests: ephemeral-storage must be whole bytes, from 0 to 64Ti"},
	"memory requested in thousandths": {
		patch: `spec: {resources: {requests: {memory: 68719476736500m}}}`,
		want:  "spec.resources.requests: memory must be whole bytes, from 64Mi to 64Ti"},
	"ephemeral storage in thousandths": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: {resources: {limits: {ephemeral-storage: 500m}}}`,
		want:  "spec.resources.limits: ephemeral-storage must be whole bytes, from 0 to 64Ti"},

	"value beside secret": {
		patch: `spec: {env: [{name: CELLD_X, value: x, secretKeyRef: {name: s, key: k}}]}`,
		want:  "spec.env[0].secretKeyRef: must not be set beside value"},
	"variable of render": {
		patch: `spec: {env: [{name: CELLD_BUCKET, value: x}]}`,
		want:  "spec.env[0].name: is set by Fleetwright itself; the spec has a field for what may change"},
	"variable with a reserved prefix": {
		patch: `spec: {env: [{name: CELLD_ONE}, {name: CELLD_OTEL_X}]}`,
		want: "spec.env[1].name: has a reserved prefix (CELLD_REEXEC_, CELLD_OTEL, CELLD_UNSAFE_, CELLD_TEST_, CELLD_STRICT_, " +
			"CELLD_EXPORT)"},
	"variable of the old prefix": {
		patch: `spec: {env: [{name: CELLD_VAR_X, value: x}]}`,
		want:  "spec.env[0].name: " + varMessage},
	"variable that stops celld": {
		patch: `spec: {env: [{name: CELLD_SHUTDOWN_DRAIN_MS, value: "1"}]}`,
		want:  "spec.env[0].name: stops celld 0.6 from starting as soon as it exists; use lifecycle.shutdownSeconds"},
	"label of render": {
		patch: `spec: {podMetadata: {labels: {app.kubernetes.io/name: mine}}}`,
		want: "spec.podMetadata.labels: must not hold keys under celld.eric.dev/, app.kubernetes.io/name or " +
			"app.kubernetes.io/managed-by: Fleetwright sets them"},
	"annotation of render": {
		patch: `spec: {podMetadata: {annotations: {celld.eric.dev/seal: mine}}}`,
		want: "spec.podMetadata.annotations: must not hold keys under celld.eric.dev/ or kubectl.kubernetes.io/default-container: " +
			"Fleetwright sets them"},

	"collector that is no URL": {
		patch: `spec: {telemetry: {collectorURL: "http://otel?x=1", egress: {cidr: 10.0.0.1/32}}}`,
		want:  "spec.telemetry.collectorURL: " + urlMessage},
	"collector without egress": {
		patch: `spec: {telemetry: {collectorURL: "http://otel:4318"}}`,
		want:  "spec.telemetry.egress: is required with collectorURL, and must not be set without it"},
	"sampler without collector": {
		patch: `spec: {telemetry: {sampler: always_on}}`,
		want:  "spec.telemetry.collectorURL: is required with the other telemetry fields"},
	"samplerArg without sampler": {
		patch: `spec: {telemetry: {collectorURL: "http://otel:4318", egress: {cidr: 10.0.0.1/32}, samplerArg: "0.1"}}`,
		want:  "spec.telemetry.sampler: is required with samplerArg"},
	"collector at an address and Pods": {
		patch: `spec: {telemetry: {collectorURL: "http://otel:4318", egress: {cidr: 10.0.0.1/32, podLabels: {app: otel}}}}`,
		want:  "spec.telemetry.egress: must hold exactly one of cidr and podLabels"},
	"collector's namespace without Pods": {
		patch: `spec: {telemetry: {collectorURL: "http://otel:4318", egress: {cidr: 10.0.0.1/32, namespace: otel}}}`,
		want:  "spec.telemetry.egress.namespace: must not be set without podLabels"},
	"collector in a range": {
		patch: `spec: {telemetry: {collectorURL: "http://otel:4318", egress: {cidr: 10.0.0.0/24}}}`,
		want:  "spec.telemetry.egress.cidr: must be one address, as a.b.c.d/32 or an IPv6 address with /128"},

	"routing without hostnames": {
		patch: `spec: {routing: {source: ` + source + `, gateway: {name: gw}}}`,
		want:  "spec.routing.hostnames: is required: 1 to 16 names that the fleet answers to"},
	"routing without source": {
		patch: `spec: {routing: {hostnames: [a.example], gateway: {name: gw}}}`,
		want:  "spec.routing.source: is required: the data-plane Pods that may reach port 8080"},
	"routing by Gateway and Ingress": {
		patch: `spec: {routing: {hostnames: [a.example], source: ` + source + `, gateway: {name: gw}, ingress: {className: nginx}}}`,
		want:  "spec.routing: must hold exactly one of gateway and ingress"},
	"Ingress annotation of render": {
		patch: `spec: {routing: {hostnames: [a.example], source: ` + source +
			`, ingress: {className: nginx, annotations: {celld.eric.dev/seal: mine}}}}`,
		want: "spec.routing.ingress.annotations: must not hold keys under celld.eric.dev/: Fleetwright sets them"},
	"store without endpoint": {
		patch: `spec: {storage: {store: minio-a}}`,
		want:  "spec.storage.store: names an S3-compatible store, so it needs endpoint.url"},
}

const (
	source        = `{namespace: gateways, podLabels: {app: gateway}}`
	regionMessage = "is required for an s3 bucket and must not be set for another: celld on gs:// and az:// refuses AWS variables"
	urlMessage    = "must be http://HOST[:PORT][/PATH] or https://..., without credentials, query or fragment"
	varMessage    = "has the prefix CELLD_VAR_, with which celld 0.5 and newer does not start: use another name"
	claimsMessage = "cannot be changed: disks are made from it, and the API server refuses another claim template"
)
