// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A repository with a package that others import, as `make verify` compares ours.
func TestIncompatibleChangesAreFound(t *testing.T) {
	find := exec.CommandContext(t.Context(), "go", "tool", "-n", "-modfile=tools.mod", "apidiff")
	find.Dir = root
	tool, err := find.Output()
	require.NoError(t, err)
	script, err := filepath.Abs("apidiff.sh")
	require.NoError(t, err)

	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = dir
		// Not the repository that a Git hook may run this for.
		command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
		said, err := command.CombinedOutput()
		return string(said), err
	}
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	git := func(args ...string) {
		said, err := run("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.test"}, args...)...)
		require.NoError(t, err, said)
	}
	compare := func() (string, error) { return run("sh", script, strings.TrimSpace(string(tool)), "lib", "more") }

	write("go.mod", "module example.test/x\n\ngo 1.26.0\n")
	write("lib/lib.go", "package lib\n\nfunc Gone() {}\n\ntype T struct{ A int }\n")
	write("more/more.go", "package more\n\nconst N = 1\n")
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	said, err := compare()
	require.NoError(t, err, said)
	require.Contains(t, said, "no tag yet")

	git("tag", "v0.1.0")
	write("lib/lib.go", "package lib\n\nfunc Gone() {}\n\nfunc New() {}\n\ntype T struct{ A, B int }\n")
	said, err = compare()
	require.NoError(t, err, said)
	require.Contains(t, said, "compatible with v0.1.0")

	write("lib/lib.go", "package lib\n\ntype T struct{ A string }\n")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "more")))
	said, err = compare()
	require.Error(t, err)
	require.Equal(t, `apidiff: incompatible with v0.1.0: lib: Gone: removed
apidiff: incompatible with v0.1.0: lib: T.A: changed from int to string
apidiff: incompatible with v0.1.0: more: removed
`, said)

	write("test/build/apidiff.txt", "lib: Gone: removed\nmore: removed\n")
	said, err = compare()
	require.Error(t, err)
	require.Equal(t, "apidiff: incompatible with v0.1.0: lib: T.A: changed from int to string\n", said)
}
