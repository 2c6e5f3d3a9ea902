// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/flux"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// A Resource is a Go type of a Kubernetes API, such as *appsv1.StatefulSet.
type Resource interface {
	metav1.Object
	runtime.Object
}

// Objects are a fleet and what it renders to, in the order in which they are printed.
type Objects []Object

// Object is one rendered object.
type Object struct {
	// Typed is the object as a Go type of its API group. It has no status, and a workload has no replicas.
	Typed Resource
	// YAML is the object as one document without a separator.
	YAML []byte
	// Warnings are for the person who wrote the fleet.
	Warnings []string
}

// MarshalJSON is Typed as JSON, keys sorted, as it would be sent to the API server.
func (o *Object) MarshalJSON() ([]byte, error) { return tree.AppendJSON(nil, tree.Of(o.Typed)), nil }

// AppendYAML appends the objects as a YAML stream, each document after its own separator.
func (os Objects) AppendYAML(b []byte) []byte {
	for i := range os {
		b = append(append(b, "---\n"...), os[i].YAML...)
		if b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
	}
	return b
}

// A printer gives typed objects their text. Its memory serves one fleet after another; what print returns shares none of it.
type printer struct {
	arena   tree.Arena
	objects Objects
	trees   []*tree.Node // of the objects
	text    []byte
}

var printers = sync.Pool{New: func() any { return &printer{} }}

// add adds an object, marked for Flux if need be.
func (p *printer) add(typed Resource) {
	o, n := Object{Typed: typed}, p.arena.Of(typed)
	if warning := flux.Mark(n); warning != "" {
		o.Warnings = []string{warning}
		annotate(typed, v1alpha1.AnnotationFluxSubstitute, flux.Disabled)
		n = p.arena.Of(typed)
	}
	p.objects, p.trees = append(p.objects, o), append(p.trees, n)
}

// seal gives the objects behind the fleet their seals.
func (p *printer) seal() {
	for i, n := range p.trees[1:] {
		text := seal.OfRendered(n).String()
		annotate(p.objects[1+i].Typed, v1alpha1.AnnotationSeal, text)
		meta := n.Get("metadata")
		if meta.Get("annotations") == nil {
			meta.Set("annotations", &tree.Node{Kind: tree.Map}) // behind the labels, where ObjectMeta has them
		}
		meta.Get("annotations").SetSorted(v1alpha1.AnnotationSeal, tree.Str(text))
	}
}

// print returns the objects with their text.
func (p *printer) print() Objects {
	ends := make([]int, len(p.trees))
	for i, n := range p.trees {
		p.text = tree.AppendYAML(p.text, n)
		ends[i] = len(p.text)
	}
	text, start := bytes.Clone(p.text), 0
	for i, end := range ends {
		p.objects[i].YAML, start = text[start:end:end], end
	}
	return p.objects
}

// release gives the memory back.
func (p *printer) release() {
	p.arena.Reset()
	p.objects, p.trees, p.text = nil, p.trees[:0], p.text[:0]
	printers.Put(p)
}

func annotate(typed Resource, key, value string) {
	annotations := typed.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	typed.SetAnnotations(annotations)
}
