// SPDX-License-Identifier: Apache-2.0

// Package chart renders the chart with Helm's library, and makes of it what is generated: the plain YAML, the kustomize base
// and the table of values.
package chart

import (
	"fmt"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

// Namespace is where the programs run unless somebody chooses another.
const Namespace = "fleetwright-system"

// Load reads the chart of the repository at root.
func Load(root string) (*chart.Chart, error) {
	return loader.Load(root + "/charts/fleetwright")
}

// Render returns what `helm template fleetwright` prints for values, in the order in which Helm installs it.
func Render(c *chart.Chart, namespace string, values map[string]any) (string, error) {
	options := chartutil.ReleaseOptions{Name: "fleetwright", Namespace: namespace, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return "", err
	}
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return "", err
	}
	if len(hooks) > 0 {
		return "", fmt.Errorf("hook %s: sync tools run hooks in ways of their own", hooks[0].Name)
	}
	// Helm orders by kind alone; files and the documents in them come from maps.
	sort.SliceStable(manifests, func(i, j int) bool {
		return manifests[i].Head.Kind == manifests[j].Head.Kind && nameOf(&manifests[i]) < nameOf(&manifests[j])
	})
	var out strings.Builder
	for i := range manifests {
		out.WriteString("---\n" + strings.TrimSpace(manifests[i].Content) + "\n")
	}
	return out.String(), nil
}

func nameOf(m *releaseutil.Manifest) string {
	if m.Head.Metadata == nil {
		return ""
	}
	return m.Head.Metadata.Name
}
