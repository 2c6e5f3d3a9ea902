// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var validateMetadata = map[string]validateCase{
	"no name": {
		patch: `metadata: {name: null}`,
		want: []string{
			"metadata.name: Required value: the fleet's name",
		}},
	"longest name": {patch: `metadata: {name: a` + strings.Repeat("b", 39) + `}`},
	"name too long": {
		patch: `metadata: {name: a` + strings.Repeat("b", 40) + `}`,
		want: []string{
			`metadata.name: Invalid value: "abbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb": must have at most 40 characters, has 41`,
		}},
	"name with an upper-case letter": {
		patch: `metadata: {name: My-fleet}`,
		want: []string{
			`metadata.name: Invalid value: "My-fleet": must be a DNS label that starts with a letter: lower-case letters, ` +
				`digits and '-'`,
		}},
	"name with a dot": {
		patch: `metadata: {name: my.fleet}`,
		want: []string{
			`metadata.name: Invalid value: "my.fleet": must be a DNS label that starts with a letter: lower-case letters, ` +
				`digits and '-'`,
		}},
	"name of a peers Service": {
		patch: `metadata: {name: my-peers}`,
		want: []string{
			`metadata.name: Invalid value: "my-peers": must not end in -peers: objects of other fleets have such names`,
		}},
	"name of a route": {
		patch: `metadata: {name: my-routing}`,
		want: []string{
			`metadata.name: Invalid value: "my-routing": must not end in -routing: objects of other fleets have such names`,
		}},
	"two mistakes in the name": {
		patch: `metadata: {name: 1-peers}`,
		want: []string{
			`metadata.name: Invalid value: "1-peers": must be a DNS label that starts with a letter: lower-case letters, ` +
				`digits and '-'`,
			`metadata.name: Invalid value: "1-peers": must not end in -peers: objects of other fleets have such names`,
		}},
	"no namespace yet": {patch: `metadata: {namespace: null}`},
	"namespace that is no label": {
		patch: `metadata: {namespace: a.b}`,
		want: []string{
			`metadata.namespace: Invalid value: "a.b": must be a DNS label: lower-case letters, digits and '-', at most 63 ` +
				`characters`,
		}},
	"label with a bad key and value": {
		patch: `metadata: {labels: {a/b/c: ok, team: 'a b'}}`,
		want: []string{
			`metadata.labels[a/b/c]: Invalid value: "a/b/c": a valid label key must consist of alphanumeric...`,
			`metadata.labels[team]: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric...`,
		}},
	"annotation with a bad key": {
		patch: `metadata: {annotations: {'-a': any text}}`,
		want: []string{
			`metadata.annotations[-a]: Invalid value: "-a": name part must consist of alphanumeric...`,
		}},
	"annotations in mixed case":  {patch: `metadata: {annotations: {Example.com/Note: any text}}`},
	"keys of ours are fine here": {patch: `metadata: {annotations: {celld.eric.dev/protect: 'true'}}`},
}

