// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/config/kustomize"
)

// configurationFile appears in every directory that kustomize looks at. Kustomize takes its configuration from files that
// each kustomization lists; this one holds what fleets need, so that nobody has to list it.
const configurationFile = ".fleetwright-kustomizeconfig.yaml"

// annotationFile names the file that a fleet is in, while kustomize works on it. Kustomize's own annotation for that would make it
// write down each transformer for each object as well, which takes a hundred times as long as the build.
const annotationFile = "internal.fleetwright/file"

// configuredFS is a file system in which every kustomization lists the configuration that fleets need, and in which fleets say
// which file they are in.
type configuredFS struct {
	filesys.FileSystem
	root string
	// holdFleets are the files with fleets, and what they are to be called.
	holdFleets map[string]string
}

// ReadFile adds the configuration to a kustomization; what cannot be read as one is left to kustomize to complain about.
func (fs *configuredFS) ReadFile(path string) ([]byte, error) {
	if filepath.Base(path) == configurationFile {
		return kustomize.Config, nil
	}
	text, err := fs.FileSystem.ReadFile(path)
	if err != nil {
		return text, err
	}
	if name := fs.holdFleets[path]; name != "" {
		return withFile(text, name), nil
	}
	if !slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)) {
		return text, nil
	}
	if out := fs.configured(text, filepath.Dir(path) == fs.root); out != nil {
		return out, nil
	}
	return text, nil
}

// configured returns a kustomization with what it needs added, nil for what is none.
func (fs *configuredFS) configured(text []byte, root bool) []byte {
	// Nodes keep every scalar as it was written.
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	k := doc.Content[0]
	appendItem(k, "configurations", configurationFile)
	if root && valueAt(k, "sortOptions") == nil {
		// Without an order in the file, kustomize sorts; objects stay in the order of the files instead.
		order := &yaml.Node{Kind: yaml.MappingNode}
		setValue(order, "order", scalar(string(types.FIFOSortOrder)))
		setValue(k, "sortOptions", order)
	}
	out, err := yaml.Marshal(&doc)
	if err != nil {
		return nil
	}
	return out
}

// withFile is a text in which each fleet names the file; other objects stay as they are.
func withFile(text []byte, name string) []byte {
	var out bytes.Buffer
	for d := range split(text) {
		var doc yaml.Node
		if d.blank() || yaml.Unmarshal(d.body(), &doc) != nil || len(doc.Content) != 1 || !isFleetNode(doc.Content[0]) {
			if out.Len() > 0 && !isMarker(d.text, "---") { // behind three dots
				out.WriteString("---\n")
			}
			out.Write(d.text)
			continue
		}
		metadata := valueAt(doc.Content[0], "metadata")
		annotations := valueAt(metadata, "annotations")
		if annotations == nil {
			annotations = &yaml.Node{Kind: yaml.MappingNode}
			setValue(metadata, "annotations", annotations)
		}
		setValue(annotations, annotationFile, scalar(name))
		encoded, err := yaml.Marshal(&doc)
		if err != nil {
			encoded = d.body()
		}
		out.WriteString("---\n")
		out.Write(encoded)
	}
	return out.Bytes()
}

// isFleetNode says whether a node is a fleet whose annotations are, or can be, written beside its name.
func isFleetNode(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	apiVersion, kind, metadata := valueAt(n, "apiVersion"), valueAt(n, "kind"), valueAt(n, "metadata")
	if apiVersion == nil || kind == nil || metadata == nil || metadata.Kind != yaml.MappingNode {
		return false
	}
	annotations := valueAt(metadata, "annotations")
	return apiVersion.Value == v1alpha1.GroupVersion.String() && v1alpha1.NewFleet(kind.Value) != nil &&
		(annotations == nil || annotations.Kind == yaml.MappingNode)
}

// appendItem appends a string to a list of a mapping, and reports whether it did: it may be there already.
func appendItem(mapping *yaml.Node, key, item string) bool {
	list := valueAt(mapping, key)
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		setValue(mapping, key, list)
	}
	has := func(n *yaml.Node) bool { return n.Value == item }
	if list.Kind != yaml.SequenceNode || slices.ContainsFunc(list.Content, has) {
		return false
	}
	list.Content = append(list.Content, scalar(item))
	return true
}

// valueAt returns the value at a key of a mapping, nil where there is none or null.
func valueAt(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if value := mapping.Content[i+1]; mapping.Content[i].Value == key && value.ShortTag() != "!!null" {
			return value
		}
	}
	return nil
}

func setValue(mapping *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content[i+1] = value
			return
		}
	}
	mapping.Content = append(mapping.Content, scalar(key), value)
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// CleanedAbs finds the configuration in any directory.
func (fs *configuredFS) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if filepath.Base(path) != configurationFile {
		return fs.FileSystem.CleanedAbs(path)
	}
	dir, _, err := fs.FileSystem.CleanedAbs(filepath.Dir(path))
	return dir, configurationFile, err
}
