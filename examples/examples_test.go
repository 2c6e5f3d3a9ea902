// SPDX-License-Identifier: Apache-2.0

// Package examples_test keeps the rendered output of each example in step with what the code renders.
package examples_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/golden"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/output"
	"github.com/fleetwright/fleetwright/render/source"
)

// rendered holds where the output of each example is.
var rendered = map[string]string{
	"quickstart":                    "quickstart/rendered",
	"production":                    "production/rendered",
	"bucket":                        "bucket/rendered",
	"kustomize/overlays/staging":    "kustomize/rendered/staging",
	"kustomize/overlays/production": "kustomize/rendered/production",
	"flux/fleets/production":        "flux/rendered/production",
}

// told is what sync tools are told, which holds no fleet.
var told = []string{"argocd", "flux/clusters"}

func TestExamples(t *testing.T) {
	for dir, out := range rendered {
		t.Run(dir, func(t *testing.T) {
			files, warnings, err := output.NewFiles(read(t, dir), render.Options{})
			require.NoError(t, err)
			require.Empty(t, warnings)
			if golden.Update() {
				_, err := files.Write(out)
				require.NoError(t, err)
			}
			difference, err := files.Check(out)
			require.NoError(t, err)
			require.Empty(t, difference, "run the test with -update")
		})
	}
}

// TestEveryExampleIsRendered looks for directories with files that no output is kept of.
func TestEveryExampleIsRendered(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		if entry.IsDir() && (entry.Name() == "rendered" || slices.Contains(told, filepath.ToSlash(path))) {
			return filepath.SkipDir
		}
		if dir := filepath.Dir(path); filepath.Ext(path) == ".yaml" && dir != filepath.Join("kustomize", "base") {
			require.Contains(t, rendered, filepath.ToSlash(dir))
		}
		return nil
	}))
}

// TestOverlaysPatchSingleEntries checks what the kustomize example promises: a patch of one variable keeps the others.
func TestOverlaysPatchSingleEntries(t *testing.T) {
	token := func(secret string) v1alpha1.EnvVar {
		return v1alpha1.EnvVar{Name: "CELLD_ADMIN_TOKEN", SecretKeyRef: &v1alpha1.SecretKeyReference{Name: secret, Key: "admin-token"}}
	}
	tests := map[string]struct {
		replicas int32
		env      []v1alpha1.EnvVar
		digest   string
	}{
		"staging": {
			3, []v1alpha1.EnvVar{{Name: "CELLD_LOG", Value: "debug"}, token("orders-celld")},
			"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
		},
		"production": {
			6, []v1alpha1.EnvVar{{Name: "CELLD_LOG", Value: "info"}, token("orders-celld-production"), {Name: "CELLD_PROFILE", Value: "large"}},
			"fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := read(t, "kustomize/overlays/"+name)
			require.Equal(t, 1, set.Fleets())
			fleet := set.Documents[slices.IndexFunc(set.Documents, func(d source.Document) bool { return d.Fleet != nil })].Fleet
			require.Equal(t, name, fleet.GetNamespace())
			require.Equal(t, tc.replicas, *fleet.Shared().Replicas)
			require.Equal(t, "ghcr.io/ewhauser/celld@sha256:"+tc.digest, fleet.Shared().RuntimeImage)
			require.ElementsMatch(t, tc.env, fleet.Shared().Env, "kustomize puts patched entries first")
		})
	}
}

func read(t testing.TB, dir string) *source.Set {
	t.Helper()
	set, err := source.Read([]string{dir}, source.Options{})
	require.NoError(t, err)
	require.Empty(t, set.Warnings)
	require.Positive(t, set.Fleets())
	return set
}
