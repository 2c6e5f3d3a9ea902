// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
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

// buildKustomization runs kustomize in process, with the configuration that fleets need and the restrictions of the
// kustomize command: no plugins, no files outside the root; and no network, and nothing outside of the repository.
func buildKustomization(dir, name, repository string) ([]input, error) {
	if repository == "" {
		repository = repositoryOf(dir)
	}
	s := &survey{seen: map[string]*work{}, repository: repository, holdFleets: map[string]string{}}
	file := filepath.Join(dir, name)
	w, _ := s.directory(dir)
	switch {
	case len(s.problems) > 0:
		return nil, s.problems
	case max(w.units, s.spent) > maxWork:
		return nil, tooMuch(file)
	}
	objects, err := runKustomize(dir, s.holdFleets)
	if err != nil {
		return nil, &Problem{File: file, Message: "kustomize: " + kustomizeMessage(err)}
	}
	inputs := make([]input, 0, len(objects))
	for _, o := range objects {
		in := input{name: file, text: o.text, built: true}
		if o.origin != "" {
			in.name = fmt.Sprintf("%s (%s)", file, o.origin)
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		inputs = append(inputs, input{name: file, built: true})
	}
	return inputs, nil
}

// repositoryOf is the top of the Git work tree that a directory is in, "" if it is in none.
func repositoryOf(dir string) string {
	for at := followed(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// kustomizeLock guards kustomize's schema, which is global to the process.
var kustomizeLock sync.Mutex

// built is an object that kustomize made, and the file that it started from, if that is known.
type built struct {
	text   []byte
	origin string
}

func runKustomize(dir string, holdFleets map[string]string) (objects []built, err error) {
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	defer func() {
		// kustomize panics on some malformed input; a panic here is a problem of the input, not of this process.
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot build this: %v", p)
		}
	}()
	// A relative path could look like that of a remote repository to kustomize.
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if openapi.GetSchemaVersion() != openapi.DefaultOpenAPI {
		openapi.ResetOpenAPI() // an earlier kustomization brought its own
	}
	if err := openapi.AddSchema(kustomize.OpenAPI); err != nil {
		return nil, fmt.Errorf("schema of fleets: %w", err)
	}
	fs := &configuredFS{FileSystem: filesys.MakeFsOnDisk(), root: root, holdFleets: holdFleets}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	var m resmap.ResMap
	if err := offline(func() (err error) {
		m, err = krusty.MakeKustomizer(options).Run(fs, root)
		return err
	}); err != nil {
		return nil, err
	}
	return printed(m)
}

// printed returns the text of each object: a fleet's as it was written and patched, so that it can be read strictly, and
// what kustomize prints for any other.
func printed(m resmap.ResMap) ([]built, error) {
	objects := make([]built, m.Size())
	for i, res := range m.Resources() {
		if !isFleet(res) {
			text, err := res.AsYAML()
			if err != nil {
				return nil, err
			}
			objects[i].text = text
			continue
		}
		objects[i].origin = res.GetAnnotations(annotationFile)[annotationFile]
		if err := res.PipeE(kyaml.ClearAnnotation(annotationFile)); err != nil {
			return nil, err
		}
		if err := kyaml.ClearEmptyAnnotations(&res.RNode); err != nil {
			return nil, err
		}
		text, err := res.RNode.String()
		if err != nil {
			return nil, err
		}
		objects[i].text = []byte(text)
	}
	return objects, nil
}

func isFleet(res *resource.Resource) bool {
	gvk := res.GetGvk()
	return gvk.Group == v1alpha1.GroupVersion.Group && gvk.Kind != v1alpha1.KindStorageReservation
}

// kustomizeMessage is kustomize's error with paths as people write them, and without advice that does not fit.
func kustomizeMessage(err error) string {
	message := err.Error()
	if here, err := os.Getwd(); err == nil {
		message = relative(relative(message, here), followed(here))
	}
	if strings.Contains(message, "plugins disabled") || strings.Contains(message, "external plugins") {
		message += "; programs are not run here: run kustomize yourself and give its output to 'fleetwright render -', " +
			"or let kustomize run 'fleetwright fn'"
	}
	if strings.Contains(message, "no 'git' program on path") {
		message += "; a repository " + notFetched
	}
	return message
}

// relative makes the paths in a text relative to a directory, up to two above it.
func relative(text, dir string) string {
	up := ""
	for range 3 {
		if dir == filepath.Dir(dir) {
			break
		}
		text = strings.ReplaceAll(text, dir+string(filepath.Separator), up)
		up, dir = ".."+string(filepath.Separator)+up, filepath.Dir(dir)
	}
	return text
}
