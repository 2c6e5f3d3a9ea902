// SPDX-License-Identifier: Apache-2.0

package fleets_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// settle is longer than the controllers and the played kubelet take for
// anything that they would do.
const settle = 2 * time.Second

func TestThreeMembersInThreeZones(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	var zones []string
	for ordinal := range 3 {
		zones = append(zones, f.w.ZoneOf(f.pod(ordinal)))
		claim := f.claim(ordinal)
		require.Equal(t, corev1.ClaimBound, claim.Status.Phase)
		require.Equal(t, render.Identity(f.PersistentFleet), claim.Labels[v1alpha1.LabelFleetUID])
		require.Equal(t, render.ReservationName(f.Store().BucketURL()), claim.Annotations[v1alpha1.AnnotationStorageReservation])
	}
	require.ElementsMatch(t, f.w.Zones, zones)
}

// The sync tool and the healer do not undo each other's work. The first sync
// after the healer's may write, but nothing except the order of managedFields:
// the API server sorts them by time before it looks whether anything changed.
func TestSyncLeavesTheCountAlone(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	scaled := f.set()
	f.sync()
	before := f.set()
	require.Equal(t, scaled.Generation, before.Generation)
	require.EqualValues(t, 3, *before.Spec.Replicas)

	f.sync()
	require.Equal(t, before.ResourceVersion, f.set().ResourceVersion)
}

func TestRestartTokenRollsOneByOneFromTheTop(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	disks, old, h := f.disks(3), revision(f.pod(0)), f.record()

	f.Spec.Maintenance.RestartToken = "2026-11-29"
	f.sync()
	f.waitRolledOut()
	h.waitAll(f, "to be on the new template", func(pod *corev1.Pod) bool { return isReady(pod) && revision(pod) != old })
	require.Equal(t, []string{"my-fleet-2", "my-fleet-1", "my-fleet-0"}, h.restarts())
	require.Equal(t, 1, h.mostDown())
	require.Equal(t, disks, f.disks(3))
}

func TestPausedStagesAndRestartsNobody(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	disks, old, h := f.disks(3), revision(f.pod(0)), f.record()

	f.Spec.Maintenance.Paused, f.Spec.Maintenance.RestartToken = true, "staged"
	f.sync()
	staged := f.waitSet("to be staged", func(set *appsv1.StatefulSet) bool {
		return set.Status.UpdateRevision != old && set.Status.CurrentRevision == old
	})
	require.Equal(t, appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, staged.Spec.UpdateStrategy)
	cluster.Holds(t, settle, "nobody restarts", func(ctx) (bool, string) {
		left := h.restarts()
		return len(left) == 0, "told to go: " + join(left)
	})

	// A Pod that goes meanwhile returns on the newest template.
	gone := f.pod(1)
	f.w.Delete(gone)
	f.w.WaitReplaced(gone)
	require.Equal(t, staged.Status.UpdateRevision, revision(f.w.WaitReady(gone.Name)))

	f.Spec.Maintenance.Paused = false
	f.sync()
	f.waitRolledOut()
	h.waitAll(f, "to be on the staged template", func(pod *corev1.Pod) bool {
		return isReady(pod) && revision(pod) == staged.Status.UpdateRevision
	})
	require.Equal(t, []string{"my-fleet-1", "my-fleet-2", "my-fleet-0"}, h.restarts())
	require.Equal(t, 1, h.mostDown())
	require.Equal(t, disks, f.disks(3))
}

