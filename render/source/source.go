// SPDX-License-Identifier: Apache-2.0

// Package source reads fleets from files, directories, kustomizations and streams: strictly, with every problem at once and
// each at its place. Objects of other kinds come back as the text they were.
package source

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// maxProblems bounds what is reported; a file that is not meant for this tool would otherwise fill a terminal.
const maxProblems = 1000

// Options say how to read.
type Options struct {
	// Stdin is what the path "-" reads.
	Stdin io.Reader
	// Namespace of fleets that name none; empty if there is none.
	Namespace string
}

// Document is one object of the input.
type Document struct {
	File string
	Pos  tree.Pos
	// Fleet is the decoded fleet, nil for an object of another kind. It is neither validated nor defaulted, but has a
	// namespace if there is one to be had.
	Fleet v1alpha1.Fleet
	// Text is the object as YAML or JSON, without a separator: another kind's exactly as it was read, a fleet's as it was
	// written but for layout.
	Text []byte

	root *tree.Node
	id   tree.ID
	// replaced says that the object was rendered earlier and is about to be rendered anew.
	replaced bool
}

// ID is what the object is called.
func (d *Document) ID() tree.ID { return d.id }

// Set is what was read: objects in the order of the input, and warnings.
type Set struct {
	Documents []Document
	Warnings  Problems
}

// Fleets counts the fleets of a set.
func (s *Set) Fleets() int {
	n := 0
	for i := range s.Documents {
		if s.Documents[i].Fleet != nil {
			n++
		}
	}
	return n
}

// Read reads paths: files, directories (the *.yaml, *.yml and *.json files in them, or their kustomization), or "-". The
// error is Problems when the input is wrong, and something else when it could not be read.
func Read(paths []string, opts Options) (*Set, error) {
	// 1. Find and load the inputs.
	inputs, err := load(paths, opts)
	if err != nil {
		return nil, err
	}
	// 2. Read each document, then what concerns several.
	r := &reader{opts: opts}
	for _, in := range inputs {
		r.files = append(r.files, in.name)
		r.read(in)
	}
	r.across()
	if len(r.problems) > 0 {
		return nil, r.report()
	}
	return &Set{Documents: r.documents, Warnings: r.warnings.sorted(r.files)}, nil
}

type reader struct {
	opts      Options
	files     []string
	documents []Document
	problems  Problems
	warnings  Problems
}

func (r *reader) report() Problems {
	problems := r.problems.sorted(r.files)
	if more := len(problems) - maxProblems; more > 0 {
		last := problems[maxProblems-1]
		problems = append(problems[:maxProblems], Problem{File: last.File, Message: fmt.Sprintf("and %d more problems", more)})
	}
	return problems
}

func (r *reader) fail(p Problem) {
	if len(r.problems) < 100*maxProblems {
		r.problems = append(r.problems, p)
	}
}

func (r *reader) read(in input) {
	if pos, problem := checkText(in.text); problem != "" {
		r.fail(Problem{File: in.name, Pos: pos, Message: problem})
		return
	}
	for _, d := range split(in.text) {
		if d.blank() {
			continue
		}
		nodes, problems := parse(in.name, d)
		if in.built {
			problems = inKustomization(problems)
		}
		r.problems = append(r.problems, problems...)
		for _, n := range nodes {
			text := d.body()
			if len(nodes) > 1 {
				text = nil
			}
			r.object(in, n, text)
		}
	}
}

// object takes one object; text is how it was written, nil where it has to be written anew.
func (r *reader) object(in input, n *tree.Node, text []byte) {
	kind, apiVersion := n.GetText("kind"), n.GetText("apiVersion")
	doc := Document{File: in.name, Pos: n.Pos, root: n}
	if in.built {
		doc.Pos = tree.Pos{}
	}
	switch {
	case n.Kind == tree.Null:
		return
	case n.Kind != tree.Map:
		r.fail(Problem{File: in.name, Pos: doc.Pos, Message: fmt.Sprintf("is %s, must be an object: "+
			"three dashes at the start of a line end a document, even inside a block of text", n.Kind)})
		return
	case kind == "" || apiVersion == "":
		r.fail(Problem{File: in.name, Pos: doc.Pos, Message: "is no Kubernetes object: apiVersion and kind must be set"})
		return
	case !in.item && strings.HasSuffix(kind, "List") && n.Get("items") != nil && n.Get("items").Kind == tree.List:
		for _, item := range n.Get("items").Items {
			r.object(in, item, nil)
		}
		return
	}
	doc.id = tree.IDOf(n)
	group, version, _ := strings.Cut(apiVersion, "/")
	if group != v1alpha1.GroupVersion.Group || kind == v1alpha1.KindStorageReservation {
		if doc.Text = text; text == nil {
			doc.Text = tree.AppendYAML(nil, n)
		}
		doc.root, doc.replaced = nil, in.item && isRendered(n)
		r.documents = append(r.documents, doc)
		return
	}
	if fleet := r.newFleet(doc, n, version, kind); fleet != nil {
		doc.Fleet = fleet
		r.fleet(doc, in)
	}
}

