// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster/binaries"
)

// Nodes are the names of the nodes that are in a zone.
func (w *World) Nodes(zone string) []string { return slices.Clone(w.nodes[zone]) }

// AddNode adds a node to a zone and returns its name. It returns once Pods can
// be scheduled on it: one that is not ready yet makes a Pod unschedulable.
func (w *World) AddNode(zone string) string {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	node, err := w.Add(w.tb.Context(), zone)
	w.must(err, "adding a node")
	return node
}

// Add is AddNode where there is no test.
func (w *World) Add(ctx context.Context, zone string) (string, error) {
	node, err := w.addNode(ctx, zone)
	if err != nil {
		return "", err
	}
	return node, w.awaitNode(ctx, node, true)
}

// AddNodes adds a number of nodes, the same to each zone as far as that goes.
func (w *World) AddNodes(count int) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	var added []string
	for i := range count {
		node, err := w.addNode(w.tb.Context(), w.Zones[i%len(w.Zones)])
		w.must(err, "adding a node")
		added = append(added, node)
	}
	w.must(w.awaitNodes(w.tb.Context(), added, true), "adding nodes")
}

func (w *World) addNode(ctx context.Context, zone string) (string, error) {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("16"),
		corev1.ResourceMemory:           resource.MustParse("64Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: zone + "-",
			Labels: map[string]string{
				kubeletLabel:               kubeletRunning,
				corev1.LabelTopologyZone:   zone,
				corev1.LabelTopologyRegion: "test",
				corev1.LabelOSStable:       "linux",
				corev1.LabelArchStable:     "amd64",
			},
		},
		// A node that registers itself brings this status along.
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: binaries.KubernetesVersion, OperatingSystem: "linux", Architecture: "amd64",
			},
		},
	}
	if err := w.Client.Create(ctx, node); err != nil {
		return "", fmt.Errorf("adding a node to %s: %w", zone, err)
	}
	w.nodes[zone] = append(w.nodes[zone], node.Name)
	labels := map[string]any{corev1.LabelHostname: node.Name}
	return node.Name, w.merge(ctx, node, map[string]any{"metadata": map[string]any{"labels": labels}})
}

// SilenceNode stops a node's kubelet, as a cut network or a power loss does:
// no lease, no status, no Pod starts or ends. It returns once the control
// plane has noticed. What is on the node stays there, and is told to leave.
func (w *World) SilenceNode(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.must(w.Silence(w.tb.Context(), node), "silencing "+node)
}

// Silence is SilenceNode where there is no test.
func (w *World) Silence(ctx context.Context, nodes ...string) error {
	return w.steer(ctx, nodes, kubeletSilent, false)
}

// RestoreNode starts a silent node's kubelet again and returns once the
// control plane has noticed.
func (w *World) RestoreNode(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.must(w.Restore(w.tb.Context(), node), "restoring "+node)
}

// Restore is RestoreNode where there is no test.
func (w *World) Restore(ctx context.Context, nodes ...string) error {
	return w.steer(ctx, nodes, kubeletRunning, true)
}

// LoseZone silences every node of a zone.
func (w *World) LoseZone(zone string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.must(w.Silence(w.tb.Context(), w.nodes[zone]...), "losing "+zone)
}

// ReturnZone restores every node of a zone.
func (w *World) ReturnZone(zone string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.must(w.Restore(w.tb.Context(), w.nodes[zone]...), "returning "+zone)
}

// RemoveNode removes a node for good, as a cloud does with a machine that is
// no more. Its Pods go once the garbage collector is sure that the node does
// not come back, which takes it up to a minute.
func (w *World) RemoveNode(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.must(w.kubelet(w.tb.Context(), node, kubeletSilent), "removing node "+node)
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	w.must(w.Client.Delete(w.tb.Context(), object), "removing node "+node)
	Wait(w.tb, "node "+node+" to be gone", w.Gone(object))
	for zone, nodes := range w.nodes {
		w.nodes[zone] = slices.DeleteFunc(nodes, func(n string) bool { return n == node })
	}
}

// Cordon keeps new Pods from a node.
func (w *World) Cordon(node string) { w.tb.Helper(); w.Needs(w.tb, Nodes); w.unschedulable(node, true) }

// Uncordon ends Cordon.
func (w *World) Uncordon(node string) { w.tb.Helper(); w.unschedulable(node, nil) }

// Drain cordons a node and evicts its Pods through the eviction API. Like
// kubectl it tries again while a budget forbids an eviction, for as long as
// the test has patience.
func (w *World) Drain(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.Cordon(node)
	Wait(w.tb, "node "+node+" to be drained", func(ctx context.Context) (bool, string) {
		var pods corev1.PodList
		if err := w.Client.List(ctx, &pods, client.InNamespace(w.Namespace),
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.nodeName", node)}); err != nil {
			return false, err.Error()
		}
		seen := fmt.Sprintf("%d Pods", len(pods.Items))
		for i := range pods.Items {
			if err := w.Evict(ctx, pods.Items[i].Name); err != nil {
				seen += "; " + err.Error()
			}
		}
		return len(pods.Items) == 0, seen
	})
}

// Evict asks for the eviction of a Pod once. A budget that forbids it answers
// 429. A Pod that is gone, or on its way, is not an error.
func (w *World) Evict(ctx context.Context, pod string) error {
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: pod}}
	err := w.Kubernetes.PolicyV1().Evictions(w.Namespace).Evict(ctx, eviction)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// steer tells kubelets to run or to be silent, and waits until that is noticed.
func (w *World) steer(ctx context.Context, nodes []string, state string, ready bool) error {
	for _, node := range nodes {
		if err := w.kubelet(ctx, node, state); err != nil {
			return err
		}
	}
	return w.awaitNodes(ctx, nodes, ready)
}

func (w *World) kubelet(ctx context.Context, node, state string) error {
	return w.merge(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
		map[string]any{"metadata": map[string]any{"labels": map[string]any{kubeletLabel: state}}})
}

func (w *World) unschedulable(node string, value any) {
	w.tb.Helper()
	w.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
		map[string]any{"spec": map[string]any{"unschedulable": value}})
}

func (w *World) awaitNodes(ctx context.Context, names []string, ready bool) error {
	for _, name := range names {
		if err := w.awaitNode(ctx, name, ready); err != nil {
			return err
		}
	}
	return nil
}

// awaitNode waits until the control plane counts on a node, or does not any
// more: the taints are what its other parts go by.
func (w *World) awaitNode(ctx context.Context, name string, ready bool) error {
	awaited := "node " + name + " to be ready"
	if !ready {
		awaited = "node " + name + " to be given up"
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return Await(ctx, Patience, awaited, w.Object(node, func() (bool, string) {
		tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable && taint.Effect == corev1.TaintEffectNoExecute
		})
		isReady := nodeCondition(node).Status == corev1.ConditionTrue
		return ready == isReady && ready != tainted, describeNode(node)
	}))
}