var validateSpec = map[string]validateCase{
	"as many pull secrets as allowed": {patch: `spec: {imagePullSecrets: [` + many(16, "{name: s%d}") + `]}`},
	"nothing at all, persistent": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: null`,
		want: []string{
			"spec.replicas: Required value: the number of members, 1 to 100",
			"spec.runtimeImage: Required value: pin the image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>",
			"spec.serviceAccountName: Required value: the ServiceAccount with which celld reaches the bucket",
			"spec.placement.zones: Required value: 1 to 6 zones that members may run in",
			"spec.storage.bucket: Required value: the bucket of the fleet, such as s3://my-bucket",
			"spec.storage.region: Required value: AWS_REGION of an s3 bucket",
			"spec.storage.storageClassName: Required value: the StorageClass of the members' disks",
		}},
	"nothing at all, bucket": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: null`,
		want: []string{
			"spec.replicas: Required value: the number of members, 1 to 100",
			"spec.runtimeImage: Required value: pin the image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>",
			"spec.serviceAccountName: Required value: the ServiceAccount with which celld reaches the bucket",
			"spec.placement.zones: Required value: 1 to 6 zones that members may run in",
			"spec.storage.bucket: Required value: the bucket of the fleet, such as s3://my-bucket",
			"spec.storage.region: Required value: AWS_REGION of an s3 bucket",
		}},
	"no replicas": {
		patch: `spec: {replicas: null}`,
		want: []string{
			"spec.replicas: Required value: the number of members, 1 to 100",
		}},
	"most replicas": {patch: `spec: {replicas: 100}`},
	"replicas out of range": {
		patch: `spec: {replicas: 101}`,
		want: []string{
			"spec.replicas: Invalid value: 101: must be from 1 to 100",
		}},
	"replicas below zones": {
		patch: `spec: {replicas: 2}`,
		want: []string{
			"spec.replicas: Invalid value: 2: must be at least the number of placement.zones, 3, so that no zone is left empty: raise it or remove zones",
		}},
	"image missing": {
		patch: `spec: {runtimeImage: ''}`,
		want: []string{
			"spec.runtimeImage: Required value: pin the image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>",
		}},
	"image by tag": {
		patch: `spec: {runtimeImage: 'ghcr.io/ewhauser/celld:v0.6.1'}`,
		want: []string{
			`spec.runtimeImage: Invalid value: "ghcr.io/ewhauser/celld:v0.6.1": has no digest, and a tag can move under a ` +
				`running fleet: pin the image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>`,
		}},
	"image with a short digest": {
		patch: `spec: {runtimeImage: 'celld@sha256:0123'}`,
		want: []string{
			`spec.runtimeImage: Invalid value: "celld@sha256:0123": is not an image reference with a sha256 digest: pin the ` +
				`image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>`,
		}},
	"image by tag and digest, from a port": {patch: `spec: {runtimeImage: 'registry.example:5000/a/b:v1@` + digest + `'}`},
	"image in upper case": {
		patch: `spec: {runtimeImage: 'CELLD@` + digest + `'}`,
		want: []string{
			`spec.runtimeImage: Invalid value: ` +
				`"CELLD@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": is not an image reference with a ` +
				`sha256 digest: pin the image by digest, REPOSITORY[:TAG]@sha256:<64 hex digits>`,
		}},
	"service account missing": {
		patch: `spec: {serviceAccountName: ''}`,
		want: []string{
			"spec.serviceAccountName: Required value: the ServiceAccount with which celld reaches the bucket",
		}},
	"service account that is no name": {
		patch: `spec: {serviceAccountName: Celld}`,
		want: []string{
			`spec.serviceAccountName: Invalid value: "Celld": must be a DNS name: lower-case letters, digits, '-' and '.', at ` +
				`most 253 characters`,
		}},
	"pull secrets wrong": {
		patch: `spec: {imagePullSecrets: [{name: a}, {name: ''}, {name: A}, {name: a}]}`,
		want: []string{
			"spec.imagePullSecrets[1].name: Required value: the name of a Secret",
			`spec.imagePullSecrets[2].name: Invalid value: "A": must be a DNS name: lower-case letters, digits, '-' and '.', ` +
				`at most 253 characters`,
			`spec.imagePullSecrets[3]: Duplicate value: "a"`,
		}},
	"too many pull secrets": {
		patch: `spec: {imagePullSecrets: [` + many(17, "{name: s%d}") + `]}`,
		want: []string{
			"spec.imagePullSecrets: Too many: 17: must have at most 16 items",
		}},
	"cells out of range": {
		patch: `spec: {cells: {maxResident: 0, idleEvictSeconds: 86401}}`,
		want: []string{
			"spec.cells.maxResident: Invalid value: 0: must be from 1 to 1000000",
			"spec.cells.idleEvictSeconds: Invalid value: 86401: must be from 1 to 86400",
		}},
	"cells at their limits": {patch: `spec: {cells: {maxResident: 1000000, idleEvictSeconds: 86400}}`},
	"lifecycle out of range": {
		patch: `spec: {lifecycle: {shutdownSeconds: 3601, terminationGraceSeconds: 5}}`,
		want: []string{
			"spec.lifecycle.shutdownSeconds: Invalid value: 3601: must be from 1 to 3600",
			"spec.lifecycle.terminationGraceSeconds: Invalid value: 5: must be from 6 to 3605",
		}},
	"lifecycle at its limits": {patch: `spec: {lifecycle: {shutdownSeconds: 3600, terminationGraceSeconds: 3605}}`},
	"grace too short": {
		patch: `spec: {lifecycle: {shutdownSeconds: 20, terminationGraceSeconds: 24}}`,
		want: []string{
			"spec.lifecycle.terminationGraceSeconds: Invalid value: 24: must be at least shutdownSeconds + 5, here 25, so that celld ends before it is killed",
		}},
	"grace alone, below the default shutdown": {patch: `spec: {lifecycle: {terminationGraceSeconds: 6}}`},
	"token too long": {
		patch: `spec: {maintenance: {restartToken: ` + strings.Repeat("ü", 129) + `}}`,
		want: []string{
			"spec.maintenance.restartToken: Too long: may not be more than 128 characters",
		}},
	"longest token": {patch: `spec: {maintenance: {restartToken: ` + strings.Repeat("ü", 128) + `}}`},
	"unknown words": {
		patch: `spec: {placement: {mode: strict}, capacity: {mode: Automatic}, network: {credentials: AWS}}`,
		want: []string{
			`spec.placement.mode: Unsupported value: "strict": supported values: "Strict", "Relaxed"`,
			`spec.network.credentials: Unsupported value: "AWS": supported values: "EKS", "GKE", "Azure", "None"`,
			`spec.capacity.mode: Unsupported value: "Automatic": supported values: "Manual"`,
		}},
	"unknown workload": {
		kind:  v1alpha1.KindBucketFleet,
		patch: `spec: {workload: StatefulSet}`,
		want: []string{
			`spec.workload: Unsupported value: "StatefulSet": supported values: "Deployment", "Ordered"`,
		}},
	"ordered workload": {kind: v1alpha1.KindBucketFleet, patch: `spec: {workload: Ordered}`},
	"identity in upper case": {
		patch: `spec: {identity: 8F14E45F-CEEA-467F-A9D5-0C2A1F5B7E11}`,
		want: []string{
			`spec.identity: Invalid value: "8F14E45F-CEEA-467F-A9D5-0C2A1F5B7E11": must be a UUID in lower case, such as ` +
				`8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11`,
		}},
}
