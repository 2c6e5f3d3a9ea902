// SPDX-License-Identifier: Apache-2.0

// Package build_test checks what the build links, from which versions, and what verify finds.
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

// Whoever explains or simulates decisions links no client.
func TestRulesLinkNoClient(t *testing.T) {
	for _, dir := range []string{"healer/rules", "webhook/rules"} {
		all := linked(t, "../../"+dir)
		for _, prefix := range []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "sigs.k8s.io/kustomize", "os/exec"} {
			require.False(t, slices.Contains(all, prefix), "%s links %s", dir, prefix)
		}
	}
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
