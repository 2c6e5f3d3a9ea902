// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
	"github.com/fleetwright/fleetwright/test/cluster"
)

const root = "../../.."

// example is a fleet that something in the repository shows.
type example struct {
	name  string
	fleet v1alpha1.Fleet
}

// examples are the fleets of the examples and of render's golden directories,
// and those of this package, which use every field of the API.
func examples(t *testing.T) []example {
	t.Helper()
	paths := slices.Concat(directories(t, root+"/examples"), golden(t), []string{"testdata/options.yaml"})
	var found []example
	for _, path := range paths {
		set, err := source.Read([]string{path}, source.Options{Namespace: "fleets"})
		require.NoError(t, err, path)
		for _, document := range set.Documents {
			if document.Fleet != nil {
				name := strings.ReplaceAll(strings.TrimPrefix(path, root+"/"), "/", "_") + "_" + document.Fleet.GetName()
				found = append(found, example{name: name, fleet: document.Fleet})
			}
		}
	}
	require.GreaterOrEqual(t, len(found), 7)
	return found
}

// directories returns those below dir that hold YAML files, but for what was
// rendered from others, and what is for sync tools.
func directories(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && slices.Contains([]string{"rendered", "argocd", "clusters"}, entry.Name()) {
			return filepath.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".yaml" && !slices.Contains(found, filepath.Dir(path)) {
			found = append(found, filepath.Dir(path))
		}
		return err
	}))
	return found
}

// golden returns the inputs of render's own tests.
func golden(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(root + "/render/testdata/*/fleet.yaml")
	require.NoError(t, err)
	return found
}

// rendered returns what a sync tool gets to apply for a fleet: the printed
// text, read again.
func rendered(t *testing.T, fleet v1alpha1.Fleet) []*unstructured.Unstructured {
	t.Helper()
	objects, err := render.Render(fleet, render.Options{})
	require.NoError(t, err)
	decoded, err := cluster.Decode(objects.AppendYAML(nil))
	require.NoError(t, err)
	return decoded
}

// inNamespace is a fleet in another namespace.
func inNamespace(fleet v1alpha1.Fleet, namespace string) v1alpha1.Fleet {
	moved := fleet.DeepCopyObject().(v1alpha1.Fleet)
	moved.SetNamespace(namespace)
	return moved
}
