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
// while it writes; source.Read has made sure that nothing can be refused.
func Stream(w io.Writer, set *source.Set, opts render.Options) (warnings source.Problems, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	var space []byte
	warnings, err = Each(set, opts, func(_ *source.Document, objects render.Objects) error {
		space = objects.AppendYAML(space[:0])
		return written(out.Write(space))
	})
	if err == nil {
		err = written(0, out.Flush())
	}
	if err != nil {
		return nil, err
	}
	return warnings, nil
}

func written(_ int, err error) error {
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
