// SPDX-License-Identifier: Apache-2.0

// Package build_test checks what the build links.
package build_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Start-up is what sync tools pay for each application, and the command reads no cluster: it links no client, and what it
// needs of Kubernetes are types.
func TestCommandLinksNoClient(t *testing.T) {
	all := linked(t, "../../cmd/fleetwright")
	for _, prefix := range []string{
		"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "k8s.io/apiserver", "k8s.io/apiextensions-apiserver",
		"k8s.io/component-base", "github.com/google/cel-go", "google.golang.org/grpc",
	} {
		require.False(t, slices.Contains(all, prefix), "fleetwright links %s", prefix)
	}
}

// The library for other programs brings no reader of YAML and no kustomize with it.
func TestLibraryIsSmall(t *testing.T) {
	all := linked(t, "../../render")
	for _, prefix := range []string{"sigs.k8s.io/kustomize", "k8s.io/client-go", "os/exec"} {
		require.False(t, slices.Contains(all, prefix), "render links %s", prefix)
	}
}

// Packages that decide are pure: they link no client and import no files, network or log. The package beside each is its
// edge, which shows that the check finds what it looks for.
func TestPurePackages(t *testing.T) {
	for pure, edge := range map[string]string{"../../webhook/rules": "../../webhook"} {
		require.Empty(t, impure(t, pure), "%s is not pure", pure)
		require.NotEmpty(t, impure(t, edge), "%s is an edge", edge)
	}
}

// impure returns what a package links or imports that a pure one may not. Of the standard library only its own imports count:
// fmt links os.
func impure(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, dir).Output()
	require.NoError(t, err)
	imports, links := strings.Fields(string(out)), linked(t, dir)
	var found []string
	for _, path := range []string{"os", "os/exec", "net", "net/http", "syscall", "log", "log/slog", "math/rand", "math/rand/v2"} {
		if slices.Contains(imports, path) {
			found = append(found, path)
		}
	}
	for _, path := range []string{
		"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "sigs.k8s.io/kustomize", "github.com/prometheus/client_golang",
		"github.com/fleetwright/fleetwright/cmd", "github.com/fleetwright/fleetwright/healer",
	} {
		if slices.Contains(links, path) {
			found = append(found, path)
		}
	}
	return found
}

// linked returns every package that a package needs, and the prefixes of its path.
func linked(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", dir).Output()
	require.NoError(t, err)
	var all []string
	for path := range strings.FieldsSeq(string(out)) {
		for i, c := range path {
			if c == '/' {
				all = append(all, path[:i])
			}
		}
		all = append(all, path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
