// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"

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

// NewFiles renders a set to one file for each object, and a kustomization that lists them. An object without a name has no file,
// and kustomize takes none: it is a Problem.
func NewFiles(set *source.Set, opts render.Options) (*Files, source.Problems, error) {
	var objects []object
	warnings, err := Each(set, opts, func(doc *source.Document, rendered render.Objects) error {
		id := tree.ID(doc.ID)
		for i, o := range rendered {
			if i > 0 {
				id = tree.IDOfTyped(o.Typed)
			}
			objects = append(objects, object{doc: doc, id: id, text: o.YAML})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	f := &Files{text: map[string][]byte{}}
	if problems := f.add(objects); len(problems) > 0 {
		return nil, nil, problems
	}
	f.addKustomization()
	return f, warnings, nil
}

// An object is what a document is or renders to.
type object struct {
	doc  *source.Document
	id   tree.ID
	text []byte
}

func (o *object) problem(format string, args ...any) source.Problem {
	return source.Problem{File: o.doc.File, Pos: o.doc.Pos, Object: source.ID(o.id), Message: fmt.Sprintf(format, args...)}
}

// add adds the files of objects. Where kinds of several API groups would share a name, their groups are part of it.
func (f *Files) add(objects []object) (problems source.Problems) {
	sharing := map[string]int{}
	for i := range objects {
		sharing[objects[i].id.FileName(false)]++
	}
	for i := range objects {
		o := &objects[i]
		if o.id.Name == "" {
			problems = append(problems, o.problem("metadata.name is missing, and kustomize refuses such an object in a directory: "+
				"give it a name instead of a generateName, or render without --output-dir"))
			continue
		}
		name := o.id.FileName(sharing[o.id.FileName(false)] > 1)
		if _, taken := f.text[name]; taken || name == kustomizationFile {
			problems = append(problems, o.problem("goes to the file %s, and so does another object: rename one of them, or render without --output-dir", name))
			continue
		}
		b := append([]byte(marker), o.text...)
		if b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		f.names, f.text[name] = append(f.names, name), b
	}
	return problems
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
