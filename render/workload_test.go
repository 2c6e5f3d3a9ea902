// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A pause stops a rollout, and a Pod that is recreated meanwhile gets no older template than it had. The API server refuses rollingUpdate
// beside OnDelete.
func TestUpdateStrategy(t *testing.T) {
	partition := int32(0)
	for patch, want := range map[string]appsv1.StatefulSetUpdateStrategy{
		`{}`:                                  {Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition}},
		`spec: {maintenance: {paused: true}}`: {Type: appsv1.OnDeleteStatefulSetStrategyType},
		`spec: {maintenance: {paused: true, stopped: true}}`: {Type: appsv1.OnDeleteStatefulSetStrategyType},
	} {
		for _, f := range []v1alpha1.Fleet{fleet(t, persistent, patch), fleet(t, bucket, patch, `spec: {workload: Ordered}`)} {
			set := find[*appsv1.StatefulSet](t, mustRender(t, f), "my-fleet")
			require.Equal(t, want, set.Spec.UpdateStrategy)
		}
		deployment := find[*appsv1.Deployment](t, mustRender(t, fleet(t, bucket, patch)), "my-fleet")
		require.Equal(t, want.Type == appsv1.OnDeleteStatefulSetStrategyType, deployment.Spec.Paused)
	}
}
