// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/render/source"
)

// What kustomize would take minutes for is refused before it is built; what is merely large is not.
func TestWorkOfKustomizeIsBounded(t *testing.T) {
	object := func(name, data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n" + data + "---\n"
	}
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	// levels of directories, in which each kustomization lists both of the next level
	levels := func(n int, field, header string) map[string]string {
		files := map[string]string{"root/kustomization.yaml": field + ": [../a0, ../b0]\n"}
		for i := range n {
			for _, side := range []string{"a", "b"} {
				files[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = header + fmt.Sprintf("%s: [../a%d, ../b%d]\n", field, i+1, i+1)
				files[fmt.Sprintf("%s%d/kustomization.yaml", side, i+1)] = header + "namePrefix: a\n"
			}
		}
		return files
	}
	component := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	map400KiB := lines(40_000, "  key%d: v\n")
	for name, tc := range map[string]struct {
		files   map[string]string
		refused bool
	}{
		"a base for each of six levels":    {levels(6, "resources", ""), false},
		"two lines, 23 times":              {levels(11, "resources", ""), true},
		"two lines, 101 times":             {levels(50, "resources", ""), true},
		"two lines, as components":         {levels(20, "components", component), true},
		"two lines, as transformers":       {levels(20, "transformers", ""), true},
		"a map of 400 KiB":                 {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\n", "root/a.yaml": object("a", map400KiB)}, true},
		"a map of 400 KiB in a patch":      {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: b.yaml}]\n", "root/a.yaml": object("a", "  a: b\n"), "root/b.yaml": object("a", map400KiB)}, true},
		"one in the kustomization":         {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\ncommonAnnotations:\n" + map400KiB, "root/a.yaml": object("a", "  a: b\n")}, true},
		"one in an env file":               {map[string]string{"root/kustomization.yaml": "configMapGenerator: [{name: a, envs: [a.env]}]\n", "root/a.env": lines(40_000, "key%d=v\n")}, true},
		"one of literals":                  {map[string]string{"root/kustomization.yaml": "configMapGenerator:\n- name: a\n  literals:\n" + lines(40_000, "  - key%d=v\n")}, true},
		"maps in many objects":             {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\n", "root/a.yaml": strings.Repeat(object("a", lines(5_000, "  key%d: v\n")), 10)}, true},
		"a map of a thousand keys":         {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\n", "root/a.yaml": object("a", lines(1000, "  key%d: v\n"))}, false},
		"ten thousand objects":             {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\n", "root/a.yaml": lines(10_000, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\n---\n")}, true},
		"patches of objects, many of each": {map[string]string{"root/kustomization.yaml": "resources: [a.yaml]\npatches:\n" + lines(2000, "- {target: {name: a%d}, patch: '[]'}\n"), "root/a.yaml": lines(2000, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\n---\n")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := source.Read([]string{filepath.Join(write(t, tc.files), "root")}, source.Options{})
			if !tc.refused {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "would take kustomize more than about 5 seconds")
		})
	}
}
