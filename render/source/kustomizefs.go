// SPDX-License-Identifier: Apache-2.0

package source

import (
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/config/kustomize"
)

// configurationFile appears in every directory that kustomize looks at. Kustomize takes its configuration from files that
// each kustomization lists; this one holds what fleets need, so that nobody has to list it.
const configurationFile = ".fleetwright-kustomizeconfig.yaml"

// configuredFS is a file system in which every kustomization lists the configuration that fleets need, and in which the
// one that is built asks for the origin of each object.
type configuredFS struct {
	filesys.FileSystem
	root string
	// addedOrigins says that the origins are nobody else's wish.
	addedOrigins bool
}

// ReadFile adds the configuration to a kustomization; what cannot be read as one is left to kustomize to complain about.
func (fs *configuredFS) ReadFile(path string) ([]byte, error) {
	if filepath.Base(path) == configurationFile {
		return kustomize.Config, nil
	}
	text, err := fs.FileSystem.ReadFile(path)
	if err != nil || !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return text, err
	}
	var fields map[string]any
	if err := yaml.UnmarshalStrict(text, &fields); err != nil || fields == nil {
		return text, nil
	}
	list, ok := fields["configurations"].([]any)
	if fields["configurations"] != nil && !ok {
		return text, nil
	}
	fields["configurations"] = append(list, configurationFile)
	if filepath.Dir(path) == fs.root {
		fs.addOrigins(fields)
	}
	out, err := yaml.Marshal(fields)
	if err != nil {
		return text, nil
	}
	return out, nil
}

func (fs *configuredFS) addOrigins(fields map[string]any) {
	list, ok := fields["buildMetadata"].([]any)
	if fields["buildMetadata"] != nil && !ok || slices.Contains(list, any(types.OriginAnnotations)) {
		return
	}
	fields["buildMetadata"] = append(list, types.OriginAnnotations)
	fs.addedOrigins = true
}

// CleanedAbs finds the configuration in any directory.
func (fs *configuredFS) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if filepath.Base(path) != configurationFile {
		return fs.FileSystem.CleanedAbs(path)
	}
	dir, _, err := fs.FileSystem.CleanedAbs(filepath.Dir(path))
	return dir, configurationFile, err
}

// Exists knows the configuration in any directory.
func (fs *configuredFS) Exists(path string) bool {
	return filepath.Base(path) == configurationFile || fs.FileSystem.Exists(path)
}

// IsDir knows that the configuration is a file.
func (fs *configuredFS) IsDir(path string) bool {
	return filepath.Base(path) != configurationFile && fs.FileSystem.IsDir(path)
}
