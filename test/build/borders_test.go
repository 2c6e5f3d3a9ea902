// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// impure is what a package cannot import whose results depend on its arguments alone.
var impure = []string{"os", "os/exec", "syscall", "net/http", "time", "math/rand", "math/rand/v2", "log", "log/slog",
	"k8s.io/klog/v2", "k8s.io/client-go/rest", "sigs.k8s.io/controller-runtime",
	"sigs.k8s.io/kustomize/api/krusty", "sigs.k8s.io/yaml", "go.yaml.in/yaml/v3"}

// borders are what packages never import; .golangci.yml says the same to editors.
var borders = map[string][]string{
	"api/v1alpha1":      append(ours("render", "internal/tree", "healer", "webhook"), impure...),
	"internal/tree":     append(ours("api/v1alpha1", "render", "healer", "webhook"), impure...),
	"internal/identity": append(ours("render", "healer", "webhook"), impure...),
	"internal/flux":     append(ours("render", "healer", "webhook"), impure...),
	"internal/seal":     append(ours("render", "healer", "webhook"), impure...),
	"internal/ordered":  append(ours("api/v1alpha1", "render", "internal/tree"), impure...),
	"internal/effects":  append(ours("render/source", "render/output", "healer", "webhook"), impure...),
	"render":            append(ours("render/source", "render/output", "healer", "webhook"), impure...),
	"render/source":     append(ours("render", "render/output", "healer", "webhook"), "time", "net/http", "os/exec"),
	"render/output":     append(ours("healer", "webhook"), "time", "net/http", "os/exec"),
	"webhook/rules": append(ours("render/source", "render/output", "healer", "webhook"), slices.DeleteFunc(slices.Clone(impure),
		func(path string) bool { return path == "time" })...),
	"internal/krm": append(ours("healer", "webhook"), "os", "time", "net/http", "os/exec"),
}

func ours(paths ...string) []string {
	for i := range paths {
		paths[i] = module + paths[i]
	}
	return paths
}

func TestBorders(t *testing.T) {
	all := imports(t, "...", nil)
	for pkg, never := range borders {
		require.NotEmpty(t, all[pkg], pkg)
		for _, path := range never {
			require.NotContains(t, all[pkg], path, pkg)
		}
	}
}

// A file more in each package, which imports all that the package must not, is seen.
func TestBordersAreSeen(t *testing.T) {
	overlay := map[string]string{}
	for pkg, never := range borders {
		text := "package x\nimport (\n_ \"" + strings.Join(never, "\"\n_ \"") + "\"\n)\n"
		file := filepath.Join(t.TempDir(), "crossing.go")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		at, err := filepath.Abs(filepath.Join("../..", pkg, "crossing.go"))
		require.NoError(t, err)
		overlay[at] = file
	}
	found := imports(t, "...", overlay)
	for pkg, never := range borders {
		require.Subset(t, found[pkg], never, pkg)
	}
}

// imports returns the imports of packages of this module, by path.
func imports(t *testing.T, pattern string, overlay map[string]string) map[string][]string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	cmd := exec.Command("go", "list", "-e", "-overlay", file, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./"+pattern)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		path, rest, _ := strings.Cut(line, " ")
		all[strings.TrimPrefix(path, module)] = strings.Fields(rest)
	}
	return all
}
