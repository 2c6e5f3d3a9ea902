// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// serverFields are what kubectl get prints and no file should hold.
var serverFields = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
	"deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"}

// lastApplied is where kubectl apply keeps what it applied last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// dropServerFields removes what an object has only in a cluster, with a warning for each field.
func (r *reader) dropServerFields(doc *Document, in input) {
	doc.root = withoutServerFields(doc.root, func(path string, pos tree.Pos) {
		p := Problem{File: doc.File, Pos: Pos(pos), Field: path, Message: "left out: it belongs to the cluster that it came from; remove it from the file"}
		if in.built {
			p.Pos = Pos{}
		}
		if in.built || in.item {
			p.Object = doc.ID
		}
		r.warnings = append(r.warnings, p)
	})
}

func withoutServerFields(root *tree.Node, dropped func(path string, pos tree.Pos)) *tree.Node {
	root = withoutFields(root, "", []string{"status"}, dropped)
	return root.Replace("metadata", func(m *tree.Node) *tree.Node {
		m = withoutFields(m, "metadata.", serverFields, dropped)
		m = withoutEntry(m, "annotations", lastApplied, dropped)
		return withoutEntry(m, "finalizers", v1alpha1.FinalizerFleetCleanup, dropped)
	})
}

// withoutFields returns a copy of a map without some fields; those that are null go unreported.
func withoutFields(n *tree.Node, prefix string, keys []string, dropped func(string, tree.Pos)) *tree.Node {
	if n.Kind != tree.Map {
		return n
	}
	out := *n
	out.Fields = slices.DeleteFunc(slices.Clone(n.Fields), func(f tree.Field) bool {
		drop := slices.Contains(keys, f.Key)
		if drop && f.Value.Kind != tree.Null {
			dropped(prefix+f.Key, f.Pos)
		}
		return drop
	})
	return &out
}

// withoutEntry returns a copy of an object's metadata without a key or an item of one of its fields, and without the field
// if nothing else is in it.
func withoutEntry(m *tree.Node, key, entry string, dropped func(string, tree.Pos)) *tree.Node {
	if m.Get(key) == nil {
		return m
	}
	out := *m.Get(key)
	size := len(out.Fields) + len(out.Items)
	out.Fields = slices.DeleteFunc(slices.Clone(out.Fields), func(f tree.Field) bool {
		if f.Key == entry {
			dropped("metadata."+key+"["+entry+"]", f.Pos)
		}
		return f.Key == entry
	})
	out.Items = slices.DeleteFunc(slices.Clone(out.Items), func(item *tree.Node) bool {
		drop := item.Kind == tree.String && item.Text == entry
		if drop {
			dropped("metadata."+key, item.Pos)
		}
		return drop
	})
	switch left := len(out.Fields) + len(out.Items); {
	case left == size:
		return m
	case left == 0:
		return m.Filter(func(k string, _ *tree.Node) bool { return k != key })
	default:
		return m.Replace(key, func(*tree.Node) *tree.Node { return &out })
	}
}

func setNamespace(root *tree.Node, namespace string) {
	if m := root.Get("metadata"); m != nil && m.Kind == tree.Map {
		m.Set("namespace", tree.Str(namespace))
	}
}

// arrange puts the fields of an object in the usual order and leaves everything below as it was written, but for nulls: they
// leave a field unset, and the API server refuses most of them.
func arrange(root *tree.Node) *tree.Node {
	root = withoutNulls(root)
	out := *root
	out.Fields = nil
	order := []string{"apiVersion", "kind", "metadata", "spec"}
	for _, key := range order {
		if value := root.Get(key); value != nil {
			out.Set(key, value)
		}
	}
	for _, f := range root.Fields {
		if !slices.Contains(order, f.Key) {
			out.Fields = append(out.Fields, f)
		}
	}
	return &out
}

// withoutNulls returns a node without the fields that are null, itself where there are none.
func withoutNulls(n *tree.Node) *tree.Node {
	isNull := func(n *tree.Node) bool { return n.Kind == tree.Null }
	if !n.Walk(func(n *tree.Node) bool { return !isNull(n) }) {
		out := *n
		out.Fields = slices.DeleteFunc(slices.Clone(n.Fields), func(f tree.Field) bool { return isNull(f.Value) })
		for i := range out.Fields {
			out.Fields[i].Value = withoutNulls(out.Fields[i].Value)
		}
		return out.Each(withoutNulls)
	}
	return n
}

// locations keeps the few nodes whose positions are needed once an object is read.
func locations(root *tree.Node) *tree.Node {
	keep := func(n *tree.Node, keys ...string) *tree.Node {
		return n.Filter(func(key string, _ *tree.Node) bool { return slices.Contains(keys, key) })
	}
	return keep(root, "metadata", "spec").
		Replace("metadata", func(n *tree.Node) *tree.Node { return keep(n, "name", "namespace") }).
		Replace("spec", func(n *tree.Node) *tree.Node {
			return keep(n, "identity", "storage").Replace("storage", func(n *tree.Node) *tree.Node { return keep(n, "bucket") })
		})
}
