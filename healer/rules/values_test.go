// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

func zones(node string) string {
	if node == "" {
		return ""
	}
	return "zone-of-" + node
}

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// apiPod is a Ready member as the API server holds it.
func apiPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleets", Name: "my-fleet-1", UID: "pod-uid", ResourceVersion: "7", CreationTimestamp: ago(time.Hour),
			Labels:          map[string]string{v1alpha1.LabelFleetUID: ours},
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "my-fleet", UID: "set-uid", Controller: &controller}},
		},
		Spec: corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{
			StartTime: new(ago(time.Hour)),
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Hour)},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(50 * time.Minute)},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "celld", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func TestPodValues(t *testing.T) {
	base := Pod{
		Ref:  Ref{Kind: "Pod", Namespace: "fleets", Name: "my-fleet-1", UID: "pod-uid", ResourceVersion: "7"},
		Ours: true, Controlled: true, Created: noon.Add(-time.Hour), Node: "node-1", Zone: "zone-of-node-1", Ready: true,
		Transition: noon.Add(-50 * time.Minute),
	}
	ready := func(status corev1.ConditionStatus, since time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions[1].Status, p.Status.Conditions[1].LastTransitionTime = status, ago(since)
		}
	}
	waits := func(reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		}
	}
	cases := map[string]struct {
		change []func(*corev1.Pod)
		want   func(*Pod)
	}{
		"ready":              {want: func(*Pod) {}},
		"another's label":    {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.Labels[v1alpha1.LabelFleetUID] = theirs }}, want: func(p *Pod) { p.Ours = false }},
		"no labels":          {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.Labels = nil }}, want: func(p *Pod) { p.Ours = false }},
		"another controller": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.OwnerReferences[0].UID = "old" }}, want: func(p *Pod) { p.Controlled = false }},
		"an owner that does not control": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }},
			want: func(p *Pod) { p.Controlled, p.Ownerless = false, true }},
		"no owner": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.OwnerReferences = nil }}, want: func(p *Pod) { p.Controlled, p.Ownerless = false, true }},
		"down since": {change: []func(*corev1.Pod){ready(corev1.ConditionFalse, time.Minute)},
			want: func(p *Pod) { p.Ready, p.Failed, p.Transition = false, true, noon.Add(-time.Minute) }},
		"unknown is not ready": {change: []func(*corev1.Pod){ready(corev1.ConditionUnknown, time.Minute)},
			want: func(p *Pod) { p.Ready, p.Failed, p.Transition = false, true, noon.Add(-time.Minute) }},
		"starting": {change: []func(*corev1.Pod){ready(corev1.ConditionFalse, time.Hour)},
			want: func(p *Pod) { p.Ready, p.Transition = false, noon.Add(-time.Hour) }},
		"a condition older than the Pod": {change: []func(*corev1.Pod){ready(corev1.ConditionFalse, 24*time.Hour)},
			want: func(p *Pod) { p.Ready, p.Transition = false, noon.Add(-time.Hour) }},
		"a condition of the future": {change: []func(*corev1.Pod){ready(corev1.ConditionTrue, -time.Hour)}, want: func(p *Pod) { p.Transition = noon }},
		"a Pod of the future":       {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.CreationTimestamp = ago(-time.Hour) }}, want: func(p *Pod) { p.Created, p.Transition = noon, noon }},
		"no conditions": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }},
			want: func(p *Pod) { p.Ready, p.Transition = false, noon.Add(-time.Hour) }},
		"terminating": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(ago(-30*time.Second)), new(int64(30))
		}},
			want: func(p *Pod) { p.Terminating, p.DeletedAt = true, noon.Add(30*time.Second) }},
		"forced": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(ago(0)), new(int64(0)) }},
			want: func(p *Pod) { p.Terminating, p.DeletedAt, p.Forced = true, noon, true }},
		"terminating without a grace": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.DeletionTimestamp = new(ago(0)) }},
			want: func(p *Pod) { p.Terminating, p.DeletedAt = true, noon }},
		"not looked at": {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeName, p.Status = "", corev1.PodStatus{} }},
			want: func(p *Pod) { p.Node, p.Zone, p.Ready, p.Transition = "", "", false, noon.Add(-time.Hour) }},
		"unschedulable": {change: []func(*corev1.Pod){unschedulable("0/3 nodes")}, want: func(p *Pod) {
			p.Node, p.Zone, p.Ready, p.Transition, p.Unschedulable, p.UnscheduledSince = "", "", false, noon.Add(-time.Hour), "0/3 nodes", noon.Add(-time.Minute)
		}},
		"unschedulable without a text": {change: []func(*corev1.Pod){unschedulable("")}, want: func(p *Pod) {
			p.Node, p.Zone, p.Ready, p.Transition, p.Unschedulable, p.UnscheduledSince = "", "", false, noon.Add(-time.Hour), "no reason given", noon.Add(-time.Minute)
		}},
		"unscheduled for another reason": {change: []func(*corev1.Pod){unschedulable("x"), func(p *corev1.Pod) { p.Status.Conditions[0].Reason = "SchedulingGated" }},
			want: func(p *Pod) { p.Node, p.Zone, p.Ready, p.Transition = "", "", false, noon.Add(-time.Hour) }},
		"unschedulable once, on a node by now": {change: []func(*corev1.Pod){unschedulable("x"), func(p *corev1.Pod) { p.Spec.NodeName = "node-1" }},
			want: func(p *Pod) { p.Ready, p.Transition = false, noon.Add(-time.Hour) }},
		"gated": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "other"}, {Name: v1alpha1.GateBucketZone}}
		}}, want: func(p *Pod) { p.Gated, p.ForeignGates = true, []string{"other"} }},
		"a readiness gate": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			c := &p.Status.Conditions[slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })]
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ReadinessGatesNotReady", "gate x"
		}}, want: func(p *Pod) { p.Ready, p.GatesNotReady, p.Trouble, p.Failed = false, true, "gate x", true }},
		"crash loop":   {change: []func(*corev1.Pod){waits("CrashLoopBackOff", "back-off 5m")}, want: func(p *Pod) { p.Failed, p.Trouble = true, "container celld: CrashLoopBackOff: back-off 5m" }},
		"creating":     {change: []func(*corev1.Pod){waits("ContainerCreating", "")}, want: func(*Pod) {}},
		"initializing": {change: []func(*corev1.Pod){waits("PodInitializing", "")}, want: func(*Pod) {}},
		"no reason":    {change: []func(*corev1.Pod){waits("", "")}, want: func(*Pod) {}},
		"restarted":    {change: []func(*corev1.Pod){func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 1 }}, want: func(p *Pod) { p.Failed = true }},
		"ended": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}
		}}, want: func(p *Pod) { p.Failed, p.Trouble = true, "container celld: OOMKilled: exit code 137" }},
		"ended well": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		}}, want: func(*Pod) {}},
		"an init container's image": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
		}, waits("PodInitializing", "")}, want: func(p *Pod) { p.ImageWait = "container init: ErrImagePull" }},
		"a sidecar's image": {change: []func(*corev1.Pod){func(p *corev1.Pod) {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses,
				corev1.ContainerStatus{Name: "proxy", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "m"}}})
		}}, want: func(p *Pod) { p.ImageWait = "container proxy: ImagePullBackOff: m" }},
		"prepared": {change: []func(*corev1.Pod){held(`{"claimUID":"c"}`)}, want: func(p *Pod) {
			p.Handover, p.Finalizers = &Handover{ClaimUID: "c"}, []string{v1alpha1.FinalizerReplacingDisk}
		}},
		"a record without its finalizer": {change: []func(*corev1.Pod){held(`{"claimUID":"c","committed":true}`), func(p *corev1.Pod) { p.Finalizers = nil }}, want: func(*Pod) {}},
	}
	for _, reason := range imageWaits {
		cases["image: "+reason] = struct {
			change []func(*corev1.Pod)
			want   func(*Pod)
		}{[]func(*corev1.Pod){waits(reason, "")}, func(p *Pod) { p.ImageWait = "container celld: " + reason }}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := base
			c.want(&want)
			require.Empty(t, cmp.Diff(&want, podValues(apiPod(c.change...), ours, "set-uid", zones, noon)))
		})
	}
}

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status = corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message, LastTransitionTime: ago(time.Minute)},
		}}
	}
}