// newFleet returns an empty fleet of the kind, or nil when there is no such kind or version.
func (r *reader) newFleet(doc Document, n *tree.Node, version, kind string) v1alpha1.Fleet {
	if version != v1alpha1.GroupVersion.Version {
		r.fail(Problem{File: doc.File, Pos: at(doc, n.Get("apiVersion")), Field: "apiVersion",
			Message: fmt.Sprintf("this version reads %s only", v1alpha1.GroupVersion)})
		return nil
	}
	switch kind {
	case v1alpha1.KindPersistentFleet:
		return &v1alpha1.PersistentFleet{}
	case v1alpha1.KindBucketFleet:
		return &v1alpha1.BucketFleet{}
	}
	message := fmt.Sprintf("there is no kind %s in %s", kind, v1alpha1.GroupVersion)
	if near := nearest(kind, []string{v1alpha1.KindBucketFleet, v1alpha1.KindPersistentFleet, v1alpha1.KindStorageReservation}); near != "" {
		message += fmt.Sprintf(", did you mean %q?", near)
	}
	r.fail(Problem{File: doc.File, Pos: at(doc, n.Get("kind")), Field: "kind", Message: message})
	return nil
}

func at(doc Document, n *tree.Node) tree.Pos {
	if doc.Pos.Line == 0 {
		return tree.Pos{}
	}
	return n.Pos
}

// fleet decodes and validates a fleet, and keeps it even when it is wrong, so that problems with other fleets show too.
func (r *reader) fleet(doc Document, in input) {
	r.dropServerFields(&doc)
	if warning := render.DisableSubstitution(doc.root); warning != "" {
		r.warnings = append(r.warnings, Problem{File: doc.File, Pos: doc.Pos, Object: doc.id, Message: warning})
	}
	problems := decode(doc.File, doc.root, doc.Fleet)
	if doc.Fleet.GetNamespace() == "" && r.opts.Namespace != "" {
		doc.Fleet.SetNamespace(r.opts.Namespace)
		setNamespace(doc.root, r.opts.Namespace)
		doc.id.Namespace = r.opts.Namespace
	}
	problems = append(problems, r.validate(&doc, problems)...)
	if in.built {
		problems = inKustomization(problems)
	}
	if in.built || in.item {
		for i := range problems {
			problems[i].Object = doc.id
		}
	}
	r.problems = append(r.problems, problems...)
	doc.Text = tree.AppendYAML(nil, arrange(doc.root))
	doc.root = locations(doc.root)
	r.documents = append(r.documents, doc)
}

// validate returns the validator's errors, less those about fields that could not be read in the first place.
func (r *reader) validate(doc *Document, unread Problems) Problems {
	var problems Problems
	for _, e := range doc.Fleet.Validate() {
		if !slices.ContainsFunc(unread, func(p Problem) bool { return p.Field != "" && strings.HasPrefix(e.Field, p.Field) }) {
			problems = append(problems, fieldProblem(doc.File, doc.root, e))
		}
	}
	if doc.Fleet.GetNamespace() == "" {
		problems = append(problems, Problem{File: doc.File, Pos: locate(doc.root, "metadata.namespace"), Field: "metadata.namespace",
			Message: "Required value: the namespace is part of the fleet's identity: set it here, with --namespace, or with ARGOCD_APP_NAMESPACE"})
	}
	return problems
}

// inKustomization takes away positions: they are of text that only exists in memory.
func inKustomization(problems Problems) Problems {
	for i := range problems {
		problems[i].Pos = tree.Pos{}
	}
	return problems
}

// serverFields are what kubectl get prints and no file should hold.
var serverFields = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
	"deletionTimestamp", "deletionGracePeriodSeconds"}

// dropServerFields removes status and metadata of the API server, with a warning for each.
func (r *reader) dropServerFields(doc *Document) {
	drop := func(n *tree.Node, prefix string, keys ...string) *tree.Node {
		return n.Filter(func(key string, value *tree.Node) bool {
			if !slices.Contains(keys, key) {
				return true
			}
			if value.Kind != tree.Null {
				r.warnings = append(r.warnings, Problem{File: doc.File, Pos: at(*doc, value), Field: prefix + key,
					Message: "left out: only the API server and the healer set it; remove it from the file"})
			}
			return false
		})
	}
	doc.root = drop(doc.root, "", "status").Replace("metadata", func(m *tree.Node) *tree.Node {
		return drop(m, "metadata.", serverFields...)
	})
}

func setNamespace(root *tree.Node, namespace string) {
	if m := root.Get("metadata"); m != nil && m.Kind == tree.Map {
		m.Set("namespace", tree.Str(namespace))
	}
}

// arrange puts the fields of an object in the usual order and leaves everything below as it was written.
func arrange(root *tree.Node) *tree.Node {
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

// locations keeps the few nodes whose positions are needed once a fleet is read.
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
