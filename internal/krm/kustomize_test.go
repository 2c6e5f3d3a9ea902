// SPDX-License-Identifier: Apache-2.0

package krm_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// The kustomizations of testdata/kustomize run the function as their users would: kustomize itself starts the program.
func TestRealKustomize(t *testing.T) {
	program := filepath.Join(t.TempDir(), "fleetwright")
	command(t, "../..", "go", "build", "-o", program, "./cmd/fleetwright")
	for _, role := range []string{"generator", "transformer", "failing"} {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "kustomize", role))))
			// kustomize starts a program without arguments, from the directory of the kustomization.
			script := "#!/bin/sh\nexec '" + program + "' fn\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "fleetwright-fn"), []byte(script), 0o700))
			out, stderr, err := kustomize(t, dir)
			if role == "failing" {
				require.Error(t, err)
				require.Contains(t, stderr, "spec.replicas: Invalid value: 2: must be at least the number of placement.zones, 3")
				return
			}
			require.NoError(t, err, stderr)
			want := filepath.Join("testdata", "kustomize", role, "want.golden")
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(out), 0o600))
			}
			require.Empty(t, cmp.Diff(read(t, want), out))
		})
	}
}

func kustomize(t *testing.T, dir string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a first run builds kustomize
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=test/bench/tools.mod", "kustomize",
		"build", "--enable-alpha-plugins", "--enable-exec", dir)
	cmd.Dir = "../.."
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
