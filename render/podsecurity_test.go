// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// TestRestrictedPodSecurity evaluates every Pod template with the API server's own checks.
func TestRestrictedPodSecurity(t *testing.T) {
	latest := psaapi.LatestVersion()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	restricted := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: latest}
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			template := templateOf(mustRender(t, goldenFleet(t, name))[1].Typed)
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
			require.True(t, result.Allowed, result.ForbiddenDetail())

			template.Spec.Containers[0].SecurityContext.Capabilities = nil
			result = policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
			require.False(t, result.Allowed, "the checks would not notice")
		})
	}
}
