// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// run is a test run with a cluster of its own, in another process.
type run struct {
	cmd  *exec.Cmd
	dir  string // the cluster's
	pids []int  // of its programs
	said *bufio.Reader
}

// begin starts this binary in a part and waits until its cluster is up.
func begin(t *testing.T, part string, env ...string) *run {
	t.Helper()
	r := &run{cmd: exec.CommandContext(t.Context(), os.Args[0])}
	r.cmd.Env = append(append(os.Environ(), cluster.KeepEnv+"=", partEnv+"="+part), env...)
	stdout, err := r.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	r.said = bufio.NewReader(stdout)
	line, err := r.said.ReadString('\n')
	require.NoError(t, err)
	r.dir = strings.TrimSpace(line)
	require.True(t, filepath.IsAbs(r.dir), r.dir)
	t.Cleanup(func() { r.clean(t) })
	return r
}

// clean ends what a failure left running, and removes the directory.
func (r *run) clean(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return
	}
	r.readPids(t)
	for _, pid := range r.alive() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
	}
	require.Eventually(t, func() bool { return len(r.alive()) == 0 }, cluster.Patience, 10*time.Millisecond) // the test's context is over
	require.NoError(t, os.RemoveAll(r.dir))
}

// readPids remembers the programs of the run.
func (r *run) readPids(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, "pids"))
	require.NoError(t, err)
	r.pids = nil
	for _, field := range strings.Fields(string(content)) {
		pid, err := strconv.Atoi(field)
		require.NoError(t, err)
		r.pids = append(r.pids, pid)
	}
}

// finish lets the run end and returns what else it said.
func (r *run) finish(t *testing.T) string {
	t.Helper()
	rest, err := io.ReadAll(r.said)
	require.NoError(t, err)
	_ = r.cmd.Wait() // it may well have failed
	return string(rest)
}

// alive returns those that run. They work in the directory of the run, unlike
// one that has ended and that nobody has taken note of, and unlike another
// program that has got the number since.
func (r *run) alive() []int {
	return slices.DeleteFunc(slices.Clone(r.pids), func(pid int) bool {
		dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		return err != nil || !strings.HasPrefix(dir, r.dir)
	})
}

func (r *run) waitEnded(t *testing.T) {
	t.Helper()
	cluster.Wait(t, "the programs to end", func(ctx) (bool, string) {
		alive := r.alive()
		return len(alive) == 0, fmt.Sprint("pids ", alive)
	})
}

func TestKilledRunLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r := begin(t, "wait")
	r.readPids(t)
	require.Len(t, r.alive(), 5)
	for _, pid := range r.pids {
		group, err := syscall.Getpgid(pid)
		require.NoError(t, err)
		require.Equal(t, pid, group, "an interrupt at the terminal is not for the programs")
	}

	require.NoError(t, r.cmd.Process.Kill())
	r.finish(t)
	r.waitEnded(t)
	require.NoDirExists(t, filepath.Join(r.dir, "etcd"), "the data goes too")
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"} {
		require.FileExists(t, filepath.Join(r.dir, name+".log"), "the logs stay")
	}
}

func TestPanickedRunLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r := begin(t, "panic")
	r.readPids(t)
	require.Len(t, r.pids, 1)
	r.finish(t)
	require.Equal(t, 2, r.cmd.ProcessState.ExitCode())
	r.waitEnded(t)
}

func TestPassedRunLeavesNothing(t *testing.T) {
	t.Parallel()
	r := begin(t, "pass")
	require.Empty(t, r.finish(t))
	require.Equal(t, 0, r.cmd.ProcessState.ExitCode())
	require.NoDirExists(t, r.dir)
}

func TestFailedRunLeavesItsLogs(t *testing.T) {
	t.Parallel()
	r := begin(t, "fail")
	require.Equal(t, "the logs of the control plane are in "+r.dir, r.finish(t))
	require.NoDirExists(t, filepath.Join(r.dir, "etcd"))
	require.FileExists(t, filepath.Join(r.dir, "etcd.log"))
}

func TestKeptClusterStaysUp(t *testing.T) {
	t.Parallel()
	r := begin(t, "keep", cluster.KeepEnv+"=1")
	said := r.finish(t)
	r.readPids(t)
	require.Len(t, r.alive(), 5)
	kubeconfig := filepath.Join(r.dir, "admin.kubeconfig")
	require.Contains(t, said, "export KUBECONFIG="+kubeconfig+"\n")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	_, err = discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
	require.NoError(t, err)

	// What it says ends it.
	_, end, found := strings.Cut(said, "to end it: ")
	require.True(t, found, said)
	output, err := exec.CommandContext(t.Context(), "sh", "-c", end).CombinedOutput()
	require.NoError(t, err, string(output))
	r.waitEnded(t)
	require.NoDirExists(t, r.dir)
}
