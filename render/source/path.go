// SPDX-License-Identifier: Apache-2.0

package source

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// A trail is where a reader of a document stands. It becomes a path only when there is something to say.
type trail []step

// A step is a key of an object or, without one, an index of a list.
type step struct {
	key   string
	index int
	list  bool
}

// String is the path of the place, such as spec.env[0].name.
func (t trail) String() string {
	var b strings.Builder
	for _, s := range t {
		switch {
		case s.list:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !plainKey.MatchString(s.key):
			b.WriteString("[" + s.key + "]")
		case b.Len() == 0:
			b.WriteString(s.key)
		default:
			b.WriteString("." + s.key)
		}
	}
	return b.String()
}

// plainKey is a key that needs no brackets.
var plainKey = regexp.MustCompile(`^[-_a-zA-Z0-9]+$`)

// key is the path of a key of the object at this place.
func (t trail) key(key string) string { return append(t[:len(t):len(t)], step{key: key}).String() }

// locate finds the position of a field path, such as spec.env[0].name or spec.resources.limits[cpu]; of a field that is
// not there it finds the object that lacks it.
func locate(root *tree.Node, path string) tree.Pos {
	pos, n := root.Pos, root
	for _, key := range splitPath(path) {
		at, next := child(n, key)
		if next == nil {
			break
		}
		n = next
		if at.Line > 0 {
			pos = at
		}
	}
	if n.Kind != tree.Map && n.Kind != tree.List && n.Pos.Line > 0 {
		return n.Pos
	}
	return pos
}

// child returns what stands at a key or an index of a node, and where.
func child(n *tree.Node, key string) (tree.Pos, *tree.Node) {
	if i, err := strconv.Atoi(key); err == nil && n.Kind == tree.List && i >= 0 && i < len(n.Items) {
		return n.Items[i].Pos, n.Items[i]
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return n.Fields[i].Pos, n.Fields[i].Value
		}
	}
	return tree.Pos{}, nil
}

// splitPath takes a path apart. Brackets hold an index, or a key that may itself hold dots.
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

// within says whether a path is another one or leads below it.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
