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
}

func (s *system) testInstall(t *testing.T) {
	r := newRepository(t)
	require.NoError(t, os.CopyFS(filepath.Join(r.dir, "charts/fleetwright"), os.DirFS(path(t, "charts/fleetwright"))))
	revision := r.commit("The chart")
	a := create(t, s.Cluster, example(t, "fleetwright.yaml", r.url()))
	a.waitSynced(revision, "Healthy")
}
