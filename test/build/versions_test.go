// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// elsewhere are the module files of other people's programs, at the versions that they were released with.
var elsewhere = []string{
	"test/cluster/build/go.mod",        // the control plane of a Kubernetes release
	"test/cluster/build-argocd/go.mod", // Argo CD's programs
	"test/cluster/build-flux/go.mod",   // Flux's controller
}

// A module that one of ours requires has one version in all of them: else tests run with another library than what is built.
// Modules that hold tools and no code share the versions of the tools alone, each of which links what it was released with.
func TestVersionsAgree(t *testing.T) {
	versions, wanted := map[string]map[string][]string{}, map[string]bool{}
	note := func(module, version, file string) {
		if versions[module] == nil {
			versions[module] = map[string][]string{}
		}
		versions[module][version] = append(versions[module][version], file)
	}
	files := moduleFiles(t)
	require.Subset(t, files, elsewhere)
	for _, file := range files {
		if slices.Contains(elsewhere, file) {
			continue
		}
		parsed := parse(t, file)
		note("go", parsed.Go, file)
		wanted["go"] = true
		tools := map[string]bool{}
		for _, tool := range parsed.Tool {
			tools[moduleOf(parsed, tool.Path)] = true
		}
		for _, need := range parsed.Require {
			if tools[need.Path] || path.Base(file) == "go.mod" {
				note(need.Path, need.Version, file)
				wanted[need.Path] = wanted[need.Path] || tools[need.Path] || !need.Indirect
			}
		}
	}
	for _, module := range slices.Sorted(maps.Keys(wanted)) {
		if wanted[module] && len(versions[module]) > 1 {
			t.Errorf("%s has more than one version: %v", module, versions[module])
		}
	}
}

func moduleFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".mod") {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(name), root+"/"))
		}
		return err
	}))
	return files
}

// moduleFile is what `go mod edit -json` says of one.
type moduleFile struct {
	Go      string
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Tool []struct{ Path string }
}

func parse(t *testing.T, file string) moduleFile {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", filepath.Join(root, file)).Output()
	require.NoError(t, err)
	var parsed moduleFile
	require.NoError(t, json.Unmarshal(out, &parsed))
	return parsed
}

// moduleOf is the module that a tool's package is of.
func moduleOf(parsed moduleFile, tool string) string {
	longest := ""
	for _, require := range parsed.Require {
		if strings.HasPrefix(tool+"/", require.Path+"/") && len(require.Path) > len(longest) {
			longest = require.Path
		}
	}
	return longest
}
