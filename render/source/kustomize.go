// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/fleetwright/fleetwright/config/kustomize"
)

// findKustomization returns the name of a directory's kustomization file, or "".
func findKustomization(dir string) (string, error) {
	found := ""
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			continue
		}
		if found != "" {
			return "", &Problem{File: dir, Message: fmt.Sprintf("holds both %s and %s: keep one of them", found, name)}
		}
		found = name
	}
	return found, nil
}

// kustomizeLock guards kustomize's schema, which is global to the process.
var kustomizeLock sync.Mutex

// buildKustomization runs kustomize in process, with the configuration that fleets need and the restrictions of the
// kustomize command: no plugins, no files outside the root.
func buildKustomization(dir, name string) (_ []input, err error) {
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	file := filepath.Join(dir, name)
	defer func() {
		// kustomize panics on some malformed input; a panic here is a problem of the input, not of this process.
		if p := recover(); p != nil {
			err = &Problem{File: file, Message: fmt.Sprintf("kustomize cannot build it: %v", p)}
		}
	}()
	if err := openapi.AddSchema(kustomize.OpenAPI); err != nil {
		return nil, fmt.Errorf("kustomize schema: %w", err)
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(configuredFS{filesys.MakeFsOnDisk()}, dir)
	if err != nil {
		return nil, &Problem{File: file, Message: "kustomize: " + err.Error()}
	}
	text, err := objects.AsYaml()
	if err != nil {
		return nil, &Problem{File: file, Message: "kustomize: " + err.Error()}
	}
	return []input{{name: file, text: text, built: true}}, nil
}
