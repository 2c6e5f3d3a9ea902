// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

func TestForeignClaimStopsGrowth(t *testing.T) {
	t.Parallel()
	for name, labels := range map[string]map[string]string{
		"without a label":         nil,
		"of another fleet":        {v1alpha1.LabelFleetUID: "3d594650-3436-4f0f-9c3f-2b2b2b2b2b2b"},
		"with an unrelated label": {"app": "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFleet(t, 3)
			foreign := s.makeClaim("data-my-fleet-2", labels)
			s.sync()
			s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonStorageIdentityConflict,
				"claim data-my-fleet-2 is at the name of member my-fleet-2")
			s.holds("no member is added", 1)

			s.w.Delete(foreign)
			s.w.WaitGone(foreign)
			s.passMinutes(1)
			s.waitReady()
		})
	}
}

func (s *subject) makeClaim(name string, labels map[string]string) *corev1.PersistentVolumeClaim {
	s.t.Helper()
	class := cluster.StorageClass
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: s.named(name), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	claim.Labels = labels
	s.w.Create(claim)
	return claim
}

func TestGrowthWaitsForWhatProtectsMembers(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 3, 1)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: s.named("my-fleet")}
	s.w.Get(budget)
	s.w.Delete(budget)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonPrerequisitesMissing, "PodDisruptionBudget my-fleet") // nothing grows yet
	*s.Shared().Replicas = 4
	s.syncFleet()
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonPrerequisitesMissing, "PodDisruptionBudget my-fleet")

	// Somebody else's object at that name is no better.
	foreign := &policyv1.PodDisruptionBudget{ObjectMeta: s.named("my-fleet"), Spec: budget.Spec}
	s.w.Create(foreign)
	s.holdsAfter(1, "no member is added", 3)
	label := `{"metadata":{"labels":{"` + v1alpha1.LabelFleetUID + `":"3d594650-3436-4f0f-9c3f-2b2b2b2b2b2b"}}}`
	require.NoError(t, s.w.Client.Patch(t.Context(), foreign, client.RawPatch(types.MergePatchType, []byte(label))))
	s.passMinutes(1)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonInfrastructureBlocked, "PodDisruptionBudget my-fleet is not this fleet's")

	s.w.Delete(foreign)
	s.w.WaitGone(foreign)
	s.sync()
	s.waitReady()
}

func TestScaleInAndBackOnTheSameDisks(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 4, 1)
	disks := s.disks(4)
	s.scale(3)
	s.waitReady()
	require.EqualValues(t, 3, s.replicas())
	require.Equal(t, disks, s.disks(4), "the claim of the removed member is kept")
	require.Contains(t, s.claim(3).Annotations, v1alpha1.AnnotationKeptByScaleIn, "and nobody waits for it to come back")
	s.scale(4)
	s.waitReady()
	require.Equal(t, disks, s.disks(4))
	cluster.Wait(t, "the disk to be a member's again", func(ctx) (bool, string) {
		claim := s.claim(3)
		return claim.Annotations[v1alpha1.AnnotationKeptByScaleIn] == "", fmt.Sprint(claim.Annotations)
	})
	members := s.stored().State().Members
	require.Len(t, members, 4)
	require.Equal(t, "my-fleet-3", members[3].Name)
}

// Contraction removes one member at a time: none while another is down, or has
// been seen Ready for less than five minutes, or so soon after the last removal.
func TestContractionWaitsForEveryMember(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 5, 2)
	s.w.Behave("my-fleet-0", cluster.Unready)
	*s.Shared().Replicas = 3
	s.syncFleet()
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonRollingOut, "before removing my-fleet-4")
	s.holdsAfter(60, "no member is removed", 5)
	require.Equal(t, []int32{5, 4, 3}, s.counts(func() {
		s.w.Behave("my-fleet-0", cluster.Ready)
		s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonRollingOut,
			"before removing my-fleet-4: the others will have been ready for 5m0s at ")
		s.holdsAfter(4, "no member is removed while another is not settled", 5)
		s.passMinutes(1)
		s.passRemoval(4)
		s.waitReady()
	}))
}

// passRemoval shows that the healer removes nobody within five minutes after it
// went down to a count, and lets them pass.
func (s *subject) passRemoval(left int32) {
	s.t.Helper()
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonRollingOut, "the last removal ended at ")
	require.EqualValues(s.t, left, s.replicas())
	s.passMinutes(4)
	s.look()
	cluster.Holds(s.t, settle, "the next removal has its time", func(ctx) (bool, string) {
		return s.replicas() == left, fmt.Sprint(s.replicas())
	})
	s.passMinutes(1)
}

// Not parallel: there is one scheduler.
func TestGrowthByRuns(t *testing.T) {
	s := newRoomyFleet(t, 4, 3)
	s.scale(3)
	s.waitReady()
	kept := s.disks(4)

	start := s.w.StopScheduler(t)
	s.scale(6)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonWaitingForPlacement,
		"waiting for the scheduler to place my-fleet-3, or find no node for it, "+
			"before adding members my-fleet-4 to my-fleet-5 on fresh disks")
	cluster.Holds(t, settle, "the second run waits for the first", func(ctx) (bool, string) {
		return s.replicas() == 4, fmt.Sprint(s.replicas())
	})
	start()
	s.waitReady()
	require.Equal(t, kept, s.disks(4))
}

