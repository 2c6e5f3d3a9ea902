// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// small is a builder of a module that takes no time to build.
func small(t *testing.T, main string) builder {
	t.Helper()
	source := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte("module small\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(source, "main.go"), []byte(main), 0o644))
	return builder{set: Set{program: "small", pkg: "."}, source: source, cache: t.TempDir()}
}

const hello = "package main\n\nfunc main() { println(\"hello\") }\n"

func TestBuildOnce(t *testing.T) {
	b := small(t, hello)
	_, err := b.find()
	require.ErrorIs(t, err, ErrNotBuilt)

	var first, second bytes.Buffer
	path, err := b.build(t.Context(), &first)
	require.NoError(t, err)
	require.Contains(t, first.String(), "built in ")
	again, err := b.build(t.Context(), &second)
	require.NoError(t, err)
	require.Equal(t, path, again)
	require.Contains(t, second.String(), "up to date")

	said, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "hello\n", string(said))
}

func TestBuildAnewAfterAChange(t *testing.T) {
	b := small(t, hello)
	before, err := b.build(t.Context(), &bytes.Buffer{})
	require.NoError(t, err)

	main := filepath.Join(b.source, "main.go")
	require.NoError(t, os.WriteFile(main, []byte(strings.ReplaceAll(hello, "hello", "bye")), 0o644))
	_, err = b.find()
	require.ErrorIs(t, err, ErrNotBuilt)
	after, err := b.build(t.Context(), &bytes.Buffer{})
	require.NoError(t, err)
	require.NotEqual(t, before, after)
	require.FileExists(t, before)
}

func TestTwoBuildsAtATime(t *testing.T) {
	b := small(t, hello)
	said := make([]bytes.Buffer, 4)
	var all sync.WaitGroup
	for i := range said {
		all.Go(func() {
			_, err := b.build(t.Context(), &said[i])
			require.NoError(t, err)
		})
	}
	all.Wait()
	built := 0
	for i := range said {
		built += strings.Count(said[i].String(), "built in ")
	}
	require.Equal(t, 1, built)
}

func TestWaitingForALockEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, &bytes.Buffer{})
	require.NoError(t, err)
	defer unlock()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var said bytes.Buffer
	_, err = lock(ctx, path, &said)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Contains(t, said.String(), "waiting for another build")
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	b := small(t, "package main\n\nfunc main() { nonsense }\n")
	var said bytes.Buffer
	_, err := b.build(t.Context(), &said)
	require.ErrorContains(t, err, "go build")
	require.Contains(t, said.String(), "undefined: nonsense")

	_, err = b.find()
	require.ErrorIs(t, err, ErrNotBuilt)
	left, err := filepath.Glob(filepath.Join(b.cache, "*"))
	require.NoError(t, err)
	require.Len(t, left, 1, "but for the lock: %v", left)
}

func TestVersionIsTheOneThatTheBuilderRequires(t *testing.T) {
	source, err := ControlPlane.sourceDir()
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(mod), "\tk8s.io/kubernetes "+KubernetesVersion+"\n")

	// Each of its staging modules has the same number with a zero before it.
	staging := strings.Replace(KubernetesVersion, "v1.", "v0.", 1)
	for line := range strings.Lines(string(mod)) {
		if strings.Contains(line, " => ") {
			require.True(t, strings.HasSuffix(line, " "+staging+"\n"), line)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv(CacheEnv, "/somewhere")
	dir, err := cacheDir()
	require.NoError(t, err)
	require.Equal(t, "/somewhere", dir)

	t.Setenv(CacheEnv, "")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	dir, err = cacheDir()
	require.NoError(t, err)
	require.Equal(t, "/cache/fleetwright", dir)
}
