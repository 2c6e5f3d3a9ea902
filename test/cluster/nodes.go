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
	node := w.addNode(zone)
	w.waitNode(node, true)
	return node
}

// AddNodes adds a number of nodes, the same to each zone as far as that goes.
func (w *World) AddNodes(count int) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	var added []string
	for i := range count {
		added = append(added, w.addNode(w.Zones[i%len(w.Zones)]))
	}
	for _, node := range added {
		w.waitNode(node, true)
	}
}

func (w *World) addNode(zone string) string {
	w.tb.Helper()
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
	w.must(w.Client.Create(w.tb.Context(), node), "adding a node to "+zone)
	w.nodes[zone] = append(w.nodes[zone], node.Name)
	w.patch(node, map[string]any{"metadata": map[string]any{"labels": map[string]any{corev1.LabelHostname: node.Name}}})
	return node.Name
}

// SilenceNode stops a node's kubelet, as a cut network or a power loss does:
// no lease, no status, no Pod starts or ends. It returns once the control
// plane has noticed. What is on the node stays there, and is told to leave.
func (w *World) SilenceNode(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.kubelet(node, "silent")
	w.waitNode(node, false)
}

// RestoreNode starts a silent node's kubelet again and returns once the
// control plane has noticed.
func (w *World) RestoreNode(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.kubelet(node, kubeletRunning)
	w.waitNode(node, true)
}

// LoseZone silences every node of a zone.
func (w *World) LoseZone(zone string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	for _, node := range w.nodes[zone] {
		w.kubelet(node, "silent")
	}
	for _, node := range w.nodes[zone] {
		w.waitNode(node, false)
	}
}

// ReturnZone restores every node of a zone.
func (w *World) ReturnZone(zone string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	for _, node := range w.nodes[zone] {
		w.kubelet(node, kubeletRunning)
	}
	for _, node := range w.nodes[zone] {
		w.waitNode(node, true)
	}
}

// RemoveNode removes a node for good, as a cloud does with a machine that is
// no more. Its Pods go once the garbage collector is sure that the node does
// not come back, which takes it up to a minute.
func (w *World) RemoveNode(node string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.kubelet(node, "silent")
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

func (w *World) kubelet(node, state string) {
	w.tb.Helper()
	w.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
		map[string]any{"metadata": map[string]any{"labels": map[string]any{kubeletLabel: state}}})
}

func (w *World) unschedulable(node string, value any) {
	w.tb.Helper()
	w.patch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}},
		map[string]any{"spec": map[string]any{"unschedulable": value}})
}

// waitNode waits until the control plane counts on a node, or does not any
// more: the taints are what its other parts go by.
func (w *World) waitNode(name string, ready bool) {
	w.tb.Helper()
	awaited := "node " + name + " to be ready"
	if !ready {
		awaited = "node " + name + " to be given up"
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Wait(w.tb, awaited, w.Object(node, func() (bool, string) {
		tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
			return taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable && taint.Effect == corev1.TaintEffectNoExecute
		})
		isReady := nodeCondition(node).Status == corev1.ConditionTrue
		return ready == isReady && ready != tainted, describeNode(node)
	}))
}
