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

	running map[string]*program.Program
}

// startPrograms starts them, with a plugin.
func startPrograms(t testing.TB, c *cluster.Cluster, plugin string) *programs {
	t.Helper()
	binary, err := binaries.ArgoCD.Find()
	require.NoError(t, err)
	dir := filepath.Join(c.Dir(), "argocd")
	p := &programs{t: t, c: c, binary: binary, dir: dir, redis: miniredis.RunT(t).Addr(), running: map[string]*program.Program{}}
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
	p.waitServes("argocd-repo-server", "127.0.0.1:"+metrics, "/healthz?full=true")
	cluster.Wait(t, "the plugin's socket", func(ctx) (bool, string) {
		sockets, err := filepath.Glob(filepath.Join(dir, "plugins", "*.sock"))
		return len(sockets) == 1, fmt.Sprint(sockets, err)
	})
	metrics = program.FreePort(t)
	// It looks at every application again after two minutes unless told otherwise.
	p.start("argocd-application-controller", "--app-resync=20", "--app-resync-jitter=0", "--namespace="+namespace, "--kubeconfig="+c.Kubeconfig(),
		"--repo-server="+repos, "--repo-server-plaintext", "--redis="+p.redis, "--metrics-port="+metrics, "--persist-resource-health")
	p.waitServes("argocd-application-controller", "127.0.0.1:"+metrics, "/healthz")
	metrics = program.FreePort(t)
	p.start("argocd-applicationset-controller", "--namespace="+namespace, "--kubeconfig="+c.Kubeconfig(),
		"--argocd-repo-server="+repos, "--repo-server-plaintext", "--metrics-addr=127.0.0.1:"+metrics,
		"--probe-addr=127.0.0.1:"+program.FreePort(t), "--webhook-addr=127.0.0.1:"+program.FreePort(t))
	p.waitServes("argocd-applicationset-controller", "127.0.0.1:"+metrics, "/metrics")
	return p
}

// start runs one of them until the test ends.
func (p *programs) start(name string, args ...string) {
	p.t.Helper()
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	require.NoError(p.t, err)
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.binary, args...)
	cmd.Env = append(p.env, "ARGOCD_BINARY_NAME="+name)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	p.running[name] = program.Run(p.t, cmd)
}

// waitServes waits until one of them answers. One that has ended, say because
// somebody else took its port, never does.
func (p *programs) waitServes(name, address, path string) {
	p.t.Helper()
	cluster.Wait(p.t, name+" to serve", func(ctx ctx) (bool, string) {
		if p.running[name].Ended() {
			log, _ := os.ReadFile(filepath.Join(p.dir, name+".log"))
			p.t.Fatalf("%s has ended:\n%s", name, log)
		}
		status, body := program.Get(ctx, address, path)
		return status == http.StatusOK, body
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
