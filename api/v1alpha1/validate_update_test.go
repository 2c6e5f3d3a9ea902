// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// ValidateUpdate names every immutable field that changed in effect, and nothing else.
func TestValidateUpdate(t *testing.T) {
	const (
		persistent, bucket = v1alpha1.KindPersistentFleet, v1alpha1.KindBucketFleet
		identity           = "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"
		there              = "cannot be changed: the fleet's data is there"
	)
	for name, c := range map[string]struct {
		kind     string
		old, new string
		want     []string
	}{
		"nothing":                        {new: `{}`},
		"everything that may change":     {new: everythingMutable},
		"everything that may change, v2": {old: everythingMutable},
		"another spelling of the bucket": {
			old: `spec: {storage: {bucket: my-bucket}}`, new: `spec: {storage: {bucket: "s3://my-bucket"}}`},
		"another bucket": {new: `spec: {storage: {bucket: other-bucket}}`, want: []string{
			`spec.storage.bucket: Invalid value: "s3://other-bucket": ` + there}},
		"another prefix and region": {
			old: `spec: {storage: {bucket: my-bucket/a}}`, new: `spec: {storage: {bucket: my-bucket/b, region: x}}`,
			want: []string{
				`spec.storage.bucket: Invalid value: "s3://my-bucket/b": ` + there,
				`spec.storage.region: Invalid value: "x": ` + there}},
		"an identity": {new: `spec: {identity: ` + identity + `}`, want: []string{
			`spec.identity: Invalid value: "` + identity + `": cannot be changed: it decides which disks and objects are this fleet's`}},
		"no identity": {old: `spec: {identity: ` + identity + `}`, want: []string{
			`spec.identity: Invalid value: "": cannot be changed: it decides which disks and objects are this fleet's`}},
		"another class and size": {kind: persistent, new: `spec: {storage: {storageClassName: x, size: 11Gi}}`,
			want: []string{
				`spec.storage.storageClassName: Invalid value: "x": ` + claimsMessage,
				`spec.storage.size: Invalid value: "11Gi": ` + claimsMessage}},
		"the default size, written out": {kind: persistent, new: `spec: {storage: {size: 10240Mi}}`},
		"no size any more":              {kind: persistent, old: `spec: {storage: {size: 10Gi}}`},
		"another cache size":            {kind: bucket, new: `spec: {storage: {size: 11Gi}}`},
		"the default workload":          {kind: bucket, new: `spec: {workload: Deployment}`},
		"another workload": {kind: bucket, new: `spec: {workload: Ordered}`, want: []string{
			`spec.workload: Invalid value: "Ordered": cannot be changed: delete the fleet and create it with the other workload; ` +
				`the data is in the bucket`}},
	} {
		for _, kind := range (celCase{kind: c.kind}).kinds() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				var got []string
				for _, e := range typed(t, kind, c.new).ValidateUpdate(typed(t, kind, c.old)) {
					got = append(got, e.Error())
				}
				require.Equal(t, c.want, got)
			})
		}
	}
}

func TestValidateUpdateOfAnotherKind(t *testing.T) {
	persistent, bucket := typed(t, v1alpha1.KindPersistentFleet), typed(t, v1alpha1.KindBucketFleet)
	require.EqualError(t, persistent.ValidateUpdate(bucket).ToAggregate(),
		`kind: Invalid value: "PersistentFleet": cannot be changed, was BucketFleet`)
	require.EqualError(t, bucket.ValidateUpdate(persistent).ToAggregate(),
		`kind: Invalid value: "BucketFleet": cannot be changed, was PersistentFleet`)
}

const everythingMutable = `
metadata: {labels: {a: b}, annotations: {a: b}}
spec:
  replicas: 5
  runtimeImage: other@` + digest + `
  serviceAccountName: other
  imagePullSecrets: [{name: pull}]
  storage: {endpoint: {url: "https://minio", credentialsSecretName: creds}}
  placement: {zones: [x], mode: Relaxed, nodeSelector: {a: b}, tolerations: [{operator: Exists}], priorityClassName: high}
  resources: {limits: {memory: 3Gi}}
  cells: {maxResident: 1, idleEvictSeconds: 1}
  lifecycle: {shutdownSeconds: 1, terminationGraceSeconds: 6}
  env: [{name: CELLD_X, value: x}]
  podMetadata: {labels: {a: b}, annotations: {a: b}}
  telemetry: {collectorURL: "http://otel", egress: {cidr: 10.0.0.1/32}}
  network: {credentials: None, dns: {namespace: dns}, extraEgress: [{}]}
  maintenance: {paused: true, stopped: true, restartToken: x}
  capacity: {mode: Manual}
  routing: {hostnames: [a.example], source: ` + source + `, gateway: {name: gw}}
`
