// SPDX-License-Identifier: Apache-2.0

package output

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/ordered"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

// Each renders the fleets of a set, on all cores, and calls do for every document, in the order of the set, with what it is and
// renders to: a fleet as it was written, then its objects. For an object of another kind that is its YAML alone. An error of do
// ends it. Few fleets are rendered ahead, so that memory does not grow with the output.
func Each(set *source.Set, opts render.Options, do func(*source.Document, render.Objects) error) (warnings source.Problems, err error) {
	documents := func(yield func(*source.Document) bool) {
		for i := range set.Documents {
			if !yield(&set.Documents[i]) {
				return
			}
		}
	}
	for r := range ordered.Map(documents, func(doc *source.Document) rendered { return renderDocument(doc, opts) }) {
		if r.err != nil {
			return nil, fmt.Errorf("rendering %s: %w", r.doc.ID, r.err)
		}
		for _, o := range r.objects {
			for _, w := range o.Warnings {
				warnings = append(warnings, source.Problem{File: r.doc.File, Pos: r.doc.Pos, Object: source.ID(tree.IDOfTyped(o.Typed)), Message: w})
			}
		}
		if err := do(r.doc, r.objects); err != nil {
			return nil, err
		}
	}
	return warnings, nil
}

type rendered struct {
	doc     *source.Document
	objects render.Objects
	err     error
}

func renderDocument(doc *source.Document, opts render.Options) rendered {
	if doc.Fleet == nil {
		return rendered{doc: doc, objects: render.Objects{{YAML: doc.Text}}}
	}
	objects, err := render.Render(doc.Fleet, opts)
	if err == nil {
		objects[0].YAML = doc.Text
	}
	return rendered{doc: doc, objects: objects, err: err}
}
