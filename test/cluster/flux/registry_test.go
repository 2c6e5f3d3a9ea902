// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const registryFile = "clusters/production-oci/fleets.yaml"

// registry applies what the job pushes: the rendered directory and nothing else.
// While no node takes members, Flux runs out of time, and looks again by itself.
func registry(t *testing.T, f *flux) {
	tm := f.team(t)
	tm.edit(registryFile, "timeout: 5m", "timeout: 1s")
	tm.edit(registryFile, "path: ./", "path: ./elsewhere")
	for _, zone := range tm.w.Zones {
		tm.w.Cordon(tm.w.Nodes(zone)[0])
	}
	tm.follow(registryFile)
	tm.render()
	revision := tm.publish(t, "OCIRepository", tm.name, filepath.Join(tm.dir, "rendered", "production"))
	anything := func(*unstructured.Unstructured) bool { return true }
	tm.wait(t, "a wrong path", failed("ArtifactFailed", "kustomization path not found"), anything)
	tm.patch(t, `{"spec": {"path": "./"}}`)
	tm.wait(t, revision, failed("HealthCheckFailed", "timeout waiting for", "my-fleet status: 'InProgress'"), anything)
	for _, zone := range tm.w.Zones {
		tm.w.Uncordon(tm.w.Nodes(zone)[0])
	}
	tm.waitRevision(t, revision, ready)
	require.Len(t, tm.inventory(t), 12)
}
