// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/stretchr/testify/require"
)

const (
	module  = "github.com/fleetwright/fleetwright"
	version = "v1.2.3-test"
	epoch   = 1700000000
)

// contextOf returns what .dockerignore lets in.
func contextOf(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(root + "/.dockerignore")
	require.NoError(t, err)
	require.Contains(t, string(text), "\n*\n")
	var allowed []string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			allowed = append(allowed, name)
		}
	}
	return allowed
}

// packages returns the directories of all packages of the programs.
func packages(t *testing.T) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/...")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	var dirs []string
	for name := range strings.FieldsSeq(string(out)) {
		if dir, ok := strings.CutPrefix(name, module+"/"); ok {
			dirs = append(dirs, dir)
		}
	}
	require.Greater(t, len(dirs), 5)
	return dirs
}

// copyContext copies the context of the build into a new directory.
func copyContext(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range contextOf(t) {
		from := filepath.Join(root, name)
		require.NoError(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "testdata":
				return filepath.SkipDir
			case entry.IsDir() || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			target := filepath.Join(to, strings.TrimPrefix(path, root))
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
				return err
			}
			return os.WriteFile(target, text, 0o600)
		}))
	}
	return to
}

// buildOnce runs the commands of the build stage in a copy of the context, but for the download of modules, which this machine
// has, and returns the directory that the image is made of.
func buildOnce(t *testing.T) string {
	t.Helper()
	dir, out := copyContext(t), filepath.Join(t.TempDir(), "out")
	env := append(os.Environ(), "VERSION="+version, "SOURCE_DATE_EPOCH=1700000000", "TARGETOS=", "TARGETARCH=")
	ran := 0
	stages, _ := parse(t)
	for _, command := range stages[0].Commands {
		switch c := command.(type) {
		case *instructions.EnvCommand:
			for _, pair := range c.Env {
				env = append(env, pair.Key+"="+strings.Trim(pair.Value, `"`))
			}
			env = append(env, "OUT="+out)
		case *instructions.RunCommand:
			line := strings.Join(c.CmdLine, " ")
			if line == "go mod download" {
				continue
			}
			ran++
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
			cmd.Dir, cmd.Env = dir, env
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s\n%s", line, said)
		}
	}
	require.Equal(t, 2, ran)
	return out
}

// Two builds in different directories are the same bytes with the same times, and the programs are what the chart starts.
func TestReproducible(t *testing.T) {
	first, second := buildOnce(t), buildOnce(t)
	entries, err := os.ReadDir(first)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		a, err := os.ReadFile(filepath.Join(first, entry.Name()))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(second, entry.Name()))
		require.NoError(t, err)
		require.True(t, string(a) == string(b), "%s differs", entry.Name())
		info, err := entry.Info()
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(time.Unix(epoch, 0)), entry.Name())
	}
	require.Equal(t, []string{"fleetwright", "fleetwright-healer", "fleetwright-webhook", "sbom.cdx.json"}, names)

	for _, program := range names[:3] {
		path := filepath.Join(first, program)
		said, err := exec.CommandContext(t.Context(), path, "version").Output()
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(said), program+" "+version+" "), string(said))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(text), "/ld-linux", "%s is not static", program)
	}
	requireListed(t, filepath.Join(first, names[3]), names[:3])
}
