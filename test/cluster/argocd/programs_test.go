// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/test/cluster/binaries"
	"github.com/fleetwright/fleetwright/test/cluster/program"
)

// programs are those of Argo CD that sync applications.
type programs struct {
	t      testing.TB
	c      *cluster.Cluster
	binary string
	dir    string // short: a socket's path has room for a hundred bytes
	env    []string
	redis  string
}

// startPrograms starts them, with a plugin.
func startPrograms(t testing.TB, c *cluster.Cluster, plugin string) *programs {
	t.Helper()
	binary, err := binaries.ArgoCD.Find()
	require.NoError(t, err)
	dir := filepath.Join(c.Dir(), "argocd")
	p := &programs{t: t, c: c, binary: binary, dir: dir, redis: miniredis.RunT(t).Addr()}
	for _, name := range []string{"plugins", "tmp", "cmp", "tls", "ssh", "bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	require.NoError(t, os.Symlink(program.Helm(t), filepath.Join(dir, "bin", "helm")))
	p.env = append(os.Environ(),
		"PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+dir, "TMPDIR="+filepath.Join(dir, "tmp"), "KUBECONFIG="+c.Kubeconfig(),
		"ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false",
		"ARGOCD_PLUGINSOCKFILEPATH="+filepath.Join(dir, "plugins"), "ARGOCD_CMP_WORKDIR="+filepath.Join(dir, "cmp"),
		"ARGOCD_ASK_PASS_SOCK="+filepath.Join(dir, "ask.sock"),
		"ARGOCD_TLS_DATA_PATH="+filepath.Join(dir, "tls"), "ARGOCD_SSH_DATA_PATH="+filepath.Join(dir, "ssh"),
	)
	write(t, filepath.Join(dir, "config", "plugin.yaml"), plugin)
	p.start("argocd-cmp-server", "--config-dir-path", filepath.Join(dir, "config"))
	repos := "127.0.0.1:" + program.FreePort(t)
	metrics := program.FreePort(t)
	p.start("argocd-repo-server", "--address=127.0.0.1", "--port="+port(repos), "--metrics-address=127.0.0.1",
		"--metrics-port="+metrics, "--disable-tls", "--redis="+p.redis)
	cluster.Wait(t, "the repo server and the plugin's socket", func(ctx ctx) (bool, string) {
		status, body := program.Get(ctx, "127.0.0.1:"+metrics, "/healthz?full=true")
		sockets, err := filepath.Glob(filepath.Join(dir, "plugins", "*.sock"))
		return status == http.StatusOK && len(sockets) == 1, fmt.Sprint(status, body, sockets, err)
	})
	// It looks at every application again after two minutes unless told otherwise.
	p.start("argocd-application-controller", "--app-resync=20", "--app-resync-jitter=0", "--namespace="+namespace, "--kubeconfig="+c.Kubeconfig(),
		"--repo-server="+repos, "--repo-server-plaintext", "--redis="+p.redis, "--metrics-port="+program.FreePort(t), "--persist-resource-health")
	p.start("argocd-applicationset-controller", "--namespace="+namespace, "--kubeconfig="+c.Kubeconfig(),
		"--argocd-repo-server="+repos, "--repo-server-plaintext", "--metrics-addr=127.0.0.1:"+program.FreePort(t),
		"--probe-addr=127.0.0.1:"+program.FreePort(t), "--webhook-addr=127.0.0.1:"+program.FreePort(t))
	return p
}

// start runs one of them until the test ends, however it ends: the shell ends
// it once nobody holds the other end of its lifeline.
func (p *programs) start(name string, args ...string) {
	p.t.Helper()
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	require.NoError(p.t, err)
	held, lifeline, err := os.Pipe()
	require.NoError(p.t, err)
	cmd := exec.Command("/bin/sh", append([]string{"-c", `"$@" 3<&- & cat <&3; kill -KILL $!`, "sh", p.binary}, args...)...)
	cmd.Env = append(p.env, "ARGOCD_BINARY_NAME="+name)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.ExtraFiles = []*os.File{held}
	require.NoError(p.t, cmd.Start())
	require.NoError(p.t, held.Close())
	p.t.Cleanup(func() {
		_ = lifeline.Close()
		_ = cmd.Wait()
		_ = log.Close()
	})
}

// argocd runs the command line.
func (p *programs) argocd(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.binary, args...)
	cmd.Env = append(p.env, "ARGOCD_BINARY_NAME=argocd")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, io.Discard
	require.NoError(t, cmd.Run(), "argocd %s\n%s", strings.Join(args, " "), &said)
	return said.String()
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
