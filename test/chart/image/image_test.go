// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"bytes"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

// parse returns the build stages of the Dockerfile. What the linter of buildkit complains of is a failure.
func parse(t *testing.T) (stages []instructions.Stage, global []instructions.ArgCommand) {
	t.Helper()
	text, err := os.ReadFile(root + "/Dockerfile")
	require.NoError(t, err)
	parsed, err := parser.Parse(bytes.NewReader(text))
	require.NoError(t, err)
	require.Empty(t, parsed.Warnings)
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		t.Errorf("%s: %s", rule, message)
	}})
	stages, global, err = instructions.Parse(parsed.AST, lint)
	require.NoError(t, err)
	return stages, global
}

func TestDockerfile(t *testing.T) {
	stages, global := parse(t)
	require.Len(t, stages, 2)
	final := stages[1]
	require.Equal(t, "scratch", final.BaseName)
	var copied, user, entrypoint bool
	for _, command := range final.Commands {
		switch c := command.(type) {
		case *instructions.RunCommand, *instructions.AddCommand:
			t.Errorf("%s: nothing runs in an empty image", c.Name())
		case *instructions.CopyCommand:
			copied = true
			require.Equal(t, stages[0].Name, c.From)
		case *instructions.UserCommand:
			user = true
			// A number: the kubelet cannot tell whether a name is root's, and there is no file to look it up in.
			require.Regexp(t, `^[1-9][0-9]*:[1-9][0-9]*$`, c.User)
		case *instructions.EntrypointCommand:
			entrypoint = true
			require.False(t, c.PrependShell, "there is no shell")
			require.Equal(t, "/fleetwright", c.CmdLine[0])
		}
	}
	require.True(t, copied && user && entrypoint)

	module, err := os.ReadFile(root + "/go.mod")
	require.NoError(t, err)
	directive := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	require.Equal(t, "GO_VERSION", global[0].Args[0].Key)
	require.True(t, strings.HasPrefix(*global[0].Args[0].Value, string(directive[1])+"."), "an exact version of the Go of go.mod")
}

// The context holds every package of the programs, and little else.
func TestContext(t *testing.T) {
	allowed := contextOf(t)
	for _, dir := range packages(t) {
		first, _, _ := strings.Cut(dir, "/")
		require.Contains(t, allowed, first, "%s is not in the context: add it to .dockerignore", dir)
	}
	for _, name := range allowed {
		_, err := os.Stat(path.Join(root, name))
		require.NoError(t, err)
		if !strings.HasPrefix(name, "go.") && name != "test/build/sbom" {
			require.True(t, slices.ContainsFunc(packages(t), func(dir string) bool { return strings.HasPrefix(dir+"/", name+"/") }),
				"%s is in the context, and no program needs it", name)
		}
	}
}
