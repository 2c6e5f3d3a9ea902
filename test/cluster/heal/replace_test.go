// SPDX-License-Identifier: Apache-2.0

package heal_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// requireReplaced waits until a member runs on a fresh disk, and shows that the
// others kept theirs.
func (s *subject) requireReplaced(ordinal int, before []string, pods []*corev1.Pod) {
	s.t.Helper()
	s.w.WaitReplaced(pods[ordinal])
	s.waitReady()
	after := s.disks(len(before))
	for i := range before {
		if i == ordinal {
			require.NotEqual(s.t, before[i], after[i], "the disk of member %d", i)
			continue
		}
		require.Equal(s.t, before[i], after[i], "the disk of member %d", i)
		require.Equal(s.t, pods[i].UID, s.pod(i).UID, "the Pod of member %d", i)
	}
}

func (s *subject) pods(count int) []*corev1.Pod {
	s.t.Helper()
	var pods []*corev1.Pod
	for ordinal := range count {
		pods = append(pods, s.pod(ordinal))
	}
	return pods
}

func TestCrashingMemberIsReplaced(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		"my-fleet-1 has not been ready since",
		"CrashLoopBackOff",
		"it is replaced on a fresh disk at ")
	require.NotNil(t, s.stored().State().Members[1].ReplaceAfter)
	s.holds("nobody is replaced before ten minutes", 3)

	s.holdsAfter(9, "nobody is replaced before ten minutes", 3)
	s.passMinutes(1)
	s.requireReplaced(1, disks, pods)
	s.waitEvent("MemberReplaced")
	require.Empty(t, s.pod(1).Finalizers)
}

func TestTwoMembersDownKeepTheirDisks(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	s.w.Behave("my-fleet-0", cluster.Unready)
	s.w.Behave("my-fleet-2", cluster.Unready)
	s.passMinutes(60)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		"not replaced while my-fleet-2 is also down")
	s.holds("neither is replaced", 3)

	// Once one of them is back for five minutes, the other's time has come.
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-0", cluster.Ready)
	s.waitStatus("to have two ready members", func(status *v1alpha1.FleetStatus) bool { return status.ReadyReplicas == 2 })
	s.holdsAfter(4, "nobody is replaced while another is not settled", 3)
	s.passMinutes(1)
	s.requireReplaced(2, disks, pods)
}

func TestMemberWithoutImageKeepsItsDisk(t *testing.T) {
	t.Parallel()
	for _, behaviour := range []cluster.Behaviour{cluster.Missing, cluster.Misconfigured} {
		t.Run(string(behaviour), func(t *testing.T) {
			t.Parallel()
			s := newReadyFleet(t, 3, oldDisks)
			s.w.Behave("my-fleet-1", behaviour)
			s.passMinutes(60)
			s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonInfrastructureBlocked,
				"a fresh disk does not help a container that waits on its image or configuration")
			s.holds("the disk stays", 3)
		})
	}
}

func TestDiskMadeForThisPodStays(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	s.w.Behave("my-fleet-1", cluster.Crashing)
	s.passMinutes(60)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		"its disk was made for this Pod")
	s.holds("the disk stays", 3)
}

func TestMemberOfADeadNodeIsReplaced(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	disks, pods := s.disks(3), s.pods(3)
	dead := pods[2].Spec.NodeName
	s.w.SilenceNode(dead)
	s.w.WaitPod("my-fleet-2", "to be told to go", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	s.holdsTerminating(pods[2])

	// The Pod is forced away, its disk is kept: the node may come back.
	s.passMinutes(3)
	s.w.WaitReplaced(pods[2])
	s.waitEvent("MemberForceDeleted")
	require.Equal(t, disks, s.disks(3))
	s.w.WaitUnschedulable("my-fleet-2")
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonWaitingForPlacement,
		"my-fleet-2 has not been scheduled since")

	// A new node in the zone does not have the old zone's place; it has, so the member returns on its own disk.
	s.w.AddNode(s.w.Zones[slot(t, s.w, dead)])
	s.waitReady()
	require.Equal(t, disks, s.disks(3))
}

// A member that finds no node in its disk's zone gets a fresh disk in another
// zone that has a node to spare and room below its cap.
func TestUnschedulableMemberIsReplaced(t *testing.T) {
	t.Parallel()
	s := newRoomyFleet(t, 3, 1, oldDisks)
	disks, ordinal := s.disks(3), s.in(s.w.Zones[1])[0]
	s.unschedule(ordinal)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		s.pod(ordinal).Name+" has not been scheduled since",
		"nodes are available")
	pods := s.pods(3)
	s.passMinutes(11)
	s.requireReplaced(ordinal, disks, pods)
	require.Equal(t, s.w.Zones[0], s.w.ZoneOf(s.pod(ordinal)))
}

// unschedule takes the only node in a member's zone out of use, and the member
// from it.
func (s *subject) unschedule(ordinal int) {
	s.t.Helper()
	pod := s.pod(ordinal)
	s.w.Cordon(pod.Spec.NodeName)
	s.w.Delete(pod)
	s.w.WaitReplaced(pod)
	s.w.WaitUnschedulable(pod.Name)
}

func TestUnschedulableMemberAndAnotherDown(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3, oldDisks)
	s.unschedule(0)
	s.w.Behave("my-fleet-1", cluster.Unready)
	s.passMinutes(60)
	s.waitReason(v1alpha1.PhaseBlocked, v1alpha1.ReasonMemberUnschedulable,
		"my-fleet-0 has not been scheduled since",
		"not replaced while my-fleet-1 is also down")
	s.holds("neither is replaced", 3)
}

func TestLostDiskIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-0", cluster.Crashing)
	s.w.LoseVolume("data-my-fleet-0")
	s.requireReplaced(0, disks, pods)
	s.waitEvent("MemberDiskLost")
}

// A healer that has just begun does not know what was replaced before: after a
// restore of etcd every volume may seem lost.
func TestLostDiskWaitsForAHealerThatBegins(t *testing.T) {
	t.Parallel()
	s := newYoungFleet(t, 3, 0)
	disks, pods := s.disks(3), s.pods(3)
	s.w.Behave("my-fleet-0", cluster.Crashing)
	s.w.LoseVolume("data-my-fleet-0")
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		"claim data-my-fleet-0 is Lost, and replacements are held back over all fleets")
	s.holdsAfter(9, "the disk waits for its volume", 3)
	s.passMinutes(1)
	s.requireReplaced(0, disks, pods)
	s.waitEvent("MemberDiskLost")
}

// The others have to be settled, and the healer's first delay has to be over.
func TestClaimDeletedByHandGoesWhenOthersAreSettled(t *testing.T) {
	t.Parallel()
	s := newYoungFleet(t, 3, 0)
	disks, pods := s.disks(3), s.pods(3)
	s.w.Delete(s.claim(1), client.PropagationPolicy("Background"))
	s.holds("the member keeps running while the others are not settled", 3)
	s.passMinutes(6)
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacementPending,
		"claim data-my-fleet-1 is being deleted; held back until ")
	s.holdsAfter(2, "the member keeps running while the healer does not know the past", 3)
	s.passMinutes(3)
	s.requireReplaced(1, disks, pods)
	s.waitEvent("MemberReleased")
}

// All claims deleted at once are replaced one after another, each when the
// others are settled again.
func TestAllClaimsDeletedByHandGoOneByOne(t *testing.T) {
	t.Parallel()
	s := newReadyFleet(t, 3)
	disks, pods := s.disks(3), s.pods(3)
	for ordinal := range 3 {
		s.w.Delete(s.claim(ordinal))
	}
	for ordinal := range 3 {
		if ordinal > 0 {
			s.passMinutes(6)
		}
		s.w.WaitReplaced(pods[ordinal])
		s.waitReady()
		for later := ordinal + 1; later < 3; later++ {
			require.Equal(t, disks[later], s.disks(3)[later], "member %d is next only when member %d is settled", later, ordinal)
		}
	}
}

// What refuses to let a claim go is asked before anything happens: the Pod runs on.
func TestClaimThatMayNotBeDeletedKeepsThePod(t *testing.T) {
	t.Parallel()
	s := newYoungFleet(t, 3, 0, oldDisks) // its members change before time jumps: what is tried changes a Pod each time
	disks, pods := s.disks(3), s.pods(3)
	allow := s.refuseClaims()
	s.w.Behave("my-fleet-1", cluster.Crashing)
	mark := s.w.Mark(t)
	s.passMinutes(11)
	s.waitEvent("ActionFailed")
	s.waitReason(v1alpha1.PhaseProvisioning, v1alpha1.ReasonReplacingMember,
		"the deletion of claim data-my-fleet-1 would be refused", "no disk goes today")
	s.holds("the member keeps its Pod", 3)
	require.Empty(t, s.w.Requests(t, mark, func(r cluster.Request) bool { return s.byHealer(r) && r.Verb == "delete" && r.Writes() }))
	s.w.WaitPod("my-fleet-1", "to be released", func(pod *corev1.Pod) bool { return len(pod.Finalizers) == 0 })

	allow()
	s.passMinutes(2)
	s.requireReplaced(1, disks, pods)
}

// refuseClaims has the API server refuse to delete claims in the World.
func (s *subject) refuseClaims() (allow func()) {
	s.t.Helper()
	name := metav1.ObjectMeta{Name: s.w.Namespace}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Delete},
				Rule: admissionv1.Rule{
					APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"persistentvolumeclaims"},
				},
			},
		}}},
		Validations: []admissionv1.Validation{{Expression: "false", Message: "no disk goes today"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName:        name.Name,
		ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		MatchResources: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.w.Namespace}},
		},
	}}
	claim := s.claim(0)
	refuses := func(want bool) {
		s.t.Helper()
		cluster.Wait(s.t, fmt.Sprint("claims to be protected: ", want), func(ctx ctx) (bool, string) {
			err := s.w.Client.Delete(ctx, claim, client.DryRunAll)
			return (err != nil) == want, fmt.Sprint(err)
		})
	}
	require.NoError(s.t, s.w.Client.Create(s.t.Context(), policy))
	require.NoError(s.t, s.w.Client.Create(s.t.Context(), binding))
	unbind := sync.OnceFunc(func() {
		for _, object := range []client.Object{binding, policy} {
			require.NoError(s.t, s.w.Client.Delete(context.WithoutCancel(s.t.Context()), object))
		}
	})
	s.t.Cleanup(unbind)
	refuses(true)
	return func() { s.t.Helper(); unbind(); refuses(false) }
}

func (s *subject) holdsTerminating(pod *corev1.Pod) {
	s.t.Helper()
	s.look()
	cluster.Holds(s.t, settle, "the Pod is left to its node for two minutes", func(ctx) (bool, string) {
		now := s.w.Pod(pod.Name)
		return now.UID == pod.UID, cluster.DescribePod(now)
	})
}

// slot returns the place of a node's zone in the World.
func slot(t testing.TB, w *cluster.World, node string) int {
	t.Helper()
	for i, zone := range w.Zones {
		for _, name := range w.Nodes(zone) {
			if name == node {
				return i
			}
		}
	}
	t.Fatalf("node %s is in no zone", node)
	return -1
}
