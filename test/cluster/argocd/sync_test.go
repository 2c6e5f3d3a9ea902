// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// strategies are the ways in which Argo CD compares, as changes of the example.
var strategies = map[string]func(*unstructured.Unstructured){
	"structured-merge": func(*unstructured.Unstructured) {},
	"server-side-diff": serverSideDiff,
	"legacy": func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, "spec", "syncPolicy", "syncOptions")
	},
}

func serverSideDiff(o *unstructured.Unstructured) {
	o.SetAnnotations(map[string]string{"argocd.argoproj.io/compare-options": "ServerSideDiff=true"})
}

// testStrategy takes a fleet through its life: whatever the healer does to it
// meanwhile, the Application stays in sync with Git.
func (s *system) testStrategy(strategy string) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		f := s.newFleet(t, strategy)
		revision := f.commit("A fleet")
		f.start(strategies[strategy])
		f.waitSynced(revision, "Healthy")
		require.Equal(t, "Plugin", f.SourceType)
		f.waitReplicas(3)
		f.requireInSync("after the first sync")
		f.requireSyncChangesNothing(t)

		f.edit(directory+"/fleet.yaml", "replicas: 3", "replicas: 5")
		f.push("Five members", "Healthy")
		f.waitReplicas(5)
		f.requireInSync("with five members, of which Git tells the StatefulSet nothing")
		f.requireSyncChangesNothing(t)
		require.EqualValues(t, 5, *f.set().Spec.Replicas)

		lost := f.claim("data-my-fleet-1")
		f.world().Behave("my-fleet-1", cluster.Crashing) // as without a disk
		f.world().LoseVolume(lost.Name)
		cluster.WaitWithin(t, 3*time.Minute, "a fresh disk", s.Object(lost, func() (bool, string) {
			return lost.Status.Phase == corev1.ClaimBound, cluster.DescribeClaim(lost)
		}))
		f.waitReplicas(5)
		f.waitSynced(f.git("rev-parse", "HEAD"), "Healthy")
		f.requireInSync("after a disk was replaced")

		f.edit(directory+"/fleet.yaml", "spec:\n", "spec:\n  maintenance: {paused: true}\n")
		f.push("Pause", "Suspended")
		f.requireInSync("while paused")
		f.requireSyncChangesNothing(t)
		require.Equal(t, appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, f.set().Spec.UpdateStrategy)

		f.edit(directory+"/fleet.yaml", "  maintenance: {paused: true}\n", "  maintenance: {restartToken: again}\n")
		f.push("Resume, and restart", "Healthy")
		f.waitReplicas(5)
		require.Equal(t, f.set().Status.CurrentRevision, f.set().Status.UpdateRevision)
		f.requireInSync("after a restart")
	}
}

// world is the part of the cluster that is this fleet's.
func (f *fleet) world() *cluster.World {
	w := *f.s.World
	w.Namespace = f.namespace
	return &w
}

func (f *fleet) claim(name string) *corev1.PersistentVolumeClaim {
	f.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}}
	f.s.Get(claim)
	return claim
}

// testBucketFleet syncs a fleet whose disks are caches, and takes away the
// Application alone.
func (s *system) testBucketFleet(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "bucket")
	f.edit(directory+"/fleet.yaml", "kind: PersistentFleet", "kind: BucketFleet")
	f.edit(directory+"/fleet.yaml", "    storageClassName: ebs-delete\n", "")
	revision := f.commit("A fleet")
	f.start()
	f.waitSynced(revision, "Healthy")
	f.requireInSync("after the first sync")
	f.sync()
	f.requireInSync("after the second")

	require.NoError(t, s.Client.Delete(t.Context(), f.object))
	s.waitGone(t, f.object)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "my-fleet"}}
	s.Get(d)
	require.Nil(t, d.DeletionTimestamp, "nobody asked to delete the fleet")
}
