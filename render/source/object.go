// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/flux"
	"github.com/fleetwright/fleetwright/internal/identity"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// object takes one object. Text is how it was written, nil where it has to be written anew; flaws have paths in n.
func (r *reader) object(in input, n *tree.Node, text []byte, flaws []flaw) {
	if n.Kind == tree.Null && len(flaws) == 0 {
		return
	}
	doc := Document{File: in.name, Pos: Pos(n.Pos)}
	if in.built {
		doc.Pos = Pos{}
	}
	if problem := notAnObject(n); problem != "" {
		if invisible := invisibleKeys(in.name, n, ""); len(invisible) > 0 {
			r.located(in, ID{}, invisible)
			return
		}
		r.flaws(in, ID{}, flaws, false)
		if n.Kind != tree.Null {
			r.fail(Problem{File: in.name, Pos: doc.Pos, Message: problem})
		}
		return
	}
	if items, isList := itemsOf(n); isList && !in.item {
		r.list(in, items, flaws)
		return
	}
	doc.ID = ID(tree.IDOf(n))
	if problem := r.kind(&doc, n); problem != nil {
		r.flaws(in, doc.ID, flaws, false)
		r.fail(*problem)
		return
	}
	if doc.Fleet == nil {
		r.flaws(in, doc.ID, flaws, text != nil || in.item)
		if doc.Text = text; text == nil && !in.item {
			doc.Text = tree.AppendYAML(nil, n)
		}
		doc.root, doc.renderer = locations(n), rendererOf(n)
		doc.replaced = in.item && doc.renderer != ""
		r.documents = append(r.documents, doc)
		return
	}
	r.flaws(in, doc.ID, flaws, false)
	doc.root = n
	r.fleet(doc, in, flaws)
}

// notAnObject says what is wrong with a document that is no Kubernetes object, and returns "" for one that is.
func notAnObject(n *tree.Node) string {
	apiVersion, kind := n.GetText("apiVersion"), n.GetText("kind")
	for _, key := range []string{"apiVersion", "kind"} {
		if value := n.Get(key); value != nil && value.Kind != tree.String && value.Kind != tree.Null {
			return fmt.Sprintf("%s is %s, must be a string", key, value.Kind)
		}
	}
	switch {
	case n.Kind == tree.List:
		return "is a list, must be an object: list objects under items of a kind: List, or write each as a document of its own"
	case n.Kind != tree.Map:
		return fmt.Sprintf("is %s, must be an object: three dashes at the start of a line end a document, even inside a block of text", n.Kind)
	case apiVersion == "" && kind == "":
		return "is no Kubernetes object, apiVersion and kind are missing: remove it, or name only files that hold objects"
	case apiVersion == "":
		return "apiVersion is missing: write which API the " + kind + " belongs to, such as " + v1alpha1.GroupVersion.String()
	case kind == "":
		return "kind is missing: write what this is, such as " + v1alpha1.KindPersistentFleet
	}
	return ""
}

// itemsOf returns the items of a list, and whether the object is one.
func itemsOf(n *tree.Node) ([]*tree.Node, bool) {
	kind, items := n.GetText("kind"), n.Get("items")
	if items == nil || items.Kind == tree.Null {
		return nil, kind == "List"
	}
	return items.Items, items.Kind == tree.List && strings.HasSuffix(kind, "List")
}

// list takes the items of a list, each with the flaws below it.
func (r *reader) list(in input, items []*tree.Node, flaws []flaw) {
	for i, item := range items {
		path := fmt.Sprintf("items[%d]", i)
		var own []flaw
		flaws = slices.DeleteFunc(flaws, func(f flaw) bool {
			if !within(f.Field, path) {
				return false
			}
			f.Field = strings.TrimPrefix(strings.TrimPrefix(f.Field, path), ".")
			own = append(own, f)
			return true
		})
		r.object(in, item, nil, own)
	}
	r.flaws(in, ID{}, flaws, false)
}

