// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

const (
	helmInstall   = "helm upgrade --install fleetwright charts/fleetwright --namespace fleetwright-system --create-namespace"
	helmUninstall = "helm uninstall fleetwright --namespace fleetwright-system"
	removeCRDs    = "kubectl delete -f dist/kustomize/crds.yaml"
)

// helm runs a command of helm, of the version that test/chart pins, in the root
// of the repository.
func helm(t *testing.T, c *cluster.Cluster, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Helm(t), strings.Fields(command)[1:]...)
	cmd.Dir = path(t, ".")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(),
		"HELM_DATA_HOME="+t.TempDir())
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, said)
}

// TestHelm takes definitions over that kubectl installed, upgrades to the same,
// and uninstalls; what stays is what the page says.
func TestHelm(t *testing.T) {
	c := newCluster(t)
	page, err := os.ReadFile(path(t, "docs/install.md"))
	require.NoError(t, err)
	require.Contains(t, string(page), "--take-ownership")
	kubectl(t, c, "apply", "--server-side", "-f", path(t, "dist/kustomize/crds.yaml"))
	helm(t, c, helmInstall+" --take-ownership")
	awaitRunning(t, c)
	requireAdmitted(t, c)
	requireWorking(t, c)

	start := c.StopControllers(t)
	objects := manifest(t)[1:] // the namespace is kubectl's business here
	before := versions(t, c, objects)
	helm(t, c, helmInstall)
	require.Equal(t, before, versions(t, c, objects))
	start()

	helm(t, c, helmUninstall)
	left := []string{"Namespace /" + system, "ServiceAccount " + system + "/default", "ConfigMap " + system + "/kube-root-ca.crt",
		"Lease " + system + "/fleetwright-healer"} // the page says so
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			left = append(left, nameOf(object))
		}
	}
	cluster.Wait(t, "nothing but definitions, the namespace and the Lease in it to be left", func(ctx) (bool, string) {
		now := inventory(t, c)
		return len(now) == len(left), strings.Join(now, ", ")
	})
	require.ElementsMatch(t, left, inventory(t, c))

	kubectl(t, c, in(t, strings.Fields(removeCRDs)[1:])...)
	kubectl(t, c, "delete", "namespace", system)
	require.Empty(t, inventory(t, c))
}
