// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/playground"
)

// installs has Flux install Fleetwright and the example as it is. A second sync
// changes nothing.
func (f *flux) installs(t *testing.T) {
	t.Helper()
	playground.Start(t, f.Cluster)
	f.inExample(t, "kubectl apply --server-side -f clusters/production")
	programs, fleets := f.named("fleetwright"), f.named("fleets")
	example := f.publish(t, "GitRepository", "fleets", filepath.Join(root, "examples", "flux"))
	fleets.wait(t, "its dependency", failed("DependencyNotReady"), func(*unstructured.Unstructured) bool { return true })
	programs.waitRevision(t, f.publish(t, "GitRepository", "fleetwright", release(t)), ready)
	fleets.waitRevision(t, example, ready)
	f.inExample(t, "kubectl -n flux-system wait kustomization/fleetwright kustomization/fleets --for=condition=Ready --timeout=10m")
	require.Equal(t, 2, strings.Count(f.inExample(t, "kubectl get pfleet,bfleet -n fleets"), "Ready"))

	// The webhook has written its certificate by now, and the healer counts and
	// statuses: that is no drift.
	for _, applied := range []*kustomization{programs, fleets} {
		require.GreaterOrEqual(t, len(applied.inventory(t)), 12)
		applied.requireSyncChangesNothing(t)
	}
}

// uninstalls deletes the fleets, then Fleetwright: everything goes but the
// definitions, with their policy, and the reservations.
func (f *flux) uninstalls(t *testing.T) {
	t.Helper()
	for _, name := range []string{"fleets", "fleetwright"} {
		objects := f.named(name).inventory(t)
		f.inExample(t, "kubectl -n flux-system delete kustomization "+name)
		for _, object := range objects {
			switch object.GetKind() {
			case "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
				require.NoError(t, f.Client.Get(t.Context(), key(object), object))
				require.Empty(t, object.GetDeletionTimestamp())
				continue
			case "Namespace": // goes with its last Pod, which may serve on for a while
				continue
			}
			cluster.Wait(t, name+": "+object.GetKind()+" "+object.GetName()+" to be gone", f.Gone(object))
		}
	}
	var claims corev1.PersistentVolumeClaimList
	require.NoError(t, f.Client.List(t.Context(), &claims, client.InNamespace("fleets")))
	require.Empty(t, claims.Items)
	require.NotEmpty(t, f.MustKubectl(t, "get", "storagereservations", "-o", "name"))
}

// inExample runs a line of the page in the example.
func (f *flux) inExample(t *testing.T, line string) string {
	t.Helper()
	said, err := f.shell(t, filepath.Join(root, "examples", "flux"), f.page.line(t, line))
	require.NoError(t, err, said)
	return said
}

// release is a repository with what the example takes from this one.
func release(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "dist"), os.DirFS(filepath.Join(root, "dist"))))
	return dir
}

func (f *flux) named(name string) *kustomization { return &kustomization{f: f, name: name} }
