// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

func TestGenerated(t *testing.T) {
	want, err := YAML(DefaultNamespace)
	require.NoError(t, err)
	got, err := os.ReadFile("../../config/webhook/configuration.yaml")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run make generate")
	require.NotContains(t, string(got), "caBundle")
	require.NotContains(t, string(got), "null")
}

// What keeps clusters alive is none of the webhook's business, and no guard asks about everything of a kind that is not
// ours.
func TestNarrow(t *testing.T) {
	for _, g := range guards() {
		t.Run(g.Name, func(t *testing.T) {
			for _, rule := range g.Rules {
				require.NotContains(t, rule.APIGroups, "*")
				for _, resource := range rule.Resources {
					for _, never := range []string{"*", "pods", "nodes", "leases", "secrets", "configmaps"} {
						require.False(t, resource == never || strings.HasSuffix(resource, "/"+never), resource)
					}
					if resource == "namespaces" {
						require.Equal(t, []admissionregistrationv1.OperationType{"DELETE"}, rule.Operations)
						require.Equal(t, admissionregistrationv1.Ignore, g.Policy)
						continue
					}
				}
				narrow := slices.ContainsFunc(g.Conditions, func(c admissionregistrationv1.MatchCondition) bool { return c.Name == "name-of-a-member" })
				if ours := slices.Equal(rule.APIGroups, []string{"celld.eric.dev"}); !ours && g.Name != "namespace" && !narrow {
					require.True(t, g.Labelled || len(g.Conditions) > 1, "asks about objects that are not a fleet's")
				}
			}
			require.NotEmpty(t, g.Why)
		})
	}
}

func TestEntries(t *testing.T) {
	for _, w := range Configuration("elsewhere").Webhooks {
		require.Equal(t, "elsewhere", w.ClientConfig.Service.Namespace)
		require.Equal(t, admissionregistrationv1.SideEffectClassNone, *w.SideEffects, "dry runs are answered")
		require.LessOrEqual(t, *w.TimeoutSeconds, int32(5))
		require.Equal(t, []string{"v1"}, w.AdmissionReviewVersions)
	}
}

// Each failure policy, and the reason for it, is written down where people look.
func TestDecisionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/decisions.md")
	require.NoError(t, err)
	for _, g := range guards() {
		require.Contains(t, string(text), "| `"+g.Name+"` | "+string(g.Policy)+" | "+g.Why+" |")
	}
}
