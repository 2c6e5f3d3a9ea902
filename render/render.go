// SPDX-License-Identifier: Apache-2.0

// Package render turns a fleet spec into the Kubernetes objects that run it: a pure function of its input.
//
// Render makes typed objects, complete to the last default that the API server would fill in, marks each with a seal, and
// returns them in a fixed order, with their YAML. Nothing here reads a cluster, a file, a clock or the environment.
package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/identity"
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
// *InvalidError. It may be called from several goroutines.
func Render(f v1alpha1.Fleet, opts Options) (Objects, error) {
	p := printers.Get().(*printer)
	defer p.release()
	if err := p.render(f, opts); err != nil {
		return nil, err
	}
	p.seal()
	return p.print(), nil
}

// render makes the objects of a fleet and their trees, the fleet's own first.
func (p *printer) render(f v1alpha1.Fleet, opts Options) error {
	// 1. The fleet as it came, in its namespace and without what only a cluster knows.
	f = copied(f)
	if f.GetNamespace() == "" {
		f.SetNamespace(opts.Namespace)
	}
	f.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(f.Kind()))
	*f.State() = v1alpha1.FleetStatus{}
	if errs := identity.Validate(f); len(errs) > 0 {
		return &InvalidError{Kind: f.Kind(), Namespace: f.GetNamespace(), Name: f.GetName(), Errors: errs}
	}
	// 2. What it renders to.
	p.add(f)
	for _, object := range newBuilder(f, opts, &p.arena).objects() {
		p.add(object)
	}
	return nil
}

// A builder holds what the functions of this package share while they make the objects of one fleet. All of it is defaulted.
type builder struct {
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

func newBuilder(f v1alpha1.Fleet, opts Options, arena *tree.Arena) *builder {
	f = defaulted(f)
	b := &builder{
		fleet: f, spec: f.Shared(), store: f.Store(), bucket: f.Store().BucketURL(),
		name: f.GetName(), ns: f.GetNamespace(), identity: Identity(f), healerNS: opts.HealerNamespace,
		arena: arena,
	}
	if b.healerNS == "" {
		b.healerNS = DefaultHealerNamespace
	}
	return b
}

// objects makes the typed objects in the order in which they are printed.
func (b *builder) objects() []Resource {
	return append([]Resource{
		b.workload(), b.disruptionBudget(), b.networkPolicy(), b.service(), b.peerService(),
	}, b.routing()...)
}

// workload is a StatefulSet or, for a BucketFleet that does not ask for an order, a Deployment.
func (b *builder) workload() Resource {
	if !b.fleet.Ordered() {
		return b.deployment()
	}
	return b.statefulSet()
}
