// SPDX-License-Identifier: Apache-2.0

// Package flux keeps Flux from replacing text that only looks like one of its variables.
package flux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Disabled is the value of v1alpha1.AnnotationFluxSubstitute on an object that Flux takes as it is.
const Disabled = "disabled"

// Mark annotates an object whose text holds what Flux would take for a variable, and returns the warning for it; it returns ""
// where there is nothing to mark, or where the object is marked already.
func Mark(object *tree.Node) string {
	plain := object.Walk(func(n *tree.Node) bool {
		return !(n.Kind == tree.String && variable(n.Text)) && !slices.ContainsFunc(n.Fields, func(f tree.Field) bool { return variable(f.Key) })
	})
	meta := object.Get("metadata")
	if plain || meta == nil || meta.Kind != tree.Map || meta.GetText("annotations", v1alpha1.AnnotationFluxSubstitute) == Disabled {
		return ""
	}
	annotations := meta.Get("annotations")
	if annotations == nil || annotations.Kind != tree.Map {
		annotations = &tree.Node{Kind: tree.Map}
		meta.Set("annotations", annotations)
	}
	annotations.Set(v1alpha1.AnnotationFluxSubstitute, tree.Str(Disabled))
	return fmt.Sprintf("annotation %s: disabled was added, because the text holds \"${\", which Flux takes for a variable; "+
		"write $(NAME) for a variable of the container", v1alpha1.AnnotationFluxSubstitute)
}

func variable(text string) bool { return strings.Contains(text, "${") }
