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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/render"
)

// step runs every model until nothing changes any more.
func (w *world) step() {
	last := ""
	for range 100 {
		before := w.wrote
		for _, model := range []struct {
			name string
			run  func()
		}{
			{"garbage-collector", w.collectGarbage}, {"statefulset", w.runStatefulSet}, {"deployment", w.runDeployment},
			{"scheduler", w.schedule}, {"disks", w.provision}, {"kubelet", w.runKubelets}, {"pvc-protection", w.protectClaims},
		} {
			if from := w.wrote; !w.halted[model.name] {
				if model.run(); w.wrote != from {
					last = model.name
				}
			}
		}
		w.check()
		if w.wrote == before {
			return
		}
	}
	require.Fail(w.t, "the models do not come to rest", last)
}

func (w *world) scaleTo(o client.Object, replicas int32) {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		o.Spec.Replicas = &replicas
	case *appsv1.Deployment:
		o.Spec.Replicas = &replicas
	}
	o.SetGeneration(o.GetGeneration() + 1)
	w.update(o)
}

// collectGarbage deletes what has no owner left, and ends a foreground deletion.
func (w *world) collectGarbage() {
	for _, owner := range []client.Object{&appsv1.StatefulSet{}, &appsv1.Deployment{}} {
		there := w.get(owner, "my-fleet")
		foreground := there && owner.GetDeletionTimestamp() != nil
		left := false
		for _, pod := range w.pods() {
			ref := metav1.GetControllerOf(&pod)
			if ref == nil || ref.Kind != w.kind(owner) || ref.UID == "another" {
				continue
			}
			if (!there || foreground || ref.UID != owner.GetUID()) && pod.DeletionTimestamp == nil {
				w.remove(&pod, nil, false)
			}
			left = left || there && ref.UID == owner.GetUID()
		}
		if foreground && !left {
			owner.SetFinalizers(nil)
			w.update(owner)
		}
	}
}

func revisionOf(template *corev1.PodTemplateSpec) string {
	raw, _ := json.Marshal(template)
	h := fnv.New32a()
	_, _ = h.Write(raw)
	return fmt.Sprintf("rev-%x", h.Sum32()&0xffff)
}

// runStatefulSet does what the controller does for a Parallel StatefulSet with rolling updates.
func (w *world) runStatefulSet() {
	set := w.set()
	if set == nil || set.DeletionTimestamp != nil {
		return
	}
	replicas, next := replicasOf(set.Spec.Replicas), revisionOf(&set.Spec.Template)
	rolling, partition := set.Spec.UpdateStrategy.RollingUpdate, 0 // nil while the fleet is paused: OnDelete
	if rolling != nil {
		partition = int(*rolling.Partition)
	}
	current := cmp.Or(set.Status.CurrentRevision, next)
	var existing, ready, updated int
	updating := ""
	for i := range replicas {
		name := render.PodName(set.Name, i)
		pod := &corev1.Pod{}
		if !w.get(pod, name) {
			w.makeClaim(set, name)
			revision := next
			if i < partition {
				revision = current
			}
			pod = podOf(&set.Spec.Template, name, revision, metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet")))
			w.add(pod)
		}
		if metav1.GetControllerOf(pod) == nil && w.selects(set.Spec.Selector, pod) {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
			w.update(pod)
		}
		if !metav1.IsControlledBy(pod, set) {
			continue
		}
		if pod.Spec.NodeName == "" {
			w.makeClaim(set, name)
		}
		existing++
		if isReady(pod) {
			ready++
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == next {
			updated++
		} else if rolling != nil && i >= partition {
			updating = name
		}
	}
	if updating != "" && ready == replicas {
		pod := &corev1.Pod{}
		w.get(pod, updating)
		w.remove(pod, nil, false)
	}
	existing += w.removeBeyond(set, replicas)
	if rolling != nil && updated == replicas && ready == replicas {
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

func podOf(template *corev1.PodTemplateSpec, name, revision string, owner *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: simNamespace, Name: name, Labels: map[string]string{appsv1.StatefulSetRevisionLabel: revision}},
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

// runDeployment does what the controller and its ReplicaSets do about counts; it rolls nothing out.
func (w *world) runDeployment() {
	d := &appsv1.Deployment{}
	if !w.get(d, "my-fleet") || d.DeletionTimestamp != nil {
		return
	}
	var there, ready int
	for _, pod := range w.pods() {
		if !metav1.IsControlledBy(&pod, d) || pod.DeletionTimestamp != nil {
			continue
		}
		if there++; there > replicasOf(d.Spec.Replicas) {
			w.remove(&pod, nil, false)
			there--
			continue
		}
		if isReady(&pod) {
			ready++
		}
	}
	for ; there < replicasOf(d.Spec.Replicas); there++ {
		w.uids++
		name := fmt.Sprintf("%s-5f7c-%03d", d.Name, w.uids)
		w.add(podOf(&d.Spec.Template, name, "", metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))))
	}
	status := appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: count(there), ReadyReplicas: count(ready), UpdatedReplicas: count(there)}
	if !equalJSON(status, d.Status) {
		d.Status = status
		w.update(d)
	}
}
