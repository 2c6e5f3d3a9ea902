// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArgoCD(t *testing.T) {
	s := newSystem(t)
	t.Run("Fleetwright is installed", s.testInstall)
	for name, test := range map[string]func(*testing.T){
		"what cannot be rendered reaches nothing":       s.testBroken,
		"drift is shown and repaired":                   s.testDrift,
		"what is gone from Git is pruned":               s.testPrune,
		"parameters of the plugin":                      s.testParameters,
		"applications that name no plugin":              s.testDiscovery,
		"an overlay of kustomize":                       s.testOverlay,
		"a set of applications":                         s.testApplicationSet,
		"health checks answer as their test data wants": s.testHealth,
	} {
		t.Run(name, test)
	}
	for strategy := range strategies {
		t.Run(strategy, s.testStrategy(strategy))
	}
}

func (s *system) testInstall(t *testing.T) {
	r := newRepository(t)
	require.NoError(t, os.CopyFS(filepath.Join(r.dir, "charts/fleetwright"), os.DirFS(path(t, "charts/fleetwright"))))
	revision := r.commit("The chart")
	a := create(t, s.Cluster, example(t, "fleetwright.yaml", r.url()))
	a.waitSynced(revision, "Healthy")
}
