// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const registryFile = "clusters/production-oci/fleets.yaml"

// registry applies what the job pushes: the rendered directory and nothing else.
func registry(t *testing.T, f *flux) {
	tm := f.team(t)
	tm.follow(registryFile)
	tm.render()
	tm.waitRevision(t, tm.publish(t, "OCIRepository", tm.name, filepath.Join(tm.dir, "rendered", "production")), ready)
	require.Len(t, tm.inventory(t), 12)
	tm.waitPhase("PersistentFleet", "my-fleet", "Ready")
	tm.waitPhase("BucketFleet", "sessions", "Ready")
}
