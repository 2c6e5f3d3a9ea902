// SPDX-License-Identifier: Apache-2.0

// Package program runs the project's programs beside a test control plane, as
// processes of their own.
package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	ended chan struct{} // closed once err says how
	err   error
}

// Build builds a program of cmd/ into a cluster's directory, once for each
// cluster, and returns the binary.
func Build(tb testing.TB, c *cluster.Cluster, name string) string {
	tb.Helper()
	binary, err := BuildIn(tb.Context(), c.Dir(), name)
	require.NoError(tb, err)
	return binary
}

// BuildIn builds a program of cmd/ into a directory.
func BuildIn(ctx context.Context, dir, name string) (string, error) {
	binary := filepath.Join(dir, name)
	command := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/fleetwright/fleetwright/cmd/"+name)
	if said, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, said)
	}
	return binary, nil
}

// Start runs a program that reaches the API server by a configuration. What it
// logged is shown if the test failed.
func Start(tb testing.TB, binary string, config *rest.Config, flags ...string) *Program {
	tb.Helper()
	cmd := exec.Command(binary, flags...)
	kubeconfig := filepath.Join(tb.TempDir(), "kubeconfig")
	require.NoError(tb, WriteKubeconfig(config, kubeconfig))
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	return Run(tb, cmd)
}

// Run runs a command as Start does. It ends with the test at the latest, or
// with this process, however that ends.
func Run(tb testing.TB, cmd *exec.Cmd) *Program {
	tb.Helper()
	p := &Program{cmd: cmd, ended: make(chan struct{})}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.log
	}
	cmd.WaitDelay = time.Second // for what it started itself and left
	require.NoError(tb, tie(cmd))
	go func() { p.err = cmd.Wait(); close(p.ended) }()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
		if tb.Failed() {
			tb.Log(p.log.String())
		}
	})
	return p
}

// tie starts a command that the kernel ends when the thread ends that started
// it, hence one thread for all, which lasts as long as this process.
func tie(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	failed := make(chan error)
	ties() <- func() { failed <- cmd.Start() }
	return <-failed
}

var ties = sync.OnceValue(func() chan<- func() {
	starts := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
	return starts
})

// Stop tells it to stop as the kubelet does, and expects that it does so well.
func (p *Program) Stop(tb testing.TB) {
	tb.Helper()
	require.NoError(tb, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.ended:
		require.NoError(tb, p.err)
	case <-time.After(cluster.Patience):
		tb.Fatalf("%s did not stop within %s", filepath.Base(p.cmd.Path), cluster.Patience)
	}
}

// Kill ends it as a crash does, and returns when it has ended.
func (p *Program) Kill(tb testing.TB) {
	tb.Helper()
	require.NoError(tb, p.cmd.Process.Kill())
	<-p.ended
}

// Ended tells whether it has ended, by itself or not.
func (p *Program) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
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
