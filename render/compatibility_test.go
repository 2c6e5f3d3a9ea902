// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render/source"
)

// TestTemplatesOfReleases renders each fleet of testdata/releases/<version>/<case>.yaml and compares the Pod template and
// the claim templates with what that version rendered, which stands behind the fleet in the file. There is no flag that
// rewrites these files: another Pod template restarts every member of every fleet on upgrade, and the API server refuses
// another claim template for ever.
func TestTemplatesOfReleases(t *testing.T) {
	files, err := filepath.Glob("testdata/releases/*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			fleet, want, found := strings.Cut(string(text), "\n---\n")
			require.True(t, found)
			require.Empty(t, cmp.Diff(strings.Split(want, "\n"), strings.Split(templatesOf(t, fleet), "\n")),
				"this would restart, or could not be applied to, every fleet that exists")
		})
	}
}

// templatesOf returns the documents of a fleet's templates: the Pod's, then the claims'.
func templatesOf(t testing.TB, fleet string) string {
	t.Helper()
	set, err := source.Read([]string{"-"}, source.Options{Stdin: strings.NewReader(fleet), AboveCap: true})
	require.NoError(t, err)
	require.Len(t, set.Documents, 1)
	workload := mustRender(t, set.Documents[0].Fleet)[1].Typed
	text := tree.AppendYAML(nil, tree.Of(templateOf(workload)))
	if set, ok := workload.(*appsv1.StatefulSet); ok {
		for _, claim := range set.Spec.VolumeClaimTemplates {
			text = append(text, "---\n"...)
			text = tree.AppendYAML(text, tree.Of(claim))
		}
	}
	return string(text)
}

// TestWhatRestartsNobody lists changes that leave the Pod template alone, and those that leave all of the workload alone.
func TestWhatRestartsNobody(t *testing.T) {
	tests := map[string]struct {
		patch      string
		unaffected bool
	}{
		"replicas":    {`spec: {replicas: 9}`, true},
		"capacity":    {`spec: {capacity: {mode: Manual}}`, true},
		"stopped":     {`spec: {maintenance: {stopped: true}}`, true},
		"routing":     {`spec: {routing: {hostnames: [a.example.com], gateway: {name: a}, source: {namespace: a, podLabels: {a: b}}}}`, true},
		"annotations": {`metadata: {annotations: {celld.eric.dev/protect: "true"}}`, true},
		"bucket name": {`spec: {storage: {bucket: my-bucket}}`, true},
		"paused":      {`spec: {maintenance: {paused: true}}`, false},
		"network":     {`spec: {network: {credentials: None, extraEgress: [{}]}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, base := range []string{persistent, bucket} {
				before, after := mustRender(t, fleet(t, base))[1], mustRender(t, fleet(t, base, tc.patch))[1]
				require.Empty(t, cmp.Diff(templateOf(before.Typed), templateOf(after.Typed)))
				require.Equal(t, tc.unaffected, string(before.YAML) == string(after.YAML))
			}
		})
	}
}
