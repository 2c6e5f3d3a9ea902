// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
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
		w := &World{Cluster: c, Zones: zones, tb: tb, nodes: c.zones}
		w.settle()
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
	w := &World{Cluster: c, Zones: zones, tb: tb, nodes: map[string][]string{}}
	w.settle()
	for _, zone := range zones {
		w.addNode(zone)
	}
	for _, zone := range zones {
		for _, node := range w.nodes[zone] {
			w.waitNode(node, true)
		}
	}
	return w
}

// settle makes the namespace.
func (w *World) settle() {
	w.tb.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "world-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	w.must(w.Client.Create(w.tb.Context(), namespace), "creating a namespace")
	w.Namespace = namespace.Name
	w.tb.Cleanup(w.end)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "default"}}
	Wait(w.tb, "the service account that Pods need", w.Object(account, func() (bool, string) { return true, "" }))
}

// end takes the World down without waiting for it: no other World can see it.
func (w *World) end() {
	w.checkAlive(w.tb)
	if w.keep {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}
	if err := client.IgnoreNotFound(w.Client.Delete(ctx, namespace)); err != nil {
		w.tb.Errorf("taking down %s: %v", w.Namespace, err)
	}
	if w.existing {
		return // its kubelets end the Pods
	}
	// Pods that no kubelet ends are collected once their nodes are gone. Deleting
	// them from here would take as long as there are Pods: the API server deletes
	// a collection one by one, and gives up after a minute.
	for _, nodes := range w.nodes {
		for _, name := range nodes {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := client.IgnoreNotFound(w.Client.Delete(ctx, node)); err != nil {
				w.tb.Errorf("taking down node %s: %v", name, err)
			}
		}
	}
}

// must ends the test on an error of what the test did not ask about.
func (w *World) must(err error, doing string) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatalf("%s: %v", doing, err)
	}
}
