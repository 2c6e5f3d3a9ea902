// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/binaries"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

const (
	system     = "flux-system"
	controller = "kustomize-controller"
)

// sources is the module that defines GitRepository and OCIRepository. It
// cannot be built here, and need not be: the tests write the status of sources.
const sources = "github.com/fluxcd/source-controller@v1.9.6"

// sums are those of the modules that are read and not built, as go.sum has them
// of the others.
var sums = map[string]string{
	sources: "h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=",
	cli:     "h1:jwCccxvkD+2QnsjN+pl5QqM8KnFUwA8pIoQ1Lf0avkA=",
}

// fetchTimeout bounds the fetch of a module that is not here yet.
const fetchTimeout = 5 * time.Minute

// flux is one that runs.
type flux struct {
	*cluster.Cluster
	artifacts *artifacts
	page      *page
}

// start starts Flux as it is installed: its definitions, and its controller with
// the rights of a cluster admin.
func start(t *testing.T) *flux {
	t.Helper()
	c := shared.Cluster(t)
	f := &flux{Cluster: c, artifacts: serveArtifacts(t), page: openPage(t, c)}
	f.MustKubectl(t, "apply", "--server-side", "-f", filepath.Join(module(t, "github.com/fluxcd/kustomize-controller"), "config", "crd", "bases"))
	f.MustKubectl(t, "apply", "--server-side", "-f", filepath.Join(module(t, sources), "config", "crd", "bases"))

	account := metav1.ObjectMeta{Namespace: system, Name: controller}
	require.NoError(t, c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}))
	require.NoError(t, c.Client.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: account}))
	require.NoError(t, c.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-reconciler"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: controller}},
	}))
	binary, err := binaries.Flux.Find()
	require.NoError(t, err)
	program.Start(t, binary, c.ServiceAccountConfig(t, system, controller),
		"--metrics-addr=0", "--health-addr=0", "--concurrent=20", "--requeue-dependency=1s", "--kube-api-qps=500", "--kube-api-burst=1000")
	return f
}

// module returns the directory of a module of Flux, of the version that is
// built unless it is one of sums.
func module(t *testing.T, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fetchTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", name)
	cmd.Dir = filepath.Join("..", "build-flux")
	sum, unbuilt := sums[name]
	if unbuilt {
		cmd.Dir = t.TempDir() // what is built does not depend on it
	}
	said, err := cmd.Output()
	require.NoError(t, err, "%s", said)
	var found struct{ Dir, Sum string }
	require.NoError(t, json.Unmarshal(said, &found))
	require.True(t, !unbuilt || found.Sum == sum, "%s is another one than it was: %s", name, found.Sum)
	return found.Dir
}

// shell runs a script where fleetwright and kubectl are.
func (f *flux) shell(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	return shell(t, dir, script, f.page.bin)
}

// shell runs a script as CI does, where fleetwright is and programs of other
// directories, and returns what it printed.
func shell(t *testing.T, dir, script string, path ...string) (string, error) {
	t.Helper()
	require.NoError(t, build())
	path = append(path, programs, os.Getenv("PATH"))
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+strings.Join(path, string(os.PathListSeparator)))
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// build builds fleetwright, once.
var build = sync.OnceValue(func() (err error) {
	if programs, err = os.MkdirTemp("", "fleetwright-flux-"); err != nil {
		return err
	}
	said, err := exec.Command("go", "build", "-o", programs, "github.com/fleetwright/fleetwright/cmd/fleetwright").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building fleetwright: %w\n%s", err, said)
	}
	return nil
})

// copyExample returns a copy of the example's repository.
func copyExample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "flux"))))
	return dir
}
