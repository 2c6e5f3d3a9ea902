// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shell is a program that runs a script.
func shell(t *testing.T, script string) Spec {
	t.Helper()
	dir := t.TempDir()
	return Spec{
		Name: "shell", Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir,
		Log: filepath.Join(dir, "shell.log"),
	}
}

func waitDone(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("waited 30s for the program to end")
	}
}

func TestFailureTellsTheEndOfTheLog(t *testing.T) {
	p, err := Start(shell(t, "for i in $(seq 1000); do echo line $i; done; exit 3"))
	require.NoError(t, err)
	waitDone(t, p)

	failure := p.Failure().Error()
	require.Contains(t, failure, "shell ended (exit status 3)")
	require.Contains(t, failure, "\nline 1000\n")
	require.NotContains(t, failure, "\nline 1\n")
}

func TestKill(t *testing.T) {
	p, err := Start(shell(t, "trap '' TERM INT; while :; do sleep 1; done"))
	require.NoError(t, err)
	require.NoError(t, p.Failure())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, p.Kill(ctx))
	require.NoError(t, p.Kill(ctx), "it is gone already")
	require.ErrorContains(t, p.Failure(), "signal: killed")
}

// The shell does what controlplane does: it waits for the end of its lifeline.
func TestLifelineEndsWithItsHolder(t *testing.T) {
	p, err := Start(shell(t, "cat <&$"+LifelineEnv+"; echo the end"))
	require.NoError(t, err)
	require.NoError(t, p.Failure())
	require.NoError(t, p.lifeline.Close())
	waitDone(t, p)
	log, err := os.ReadFile(p.spec.Log)
	require.NoError(t, err)
	require.Equal(t, "the end\n", string(log))
}

func TestStartOfNothing(t *testing.T) {
	spec := shell(t, "")
	spec.Path = filepath.Join(spec.Dir, "missing")
	_, err := Start(spec)
	require.ErrorContains(t, err, "starting shell: ")
}
