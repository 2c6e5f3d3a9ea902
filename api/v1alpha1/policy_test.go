// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/crdcheck"
)

// The policy forbids what cannot be changed, and no other change; a mistake that is stored does not make it fail, which would
// be another answer than Forbidden.
func TestPolicy(t *testing.T) {
	const identity = "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"
	policy, err := crdcheck.LoadPolicy()
	require.NoError(t, err)
	persistent, bucket, reservation := v1alpha1.KindPersistentFleet, v1alpha1.KindBucketFleet, v1alpha1.KindStorageReservation
	for name, c := range map[string]struct {
		kind     string
		old, new string
		want     string
	}{
		"nothing":                       {new: `{}`},
		"everything that may change":    {new: everythingMutable},
		"the bucket":                    {new: `spec: {storage: {bucket: "s3://other-bucket"}}`, want: "spec.storage.bucket"},
		"another spelling of it":        {old: `spec: {storage: {bucket: my-bucket}}`, new: `spec: {storage: {bucket: "s3://my-bucket"}}`},
		"the region":                    {new: `spec: {storage: {region: eu-west-1}}`, want: "spec.storage.region"},
		"the account":                   {old: `spec: {storage: {azureAccount: a}}`, new: `spec: {storage: {azureAccount: b}}`, want: "spec.storage.azureAccount"},
		"the store":                     {new: `spec: {storage: {store: minio-a}}`, want: "spec.storage.store"},
		"an identity later":             {new: `spec: {identity: ` + identity + `}`, want: "spec.identity"},
		"no identity any more":          {old: `spec: {identity: ` + identity + `}`, new: `{}`, want: "spec.identity"},
		"the class":                     {kind: persistent, new: `spec: {storage: {storageClassName: ebs-keep}}`, want: "spec.storage.storageClassName"},
		"the size":                      {kind: persistent, new: `spec: {storage: {size: 11Gi}}`, want: "spec.storage.size"},
		"the size, unset":               {kind: persistent, old: `spec: {storage: {size: 11Gi}}`, new: `{}`, want: "spec.storage.size"},
		"another spelling of the size":  {kind: persistent, old: `spec: {storage: {size: 10Gi}}`, new: `spec: {storage: {size: 10737418240}}`},
		"a size that is no quantity":    {kind: persistent, old: `spec: {storage: {size: big}}`, new: `spec: {storage: {size: big}, replicas: 4}`},
		"a size that was no quantity":   {kind: persistent, old: `spec: {storage: {size: big}}`, new: `spec: {storage: {size: 10Gi}}`, want: "spec.storage.size"},
		"the size of a cache":           {kind: bucket, new: `spec: {storage: {size: 11Gi}}`},
		"the workload":                  {kind: bucket, new: `spec: {workload: Ordered}`, want: "spec.workload"},
		"the workload, written out":     {kind: bucket, new: `spec: {workload: Deployment}`},
		"the workload, unset":           {kind: bucket, old: `spec: {workload: Ordered}`, new: `spec: {workload: ""}`, want: "spec.workload"},
		"a spec that was none":          {old: `spec: null`, new: `spec: null`},
		"the owner of a bucket":         {kind: reservation, new: `spec: {fleet: {name: other}}`, want: "spec"},
		"the annotations of a bucket's": {kind: reservation, new: `metadata: {annotations: {a: b}}`},
	} {
		for _, kind := range (celCase{kind: c.kind}).kinds() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				old := c.old
				if old == "" {
					old = `{}`
				}
				errs, err := policy.Update(object(t, kind, c.new), object(t, kind, old))
				require.NoError(t, err)
				require.Equal(t, c.want, strings.Join(fields(errs), " "))
			})
		}
	}
	for _, v := range policy.Shipped.Spec.Validations {
		require.Equal(t, metav1.StatusReasonForbidden, *v.Reason, "sync tools delete what is Invalid: %s", v.Message)
	}
}
