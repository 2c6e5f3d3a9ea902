// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StorageClass is the class of the zonal disks: made where the first Pod that
// uses them is scheduled, removed with their claims.
const StorageClass = "zonal-delete"

// World is what a test has to itself: a namespace, zones with nodes, and the
// disks in them. Pods stay in a World when they ask for its zones, as every
// fleet does.
type World struct {
	*Cluster
	Namespace string   // enforces the restricted Pod Security standard
	Zones     []string // three; no other World has them

	tb    testing.TB
	nodes map[string][]string // by zone
}

// World makes a World with one node in each zone, all ready, and takes it down
// after the test. In an existing cluster, Worlds share its zones and nodes.
func (c *Cluster) World(tb testing.TB) *World {
	tb.Helper()
	if c.existing {
		zones := slices.Sorted(maps.Keys(c.zones))
		w := &World{Cluster: c, Zones: zones, nodes: c.zones}
		w.Bind(tb)
		w.must(w.settle(tb.Context()), "making a World")
		return w
	}
	name := fmt.Sprintf("world-%d", c.worlds.Add(1))
	return c.WorldInZones(tb, name+"-a", name+"-b", name+"-c")
}

// WorldInZones is World with zones that have names of the test's choice. Two
// such Worlds with a zone in common get each other's Pods: their tests must
// not run in parallel.
func (c *Cluster) WorldInZones(tb testing.TB, zones ...string) *World {
	tb.Helper()
	c.Needs(tb, Nodes)
	w, err := c.OpenWorld(tb.Context(), zones...)
	if err != nil {
		tb.Fatal(err)
	}
	w.Bind(tb)
	return w
}

// Bind makes a World that was opened without a test one of a test: its verbs
// end the test when they fail, and it is taken down after the test.
func (w *World) Bind(tb testing.TB) {
	w.tb = tb
	tb.Cleanup(func() {
		w.checkAlive(tb)
		if w.keep {
			return
		}
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
}

// OpenWorld makes a World where there is no test. Only functions of it that
// take a context can be used, until it is bound to a test.
func (c *Cluster) OpenWorld(ctx context.Context, zones ...string) (_ *World, err error) {
	w := &World{Cluster: c, Zones: zones, nodes: map[string][]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := w.settle(ctx); err != nil {
		return nil, err
	}
	for _, zone := range zones {
		if _, err := w.addNode(ctx, zone); err != nil {
			return nil, err
		}
	}
	return w, w.awaitNodes(ctx, slices.Concat(slices.Collect(maps.Values(w.nodes))...), true)
}

// settle makes the namespace.
func (w *World) settle(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "world-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := w.Client.Create(ctx, namespace); err != nil {
		return fmt.Errorf("creating a namespace: %w", err)
	}
	w.Namespace = namespace.Name
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "default"}}
	return Await(ctx, Patience, "the service account that Pods need", w.Object(account, func() (bool, string) { return true, "" }))
}

// Close takes the World down without waiting for it: no other World can see it.
// Pods that no kubelet ends are collected once their nodes are gone. Deleting
// them from here would take as long as there are Pods: the API server deletes a
// collection one by one, and gives up after a minute.
func (w *World) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	var errs []error
	remove := func(object client.Object) {
		if err := client.IgnoreNotFound(w.Client.Delete(ctx, object)); err != nil {
			errs = append(errs, fmt.Errorf("taking down %s %s: %w", kind(object), object.GetName(), err))
		}
	}
	if w.Namespace != "" {
		remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
	}
	if !w.existing {
		for _, nodes := range w.nodes {
			for _, name := range nodes {
				remove(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
	}
	return errors.Join(errs...)
}

// must ends the test on an error of what the test did not ask about.
func (w *World) must(err error, doing string) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatalf("%s: %v", doing, err)
	}
}
