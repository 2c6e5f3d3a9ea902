// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/tree"
)

// Differences returns the paths of fields that a seal covers and that differ between two objects, sorted. A field that is
// missing on one side is named itself, not what is in it. Items of a list are named by their name where all have one.
func Differences(a, b *tree.Node) []string {
	if same(a, b) {
		return nil
	}
	d := differ{}
	d.compare("", normalise(a), normalise(b))
	slices.Sort(d.paths)
	return slices.Compact(d.paths)
}

type differ struct{ paths []string }

// same says that two trees have no differences: most parts of most objects, for which no path has to be made.
func same(a, b *tree.Node) bool {
	if a == nil || b == nil || a.Kind != b.Kind || a.Text != b.Text || len(a.Fields) != len(b.Fields) {
		return a == b
	}
	for i := range a.Fields {
		if a.Fields[i].Key != b.Fields[i].Key || !same(a.Fields[i].Value, b.Fields[i].Value) {
			return false
		}
	}
	return slices.EqualFunc(a.Items, b.Items, same)
}

func (d *differ) compare(path string, a, b *tree.Node) {
	switch {
	case a == nil && b == nil:
	case a == nil || b == nil || a.Kind != b.Kind:
		d.paths = append(d.paths, path)
	case a.Kind == tree.Map:
		d.compareMaps(path, a, b)
	case a.Kind == tree.List:
		d.compareLists(path, a, b)
	case a.Text != b.Text:
		d.paths = append(d.paths, path)
	}
}

func (d *differ) compareMaps(path string, a, b *tree.Node) {
	for _, f := range a.Fields {
		if other := b.Get(f.Key); !same(f.Value, other) {
			d.compare(child(path, f.Key), f.Value, other)
		}
	}
	for _, f := range b.Fields {
		if a.Get(f.Key) == nil {
			d.paths = append(d.paths, child(path, f.Key))
		}
	}
}

func (d *differ) compareLists(path string, a, b *tree.Node) {
	left, right := byName(a), byName(b)
	before := len(d.paths)
	if left == nil || right == nil {
		for i := range max(len(a.Items), len(b.Items)) {
			d.compare(path+"["+strconv.Itoa(i)+"]", at(a, i), at(b, i))
		}
		return
	}
	for _, item := range a.Items {
		name := item.GetText("name")
		d.compare(path+"["+name+"]", item, right[name])
	}
	for _, item := range b.Items {
		if name := item.GetText("name"); left[name] == nil {
			d.paths = append(d.paths, path+"["+name+"]")
		}
	}
	if len(d.paths) == before && !slices.EqualFunc(a.Items, b.Items, sameName) {
		d.paths = append(d.paths, path) // the same items in another order
	}
}

// byName indexes the items of a list, if each has a name of its own.
func byName(list *tree.Node) map[string]*tree.Node {
	out := make(map[string]*tree.Node, len(list.Items))
	for _, item := range list.Items {
		name := item.GetText("name")
		if name == "" || out[name] != nil {
			return nil
		}
		out[name] = item
	}
	return out
}

func sameName(a, b *tree.Node) bool { return a.GetText("name") == b.GetText("name") }

func at(list *tree.Node, i int) *tree.Node {
	if i >= len(list.Items) {
		return nil
	}
	return list.Items[i]
}

// child extends a path. A key that is no plain field name stands in brackets.
func child(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	default:
		return path + "." + key
	}
}