// A growth that finds no node is taken back at once: whoever never had a place
// is waited for by nobody.
func TestGrowthWithoutANodeIsReverted(t *testing.T) {
	t.Parallel()
	s := newFleet(t, 3)
	s.allowTwo()
	s.sync()
	s.waitReady()
	s.age()
	disks, pods := s.disks(3), s.pods(3)
	s.scale(4)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonWaitingForPlacement, "my-fleet-3 has not been scheduled since ")
	s.passMinutes(11)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonMemberUnschedulable, "my-fleet-3 has not been scheduled since ")
	require.Equal(t, []int32{4, 3}, s.counts(func() { s.scale(3); s.waitReady() }))

	// A claim that was never bound holds nothing: it is no disk of before.
	s.w.AddNode(s.w.Zones[0])
	s.scale(4)
	s.waitReady()
	require.Equal(t, disks, s.disks(3))
	for i, pod := range s.pods(3) {
		require.Equal(t, pods[i].UID, pod.UID)
	}
}

// What refuses a Pod is told, in the words of who made the Pod in vain.
func TestQuotaThatRefusesAPodIsNamed(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 3, 1)
	three := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	quota := &corev1.ResourceQuota{ObjectMeta: s.named("three-pods"), Spec: corev1.ResourceQuotaSpec{Hard: three}}
	s.w.Create(quota)
	cluster.Wait(t, "the quota to be counted", s.w.Object(quota, func() (bool, string) {
		used := quota.Status.Used[corev1.ResourcePods]
		return used.Value() == 3, used.String()
	}))
	s.scale(4)
	cluster.Wait(t, "the controller to say that it is refused", func(ctx ctx) (bool, string) {
		var events corev1.EventList
		err := s.w.Client.List(ctx, &events, client.InNamespace(s.w.Namespace))
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == "FailedCreate" }), fmt.Sprint(err)
	})
	s.passMinutes(1) // no watch shows events
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonInfrastructureBlocked,
		"Pod my-fleet-3 cannot be made: ", "exceeded quota: three-pods")
	s.w.Delete(quota)
	s.w.WaitGone(quota)
	s.patchSet(`{"metadata":{"annotations":{"fleetwright.test/again":"now"}}}`) // its controller tries again soon
	s.waitReady()
}

// A member whose disk is in a zone comes back there although its place is the
// only one left in the zone, and a member on a fresh disk could take it.
func TestFreshDiskLeavesThePendingMemberItsZone(t *testing.T) {
	t.Parallel()
	// The fourth member is removed, and its Pod does not go: whoever grows by two now gets the fifth first.
	prepare := func(t *testing.T) (s *subject, stuck *corev1.Pod, elsewhere string) {
		t.Helper()
		s = newRoomyFleet(t, 4, 1)
		stuck = s.pod(3)
		zone := slot(t, s.w, stuck.Spec.NodeName)
		s.w.Stick(stuck.Name)
		*s.Shared().Replicas = 3
		s.syncFleet()
		s.w.WaitPod(stuck.Name, "to be told to go", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
		// One place in the zone of its disk.
		s.w.Cordon(stuck.Spec.NodeName)
		s.w.AddNode(s.w.Zones[zone])
		elsewhere = s.w.Zones[1]
		if zone == 1 {
			elsewhere = s.w.Zones[2]
		}
		return s, stuck, elsewhere
	}
	t.Run("healer", func(t *testing.T) {
		t.Parallel()
		s, stuck, elsewhere := prepare(t)
		s.w.AddNode(elsewhere)
		disks := s.disks(4)
		*s.Shared().Replicas = 5
		s.syncFleet()
		s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonWaitingForPlacement)
		s.w.Unstick(stuck.Name)
		s.waitReady()
		require.Equal(t, disks, s.disks(4))
	})
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		s, stuck, elsewhere := prepare(t)
		s.stop()
		s.applyReplicas(5)
		s.w.WaitReady("my-fleet-4")
		s.w.AddNode(elsewhere) // where its disk is not
		s.w.Unstick(stuck.Name)
		s.w.WaitReplaced(stuck)
		s.w.WaitUnschedulable(stuck.Name)
		cluster.Holds(t, settle, "the member is stranded", func(ctx) (bool, string) {
			pod := s.w.Pod(stuck.Name)
			return pod.Spec.NodeName == "", cluster.DescribePod(pod)
		})
	})
}

// applyReplicas sets the count as a naive healer would.
func (s *subject) applyReplicas(replicas int32) {
	s.t.Helper()
	change := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{"namespace": s.GetNamespace(), "name": s.GetName()},
		"spec":     map[string]any{"replicas": int64(replicas)},
	}}
	require.NoError(s.t, s.w.Client.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(change),
		client.FieldOwner("naive"), client.ForceOwnership))
}

// A StatefulSet that is applied again takes up the disks of the one before.
func TestStatefulSetRecreatedFromGit(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	disks, set := s.disks(3), s.set()
	s.w.Delete(set)
	s.w.WaitGone(set)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonStatefulSetMissing, "StatefulSet my-fleet")
	s.sync()
	s.waitReady()
	require.Equal(t, disks, s.disks(3))
}
