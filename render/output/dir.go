// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

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
	var warnings source.Problems
	for i := range set.Documents {
		doc := &set.Documents[i]
		if err := f.add(doc.ID(), doc.Text); err != nil {
			return nil, nil, err
		}
		if doc.Fleet == nil {
			continue
		}
		objects, more, err := renderFleet(doc, opts)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, more...)
		for j := range objects {
			if err := f.add(objects[j].ID(), objects[j].AppendYAML(nil)); err != nil {
				return nil, nil, err
			}
		}
	}
	f.addKustomization()
	return f, warnings, nil
}

func (f *Files) add(id tree.ID, text []byte) error {
	name := id.FileName()
	if _, taken := f.text[name]; taken || name == kustomizationFile {
		return source.Problems{{File: name, Object: id, Message: "another object has the same file name: rename one of them, or render without --output-dir"}}
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

// existing are the files of a directory that belong to the output, by name. A file of one of our names that is somebody
// else's is a Problem: it would be lost.
func (f *Files) existing(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the output directory: %w", err)
	}
	found := map[string][]byte{}
	var problems source.Problems
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".yaml" || !e.Type().IsRegular() {
			if _, ours := f.text[e.Name()]; ours {
				problems = append(problems, notOurs(dir, e.Name()))
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the output directory: %w", err)
		}
		switch _, ours := f.text[e.Name()]; {
		case bytes.HasPrefix(text, []byte(marker)):
			found[e.Name()] = text
		case ours:
			problems = append(problems, notOurs(dir, e.Name()))
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return found, nil
}

func notOurs(dir, name string) source.Problem {
	return source.Problem{File: filepath.Join(dir, name),
		Message: "was not rendered by fleetwright and would be overwritten: render to a directory of its own, or remove the file"}
}

// Check returns the differences between a directory and what it should hold, as a unified diff, "" when there are none.
func (f *Files) Check(dir string) (string, error) {
	found, err := f.existing(dir)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range f.union(found) {
		path := filepath.Join(dir, name)
		before, after := "a/"+path, "b/"+path
		if _, there := found[name]; !there {
			before = os.DevNull
		}
		if _, wanted := f.text[name]; !wanted {
			after = os.DevNull
		}
		out.Write(diff.Diff(before, found[name], after, f.text[name]))
	}
	return out.String(), nil
}

// Write makes a directory hold exactly these files, beside those that are not ours. Files that are right stay untouched.
func (f *Files) Write(dir string) (changed int, err error) {
	found, err := f.existing(dir)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // rendered objects hold no secrets
		return 0, fmt.Errorf("creating the output directory: %w", err)
	}
	for _, name := range f.union(found) {
		path, text := filepath.Join(dir, name), f.text[name]
		old, there := found[name]
		switch {
		case text == nil:
			err = os.Remove(path)
		case there && bytes.Equal(old, text):
			continue
		default:
			err = replaceFile(path, text)
		}
		if err != nil {
			return changed, fmt.Errorf("updating the output directory: %w", err)
		}
		changed++
	}
	return changed, nil
}

// union lists the names of both sides, sorted.
func (f *Files) union(found map[string][]byte) []string {
	names := slices.Clone(f.names)
	for name := range found {
		if _, ours := f.text[name]; !ours {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// replaceFile writes a file beside its place and moves it there, so that no reader sees half of it.
func replaceFile(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".fleetwright-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it is gone once it was moved
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
