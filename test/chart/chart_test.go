// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/lint"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fleetwright/fleetwright/internal/golden"
	chart "github.com/fleetwright/fleetwright/test/chart"
)

func TestLint(t *testing.T) {
	for name, text := range map[string]string{"defaults": "", "everything": everything} {
		result := lint.All(filepath.Join(root, "charts", "fleetwright"), values(t, text), "fleetwright-system", true)
		for _, message := range result.Messages {
			require.Equal(t, "icon is recommended", message.Err.Error(), "%s: %s", name, message)
		}
	}
}

// Two renders are the same bytes, and nothing in a template could make them differ.
func TestPure(t *testing.T) {
	for _, text := range []string{"", everything} {
		require.Equal(t, render(t, "x", text), render(t, "x", text))
	}
	templates, err := filepath.Glob(root + "/charts/fleetwright/templates/*")
	require.NoError(t, err)
	require.Greater(t, len(templates), 5)
	for _, path := range templates {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, word := range []string{"lookup", "genCA", "genSelfSigned", "genSigned", "genPrivateKey", "rand", "uuidv4", "now", "date",
			"htpasswd", "bcrypt", "derivePassword", "env", "getHostByName", ".Capabilities", ".Release.IsUpgrade", ".Release.Revision"} {
			require.NotRegexp(t, `\{\{[^}/]*(^|[\s(|])`+word+`\b`, string(text), path)
		}
	}
}

// Every default of the chart is written down in files that the tree holds.
func TestGenerated(t *testing.T) {
	copies, err := chart.Copies(root)
	require.NoError(t, err)
	made, err := chart.Generated(root)
	require.NoError(t, err)
	for _, files := range []map[string][]byte{copies, made} {
		for path, want := range files {
			require.Equal(t, string(want), string(read(t, path)), "%s: run make generate", path)
		}
	}
	for _, dir := range []string{"dist", "dist/kustomize", "charts/fleetwright/files/crd"} {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		require.NoError(t, err)
		for _, entry := range entries {
			path := dir + "/" + entry.Name()
			require.True(t, entry.IsDir() || copies[path] != nil || made[path] != nil, "%s is left over", path)
		}
	}
}

// The plain YAML, the kustomize base and the chart are the same objects.
func TestDistributions(t *testing.T) {
	plain := decode(t, string(read(t, "dist/install.yaml")))
	require.ElementsMatch(t, objects(t, chart.Namespace, ""), plain[1:])
	require.Equal(t, "Namespace /fleetwright-system", name(plain[0]))
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), root+"/dist/kustomize")
	require.NoError(t, err)
	text, err := built.AsYaml()
	require.NoError(t, err)
	require.ElementsMatch(t, plain, decode(t, string(text)))
}

func TestGolden(t *testing.T) {
	// The definitions have tests of their own, and make the diff long.
	got := render(t, chart.Namespace, "crds: {enabled: false}\n"+strings.ReplaceAll(everything, "crds: {enabled: true}\n", ""))
	golden.Equal(t, filepath.Join("testdata", "everything.yaml"), got) // the defaults are in dist
}

// Pods are what the strictest standard of Kubernetes admits.
func TestRestricted(t *testing.T) {
	checks, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, text := range []string{"", everything} {
		seen := 0
		for _, o := range objects(t, "x", text) {
			if d, ok := o.(*appsv1.Deployment); ok {
				seen++
				results := checks.EvaluatePod(level, &d.Spec.Template.ObjectMeta, &d.Spec.Template.Spec)
				result := policy.AggregateCheckResults(results)
				require.True(t, result.Allowed, result.ForbiddenDetail())
				require.True(t, *d.Spec.Template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
			}
		}
		require.Equal(t, 2, seen)
	}
}

// Selectors are for ever, and some sync tools overwrite the instance label.
func TestNoInstanceLabel(t *testing.T) {
	require.NotContains(t, render(t, "x", everything), "app.kubernetes.io/instance")
}
