// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/json"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// maxValues bounds what is read of one object. The largest StatefulSet has some thousand values; a tree of this many takes some
// 10 MiB.
const maxValues = 50_000

// An Object is what rules read of an object in a request. Of its labels and annotations these are the ones of this project.
type Object struct {
	Kind, Namespace, Name string
	Identity              string // label
	SealText              string // annotation
	Terminating           bool
	// Fleet is the typed object when it is a fleet.
	Fleet v1alpha1.Fleet
	// Huge says that the object holds more than is read: its spec and its owners are compared as text, and a fleet has no spec.
	Huge bool

	root     *tree.Node
	computed *seal.Seal
}

// readObject reads an object of a request. It builds a tree: nothing in it takes long or much memory to read, whatever the
// object holds. Managed fields, and the labels and annotations of others, are left alone: they are most of many objects, and no
// rule reads them.
func readObject(raw *tree.Node) (*Object, error) {
	root, err := tree.Reader{MaxValues: maxValues, Leave: []string{"managedFields"}, Only: ours}.ReadRaw(raw)
	huge := errors.Is(err, tree.ErrTooMany) || errors.Is(err, tree.ErrTooDeep)
	if huge {
		leave := []string{"managedFields", "ownerReferences", "spec", "status"}
		root, err = tree.Reader{MaxValues: maxValues, Leave: leave, Only: meant}.ReadRaw(raw)
	}
	switch {
	case errors.Is(err, tree.ErrTooMany):
		return nil, fmt.Errorf("holds more than %d values: no object of a fleet does", maxValues)
	case err != nil:
		return nil, err
	case root.Kind != tree.Map:
		return nil, fmt.Errorf("is %s, must be an object", root.Kind)
	}
	meta := root.Get("metadata")
	o := &Object{
		root: root, Kind: root.GetText("kind"), Huge: huge,
		Namespace: meta.GetText("namespace"), Name: meta.GetText("name"),
		Identity:    meta.GetText("labels", v1alpha1.LabelFleetUID),
		SealText:    meta.GetText("annotations", v1alpha1.AnnotationSeal),
		Terminating: meta.GetText("deletionTimestamp") != "",
	}
	if strings.HasPrefix(root.GetText("apiVersion"), v1alpha1.GroupVersion.Group+"/") {
		o.Fleet = v1alpha1.NewFleet(o.Kind)
	}
	switch {
	case o.Fleet == nil:
	case huge:
		o.Fleet.SetNamespace(o.Namespace)
		o.Fleet.SetName(o.Name)
		if protect := meta.Get("annotations", v1alpha1.AnnotationProtect); protect != nil {
			o.Fleet.SetAnnotations(map[string]string{v1alpha1.AnnotationProtect: protect.Text})
		}
	default:
		return o, decodeFleet(o.Fleet, root, raw.Text)
	}
	return o, nil
}

// ours are the labels and annotations that a seal covers, or that a rule reads.
func ours(outer, inner, key string) bool {
	return outer != "metadata" || inner != "labels" && inner != "annotations" || seal.OwnKey(key)
}

// meant are those of them that mean something.
func meant(outer, inner, key string) bool {
	return ours(outer, inner, key) && (!strings.HasPrefix(key, v1alpha1.KeyPrefix) || slices.Contains(renderedKeys, key) ||
		key == v1alpha1.AnnotationProtect)
}

// decodeFleet fills in a fleet. Quantities are looked at first: parsing one with many digits and a huge exponent takes minutes.
func decodeFleet(f v1alpha1.Fleet, root *tree.Node, text string) error {
	if at := longQuantity(root); at != "" {
		return fmt.Errorf("%s is out of range: no quantity is that large, or that exact", at)
	}
	return json.UnmarshalCaseSensitivePreserveInts([]byte(text), f)
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

// seal computes the seal of the object as it is.
func (o *Object) seal() seal.Seal {
	if o.computed == nil {
		s := seal.OfTree(o.root)
		o.computed = &s
	}
	return *o.computed
}

// known is the object without the fields that this version does not know, and their paths.
func (o *Object) known() (rest *Object, unknown []string) {
	root, unknown := seal.Known(o.root)
	if len(unknown) == 0 {
		return o, nil
	}
	out := *o
	out.root, out.computed = root, nil
	return &out, unknown
}

// owners returns the owner references, as text that can be compared.
func (o *Object) owners() []string {
	var out []string
	if list := o.root.Get("metadata", "ownerReferences"); list != nil {
		if list.Kind == tree.Raw && list.Text != "[]" {
			return []string{"in a list that is too long to read, " + seal.Digest(list)[:8]}
		}
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

// env is the value of a variable of a workload's members.
func (o *Object) env(name string) string {
	containers := o.root.Get("spec", "template", "spec", "containers")
	if containers == nil {
		return ""
	}
	for _, c := range containers.Items {
		if c.GetText("name") != v1alpha1.ContainerName || c.Get("env") == nil {
			continue
		}
		for _, e := range c.Get("env").Items {
			if e.GetText("name") == name {
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
