// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// The restricted Pod Security standard admits the Pods of every example, and
// the API server finds nothing wrong with them.
func TestPodsAreAdmitted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	namespace := newNamespace(t, c)
	made := map[string]bool{}
	for _, e := range examples(t) {
		t.Run(e.name, func(t *testing.T) {
			pod := podOf(t, rendered(t, inNamespace(e.fleet, namespace)))
			if class := pod.Spec.PriorityClassName; class != "" && !made[class] {
				made[class] = true
				require.NoError(t, c.Client.Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Value: 1}))
			}
			if account := pod.Spec.ServiceAccountName; !made[account] {
				made[account] = true
				require.NoError(t, c.Client.Create(t.Context(),
					&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}))
			}
			// The admission plugins hear of a new class a little later.
			cluster.WaitWithin(t, 20*time.Second, "the Pod to be admitted", func(ctx ctx) (bool, string) {
				err := c.Client.Create(ctx, pod.DeepCopy(), client.DryRunAll)
				return err == nil, cluster.Outcome(err)
			})
		})
	}
}

// podOf is a Pod of the workload among an example's objects, with the volume
// that the StatefulSet controller adds for a claim template.
func podOf(t *testing.T, objects []*unstructured.Unstructured) *corev1.Pod {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != "StatefulSet" && object.GetKind() != "Deployment" {
			continue
		}
		content, found, err := unstructured.NestedMap(object.Object, "spec", "template")
		require.NoError(t, err)
		require.True(t, found)
		template := &corev1.PodTemplateSpec{}
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, template))
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Namespace, pod.Name = object.GetNamespace(), object.GetName()+"-0"
		claims, _, err := unstructured.NestedSlice(object.Object, "spec", "volumeClaimTemplates")
		require.NoError(t, err)
		if len(claims) > 0 {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + pod.Name},
			}})
		}
		return pod
	}
	t.Fatal("no workload")
	return nil
}
