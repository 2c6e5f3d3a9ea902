// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// Tests of fleets and of the healer run on a cluster that is none of theirs, and
// leave it as it was. What they cannot do there is said.
func TestExistingCluster(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t)
	c.World(t) // has its nodes
	before := outsideNamespaces(t, c)

	const tests = "^(TestThreeMembersInThreeZones|TestApplyTwice|" + // fleets
		"TestFleetComesUp|TestDeletionLeavesAClaimWithoutTheIdentity|TestWhatAReplacementCosts|TestFullStopWithAnImageChange)$" // heal
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-p=1", "-v", "-run", tests, "./fleets", "./heal")
	cmd.Env = append(os.Environ(), cluster.KubeconfigEnv+"="+c.Kubeconfig(), cluster.ImageEnv+"=")
	out, err := cmd.CombinedOutput()
	said := string(out)
	require.NoError(t, err, said)
	for _, line := range []string{
		"--- PASS: TestThreeMembersInThreeZones", "--- PASS: TestFleetComesUp", "--- PASS: TestDeletionLeavesAClaimWithoutTheIdentity",
		"tests that do not run on an existing cluster: 1\n  " + string(cluster.Programs) + ": TestApplyTwice\n",
		"  " + string(cluster.Nodes) + ": TestFullStopWithAnImageChange",
	} {
		require.Contains(t, said, line)
	}
	require.Equal(t, before, outsideNamespaces(t, c))
}

// outsideNamespaces lists what there is in a cluster that belongs to no
// namespace, and the namespaces.
func outsideNamespaces(t *testing.T, c *cluster.Cluster) []string {
	t.Helper()
	_, resources, err := c.Kubernetes.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)
	var names []string
	for _, group := range resources {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		require.NoError(t, err)
		for _, resource := range group.APIResources {
			if resource.Namespaced || !slices.Contains(resource.Verbs, "list") || resource.Name == "componentstatuses" {
				continue
			}
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			require.NoError(t, c.Client.List(t.Context(), list))
			require.NoError(t, meta.EachListItem(list, func(o runtime.Object) error {
				names = append(names, fmt.Sprintf("%s %s", resource.Name, o.(*unstructured.Unstructured).GetName()))
				return nil
			}))
		}
	}
	slices.Sort(names)
	return names
}
