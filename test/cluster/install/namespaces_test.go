// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// TestInSomeNamespaces runs the healer with its rights in two namespaces. One of
// them is deleted with a fleet in it, and the rights before the fleet: it goes
// all the same, and the fleets of the other do not notice, even when the healer
// starts again without it.
func TestInSomeNamespaces(t *testing.T) {
	c := newCluster(t)
	stays, goes := c.World(t), c.World(t)
	helm(t, c, fmt.Sprintf("%s --take-ownership --set fleetNamespaces={%s,%s}", helmInstall, stays.Namespace, goes.Namespace))
	awaitRunning(t, c)
	requireWorking(t, c)
	for _, w := range []*cluster.World{stays, goes} {
		apply(t, c, w)
	}
	for _, w := range []*cluster.World{stays, goes} {
		awaitPhase(t, c, w, v1alpha1.PhaseReady)
	}

	kubectl(t, c, "delete", "rolebinding", "-n", goes.Namespace, "fleetwright-healer-fleets") // it goes with the namespace, early or late
	kubectl(t, c, "delete", "namespace", goes.Namespace, "--wait=false")
	goes.WaitGone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: goes.Namespace}})

	kubectl(t, c, "-n", system, "delete", "pod", "-l", "app.kubernetes.io/name=fleetwright-healer")
	awaitRunning(t, c)
	kubectl(t, c, "-n", stays.Namespace, "patch", "pfleet", "my-fleet", "--type", "merge", "-p", `{"spec":{"maintenance":{"stopped":true}}}`)
	awaitPhase(t, c, stays, v1alpha1.PhaseStopped)
	kubectl(t, c, "-n", stays.Namespace, "delete", "pfleet", "my-fleet")

	helm(t, c, helmUninstall)
	kubectl(t, c, in(t, []string{"delete", "-f", "dist/kustomize/crds.yaml"})...)
	kubectl(t, c, "delete", "namespace", system)
	require.Empty(t, inventory(t, c))
}

// apply creates the fleet my-fleet of three members in a World, as a sync tool does.
func apply(t *testing.T, c *cluster.Cluster, w *cluster.World) {
	t.Helper()
	text := fmt.Sprintf(`
apiVersion: celld.eric.dev/v1alpha1
kind: PersistentFleet
metadata: {name: my-fleet, namespace: %[1]s}
spec:
  replicas: 3
  runtimeImage: registry.test/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  serviceAccountName: default
  storage: {bucket: s3://%[1]s, region: us-east-1, storageClassName: %[2]s}
  placement: {zones: [%[3]s, %[4]s, %[5]s]}
`, w.Namespace, cluster.StorageClass, w.Zones[0], w.Zones[1], w.Zones[2])
	file := filepath.Join(t.TempDir(), "fleet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	rendered, err := exec.CommandContext(t.Context(), program.Build(t, c, "fleetwright"), "render", file).Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, rendered, 0o600))
	kubectl(t, c, "apply", "--server-side", "-f", file)
}

// awaitPhase waits for the healer to say of my-fleet that it is in a phase.
func awaitPhase(t *testing.T, c *cluster.Cluster, w *cluster.World, phase v1alpha1.Phase) {
	t.Helper()
	kubectl(t, c, "-n", w.Namespace, "wait", "pfleet/my-fleet", "--for=jsonpath={.status.phase}="+string(phase), "--timeout="+cluster.Patience.String())
}
