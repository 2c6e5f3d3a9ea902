// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// Pos is a place in a file, both parts from 1; the zero value is no place.
type Pos struct {
	Line, Column int32
}

// ID is what may exist once in a cluster.
type ID struct {
	Group, Kind, Namespace, Name string
}

// String names the object for people, as "Kind namespace/name".
func (id ID) String() string { return tree.ID(id).String() }

// Problem is one thing that is wrong with the input, or that deserves a warning.
type Problem struct {
	File    string
	Pos     Pos    // the zero value where the problem is the file itself
	Object  ID     // of which object; the zero value where there is none, or where the position tells
	Field   string // "spec.storage.bucket"; empty where there is no field
	Message string // what is wrong, and what to do
}

// String is "file:line:column: object: field: message", without the parts that there are none of, on one line of bounded
// length that is safe to print on a terminal.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(printable(p.File))
	if p.Pos.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Pos.Line, p.Pos.Column)
	}
	object := ""
	if p.Object != (ID{}) {
		object = p.Object.String()
	}
	for _, part := range []string{object, p.Field, p.Message} {
		if part != "" {
			b.WriteString(": ")
			b.WriteString(printable(part))
		}
	}
	return b.String()
}

// maxPart bounds a part of a problem. What is cut out is the middle: messages name a value, then the remedy.
const maxPart = 1200

func printable(s string) string {
	if len(s) > maxPart {
		s = strings.ToValidUTF8(s[:maxPart/2], "") + " [...] " + strings.ToValidUTF8(s[len(s)-maxPart/2:], "")
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	quoted := strconv.QuoteToGraphic(s)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
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
	return Problem{File: file, Pos: Pos(locate(root, e.Field)), Field: e.Field, Message: e.ErrorBody()}
}
