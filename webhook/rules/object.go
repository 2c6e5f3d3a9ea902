// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/json"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// maxNodes bounds the values in one object. The largest StatefulSet has a few thousand, most of them in managedFields; a
// tree of this many takes some 10 MiB.
const maxNodes = 50_000

// An Object is what rules read of an object in a request.
type Object struct {
	Kind, Namespace, Name string
	Identity              string // label
	FleetName             string // label
	SealText              string // annotation
	Terminating           bool
	// Fleet is the typed object when it is a fleet.
	Fleet v1alpha1.Fleet

	root *tree.Node
	seal *render.Seal
}

// ParseObject reads an object of a request. It builds a tree: nothing in it takes long or much memory to read, whatever
// the object holds.
func ParseObject(raw []byte) (*Object, error) {
	raw = withoutManagedFields(raw)
	if n := values(raw); n > maxNodes {
		return nil, fmt.Errorf("holds more than %d values: no object of a fleet does", maxNodes)
	}
	root, err := tree.FromJSON(raw)
	if err != nil {
		return nil, err
	}
	if root.Kind != tree.Map {
		return nil, fmt.Errorf("is %s, must be an object", root.Kind)
	}
	meta := root.Get("metadata")
	o := &Object{
		root: root, Kind: root.GetText("kind"),
		Namespace: meta.GetText("namespace"), Name: meta.GetText("name"),
		Identity: meta.GetText("labels", v1alpha1.LabelFleetUID), FleetName: meta.GetText("labels", v1alpha1.LabelFleet),
		SealText:    meta.GetText("annotations", v1alpha1.AnnotationSeal),
		Terminating: meta.GetText("deletionTimestamp") != "",
	}
	if strings.HasPrefix(root.GetText("apiVersion"), v1alpha1.GroupVersion.Group+"/") {
		if o.Fleet, err = fleetOf(o.Kind, root, raw); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// values is at least the number of values in a JSON text.
func values(raw []byte) int {
	n := 1
	for _, c := range raw {
		if c == ',' || c == '[' || c == '{' {
			n++
		}
	}
	return n
}

// fleetOf decodes a fleet, and returns nil for a kind that is none. Quantities are looked at first: parsing one with many
// digits and a huge exponent takes minutes.
func fleetOf(kind string, root *tree.Node, raw []byte) (v1alpha1.Fleet, error) {
	var f v1alpha1.Fleet
	switch kind {
	case v1alpha1.KindPersistentFleet:
		f = &v1alpha1.PersistentFleet{}
	case v1alpha1.KindBucketFleet:
		f = &v1alpha1.BucketFleet{}
	default:
		return nil, nil //nolint:nilnil // not a fleet, and nothing wrong with that
	}
	if at := longQuantity(root); at != "" {
		return nil, fmt.Errorf("%s is out of range: no quantity is that large, or that exact", at)
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(raw, f); err != nil {
		return nil, err
	}
	return f, nil
}

// longQuantity returns the path of a quantity that must not be parsed. Keys may be there twice; all count.
func longQuantity(root *tree.Node) string {
	found := ""
	under := func(n *tree.Node, key string, visit func(*tree.Node)) {
		if n == nil {
			return
		}
		for _, f := range n.Fields {
			if key == "" || f.Key == key {
				visit(f.Value)
			}
		}
	}
	check := func(path string) func(*tree.Node) {
		return func(n *tree.Node) {
			if tree.LongQuantity(n.Text) {
				found = path
			}
		}
	}
	under(root, "spec", func(spec *tree.Node) {
		under(spec, "storage", func(n *tree.Node) { under(n, "size", check("spec.storage.size")) })
		under(spec, "resources", func(n *tree.Node) {
			under(n, "requests", func(n *tree.Node) { under(n, "", check("spec.resources.requests")) })
			under(n, "limits", func(n *tree.Node) { under(n, "", check("spec.resources.limits")) })
		})
	})
	return found
}

// Seal computes the seal of the object as it is.
func (o *Object) Seal() render.Seal {
	if o.seal == nil {
		s := render.SealOfTree(o.root)
		o.seal = &s
	}
	return *o.seal
}

// owners returns the owner references, as text that can be compared.
func (o *Object) owners() []string {
	var out []string
	if list := o.root.Get("metadata", "ownerReferences"); list != nil {
		for _, item := range list.Items {
			out = append(out, item.GetText("kind")+" "+item.GetText("name")+" "+item.GetText("uid"))
		}
	}
	return out
}

// hasFinalizer says whether a finalizer is on the object.
func (o *Object) hasFinalizer(name string) bool {
	list := o.root.Get("metadata", "finalizers")
	if list == nil {
		return false
	}
	for _, item := range list.Items {
		if item.Kind == tree.String && item.Text == name {
			return true
		}
	}
	return false
}

// replicas is spec.replicas of a workload or Scale; missing means the default of the kind.
func (o *Object) replicas(missing int64) int64 {
	n := o.root.Get("spec", "replicas")
	if n == nil || n.Kind != tree.Number {
		return missing
	}
	count, err := strconv.ParseInt(n.Text, 10, 32)
	if err != nil {
		return -1 // no count that anything else has
	}
	return count
}

// spec is the object's spec.
func (o *Object) spec() *tree.Node { return o.root.Get("spec") }

// annotation is an annotation of the object.
func (o *Object) annotation(key string) string { return o.root.GetText("metadata", "annotations", key) }

// bucket is the bucket that a workload's members use.
func (o *Object) bucket() string {
	containers := o.root.Get("spec", "template", "spec", "containers")
	if containers == nil {
		return ""
	}
	for _, c := range containers.Items {
		if c.GetText("name") != v1alpha1.ContainerName || c.Get("env") == nil {
			continue
		}
		for _, e := range c.Get("env").Items {
			if e.GetText("name") == v1alpha1.EnvBucket {
				return e.GetText("value")
			}
		}
	}
	return ""
}

// claimsDisks says whether a workload's members have disks of their own.
func (o *Object) claimsDisks() bool {
	list := o.root.Get("spec", "volumeClaimTemplates")
	return list != nil && len(list.Items) > 0
}

// sameSpec says whether two objects have equal specs, whatever the order of their keys.
func sameSpec(a, b *Object) bool {
	return string(tree.AppendJSON(nil, a.spec())) == string(tree.AppendJSON(nil, b.spec()))
}
