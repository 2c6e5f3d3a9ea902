// SPDX-License-Identifier: Apache-2.0

package krm

import (
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render/source"
)

// setResults lists problems and warnings as the results of this function, after those of earlier ones. kustomize prints no
// results, so whoever calls Run prints them too.
func (l *resourceList) setResults(problems, warnings source.Problems) {
	if len(problems)+len(warnings) == 0 {
		return
	}
	results := get(l.root, "results")
	if results == nil || results.Kind != yaml.SequenceNode {
		results = &yaml.Node{Kind: yaml.SequenceNode}
		set(l.root, "results", results)
	}
	for _, p := range problems {
		results.Content = append(results.Content, result("error", p))
	}
	for _, p := range warnings {
		results.Content = append(results.Content, result("warning", p))
	}
}

func result(severity string, p source.Problem) *yaml.Node {
	out := &tree.Node{Kind: tree.Map}
	out.Set("message", tree.Str(p.Message))
	out.Set("severity", tree.Str(severity))
	if id := p.Object; id.Group == v1alpha1.GroupVersion.Group {
		ref := &tree.Node{Kind: tree.Map}
		ref.Set("apiVersion", tree.Str(v1alpha1.GroupVersion.String()))
		ref.Set("kind", tree.Str(id.Kind))
		ref.Set("name", tree.Str(id.Name))
		if id.Namespace != "" {
			ref.Set("namespace", tree.Str(id.Namespace))
		}
		out.Set("resourceRef", ref)
	}
	if p.Field != "" {
		field := &tree.Node{Kind: tree.Map}
		field.Set("path", tree.Str(p.Field))
		out.Set("field", field)
	}
	if p.File != source.StdinName {
		file := &tree.Node{Kind: tree.Map}
		file.Set("path", tree.Str(p.File))
		out.Set("file", file)
	}
	return parsed(tree.AppendYAML(nil, out))
}
