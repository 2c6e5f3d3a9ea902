// SPDX-License-Identifier: Apache-2.0

// Package program runs the project's programs beside a test control plane, as
// processes of their own.
package program

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// Program is one that runs.
type Program struct {
	cmd   *exec.Cmd
	log   buffer
	ended chan error
}

// Build builds a program of cmd/ into a cluster's directory, once for each
// cluster, and returns the binary.
func Build(tb testing.TB, c *cluster.Cluster, name string) string {
	tb.Helper()
	binary := filepath.Join(c.Dir(), name)
	command := exec.CommandContext(tb.Context(), "go", "build", "-o", binary, "github.com/fleetwright/fleetwright/cmd/"+name)
	said, err := command.CombinedOutput()
	require.NoError(tb, err, string(said))
	return binary
}

// Start runs a program that reaches the API server by a configuration. It ends
// with the test at the latest, and what it logged is shown if that failed.
func Start(tb testing.TB, binary string, config *rest.Config, flags ...string) *Program {
	tb.Helper()
	p := &Program{cmd: exec.Command(binary, flags...), ended: make(chan error, 1)}
	kubeconfig := filepath.Join(tb.TempDir(), "kubeconfig")
	require.NoError(tb, WriteKubeconfig(config, kubeconfig))
	p.cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	p.cmd.Stderr = &p.log
	require.NoError(tb, p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if tb.Failed() {
			tb.Log(p.log.String())
		}
	})
	return p
}

// Stop tells it to stop as the kubelet does, and expects that it does so well.
func (p *Program) Stop(tb testing.TB) {
	tb.Helper()
	require.NoError(tb, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-p.ended:
		require.NoError(tb, err)
	case <-time.After(cluster.Patience):
		tb.Fatalf("%s did not stop within %s", filepath.Base(p.cmd.Path), cluster.Patience)
	}
}

// Log is what it has written to the standard error so far.
func (p *Program) Log() string { return p.log.String() }

// PID is its process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// WriteKubeconfig writes a configuration with a token to a file.
func WriteKubeconfig(config *rest.Config, name string) error {
	file := clientcmdapi.NewConfig()
	file.Clusters["c"] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile,
	}
	file.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	file.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	return clientcmd.WriteToFile(*file, name)
}

// FreePort returns a port of the loopback address that nobody listens on.
func FreePort(tb testing.TB) string {
	tb.Helper()
	port, err := cluster.FreePort(tb.Context())
	require.NoError(tb, err)
	return strconv.Itoa(port)
}

// Helm builds the version of helm that test/chart pins, and returns the binary.
// It is called from a package of this module.
func Helm(tb testing.TB) string {
	tb.Helper()
	which := exec.CommandContext(tb.Context(), "go", "tool", "-n", "helm")
	which.Dir = filepath.Join("..", "..", "chart")
	binary, err := which.Output()
	require.NoError(tb, err)
	return strings.TrimSpace(string(binary))
}

// buffer is written by a program while a test reads it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Get returns the status and body of a page that a program serves, and zero and
// the error when there is none.
func Get(ctx context.Context, address, path string) (status int, body string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}
