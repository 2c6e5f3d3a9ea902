// SPDX-License-Identifier: Apache-2.0

package output

import (
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

const (
	// marker is the first line of every file that belongs to the output; files without it are never touched.
	marker = "# Rendered by fleetwright. Do not edit: change the fleet and render it again.\n"
	// kustomizationFile lists the other files, for kustomize and Flux.
	kustomizationFile = "kustomization.yaml"
)

// Files are the contents of an output directory, by name.
type Files struct {
	names []string // in the order of the objects, the kustomization last
	text  map[string][]byte
}

// NewFiles renders a set to one file for each object, and a kustomization that lists them.
func NewFiles(set *source.Set, opts render.Options) (*Files, source.Problems, error) {
	f := &Files{text: map[string][]byte{}}
	warnings, err := Each(set, opts, func(doc *source.Document, objects render.Objects) error {
		id := tree.ID(doc.ID)
		for i, o := range objects {
			if i > 0 {
				id = tree.IDOfTyped(o.Typed)
			}
			if err := f.add(doc, id, o.YAML); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	f.addKustomization()
	return f, warnings, nil
}

// add adds the file of an object that a document is or renders to.
func (f *Files) add(doc *source.Document, id tree.ID, text []byte) error {
	name := id.FileName()
	if _, taken := f.text[name]; taken || name == kustomizationFile {
		return source.Problems{{File: doc.File, Pos: doc.Pos, Object: source.ID(id), Message: "goes to the file " + name +
			", and so does another object: rename one of them, or render without --output-dir"}}
	}
	b := append([]byte(marker), text...)
	if b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	f.names, f.text[name] = append(f.names, name), b
	return nil
}

func (f *Files) addKustomization() {
	resources := &tree.Node{Kind: tree.List}
	for _, name := range f.names {
		resources.Items = append(resources.Items, tree.Str(name))
	}
	k := &tree.Node{Kind: tree.Map}
	k.Set("apiVersion", tree.Str("kustomize.config.k8s.io/v1beta1"))
	k.Set("kind", tree.Str("Kustomization"))
	k.Set("resources", resources)
	f.names, f.text[kustomizationFile] = append(f.names, kustomizationFile), tree.AppendYAML([]byte(marker), k)
}
