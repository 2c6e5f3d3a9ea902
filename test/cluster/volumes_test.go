// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// withDisk makes a Pod use a claim.
func withDisk(pod *corev1.Pod, claim string) *corev1.Pod {
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/work"}}
	return pod
}

// newClaim is the claim of a member.
func newClaim(w *cluster.World, name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       memberSet(w, 1).Spec.VolumeClaimTemplates[0].Spec,
	}
}

// events returns the reasons and messages of an object's events.
func events(t *testing.T, w *cluster.World, of client.Object) string {
	var list corev1.EventList
	if err := w.Client.List(t.Context(), &list, client.InNamespace(w.Namespace)); err != nil {
		return err.Error()
	}
	var lines []string
	for _, event := range list.Items {
		if event.InvolvedObject.UID == of.GetUID() {
			lines = append(lines, event.Reason+": "+event.Message)
		}
	}
	return strings.Join(lines, "\n")
}

func TestDiskFollowsItsFirstPodAndPinsTheNext(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	w.Create(newClaim(w, "disk"))
	cluster.Holds(t, settle/2, "the claim waits for a Pod", func(ctx) (bool, string) {
		claim := w.Claim("disk")
		return claim.Status.Phase == corev1.ClaimPending, cluster.DescribeClaim(claim)
	})

	w.Create(withDisk(loosePod("first", "registry.test/celld:1", w.Zones[1]), "disk"))
	w.WaitReady("first")
	claim := w.WaitClaim("disk", corev1.ClaimBound)
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
	w.Get(volume)
	require.Equal(t, corev1.PersistentVolumeReclaimDelete, volume.Spec.PersistentVolumeReclaimPolicy)
	require.Equal(t, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, volume.Spec.AccessModes)
	require.Equal(t, []string{w.Zones[1]}, volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values)

	w.Create(withDisk(loosePod("elsewhere", "registry.test/celld:1", w.Zones[0], w.Zones[2]), "disk"))
	w.WaitUnschedulable("elsewhere")

	w.Delete(w.Pod("elsewhere"))
	w.Delete(w.Pod("first"))
	w.Delete(claim)
	w.WaitGone(claim)
	w.WaitGone(volume)
}

func TestDiskHasOnePodAtATime(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	w.Create(newClaim(w, "disk"), withDisk(loosePod("first", "registry.test/celld:1", w.Zones...), "disk"))
	w.WaitReady("first")

	w.Create(withDisk(loosePod("second", "registry.test/celld:1", w.Zones...), "disk"))
	second := w.WaitUnschedulable("second")
	require.Contains(t, cluster.PodCondition(second, corev1.PodScheduled).Message, "ReadWriteOncePod")

	w.Delete(w.Pod("first"))
	w.WaitReady("second")
}

func TestLostVolume(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	newMembers(w)
	pod := w.Pod(memberName(0))
	w.LoseVolume("data-" + pod.Name)

	lost := w.WaitClaim("data-"+pod.Name, corev1.ClaimLost)
	cluster.Wait(t, "the loss to be told", func(ctx) (bool, string) {
		seen := events(t, w, lost)
		return strings.Contains(seen, "ClaimLost"), seen
	})
	w.Delete(pod)
	w.WaitReplaced(pod)
	w.WaitUnschedulable(pod.Name)
}

func TestSlowVolumes(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	release := w.HoldVolumes()
	w.Create(memberSet(w, 1))
	pending := func(ctx) (bool, string) {
		pod, claim := w.Pod(memberName(0)), w.Claim("data-"+memberName(0))
		return pod.Spec.NodeName == "" && claim.Status.Phase == corev1.ClaimPending,
			cluster.DescribePod(pod) + "; " + cluster.DescribeClaim(claim)
	}
	waitSelected(t, w, "data-"+memberName(0))
	cluster.Holds(t, settle, "Pod and claim are pending", pending)

	release()
	w.WaitReady(memberName(0))
}

func TestFailingVolumes(t *testing.T) {
	t.Parallel()
	w := shared.Cluster(t).World(t)
	heal := w.FailVolumes("the zone is out of disks")
	w.Create(memberSet(w, 1))
	pod := w.WaitPod(memberName(0), "to be given back by the scheduler", func(pod *corev1.Pod) bool {
		return cluster.PodCondition(pod, corev1.PodScheduled).Reason == corev1.PodReasonSchedulerError
	})
	require.Equal(t, corev1.ConditionFalse, cluster.PodCondition(pod, corev1.PodScheduled).Status)
	claim := w.Claim("data-" + memberName(0))
	cluster.Wait(t, "the failure to be told", func(ctx) (bool, string) {
		seen := events(t, w, claim)
		return strings.Contains(seen, "ProvisioningFailed") && strings.Contains(seen, "the zone is out of disks"), seen
	})
	require.Equal(t, corev1.ClaimPending, w.Claim(claim.Name).Status.Phase)

	heal()
	w.WaitReady(memberName(0))
}

// waitSelected waits until the scheduler has chosen a node for a claim.
func waitSelected(t *testing.T, w *cluster.World, name string) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	cluster.Wait(t, "a node to be chosen for "+name, w.Object(claim, func() (bool, string) {
		return claim.Annotations["volume.kubernetes.io/selected-node"] != "", cluster.DescribeClaim(claim)
	}))
}
