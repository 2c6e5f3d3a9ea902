// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// Every default, written out.
const everyDefault = `
spec:
  storage: {size: 10Gi}
  placement: {mode: Strict, maxPerZone: 1}
  resources: {requests: {cpu: 250m, memory: 512Mi}, limits: {memory: 1Gi}}
  lifecycle: {shutdownSeconds: 20, terminationGraceSeconds: 30}
  network: {credentials: EKS, dns: {namespace: kube-system, podLabels: {k8s-app: kube-dns}}}
  capacity: {mode: Manual}
`

// Default fills in what is missing, keeps what is set, and has nothing left to do the second time.
func TestDefault(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		patch string
		want  string // beyond everyDefault and patch
	}{
		"everything": {},
		"ordered":    {kind: v1alpha1.KindBucketFleet, patch: `spec: {workload: Ordered}`, want: `spec: {placement: {maxPerZone: null}}`},
		"relaxed":    {patch: `spec: {placement: {mode: Relaxed}}`, want: `spec: {placement: {maxPerZone: null}}`},
		"a cap":      {patch: `spec: {placement: {maxPerZone: 3}}`},
		"what is set": {patch: everythingMutable,
			want: `spec: {placement: {maxPerZone: null}, resources: {requests: {cpu: 250m, memory: 512Mi}}}`},
		"another size": {patch: `spec: {storage: {size: 1Ti}}`},
		"gs":           {patch: `spec: {storage: {bucket: "gs://b"}}`, want: `spec: {network: {credentials: GKE}}`},
		"az":           {patch: `spec: {storage: {bucket: "az://b"}}`, want: `spec: {network: {credentials: Azure}}`},
		"bare bucket":  {patch: `spec: {storage: {bucket: b}}`},

		"request lowered to its limit": {
			patch: `spec: {resources: {limits: {cpu: 100m, memory: 256Mi}}}`,
			want:  `spec: {resources: {requests: {cpu: 100m, memory: 256Mi}}}`},
		"limit raised to its request": {
			patch: `spec: {resources: {requests: {memory: 2Gi}}}`,
			want:  `spec: {resources: {limits: {memory: 2Gi}}}`},
		"limit above the request stays": {patch: `spec: {resources: {requests: {memory: 600Mi}}}`},
		"both set stay":                 {patch: `spec: {resources: {requests: {cpu: 1, memory: 64Mi}, limits: {cpu: 2, memory: 65Mi}}}`},
		"grace follows shutdown": {
			patch: `spec: {lifecycle: {shutdownSeconds: 60}}`,
			want:  `spec: {lifecycle: {terminationGraceSeconds: 65}}`},
		"grace not below its default": {patch: `spec: {lifecycle: {shutdownSeconds: 1}}`},
		"shutdown follows grace": {
			patch: `spec: {lifecycle: {terminationGraceSeconds: 10}}`,
			want:  `spec: {lifecycle: {shutdownSeconds: 5}}`},
		"shortest grace": {
			patch: `spec: {lifecycle: {terminationGraceSeconds: 6}}`,
			want:  `spec: {lifecycle: {shutdownSeconds: 1}}`},
		"dns namespace alone": {patch: `spec: {network: {dns: {namespace: dns}}}`},
		"dns labels alone": {
			patch: `spec: {network: {dns: {podLabels: {app: dns}}}}`,
			want:  `spec: {network: {dns: {podLabels: {k8s-app: null}}}}`},
	} {
		for _, kind := range (celCase{kind: c.kind}).kinds() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				workload := ""
				if kind == v1alpha1.KindBucketFleet {
					workload = `spec: {workload: Deployment}`
				}
				f := typed(t, kind, c.patch)
				f.Default()
				require.Equal(t, encode(t, typed(t, kind, workload, everyDefault, c.patch, c.want)), encode(t, f))
				again := clone(f)
				again.Default()
				require.Equal(t, f, again)
			})
		}
	}
}

// A fleet that is nothing yet, and one that is all wrong, get defaults as well.
func TestDefaultIsTotal(t *testing.T) {
	for _, kind := range kinds {
		f := newFleet(kind)
		f.Default()
		again := clone(f)
		again.Default()
		require.Equal(t, f, again)
	}
	f := typed(t, v1alpha1.KindPersistentFleet, `spec: {lifecycle: {shutdownSeconds: 2147483647}, resources: {limits: {memory: -1}}}`)
	f.Default()
	require.EqualValues(t, 2147483647, *f.Shared().Lifecycle.ShutdownSeconds)
	require.Equal(t, "-1", f.Shared().Resources.Limits.Memory().String())
}
