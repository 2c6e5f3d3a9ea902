// SPDX-License-Identifier: Apache-2.0

package krm

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/render/source"
)

// items are those of a list while objects are put among them. Each is found by what it is called, so that many fleets take no
// longer than each of them alone.
type items struct {
	list    []*yaml.Node
	byID    map[tree.ID]*yaml.Node
	behind  map[*yaml.Node][]*yaml.Node // what was put behind an item
	wanted  map[tree.ID]bool            // what fleets render to
	renders map[string]bool             // the fleets, by namespace and name
}

func newItems(list []*yaml.Node) *items {
	l := &items{list: list, byID: map[tree.ID]*yaml.Node{}, behind: map[*yaml.Node][]*yaml.Node{},
		wanted: map[tree.ID]bool{}, renders: map[string]bool{}}
	for _, item := range slices.Backward(list) { // the first of a name counts
		l.byID[idOf(item)] = item
	}
	return l
}

// put makes the items hold a fleet's objects: in the place of what an earlier run rendered, the others behind the fleet or
// behind the object before them.
func (l *items) put(fleet *yaml.Node, f v1alpha1.Fleet, objects render.Objects) {
	l.renders[f.GetNamespace()+"/"+f.GetName()] = true
	before := fleet
	for _, o := range objects {
		node := parsed(o.YAML)
		id := idOf(node)
		l.wanted[id] = true
		if old := l.byID[id]; old != nil {
			keepTransport(node, old)
			*old = *node
			node = old
		} else {
			l.byID[id] = node
			l.behind[before] = slices.Insert(l.behind[before], 0, node)
		}
		before = node
	}
}

// all returns the items in order, without what an earlier run rendered and no fleet renders to any more. Of fleets that are not among
// the items it drops objects only if those are all that there are, and says so.
func (l *items) all(complete bool) (out []*yaml.Node, warnings source.Problems) {
	out = make([]*yaml.Node, 0, len(l.list)+len(l.wanted))
	gone := map[string]int{}
	var fleets []string
	first := map[string]*yaml.Node{}
	var add func(list []*yaml.Node)
	add = func(list []*yaml.Node) {
		for _, item := range list {
			switch fleet := rendererOf(item); {
			case fleet == "", l.wanted[idOf(item)], !l.renders[fleet] && !complete:
				out = append(out, item)
			case !l.renders[fleet]:
				if gone[fleet]++; gone[fleet] == 1 {
					fleets, first[fleet] = append(fleets, fleet), item
				}
			}
			add(l.behind[item])
		}
	}
	add(l.list)
	for _, fleet := range fleets {
		others := ""
		switch n := gone[fleet] - 1; {
		case n == 1:
			others = ", with 1 other object"
		case n > 1:
			others = fmt.Sprintf(", with %d other objects", n)
		}
		warnings = append(warnings, source.Problem{File: origin(first[fleet]), Object: source.ID(idOf(first[fleet])),
			Message: fmt.Sprintf("removed%s: rendered from the fleet %s, which is not among the items", others, fleet)})
	}
	return out, warnings
}

// rendererOf is the namespace and name of the fleet that an item was rendered for, by its marks; "" without them.
func rendererOf(item *yaml.Node) string {
	metadata := get(item, "metadata")
	labels := get(metadata, "labels")
	if text(labels, v1alpha1.LabelManagedBy) != v1alpha1.ManagedBy || text(get(metadata, "annotations"), v1alpha1.AnnotationSeal) == "" {
		return ""
	}
	return text(metadata, "namespace") + "/" + text(labels, v1alpha1.LabelFleet)
}

// keepTransport moves the annotations that tools track an item by to its replacement.
func keepTransport(node, old *yaml.Node) {
	from := get(get(old, "metadata"), "annotations")
	if from == nil {
		return
	}
	to := get(get(node, "metadata"), "annotations")
	for i := 0; i+1 < len(from.Content); i += 2 {
		if isTransport(from.Content[i].Value) {
			to.Content = append(to.Content, from.Content[i], from.Content[i+1])
		}
	}
}

func idOf(item *yaml.Node) tree.ID {
	object, str := &tree.Node{Kind: tree.Map}, func(n *yaml.Node, key string) *tree.Node { return tree.Str(text(n, key)) }
	metadata := &tree.Node{Kind: tree.Map}
	metadata.Set("name", str(get(item, "metadata"), "name"))
	metadata.Set("namespace", str(get(item, "metadata"), "namespace"))
	object.Set("apiVersion", str(item, "apiVersion"))
	object.Set("kind", str(item, "kind"))
	object.Set("metadata", metadata)
	return tree.IDOf(object)
}

// parsed reads YAML that this program printed.
func parsed(raw []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		panic("krm: rendered YAML does not parse: " + err.Error())
	}
	return doc.Content[0]
}

func get(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node, key string) string {
	if n = get(n, key); n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

func set(n *yaml.Node, key string, value *yaml.Node) {
	remove(n, key)
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}

func remove(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}

// clone copies a node and everything below it, so that it can be changed. Aliases are gone by then.
func clone(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		out.Content[i] = clone(c)
	}
	return &out
}

// maxNodes bounds what aliases may expand to.
const maxNodes = 1_000_000

// An expander replaces aliases by copies of what they mean: items come and go, and an anchor could go with them.
type expander struct {
	nodes int
	open  map[*yaml.Node]bool
}

// node returns the expanded copy of a node, nil when an alias contains itself or too much.
func (e *expander) node(n *yaml.Node) *yaml.Node {
	if e.nodes++; e.nodes > maxNodes {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		if e.open[n.Alias] {
			return nil
		}
		e.open[n.Alias] = true
		defer delete(e.open, n.Alias)
		return e.node(n.Alias)
	}
	out := *n
	out.Anchor, out.Content = "", make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		if out.Content[i] = e.node(c); out.Content[i] == nil {
			return nil
		}
	}
	return &out
}