// kind gives a document the empty fleet that it holds, if any. It refuses what is a fleet in all but name.
func (r *reader) kind(doc *Document, n *tree.Node) *Problem {
	problem := func(key, format string, args ...any) *Problem {
		return &Problem{File: doc.File, Pos: at(doc, n.Get(key)), Field: key, Message: fmt.Sprintf(format, args...)}
	}
	apiVersion, kind := n.GetText("apiVersion"), doc.ID.Kind
	ours := doc.ID.Group == v1alpha1.GroupVersion.Group
	switch {
	case doc.ID.Group == "kustomize.config.k8s.io":
		return problem("kind", "is for kustomize and not for a cluster: name the directory of the kustomization instead of its file")
	case !ours && v1alpha1.NewFleet(kind) != nil:
		return problem("apiVersion", "%s has no kind %s: write %s", apiVersion, kind, v1alpha1.GroupVersion)
	case ours && apiVersion != v1alpha1.GroupVersion.String():
		return problem("apiVersion", "%s is not known to this version of fleetwright: write %s", apiVersion, v1alpha1.GroupVersion)
	case !ours, kind == v1alpha1.KindStorageReservation:
		return nil
	}
	if doc.Fleet = v1alpha1.NewFleet(kind); doc.Fleet != nil {
		return nil
	}
	kinds := append(v1alpha1.FleetKinds(), v1alpha1.KindStorageReservation)
	slices.Sort(kinds)
	if near := nearest(kind, kinds); near != "" {
		return problem("kind", "there is no kind %s in %s, did you mean %q?", kind, v1alpha1.GroupVersion, near)
	}
	return problem("kind", "there is no kind %s in %s, only %s", kind, v1alpha1.GroupVersion, strings.Join(kinds, ", "))
}

func at(doc *Document, n *tree.Node) Pos {
	if doc.Pos.Line == 0 {
		return Pos{}
	}
	return Pos(n.Pos)
}

// fleet decodes and validates a fleet, and keeps it even when it is wrong, so that problems with other fleets show too.
func (r *reader) fleet(doc Document, in input, flaws []flaw) {
	if invisible := invisibleKeys(in.name, doc.root, ""); len(invisible) > 0 {
		r.located(in, doc.ID, invisible)
		return
	}
	root, rewritten := unrewritten(in.name, doc.root, nil)
	if len(rewritten) > 0 {
		r.located(in, doc.ID, rewritten)
		return
	}
	if doc.root = root; in.built {
		quote(root)
	}
	r.dropServerFields(&doc, in)
	if warning := flux.Mark(doc.root); warning != "" {
		r.warnings = append(r.warnings, Problem{File: doc.File, Pos: doc.Pos, Object: doc.ID, Message: warning})
	}
	problems, unread := decode(doc.File, doc.root, doc.Fleet, flaws)
	if doc.Fleet.GetNamespace() == "" && r.opts.Namespace != "" && !slices.Contains(unread, "metadata.namespace") {
		doc.Fleet.SetNamespace(r.opts.Namespace)
		setNamespace(doc.root, r.opts.Namespace)
		doc.ID.Namespace = r.opts.Namespace
	}
	problems = append(problems, validate(&doc, unread)...)
	if !r.opts.AboveCap {
		problems = append(problems, aboveCap(&doc, problems, flaws)...)
	}
	for i := range problems {
		problems[i] = nameInvisible(doc.root, problems[i])
	}
	r.located(in, doc.ID, problems)
	space := textSpace.Get().(*[]byte)
	*space = tree.AppendYAML((*space)[:0], arrange(doc.root))
	doc.Text = bytes.Clone(*space)
	textSpace.Put(space)
	doc.root = locations(doc.root)
	r.documents = append(r.documents, doc)
}

// located reports problems with an object at places that its author knows.
func (r *reader) located(in input, object ID, problems Problems) {
	for i := range problems {
		if in.built {
			problems[i].Pos = Pos{}
		}
		if in.built || in.item {
			problems[i].Object = object
		}
	}
	r.fail(problems...)
}

var textSpace = sync.Pool{New: func() any { return new([]byte) }}

// validate returns the validator's errors, less those about fields that could not be read in the first place.
func validate(doc *Document, unread []string) Problems {
	var problems Problems
	for _, e := range identity.Validate(doc.Fleet) {
		if !slices.ContainsFunc(unread, func(path string) bool { return within(e.Field, path) }) {
			problems = append(problems, fieldProblem(doc.File, doc.root, e))
		}
	}
	return problems
}

// aboveCap reports more members than the zones hold, unless there is a problem with either already.
func aboveCap(doc *Document, problems Problems, flaws []flaw) Problems {
	either := func(path string) bool {
		return within(path, "spec.replicas") || within(path, "spec.placement") || within("spec.placement", path)
	}
	if slices.ContainsFunc(problems, func(p Problem) bool { return either(p.Field) }) ||
		slices.ContainsFunc(flaws, func(f flaw) bool { return either(f.Field) }) {
		return nil
	}
	var out Problems
	for _, e := range v1alpha1.ValidateCap(doc.Fleet) {
		out = append(out, fieldProblem(doc.File, doc.root, e))
	}
	return out
}
