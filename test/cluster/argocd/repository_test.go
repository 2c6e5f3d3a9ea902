// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is a Git repository on this machine.
type repository struct {
	t   testing.TB
	dir string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

// url is where Argo CD finds it.
func (r *repository) url() string { return "file://" + r.dir }

// write writes a file of it.
func (r *repository) write(name, text string) {
	r.t.Helper()
	write(r.t, filepath.Join(r.dir, name), text)
}

// edit replaces a text in a file of it, which must be there.
func (r *repository) edit(name, old, replacement string) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	require.NoError(r.t, err)
	require.Contains(r.t, string(text), old)
	r.write(name, strings.Replace(string(text), old, replacement, 1))
}

// commit commits everything and returns the revision.
func (r *repository) commit(message string) string {
	r.t.Helper()
	r.git("add", "--all")
	r.git("-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", message)
	return r.git("rev-parse", "HEAD")
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.dir}, args...)...)
	said, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %s\n%s", strings.Join(args, " "), said)
	return strings.TrimSpace(string(said))
}