func held(record string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Finalizers = []string{v1alpha1.FinalizerReplacingDisk}
		p.Annotations = map[string]string{v1alpha1.AnnotationReplacement: record}
	}
}

// Of a record that cannot be read no claim is known, so none is ended.
func TestHandoverRecords(t *testing.T) {
	for _, record := range []string{
		"", "null", "{}", "[]", "true", `{"claimUID":""}`, `{"claimUID":"c"`, `{"claimUID":1}`, `{"claimUID":"c"} garbage`, "\x00\xff",
	} {
		require.Equal(t, &Handover{}, handoverOf(apiPod(held(record))), record)
	}
	require.Nil(t, handoverOf(apiPod()))
	require.Equal(t, &Handover{}, handoverOf(apiPod(held(""), func(p *corev1.Pod) { p.Annotations = nil })))
	require.Equal(t, &Handover{ClaimUID: "claim-uid"}, handoverOf(apiPod(held(HandoverRecord(Ref{UID: "claim-uid"})))))
}

func TestNoControllerWithoutWorkload(t *testing.T) {
	require.False(t, podValues(apiPod(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "" }), ours, "", zones, noon).Controlled)
}

func TestClaimValues(t *testing.T) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleets", Name: "data-my-fleet-1", UID: "claim-uid", ResourceVersion: "3", CreationTimestamp: ago(-time.Hour),
		Labels: map[string]string{v1alpha1.LabelFleetUID: ours}, Annotations: map[string]string{SelectedNode: "node-1"}, Finalizers: []string{"f"},
	}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-1"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
	want := Claim{
		Ref:      Ref{Kind: "PersistentVolumeClaim", Namespace: "fleets", Name: "data-my-fleet-1", UID: "claim-uid", ResourceVersion: "3"},
		Identity: ours, Created: noon, Finalizers: []string{"f"}, Bound: true, Node: "node-1", Zone: "zone-of-node-1", VolumeName: "pv-1",
	}
	require.Equal(t, &want, claimValues(c, zones, noon), "a claim of the future is of now")
	c.Status.Phase, want.Bound, want.Lost = corev1.ClaimLost, false, true
	require.Equal(t, &want, claimValues(c, zones, noon))
	c.Status.Phase, want.Lost = "", false
	c.Labels, want.Identity = nil, ""
	c.Annotations, want.Node, want.Zone = nil, "", ""
	c.DeletionTimestamp, want.Terminating = new(ago(0)), true
	require.Equal(t, &want, claimValues(c, zones, noon))
}

