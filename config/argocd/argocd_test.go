// SPDX-License-Identifier: Apache-2.0

// Package argocd_test keeps the values for Argo CD's Helm chart in step with what the kustomize component says.
package argocd_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/golden"
)

const head = `# SPDX-License-Identifier: Apache-2.0
# Values for the argo-cd chart of argo-helm, generated: what kustomization.yaml adds to Argo CD, said to Helm. If you have
# extraContainers or volumes of your own, put these beside them: of two lists, Helm takes the last.
`

func TestHelmValues(t *testing.T) {
	var plugin struct {
		Metadata struct{ Name string }
		Spec     map[string]any
	}
	require.NoError(t, yaml.Unmarshal(read(t, "plugin.yaml"), &plugin))
	var patch appsv1.Deployment
	require.NoError(t, yaml.UnmarshalStrict(read(t, "repo-server-patch.yaml"), &patch))
	pod := patch.Spec.Template.Spec
	for i, volume := range pod.Volumes {
		if volume.ConfigMap != nil { // the chart makes it, and calls it so
			pod.Volumes[i].ConfigMap = &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "argocd-cmp-cm"},
				Items:                []corev1.KeyToPath{{Key: plugin.Metadata.Name + ".yaml", Path: "plugin.yaml"}},
			}
		}
	}
	checks := map[string]string{}
	for _, kind := range []string{"PersistentFleet", "BucketFleet"} {
		checks["resource.customizations.health.celld.eric.dev_"+kind] = string(read(t, "health/"+kind+"/health.lua"))
	}
	values, err := yaml.Marshal(map[string]any{
		"configs": map[string]any{
			"cm":  checks,
			"cmp": map[string]any{"create": true, "plugins": map[string]any{plugin.Metadata.Name: plugin.Spec}},
		},
		"repoServer": map[string]any{"extraContainers": pod.Containers, "volumes": pod.Volumes},
	})
	require.NoError(t, err)
	golden.Equal(t, "helm-values.yaml", head+string(values))
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return text
}