// A pause stops a rollout between two members. Whoever is recreated then, on
// the new template already or not, returns on the newest one.
func TestPausedStopsARolloutThatRuns(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	disks, old, h := f.disks(3), revision(f.pod(0)), f.record()

	// The first member of the rollout does not get ready, so the second waits.
	f.w.Behave("my-fleet-2", cluster.Unready)
	f.Spec.Maintenance.RestartToken = "2026-11-29"
	f.sync()
	f.w.WaitPod("my-fleet-2", "to be on the new template", func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && revision(pod) != old && pod.Spec.NodeName != ""
	})
	f.Spec.Maintenance.Paused = true
	f.sync()
	paused := f.waitSet("to be paused", func(set *appsv1.StatefulSet) bool {
		return set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
	})
	f.w.Behave("my-fleet-2", cluster.Ready)
	f.w.WaitReady("my-fleet-2")
	cluster.Holds(t, settle, "the rollout stops", func(ctx) (bool, string) {
		left := h.restarts()
		return len(left) == 1, "told to go: " + join(left)
	})

	for _, ordinal := range []int{2, 0} {
		gone := f.pod(ordinal)
		f.w.Delete(gone)
		f.w.WaitReplaced(gone)
		require.Equal(t, paused.Status.UpdateRevision, revision(f.w.WaitReady(gone.Name)), gone.Name)
	}
	require.Equal(t, old, revision(f.pod(1)))

	f.Spec.Maintenance.Paused = false
	f.sync()
	f.waitRolledOut()
	require.Equal(t, []string{"my-fleet-2", "my-fleet-2", "my-fleet-0", "my-fleet-1"}, h.restarts())
	require.Equal(t, disks, f.disks(3))
}

func TestBadImageAndItsRevertHealWithoutHelp(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	disks, good, h := f.disks(3), f.Spec.RuntimeImage, f.record()
	survivors := []*corev1.Pod{f.pod(0), f.pod(1)}

	f.Spec.RuntimeImage = "registry.test/missing/celld" + digest
	f.sync()
	f.w.WaitPod("my-fleet-2", "to have no image", func(pod *corev1.Pod) bool {
		return !isReady(pod) && pod.Spec.Containers[0].Image == f.Spec.RuntimeImage
	})
	f.w.WaitBehaviour("my-fleet-2", cluster.Missing)
	cluster.Holds(t, settle, "the rollout stops at the member without an image", func(ctx) (bool, string) {
		left := h.restarts()
		return len(left) == 1, "told to go: " + join(left)
	})

	f.Spec.RuntimeImage = good
	f.sync()
	f.waitRolledOut()
	require.Equal(t, good, f.w.WaitReady("my-fleet-2").Spec.Containers[0].Image)
	for _, pod := range survivors {
		require.Equal(t, pod.UID, f.w.Pod(pod.Name).UID)
	}
	require.Equal(t, 1, h.mostDown())
	require.Equal(t, disks, f.disks(3))
}

func TestScaleInKeepsTheClaimForScaleOut(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	disks, zone := f.disks(3), f.w.ZoneOf(f.pod(2))

	removed := f.pod(2)
	f.scale(2)
	f.w.WaitGone(removed)
	f.waitRolledOut()
	cluster.Holds(t, settle, "the claim stays", func(ctx) (bool, string) {
		claim := f.claim(2)
		return claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil, cluster.DescribeClaim(claim)
	})

	f.scale(3)
	f.waitRolledOut()
	require.Equal(t, disks, f.disks(3))
	require.Equal(t, zone, f.w.ZoneOf(f.pod(2)))
}

func TestEvictionsHonourTheRenderedBudget(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	f.w.Behave("my-fleet-0", cluster.Unready)
	cluster.Wait(t, "an eviction to be refused", func(ctx ctx) (bool, string) {
		err := f.w.Evict(ctx, "my-fleet-1")
		return apierrors.IsTooManyRequests(err), "eviction: " + cluster.Outcome(err)
	})
	require.True(t, isReady(f.pod(1)))

	f.w.Behave("my-fleet-0", cluster.Ready)
	evicted, disks := f.pod(1), f.disks(3)
	f.w.Drain(evicted.Spec.NodeName)
	f.w.Uncordon(evicted.Spec.NodeName)
	f.w.WaitReplaced(evicted)
	f.waitRolledOut()
	require.Equal(t, disks, f.disks(3))
}

// A fleet whose StatefulSet was deleted and applied again takes up its old
// disks again: nothing owns its claims.
func TestDeletedAndRestoredFleetFindsItsDisks(t *testing.T) {
	t.Parallel()
	f := newLive(t, 3)
	disks, set := f.disks(3), f.set()
	f.w.Delete(set)
	f.w.WaitGone(set)
	for ordinal := range 3 {
		f.w.WaitGone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: render.PodName(f.Name, ordinal)}})
	}

	f.sync()
	f.scale(3)
	f.waitRolledOut()
	require.Equal(t, disks, f.disks(3))
}
