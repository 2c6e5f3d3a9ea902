// SPDX-License-Identifier: Apache-2.0

// Package output writes what was rendered: as one stream, or as a directory that is kept in Git.
package output

import (
	"bufio"
	"fmt"
	"io"

	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

// Stream writes every object of a set to w: fleets with what they render to, other objects as they were read. It renders
// while it writes, so that memory does not grow with the output; source.Read has made sure that nothing can be refused.
func Stream(w io.Writer, set *source.Set, opts render.Options) (warnings source.Problems, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	renderer := render.Renderer{Options: opts}
	var space []byte
	for i := range set.Documents {
		doc := &set.Documents[i]
		space = appendDocument(space[:0], doc.Text)
		if doc.Fleet != nil {
			objects, more := renderFleet(doc, &renderer)
			warnings = append(warnings, more...)
			space = objects.AppendYAML(space)
		}
		if _, err := out.Write(space); err != nil {
			return nil, fmt.Errorf("writing: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("writing: %w", err)
	}
	return warnings, nil
}

// appendDocument appends text that was read as a document of its own.
func appendDocument(b, text []byte) []byte {
	b = append(b, "---\n"...)
	b = append(b, text...)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b = append(b, '\n')
	}
	return b
}

// renderFleet returns what a fleet renders to, without the fleet itself.
func renderFleet(doc *source.Document, r *render.Renderer) (render.Objects, source.Problems) {
	objects := r.Objects(doc.Fleet)
	var warnings source.Problems
	for _, o := range objects {
		for _, w := range o.Warnings {
			warnings = append(warnings, source.Problem{File: doc.File, Pos: doc.Pos, Object: o.ID(), Message: w})
		}
	}
	return objects, warnings
}
