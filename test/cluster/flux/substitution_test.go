// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const variables = "  postBuild:\n    substitute:\n      CLUSTER: production\n"

func substitution(t *testing.T, f *flux) {
	tm := f.team(t)
	tm.remove(sessionsFile)
	tm.spec(fleetFile, `env: [{name: CELLD_LOG, value: "${CLUSTER}=debug"}]`)
	tm.addSettings("${CLUSTER}")
	tm.edit(fleetsFile, "  prune: true\n", "  prune: true\n"+variables)
	require.Contains(t, tm.page.all, variables)
	tm.follow(fleetsFile)
	said, err := tm.shell(t, tm.dir, "fleetwright render fleets/production -o rendered/production")
	require.NoError(t, err)
	require.Contains(t, said, "kustomize.toolkit.fluxcd.io/substitute: disabled was added")
	tm.commit(ready)

	stored := &corev1.ConfigMap{ObjectMeta: tm.meta("settings")}
	tm.w.Get(stored)
	require.Equal(t, map[string]string{"cluster": "production"}, stored.Data)
	value := corev1.EnvVar{Name: "CELLD_LOG", Value: "${CLUSTER}=debug"}
	require.Contains(t, tm.w.Pod("my-fleet-0").Spec.Containers[0].Env, value)

	// Not for nothing: in another object the unknown name is an error.
	tm.addSettings("${REGION}")
	tm.commit(failed("BuildFailed", "REGION"))
}

// addSettings adds an object that a team keeps beside its fleets.
func (tm *team) addSettings(variable string) {
	tm.t.Helper()
	tm.write("fleets/production/settings.yaml", `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: `+tm.w.Namespace+`
data:
  cluster: `+variable+`
`)
}
