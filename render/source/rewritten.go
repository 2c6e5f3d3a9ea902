// SPDX-License-Identifier: Apache-2.0

package source

import (
	"math/big"
	"regexp"
	"slices"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// exponent matches how programs that read numbers as floating point write whole ones from a million on: kustomize, once a JSON patch
// has touched the object, and Helm, for what stands in values.
var exponent = regexp.MustCompile(`^-?[0-9](\.[0-9]+)?e\+[0-9]{2,3}$`)

func isRewritten(n *tree.Node) bool { return n.Kind == tree.Number && exponent.MatchString(n.Text) }

// unrewritten returns a fleet with numbers as they were before such a program, and a Problem for each that it may have changed.
func unrewritten(file string, n *tree.Node, at trail) (*tree.Node, Problems) {
	if n.Walk(func(n *tree.Node) bool { return !isRewritten(n) }) {
		return n, nil
	}
	var problems Problems
	out := *n
	out.Fields, out.Items = slices.Clone(n.Fields), slices.Clone(n.Items)
	for i, f := range n.Fields {
		value, wrong := unrewritten(file, f.Value, append(at[:len(at):len(at)], step{key: f.Key}))
		out.Fields[i].Value, problems = value, append(problems, wrong...)
	}
	for i, item := range n.Items {
		value, wrong := unrewritten(file, item, append(at[:len(at):len(at)], step{index: i, list: true}))
		out.Items[i], problems = value, append(problems, wrong...)
	}
	if !isRewritten(n) {
		return &out, problems
	}
	value, ok := new(big.Rat).SetString(n.Text)
	switch {
	case !ok || !value.IsInt():
	case value.Num().CmpAbs(big.NewInt(maxExact)) < 0:
		out.Text = value.Num().String()
	default:
		problems = append(problems, Problem{File: file, Pos: Pos(n.Pos), Field: at.String(), Message: n.Text + " was rewritten by " +
			"kustomize or Helm, which keep 53 bits of a number: write it in quotes where it is a quantity, or use a strategic merge " +
			"patch instead of a JSON patch"})
	}
	return &out, problems
}

// quote puts all strings of what kustomize built in quotes: it drops those that it does not need itself.
func quote(n *tree.Node) {
	n.Walk(func(n *tree.Node) bool {
		n.Plain = n.Plain && n.Kind != tree.String
		return true
	})
}
