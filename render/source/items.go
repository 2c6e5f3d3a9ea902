// SPDX-License-Identifier: Apache-2.0

package source

import (
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Item is an object that another tool has read already.
type Item struct {
	// File names the item in problems.
	File string
	Node *yaml.Node
}

// ReadItems reads objects that another tool hands over, as Read does files. Document i of the set is item i; those of other
// kinds have no Text. Problems have positions only where the item's file is the standard input, from which the nodes came.
// Objects that an earlier run rendered may stand beside their fleets.
func ReadItems(items []Item, opts Options) (*Set, error) {
	r := &reader{opts: opts}
	for _, item := range items {
		r.files = append(r.files, item.File)
		in := input{name: item.File, item: true}
		n, flaws := convert(item.File, 0, item.Node)
		if n == nil {
			r.flaws(in, ID{}, flaws, false)
			continue
		}
		before := len(r.documents)
		r.object(in, n, nil, flaws)
		if len(r.documents) == before {
			r.documents = append(r.documents, Document{File: item.File, Pos: Pos(n.Pos)})
		}
	}
	r.across()
	for _, list := range []Problems{r.problems, r.warnings} {
		for i := range list {
			if list[i].File != StdinName {
				list[i].Pos = Pos{}
			}
		}
	}
	return r.set()
}

// rendererOf is the namespace and name of the fleet that an object was rendered from, by the marks that it carries; "" without them.
func rendererOf(n *tree.Node) string {
	if n.GetText("metadata", "labels", v1alpha1.LabelManagedBy) != v1alpha1.ManagedBy ||
		n.GetText("metadata", "annotations", v1alpha1.AnnotationSeal) == "" {
		return ""
	}
	return n.GetText("metadata", "namespace") + "/" + n.GetText("metadata", "labels", v1alpha1.LabelFleet)
}
