// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// cli is the module of the command that pushes. It cannot be built from there,
// but shows its flags.
const cli = "github.com/fluxcd/flux2/v2@v2.9.5"

// job is what one of the example's files for CI runs.
type job struct{ install, check, plan, newest, push string }

func jobs(t *testing.T) map[string]job {
	t.Helper()
	type steps struct{ Steps []struct{ Run, Shell string } }
	var github struct{ Jobs struct{ Check, Push steps } }
	load(t, "github.yml", &github)
	runs := func(s steps) (lines []string) {
		for _, step := range s.Steps {
			if step.Run != "" {
				lines = append(lines, step.Run)
			}
			if strings.Contains(step.Run, "fleetwright") && strings.Contains(step.Run, " | ") {
				require.Equal(t, "bash", step.Shell, "without it GitHub looks at the last command of a pipe only")
			}
		}
		return lines
	}
	var gitlab struct{ Check, Plan, Push struct{ Script []string } }
	load(t, "gitlab.yml", &gitlab)
	require.Len(t, gitlab.Plan.Script, 2)
	require.Equal(t, gitlab.Check.Script[0], gitlab.Plan.Script[0])
	return map[string]job{
		"github.yml": newJob(t, runs(github.Jobs.Check), runs(github.Jobs.Push)),
		"gitlab.yml": newJob(t, append(gitlab.Check.Script, gitlab.Plan.Script[1]), gitlab.Push.Script),
	}
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "examples", "flux", "ci", name))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, into))
}

func newJob(t *testing.T, check, push []string) job {
	t.Helper()
	require.Len(t, check, 4)
	require.Len(t, push, 2)
	return job{install: check[0], check: strings.Join(check[1:3], "\n"), plan: check[3], newest: push[0], push: push[1]}
}

func TestJobsCheckWhatIsCommitted(t *testing.T) {
	tests := map[string]struct {
		file, old, new string // a change of the example
		says           string // when the jobs fail
	}{
		"as it is":            {file: fleetFile, old: "", new: "", says: ""},
		"a stale directory":   {fleetFile, "replicas: 3", "replicas: 4", "+  replicas: 4"},
		"an edit by hand":     {"rendered/production/fleets_service_my-fleet.yaml", "port: 8080", "port: 80", "port: 80"},
		"a misspelt field":    {fleetFile, "replicas: 3", "replica: 3", fleetFile + ":8:3: spec.replica: unknown field"},
		"two fleets, 1 store": {sessionsFile, "s3://my-sessions", "s3://my-bucket", "a bucket, or a prefix of it, belongs to one fleet"},
		"a removed fleet":     {sessionsFile, "", "removed", "fleets_bucketfleet_sessions.yaml"},
	}
	for file, job := range jobs(t) {
		for name, tc := range tests {
			t.Run(file+"/"+name, func(t *testing.T) {
				tm := &team{t: t, dir: copyExample(t)}
				if tc.new == "removed" {
					tm.remove(tc.file)
				} else {
					tm.edit(tc.file, tc.old, tc.new)
				}
				said, err := shell(t, tm.dir, job.check)
				if tc.says == "" {
					require.NoError(t, err, said)
					return
				}
				require.Error(t, err, "the job passes")
				require.Contains(t, said, tc.says)
			})
		}
	}
}

// TestJobsPlan runs the step for a change of the example, in a clone of its
// repository.
func TestJobsPlan(t *testing.T) {
	for file, job := range jobs(t) {
		for name, tc := range map[string]struct {
			old, new, says string
			refused, first bool
		}{
			"first":   {old: "replicas: 3", new: "replicas: 3", says: "creates  3 members", first: true},
			"growth":  {old: "replicas: 3", new: "replicas: 5", says: "adds     my-fleet-3 to my-fleet-4"},
			"refused": {old: "s3://my-bucket", new: "s3://another", says: "refused  spec.storage.bucket", refused: true},
		} {
			t.Run(file+"/"+name, func(t *testing.T) {
				origin := copyExample(t)
				if tc.first {
					require.NoError(t, os.RemoveAll(filepath.Join(origin, "fleets")))
				}
				said, err := shell(t, origin, `git init -q -b main && git add . && git -c user.name=me -c user.email=me@example.com commit -qm base`)
				require.NoError(t, err, said)
				tm := &team{t: t, dir: filepath.Join(t.TempDir(), "clone")}
				said, err = shell(t, origin, "git clone -q . "+tm.dir)
				require.NoError(t, err, said)
				if tc.first {
					said, err = shell(t, tm.dir, "cp -r "+filepath.Join(copyExample(t), "fleets")+" .")
					require.NoError(t, err, said)
				}
				tm.edit(fleetFile, tc.old, tc.new)

				summary := filepath.Join(t.TempDir(), "summary")
				said, err = shell(t, tm.dir,
					"export GITHUB_BASE_REF=main CI_MERGE_REQUEST_DIFF_BASE_SHA=$(git rev-parse HEAD) GITHUB_STEP_SUMMARY="+summary+"\n"+job.plan)
				require.Equal(t, tc.refused, err != nil, said)
				require.Contains(t, said, tc.says)
			})
		}
	}
}

func TestLastFleetIsNotRenderedAway(t *testing.T) {
	tm := &team{t: t, dir: copyExample(t)}
	tm.remove(fleetFile)
	tm.remove(sessionsFile)
	said, err := shell(t, tm.dir, "fleetwright render fleets/production -o rendered/production")
	require.Error(t, err)
	require.Contains(t, said, "nothing was rendered")
}

var option = regexp.MustCompile(`--([a-z-]+)=`)

func TestJobsInstallAndPush(t *testing.T) {
	declares, err := os.ReadFile(filepath.Join(module(t, cli), "cmd", "flux", "push_artifact.go"))
	require.NoError(t, err)
	for file, job := range jobs(t) {
		t.Run(file, func(t *testing.T) {
			path, version, _ := strings.Cut(strings.TrimPrefix(job.install, "go install "), "@")
			require.Equal(t, "v0.1.0", version)
			said, err := exec.CommandContext(t.Context(), "go", "list", path).CombinedOutput()
			require.NoError(t, err, "%s", said)

			require.Contains(t, job.newest, "git ls-remote ") // test/chart runs it
			require.True(t, strings.HasPrefix(job.push, "flux push artifact "), job.push)
			flags := option.FindAllStringSubmatch(job.push, -1)
			require.GreaterOrEqual(t, len(flags), 3)
			for _, f := range flags {
				require.True(t, strings.Contains(string(declares), `"`+f[1]+`"`), f[0])
			}
			require.Contains(t, job.push, "--path=rendered/production")
		})
	}
}
