// SPDX-License-Identifier: Apache-2.0

// Package render turns a fleet spec into the Kubernetes objects that run it: a pure function of its input.
//
// Render makes typed objects, complete to the last default that the API server would fill in, marks each with a seal, and
// returns them in a fixed order. Encode prints them. Nothing here reads a cluster, a file, a clock or the environment.
package render

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// DefaultHealerNamespace is where the healer runs unless Options say otherwise.
const DefaultHealerNamespace = "fleetwright-system"

// Options are what rendering needs beside the fleet. The zero value is usable.
type Options struct {
	// Namespace of fleets that name none. Without either, Render returns an error: the namespace is part of the identity.
	Namespace string
	// HealerNamespace is admitted to the peer port by each NetworkPolicy. Default fleetwright-system.
	HealerNamespace string
}

// Objects are a fleet and what it renders to, in the order in which they are printed.
type Objects []Object

// Object is one rendered object.
type Object struct {
	// Typed is the object as a Go type of its API group. It has no status, and a workload has no replicas.
	Typed runtime.Object
	// Warnings are for the person who wrote the fleet.
	Warnings []string

	tree *tree.Node
}

// InvalidError is returned for a fleet that does not validate.
type InvalidError struct {
	Kind, Namespace, Name string
	Errors                field.ErrorList
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s %s/%s is invalid: %v", e.Kind, e.Namespace, e.Name, e.Errors.ToAggregate())
}

// Render returns a fleet's objects: the fleet as it came, with its namespace filled in, then its workload,
// PodDisruptionBudget, NetworkPolicy and Services, then its route. The fleet itself is left alone. The error is an
// *InvalidError.
func Render(f v1alpha1.Fleet, opts Options) (Objects, error) {
	return (&Renderer{Options: opts}).Render(f)
}

// A Renderer renders one fleet after another in the same memory.
type Renderer struct {
	Options

	arena tree.Arena
}

// Render is the function Render. The objects of one call can be encoded until the next call; their Go types stay good.
func (r *Renderer) Render(f v1alpha1.Fleet) (Objects, error) {
	f = f.DeepCopyObject().(v1alpha1.Fleet) //nolint:forcetypeassert // a copy of a Fleet is a Fleet
	if f.GetNamespace() == "" {
		f.SetNamespace(r.Namespace)
	}
	if errs := validate(f); len(errs) > 0 {
		return nil, &InvalidError{Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName(), Errors: errs}
	}
	objects := r.Objects(f)
	return append(Objects{r.fleetObject(f)}, objects...), nil
}

// Objects returns what a fleet renders to, without the fleet itself. The fleet is valid and has a namespace, as every fleet
// that source.Read returns; it is left alone. The objects can be encoded until the next call.
func (r *Renderer) Objects(f v1alpha1.Fleet) Objects {
	r.arena.Reset()
	p := newPlan(f, r)
	typed := p.objects()
	objects := make(Objects, len(typed))
	for i := range typed {
		objects[i] = p.seal(typed[i])
	}
	return objects
}

func validate(f v1alpha1.Fleet) field.ErrorList {
	errs := f.Validate()
	if f.GetNamespace() == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "namespace"),
			"the namespace is part of the fleet's identity: set it here, with --namespace, or with ARGOCD_APP_NAMESPACE"))
	}
	return errs
}

// A plan is what the functions of this package share while they make the objects of one fleet. All of it is defaulted.
type plan struct {
	fleet    v1alpha1.Fleet
	spec     *v1alpha1.FleetSpec
	store    *v1alpha1.ObjectStore
	bucket   v1alpha1.BucketURL
	name     string
	ns       string
	identity string
	healerNS string
	arena    *tree.Arena
}

func newPlan(f v1alpha1.Fleet, r *Renderer) *plan {
	f = defaulted(f)
	p := &plan{
		fleet: f, spec: f.Shared(), store: f.Store(), bucket: f.Store().BucketURL(),
		name: f.GetName(), ns: f.GetNamespace(), identity: Identity(f), healerNS: r.HealerNamespace,
		arena: &r.arena,
	}
	if p.healerNS == "" {
		p.healerNS = DefaultHealerNamespace
	}
	return p
}

// objects makes the typed objects in the order in which they are printed.
func (p *plan) objects() []runtime.Object {
	return append([]runtime.Object{
		p.workload(), p.disruptionBudget(), p.networkPolicy(), p.service(), p.peerService(),
	}, p.routing()...)
}

// workload is a StatefulSet or, for a BucketFleet that does not ask for an order, a Deployment.
func (p *plan) workload() runtime.Object {
	if b, ok := p.fleet.(*v1alpha1.BucketFleet); ok && b.Spec.Workload == v1alpha1.WorkloadDeployment {
		return p.deployment()
	}
	return p.statefulSet()
}

func (r *Renderer) fleetObject(f v1alpha1.Fleet) Object {
	f.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(f.Kind()))
	*f.State() = v1alpha1.FleetStatus{}
	return newObject(&r.arena, f)
}

// DisableSubstitution marks an object whose text holds what Flux would take for a variable, and returns the warning for it;
// it returns "" where there is nothing to mark, or where the object is marked already.
func DisableSubstitution(object *tree.Node) string {
	warning := substitution(object)
	if warning == "" {
		return ""
	}
	meta := object.Get("metadata")
	annotations := meta.Get("annotations")
	if annotations == nil || annotations.Kind != tree.Map {
		annotations = &tree.Node{Kind: tree.Map}
		meta.Set("annotations", annotations)
	}
	annotations.Set(v1alpha1.AnnotationFluxSubstitute, tree.Str("disabled"))
	return warning
}

// substitution returns the warning for an object that DisableSubstitution has to mark.
func substitution(object *tree.Node) string {
	clean := object.Walk(func(n *tree.Node) bool {
		if n.Kind == tree.String && strings.Contains(n.Text, "${") {
			return false
		}
		return !slices.ContainsFunc(n.Fields, func(f tree.Field) bool { return strings.Contains(f.Key, "${") })
	})
	meta := object.Get("metadata")
	if clean || meta == nil || meta.Kind != tree.Map || meta.GetText("annotations", v1alpha1.AnnotationFluxSubstitute) == "disabled" {
		return ""
	}
	return fmt.Sprintf("annotation %s: disabled was added, because the text holds \"${\", which Flux takes for a variable; "+
		"write $(NAME) for a variable of the container", v1alpha1.AnnotationFluxSubstitute)
}

// annotate sets an annotation of a typed object and of its tree.
func (o *Object) annotate(key, value string) {
	meta := metaOf(o.Typed)
	annotations := meta.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	meta.SetAnnotations(annotations)
	root := o.tree.Get("metadata")
	if root.Get("annotations") == nil {
		root.Set("annotations", &tree.Node{Kind: tree.Map}) // behind the labels, where ObjectMeta has them
	}
	root.Get("annotations").SetSorted(key, tree.Str(value))
}

func newObject(arena *tree.Arena, typed runtime.Object) Object {
	o := Object{Typed: typed, tree: arena.Of(typed)}
	if warning := substitution(o.tree); warning != "" {
		o.annotate(v1alpha1.AnnotationFluxSubstitute, "disabled")
		o.Warnings = append(o.Warnings, warning)
	}
	return o
}
