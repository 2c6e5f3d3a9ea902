// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// spreads returns the constraints of a rendered fleet, each without what all have.
func spreads(t *testing.T, f v1alpha1.Fleet) []corev1.TopologySpreadConstraint {
	t.Helper()
	honor := corev1.NodeInclusionPolicyHonor
	out := templateOf(mustRender(t, f)[1].Typed).Spec.TopologySpreadConstraints
	for i := range out {
		c := &out[i]
		require.Equal(t, corev1.LabelTopologyZone, c.TopologyKey)
		require.Equal(t, &honor, c.NodeAffinityPolicy)
		require.Equal(t, &honor, c.NodeTaintsPolicy)
		require.NotNil(t, c.LabelSelector)
		c.TopologyKey, c.NodeAffinityPolicy, c.NodeTaintsPolicy, c.LabelSelector = "", nil, nil, nil
	}
	return out
}

// A zone holds exactly maxPerZone members at most: minDomains is one more than there can be, so the emptiest zone counts as 0.
func TestSpread(t *testing.T) {
	hard := func(most, domains int32) corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{MaxSkew: most, MinDomains: &domains, WhenUnsatisfiable: corev1.DoNotSchedule}
	}
	soft := corev1.TopologySpreadConstraint{MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway}
	both := []string{persistent, bucket}
	for name, tc := range map[string]struct {
		bases []string
		patch string
		want  []corev1.TopologySpreadConstraint
	}{
		"default":             {both, `{}`, []corev1.TopologySpreadConstraint{hard(1, 4)}},
		"one":                 {both, `spec: {placement: {mode: Strict, maxPerZone: 1}}`, []corev1.TopologySpreadConstraint{hard(1, 4)}},
		"two":                 {both, `spec: {replicas: 6, placement: {maxPerZone: 2}}`, []corev1.TopologySpreadConstraint{hard(2, 4), soft}},
		"all in one zone":     {both, `spec: {placement: {zones: [a], maxPerZone: 100}}`, []corev1.TopologySpreadConstraint{hard(100, 2), soft}},
		"six zones":           {both, `spec: {replicas: 6, placement: {zones: [a, b, c, d, e, f]}}`, []corev1.TopologySpreadConstraint{hard(1, 7)}},
		"relaxed":             {both, `spec: {placement: {mode: Relaxed}}`, []corev1.TopologySpreadConstraint{soft}},
		"ordinals with zones": {[]string{bucket}, `spec: {workload: Ordered}`, nil},
		"ordinals, relaxed":   {[]string{bucket}, `spec: {workload: Ordered, placement: {mode: Relaxed}}`, []corev1.TopologySpreadConstraint{soft}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, base := range tc.bases {
				require.Equal(t, tc.want, spreads(t, fleet(t, base, tc.patch)))
			}
		})
	}
}

// Nothing in one constraint belongs to another one, or to what else is rendered.
func TestSpreadsAreApart(t *testing.T) {
	pod := templateOf(mustRender(t, fleet(t, persistent, `spec: {replicas: 6, placement: {maxPerZone: 2}}`))[1].Typed).Spec
	pod.TopologySpreadConstraints[0].LabelSelector.MatchLabels["x"] = "y"
	*pod.TopologySpreadConstraints[0].NodeTaintsPolicy = corev1.NodeInclusionPolicyIgnore
	require.NotContains(t, pod.TopologySpreadConstraints[1].LabelSelector.MatchLabels, "x")
	require.Equal(t, corev1.NodeInclusionPolicyHonor, *pod.TopologySpreadConstraints[1].NodeTaintsPolicy)
	for _, term := range pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		require.NotContains(t, term.LabelSelector.MatchLabels, "x")
	}
}

// Client-side apply knows constraints by their topology key alone, and changes the first one that has it: the hard one.
func TestCapInClientSidePatches(t *testing.T) {
	stored := func(patch string) []byte {
		set := mustRender(t, fleet(t, persistent, `spec: {replicas: 6}`, patch))[1].Typed
		return asJSON(t, set)
	}
	before, after := stored(`spec: {placement: {maxPerZone: 2}}`), stored(`spec: {placement: {maxPerZone: 3}}`)
	schema, err := strategicpatch.NewPatchMetaFromStruct(appsv1.StatefulSet{})
	require.NoError(t, err)
	patch, err := strategicpatch.CreateThreeWayMergePatch(before, after, before, schema, true)
	require.NoError(t, err)
	got, err := strategicpatch.StrategicMergePatch(before, patch, appsv1.StatefulSet{})
	require.NoError(t, err)
	require.JSONEq(t, string(after), string(got))
}
