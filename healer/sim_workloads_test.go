// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/render"
)

// newestOf names a template, whose ControllerRevision is made when it is seen first.
func (w *world) newestOf(set *appsv1.StatefulSet) string {
	name := "rev-" + hashOf(&set.Spec.Template)
	if w.get(&appsv1.ControllerRevision{}, name) {
		return name
	}
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&set.Spec.Template)
	require.NoError(w.t, err)
	template["$patch"] = "replace"
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	require.NoError(w.t, err)
	require.NoError(w.t, w.api.Create(w.ctx, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: simNamespace, Name: name, Labels: set.Spec.Template.Labels},
		Data:       runtime.RawExtension{Raw: raw}, Revision: 1,
	}))
	return name
}

func hashOf(template *corev1.PodTemplateSpec) string {
	raw, _ := json.Marshal(template)
	h := fnv.New32a()
	_, _ = h.Write(raw)
	return fmt.Sprintf("%x", h.Sum32()&0xffff)
}

// runStatefulSet does what the controller does for a Parallel StatefulSet.
func (w *world) runStatefulSet() {
	set := w.set()
	if set == nil || set.DeletionTimestamp != nil {
		return
	}
	next, replicas := w.newestOf(set), replicasOf(set.Spec.Replicas)
	current := cmp.Or(set.Status.CurrentRevision, next)
	rolling := set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType
	partition := 0
	if r := set.Spec.UpdateStrategy.RollingUpdate; rolling && r != nil && r.Partition != nil {
		partition = int(*r.Partition)
	}
	var members []*corev1.Pod
	var ready, updated int
	for i := range replicas {
		revision := next
		if i < partition {
			revision = current
		}
		pod := w.memberOf(set, i, revision)
		if pod == nil {
			continue
		}
		members = append(members, pod)
		if isReady(pod) {
			ready++
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == next {
			updated++
		}
	}
	if rolling && len(members) == replicas && (ready == replicas || !w.maxUnavailable) {
		w.roll(members[min(partition, replicas):], next)
	}
	existing := len(members) + w.removeBeyond(set, replicas)
	if rolling && updated == replicas && ready == replicas {
		current = next
	}
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: set.Generation, Replicas: count(existing), ReadyReplicas: count(ready), UpdatedReplicas: count(updated),
		CurrentRevision: current, UpdateRevision: next,
	}
	if !equalJSON(status, set.Status) {
		set.Status = status
		w.update(set)
	}
}

// roll deletes the last Pod of an older revision, once those after it are Ready. With the feature MaxUnavailableStatefulSet the
// controller waits until all are.
func (w *world) roll(pods []*corev1.Pod, next string) {
	for _, pod := range slices.Backward(pods) {
		switch {
		case pod.Labels[appsv1.StatefulSetRevisionLabel] != next && pod.DeletionTimestamp == nil:
			w.remove(pod, nil, false)
			return
		case pod.DeletionTimestamp != nil || !isReady(pod):
			return
		}
	}
}

// memberOf returns the Pod of an ordinal, which is made, adopted, or deleted when it has failed. It is nil when it is somebody
// else's, or may not be made.
func (w *world) memberOf(set *appsv1.StatefulSet, ordinal int, revision string) *corev1.Pod {
	name, owner := render.PodName(set.Name, ordinal), metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	pod := &corev1.Pod{}
	if !w.get(pod, name) {
		w.makeClaim(set, name)
		if !w.mayCreate(set, name) {
			return nil
		}
		pod = podOf(w.templateOf(revision), name, owner)
		pod.Labels[appsv1.StatefulSetRevisionLabel] = revision
		w.add(pod)
	}
	if metav1.GetControllerOf(pod) == nil && w.selects(set.Spec.Selector, pod) {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
		w.update(pod)
	}
	if !metav1.IsControlledBy(pod, set) {
		return nil
	}
	if pod.Spec.NodeName == "" {
		w.makeClaim(set, name)
	}
	if isOver(pod) && pod.DeletionTimestamp == nil {
		w.remove(pod, nil, false)
	}
	return pod
}

// templateOf reads a ControllerRevision.
func (w *world) templateOf(revision string) *corev1.PodTemplateSpec {
	stored := &appsv1.ControllerRevision{}
	require.True(w.t, w.get(stored, revision), revision)
	var of struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	require.NoError(w.t, json.Unmarshal(stored.Data.Raw, &of))
	return &of.Spec.Template
}

// mayCreate asks whether a controller may create a Pod. One that may not says so in an event about its own object.
func (w *world) mayCreate(owner client.Object, pod string) bool {
	err := w.answer("create Pod " + pod)
	if err == nil {
		return true
	}
	event := &corev1.Event{}
	if w.get(event, pod+".refused") {
		return false
	}
	kind := w.kind(owner)
	w.add(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: simNamespace, Name: pod + ".refused"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "apps/v1", Kind: kind, Namespace: simNamespace, Name: owner.GetName(), UID: owner.GetUID()},
		Reason:         "FailedCreate", Type: corev1.EventTypeWarning, Count: 1,
		FirstTimestamp: metav1.NewTime(w.now()), LastTimestamp: metav1.NewTime(w.now()),
		Message: fmt.Sprintf("create Pod %s in %s %s failed error: %v", pod, kind, owner.GetName(), err),
	})
	return false
}

// removeBeyond deletes the Pods above the range, and returns how many are still there.
func (w *world) removeBeyond(set *appsv1.StatefulSet, replicas int) int {
	left := 0
	for _, pod := range w.pods() {
		_, ordinal, ok := render.ParsePodName(pod.Name)
		if !ok || ordinal < replicas || !metav1.IsControlledBy(&pod, set) {
			continue
		}
		if left++; pod.DeletionTimestamp == nil {
			w.remove(&pod, nil, false)
		}
	}
	return left
}

// makeClaim makes a member's claim, unless there is one, whoever's.
func (w *world) makeClaim(set *appsv1.StatefulSet, pod string) {
	for _, template := range set.Spec.VolumeClaimTemplates {
		claim := template.DeepCopy()
		claim.Name, claim.Namespace = template.Name+"-"+pod, set.Namespace
		claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
		claim.Status.Phase = corev1.ClaimPending
		if !w.get(&corev1.PersistentVolumeClaim{}, claim.Name) {
			w.add(claim)
		}
	}
}

func podOf(template *corev1.PodTemplateSpec, name string, owner *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: simNamespace, Name: name, Labels: map[string]string{}},
		Spec:       *template.Spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for key, value := range template.Labels {
		pod.Labels[key] = value
	}
	pod.OwnerReferences = []metav1.OwnerReference{*owner}
	return pod
}

func (w *world) selects(selector *metav1.LabelSelector, o client.Object) bool {
	s, err := metav1.LabelSelectorAsMap(selector)
	require.NoError(w.t, err)
	for key, value := range s {
		if o.GetLabels()[key] != value {
			return false
		}
	}
	return true
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
