// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// workflow is what matters here of the example for GitHub.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Concurrency string
		Steps       []struct{ Run string }
	}
}

// pipeline is what matters here of the example for GitLab.
type pipeline struct {
	Push struct {
		ResourceGroup string `json:"resource_group"`
		Script        []string
	}
}

func readWorkflow(t *testing.T) workflow {
	t.Helper()
	var w workflow
	require.NoError(t, yaml.Unmarshal(read(t, "examples/flux/ci/github.yml"), &w))
	return w
}

func readPipeline(t *testing.T) pipeline {
	t.Helper()
	var p pipeline
	require.NoError(t, yaml.Unmarshal(read(t, "examples/flux/ci/gitlab.yml"), &p))
	return p
}

// Pull requests run the other job.
func TestPushAloneMayWritePackages(t *testing.T) {
	w := readWorkflow(t)
	reads := map[string]string{"contents": "read"}
	require.Equal(t, reads, w.Permissions)
	for name, job := range w.Jobs {
		if name != "push" {
			require.Empty(t, job.Permissions, name)
		}
	}
	require.Equal(t, map[string]string{"contents": "read", "packages": "write"}, w.Jobs["push"].Permissions)
}

func TestPushesOneAtATime(t *testing.T) {
	require.Equal(t, "production", readWorkflow(t).Jobs["push"].Concurrency)
	require.Equal(t, "production", readPipeline(t).Push.ResourceGroup)
}

// An older state in the registry takes newer fleets away, and prune deletes their disks.
func TestPushIsOfTheNewestCommit(t *testing.T) {
	var github []string
	for _, step := range readWorkflow(t).Jobs["push"].Steps {
		if step.Run != "" {
			github = append(github, step.Run)
		}
	}
	for name, scripts := range map[string][]string{"github": github, "gitlab": readPipeline(t).Push.Script} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, scripts, 2, "the look at the branch comes right before the push")
			require.True(t, strings.HasPrefix(scripts[1], "flux push artifact "), scripts[1])
			r := newRepository(t)
			first := r.commit("first")
			require.NoError(t, r.look(scripts[0], first))
			second := r.commit("second")
			require.Error(t, r.look(scripts[0], first), "an older commit is pushed")
			require.NoError(t, r.look(scripts[0], second))
			require.NoError(t, os.RemoveAll(r.origin))
			require.Error(t, r.look(scripts[0], second), "nobody knows which commit is the newest")
		})
	}
}

// A repository is a clone, as a job has it, and where it comes from.
type repository struct {
	t             *testing.T
	origin, clone string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	dir := t.TempDir()
	r := &repository{t: t, origin: filepath.Join(dir, "origin"), clone: filepath.Join(dir, "clone")}
	r.git("init", "--quiet", "--bare", "--initial-branch=main", r.origin)
	r.git("init", "--quiet", "--initial-branch=main", r.clone)
	r.git("-C", r.clone, "remote", "add", "origin", r.origin)
	return r
}

// commit pushes a commit to main and returns its name.
func (r *repository) commit(message string) string {
	r.t.Helper()
	r.git("-C", r.clone, "-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "--quiet", "--allow-empty", "-m", message)
	r.git("-C", r.clone, "push", "--quiet", "origin", "main", "main:older/main")
	return r.git("-C", r.clone, "rev-parse", "HEAD")
}

// look runs a script of a job for a commit.
func (r *repository) look(script, commit string) error {
	c := exec.CommandContext(r.t.Context(), "sh", "-e", "-c", script)
	c.Dir = r.clone
	c.Env = append(c.Environ(), "GITHUB_SHA="+commit, "CI_COMMIT_SHA="+commit, "CI_DEFAULT_BRANCH=main", "CI_REPOSITORY_URL="+r.origin)
	return c.Run()
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), "git", args...)
	c.Env = append(c.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := c.CombinedOutput()
	require.NoError(r.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}