func TestWorkloadValues(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "fleets", Name: "my-fleet", UID: "u", ResourceVersion: "3", Generation: 4}
	set := statefulSetValues(&appsv1.StatefulSet{ObjectMeta: meta, Status: appsv1.StatefulSetStatus{ObservedGeneration: 3}})
	require.Equal(t, &Workload{Ref: Ref{Kind: "StatefulSet", Namespace: "fleets", Name: "my-fleet", UID: "u", ResourceVersion: "3"}, Replicas: 1}, set,
		"no replicas are one, as the API server has it; and nothing is observed")
	meta.Labels, meta.Annotations = map[string]string{v1alpha1.LabelFleetUID: ours}, map[string]string{v1alpha1.AnnotationSpecDigest: "d"}
	meta.OwnerReferences, meta.DeletionTimestamp = []metav1.OwnerReference{{}}, new(ago(0))
	deployment := deploymentValues(&appsv1.Deployment{
		ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 4, Replicas: 3, ReadyReplicas: 2, UpdatedReplicas: 1},
	})
	require.Equal(t, &Workload{
		Ref:      Ref{Kind: "Deployment", Namespace: "fleets", Name: "my-fleet", UID: "u", ResourceVersion: "3"},
		Identity: ours, SpecDigest: "d", Owned: true, Terminating: true, Observed: true, Existing: 3, Ready: 2, Updated: 1,
	}, deployment)
}

func TestHeldWorkloads(t *testing.T) {
	rolling := func(partition *int32) appsv1.StatefulSetUpdateStrategy {
		return appsv1.StatefulSetUpdateStrategy{
			Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: partition},
		}
	}
	for name, tc := range map[string]struct {
		strategy appsv1.StatefulSetUpdateStrategy
		held     bool
	}{
		"nothing written":                {},
		"no partition":                   {strategy: rolling(nil)},
		"partition 0":                    {strategy: rolling(new(int32(0)))},
		"some members":                   {strategy: rolling(new(int32(1))), held: true},
		"paused by an earlier version":   {strategy: rolling(new(int32(2147483647))), held: true},
		"paused":                         {strategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, held: true},
		"a rolling update and no values": {strategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{UpdateStrategy: tc.strategy}}
			require.Equal(t, tc.held, statefulSetValues(set).Held)
		})
	}
}

func TestWhoElseOwnsTheRollingUpdate(t *testing.T) {
	const strategy = `"f:updateStrategy":{"f:rollingUpdate":{"f:partition":{}},"f:type":{}}`
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("argocd-controller", `{"f:metadata":{"f:annotations":{"f:`+v1alpha1.AnnotationSpecDigest+`":{}}},"f:spec":{`+strategy+`}}`),
		entry("kubectl-edit", `{"f:spec":{`+strategy+`}}`),
		entry("kube-controller-manager", `{"f:status":{"f:replicas":{}}}`),
		{Manager: "fleetwright-healer"},
	}}}
	require.Equal(t, []string{"kubectl-edit"}, statefulSetValues(set).Rolls)
}

func TestSentence(t *testing.T) {
	require.Equal(t, "a: b", Sentence("a", "", "b"))
	require.Empty(t, Sentence("", ""))
	long := Sentence(strings.Repeat("é", 1400))
	require.True(t, utf8.ValidString(long))
	require.LessOrEqual(t, len(long), 1003)
}

// Whatever an annotation holds, a Pod with the finalizer is one in a hand-over.
func FuzzHandover(f *testing.F) {
	f.Add(`{"claimUID":"c"}`)
	f.Add(`{"CLAIMUID":"c"}`)
	f.Add("")
	f.Fuzz(func(t *testing.T, record string) {
		p := podValues(apiPod(held(record)), ours, "set-uid", zones, noon)
		require.NotNil(t, p.Handover)
		require.Nil(t, p.Handover.Begun, "only memory tells")
		if p.Handover.ClaimUID != "" {
			require.Contains(t, record, "{")
		}
	})
}
