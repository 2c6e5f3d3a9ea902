// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// testHealth has the command line of Argo CD run the health checks, as our
// component puts them into its settings, on every file of their test data.
func (s *system) testHealth(t *testing.T) {
	t.Parallel()
	settings, err := yaml.Marshal(s.find(t, "ConfigMap", "argocd-cm").Object)
	require.NoError(t, err)
	settingsFile := write(t, filepath.Join(t.TempDir(), "argocd-cm.yaml"), string(settings))
	for kind, fleet := range map[string]v1alpha1.Fleet{
		v1alpha1.KindPersistentFleet: &v1alpha1.PersistentFleet{}, v1alpha1.KindBucketFleet: &v1alpha1.BucketFleet{},
	} {
		dir := "config/argocd/health/" + kind
		var cases struct {
			Tests []struct {
				InputPath    string
				HealthStatus struct{ Status, Message string }
			}
		}
		require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, dir+"/health_test.yaml")), &cases))
		files, err := os.ReadDir(path(t, dir+"/testdata"))
		require.NoError(t, err)
		require.Len(t, cases.Tests, len(files))
		for _, tc := range cases.Tests {
			t.Run(kind+"/"+filepath.Base(tc.InputPath), func(t *testing.T) {
				require.NoError(t, yaml.UnmarshalStrict([]byte(read(t, dir+"/"+tc.InputPath)), fleet))
				require.Equal(t, kind, fleet.Kind())
				want := fmt.Sprintf("STATUS: %s\nMESSAGE: %s\n", tc.HealthStatus.Status, tc.HealthStatus.Message)
				got := s.argocd(t, "admin", "settings", "resource-overrides", "health", path(t, dir+"/"+tc.InputPath), "--argocd-cm-path", settingsFile)
				require.Equal(t, want, got)
			})
		}
	}
	require.Equal(t, read(t, "config/argocd/health/PersistentFleet/health.lua"), read(t, "config/argocd/health/BucketFleet/health.lua"))
}
