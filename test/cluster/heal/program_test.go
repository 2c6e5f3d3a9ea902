// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// program is the healer as it ships, in a process of its own.
type program struct {
	cmd             *exec.Cmd
	probes, metrics string
	log             lockedBuffer
}

var (
	build   sync.Once
	binary  string
	failure error
)

// startProgram builds the program once and runs it.
func startProgram(t testing.TB, w *cluster.World, flags ...string) *program {
	t.Helper()
	build.Do(func() {
		binary = filepath.Join(w.Dir(), "fleetwright-healer")
		out, err := exec.Command("go", "build", "-o", binary, "github.com/fleetwright/fleetwright/cmd/fleetwright-healer").CombinedOutput()
		if err != nil {
			failure = fmt.Errorf("%w: %s", err, out)
		}
	})
	require.NoError(t, failure)
	p := &program{probes: freeAddress(t), metrics: freeAddress(t)}
	p.cmd = exec.Command(binary, append([]string{
		"--kubeconfig", kubeconfigFor(t, w), "--namespaces", w.Namespace,
		"--health-probe-bind-address", p.probes, "--metrics-bind-address", p.metrics,
	}, flags...)...)
	p.cmd.Stderr = &p.log
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if t.Failed() {
			t.Log(p.log.String())
		}
	})
	return p
}

// kubeconfigFor writes how the shipped healer reaches the API server.
func kubeconfigFor(t testing.TB, w *cluster.World) string {
	t.Helper()
	config := asHealer(t, w.Cluster)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"a": {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "a"}},
		CurrentContext: "x",
	}, file))
	return file
}

func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// get returns the status and body of a page.
func get(ctx ctx, address, path string) (int, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, fmt.Sprint(string(body), err)
}

func TestProgram(t *testing.T) {
	t.Parallel()
	w := newCluster(t).World(t)
	p := startProgram(t, w)
	s := fleetIn(t, w, 3, nil)
	s.sync()
	s.waitReady()
	for _, path := range []string{"/healthz", "/readyz"} {
		cluster.Wait(t, path, func(ctx ctx) (bool, string) {
			code, body := get(ctx, p.probes, path)
			return code == http.StatusOK, fmt.Sprint(code, body)
		})
	}
	code, body := get(t.Context(), p.metrics, "/metrics")
	require.Equal(t, http.StatusOK, code)
	for _, line := range []string{
		`fleetwright_desired_members{fleet="my-fleet",kind="PersistentFleet",namespace="` + w.Namespace + `"} 3`,
		`fleetwright_ready_members{fleet="my-fleet",kind="PersistentFleet",namespace="` + w.Namespace + `"} 3`,
		`fleetwright_actions_total{fleet="my-fleet",kind="PersistentFleet",namespace="` + w.Namespace + `",outcome="done",rule="growth"} 1`,
		`fleetwright_build_info{`,
	} {
		require.Contains(t, body, line)
	}

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	ended, cancel := context.WithTimeout(t.Context(), cluster.Patience)
	defer cancel()
	require.NoError(t, waitFor(ended, p.cmd))
	said := map[string]bool{}
	for line := range strings.Lines(p.log.String()) {
		var entry struct{ Msg, Rule, Fleet, Reason string }
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		if entry.Rule != "" {
			require.Equal(t, "my-fleet", entry.Fleet)
			require.NotEmpty(t, entry.Reason)
			said[entry.Msg+" "+entry.Rule] = true
		}
	}
	require.True(t, said["done growth"] && said["done reservation"] && said["now Ready report"], "%v", said)
}

// waitFor waits for a process to end well.
func waitFor(ctx ctx, cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A lockedBuffer is written by a process and read by a test.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
