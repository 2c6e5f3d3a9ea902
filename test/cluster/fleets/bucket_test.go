// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// newBucketFleet syncs a BucketFleet and sets its count.
func newBucketFleet(t *testing.T, w *cluster.World, workload v1alpha1.Workload) *v1alpha1.BucketFleet {
	t.Helper()
	replicas := int32(3)
	f := &v1alpha1.BucketFleet{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "cache"}}
	f.Spec.Replicas = &replicas
	f.Spec.RuntimeImage = w.Image()
	f.Spec.ServiceAccountName = "default"
	f.Spec.Placement.Zones = w.Zones
	f.Spec.Storage.Bucket, f.Spec.Storage.Region = "s3://"+w.Namespace, "us-east-1"
	f.Spec.Workload = workload
	syncBucketFleet(t, w, f)
	return f
}

func syncBucketFleet(t *testing.T, w *cluster.World, f *v1alpha1.BucketFleet) {
	t.Helper()
	for _, object := range rendered(t, f) {
		require.NoError(t, w.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("sync-tool"), client.ForceOwnership), identify(object))
	}
}

// A rollout of a cache takes down one member at a time too.
func TestBucketFleetRolls(t *testing.T) {
	t.Parallel()
	w := newCluster(t).World(t)
	f := newBucketFleet(t, w, v1alpha1.WorkloadDeployment)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: f.Name}}
	three := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":3}}`))
	require.NoError(t, w.Client.Patch(t.Context(), deployment, three))
	cluster.Wait(t, "three members", w.Object(deployment, func() (bool, string) {
		return rolledOut(deployment), fmt.Sprintf("generation %d, status %+v", deployment.Generation, deployment.Status)
	}))

	f.Spec.Maintenance.RestartToken = "again"
	syncBucketFleet(t, w, f)
	require.Equal(t, int32(2), leastReady(t, w, deployment))
	var pods corev1.PodList
	require.NoError(t, w.Client.List(t.Context(), &pods, client.InNamespace(w.Namespace),
		client.MatchingLabels{v1alpha1.LabelFleetUID: render.Identity(f)}))
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			require.Equal(t, "again", pods.Items[i].Annotations[v1alpha1.AnnotationRestartToken])
		}
	}
}

func rolledOut(d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration == d.Generation && s.Replicas == 3 && s.UpdatedReplicas == 3 && s.ReadyReplicas == 3
}

// leastReady follows a rollout from a version of the Deployment before it to its
// end, and returns how few members were Ready meanwhile.
func leastReady(t *testing.T, w *cluster.World, from *appsv1.Deployment) int32 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), cluster.Patience)
	defer cancel()
	watched, err := w.Kubernetes.AppsV1().Deployments(from.Namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: from.ResourceVersion})
	require.NoError(t, err)
	defer watched.Stop()
	least := from.Status.ReadyReplicas
	for event := range watched.ResultChan() {
		d, ok := event.Object.(*appsv1.Deployment)
		require.True(t, ok, "the watch broke: %v", event.Object)
		if least = min(least, d.Status.ReadyReplicas); rolledOut(d) {
			return least
		}
	}
	require.FailNow(t, "the rollout did not end", "within %s", cluster.Patience)
	return 0
}

// A member of an ordered cache waits until somebody has chosen its zone. The
// gate admits that choice: an additional node selector.
func TestOrderedBucketFleetWaitsForItsZone(t *testing.T) {
	t.Parallel()
	w := newCluster(t).World(t)
	f := newBucketFleet(t, w, v1alpha1.WorkloadOrdered)
	held := w.WaitPod(render.PodName(f.Name, 0), "to be held by its gate", func(pod *corev1.Pod) bool {
		return cluster.PodCondition(pod, corev1.PodScheduled).Reason == corev1.PodReasonSchedulingGated
	})
	require.Equal(t, []corev1.PodSchedulingGate{{Name: v1alpha1.GateBucketZone}}, held.Spec.SchedulingGates)

	held.Spec.SchedulingGates = nil
	held.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: w.Zones[1]}
	require.NoError(t, w.Client.Update(t.Context(), held))
	require.Equal(t, w.Zones[1], w.ZoneOf(w.WaitReady(held.Name)))
}
