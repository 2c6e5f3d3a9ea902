// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// Problem is one thing that is wrong with the input, or that deserves a warning.
type Problem struct {
	File    string
	Pos     tree.Pos // the zero value where the problem is the file itself
	Object  tree.ID  // of which object; the zero value where there is none, or where the position tells
	Field   string   // "spec.storage.bucket"; empty where there is no field
	Message string   // what is wrong, and what to do
}

// String is "file:line:column: object: field: message", without the parts that there are none of.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Pos.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Pos.Line, p.Pos.Column)
	}
	object := ""
	if p.Object != (tree.ID{}) {
		object = p.Object.String()
	}
	for _, part := range []string{object, p.Field, p.Message} {
		if part != "" {
			b.WriteString(": ")
			b.WriteString(part)
		}
	}
	return strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// Problems is an error that lists everything that is wrong with the input, by file and position.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted orders problems by file, in the order in which files were read, and by position; repeated ones are dropped.
func (ps Problems) sorted(files []string) Problems {
	rank := make(map[string]int, len(files))
	for i, f := range files {
		if _, seen := rank[f]; !seen {
			rank[f] = i
		}
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return slices.Compact(ps)
}

// fieldProblem turns a validator's error into a problem at the place of its field, or of the nearest object around it.
func fieldProblem(file string, root *tree.Node, e *field.Error) Problem {
	return Problem{File: file, Pos: locate(root, e.Field), Field: e.Field, Message: e.ErrorBody()}
}

// locate finds the position of a field path, such as spec.env[0].name or spec.resources.limits[cpu]; of a field that is
// not there it finds the object that lacks it.
func locate(root *tree.Node, path string) tree.Pos {
	pos, n := root.Pos, root
	for _, key := range splitPath(path) {
		var next *tree.Node
		if i, err := strconv.Atoi(key); err == nil && n.Kind == tree.List && i < len(n.Items) {
			next = n.Items[i]
			pos = next.Pos
		}
		for i := range n.Fields {
			if f := &n.Fields[i]; f.Key == key {
				next = f.Value
				pos = f.Pos
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	if n.Kind != tree.Map && n.Kind != tree.List && n.Pos.Line > 0 {
		return n.Pos
	}
	return pos
}

func splitPath(path string) []string {
	var keys []string
	for path != "" {
		switch i := strings.IndexAny(path, ".["); {
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(keys, path[1:])
			}
			keys, path = append(keys, path[1:end]), path[end+1:]
		case path[0] == '.':
			path = path[1:]
		case i < 0:
			return append(keys, path)
		default:
			keys, path = append(keys, path[:i]), path[i:]
		}
	}
	return keys
}

// nearest returns the candidate that a misspelt name most likely means, or "".
func nearest(name string, candidates []string) string {
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		if strings.EqualFold(name, c) {
			return c
		}
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of single-byte edits between two names (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
