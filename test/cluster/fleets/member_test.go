// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

const digest = "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// live is a fleet in a World: a test edits the spec and syncs it.
type live struct {
	*v1alpha1.PersistentFleet
	t *testing.T
	w *cluster.World
}

// newLive returns a fleet of a size that runs, without having anything to
// grow it yet but the test itself.
func newLive(t *testing.T, replicas int32, change ...func(*live)) *live {
	t.Helper()
	w := newCluster(t).World(t)
	f := &live{t: t, w: w, PersistentFleet: &v1alpha1.PersistentFleet{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "my-fleet"},
	}}
	f.Spec.Replicas = &replicas
	f.Spec.RuntimeImage = w.Image()
	f.Spec.ServiceAccountName = "default"
	f.Spec.Placement.Zones = w.Zones
	f.Spec.Storage.Bucket, f.Spec.Storage.Region = "s3://"+w.Namespace, "us-east-1"
	f.Spec.Storage.StorageClassName = cluster.StorageClass
	for _, c := range change {
		c(f)
	}
	f.sync()
	f.scale(replicas)
	f.waitRolledOut()
	return f
}

// sync does what a sync tool does with what render prints.
func (f *live) sync() {
	f.t.Helper()
	for _, object := range rendered(f.t, f.PersistentFleet) {
		require.NoError(f.t, f.w.Client.Apply(f.t.Context(), client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("sync-tool"), client.ForceOwnership), identify(object))
	}
}

// scale does what the healer does.
func (f *live) scale(replicas int32) {
	f.t.Helper()
	change := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{"namespace": f.Namespace, "name": f.Name, "uid": string(f.set().UID)},
		"spec":     map[string]any{"replicas": int64(replicas)},
	}}
	require.NoError(f.t, f.w.Client.Apply(f.t.Context(), client.ApplyConfigurationFromUnstructured(change),
		client.FieldOwner("fleetwright-healer"), client.ForceOwnership))
}

func (f *live) set() *appsv1.StatefulSet {
	f.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name}}
	f.w.Get(set)
	return set
}

// waitSet waits until the StatefulSet controller has seen the last change and
// the set is as wanted.
func (f *live) waitSet(awaited string, want func(*appsv1.StatefulSet) bool) *appsv1.StatefulSet {
	f.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name}}
	cluster.Wait(f.t, "StatefulSet "+f.Name+" "+awaited, f.w.Object(set, func() (bool, string) {
		return set.Status.ObservedGeneration == set.Generation && want(set),
			fmt.Sprintf("generation %d, replicas %d, status %+v", set.Generation, *set.Spec.Replicas, set.Status)
	}))
	return set
}

func (f *live) waitRolledOut() *appsv1.StatefulSet {
	f.t.Helper()
	return f.waitSet("to be rolled out", func(set *appsv1.StatefulSet) bool {
		s, n := set.Status, *set.Spec.Replicas
		return s.Replicas == n && s.UpdatedReplicas == n && s.ReadyReplicas == n && s.CurrentRevision == s.UpdateRevision
	})
}

func (f *live) pod(ordinal int) *corev1.Pod {
	f.t.Helper()
	return f.w.Pod(render.PodName(f.Name, ordinal))
}

func (f *live) claim(ordinal int) *corev1.PersistentVolumeClaim {
	f.t.Helper()
	return f.w.Claim(render.ClaimName(f.Name, ordinal))
}

// disks are the claims of the first members, by UID and volume.
func (f *live) disks(count int) []string {
	f.t.Helper()
	var disks []string
	for ordinal := range count {
		claim := f.claim(ordinal)
		disks = append(disks, string(claim.UID)+" "+claim.Spec.VolumeName)
	}
	return disks
}

// revision is the template that a Pod is of.
func revision(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }

func isReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func join(names []string) string { return strings.Join(names, " ") }
