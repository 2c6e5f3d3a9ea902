// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Behave makes a Pod behave in a way and returns once its status shows that.
// The Pod that replaces it behaves as its image says.
func (w *World) Behave(pod string, behaviour Behaviour) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.must(w.Tell(w.tb.Context(), client.ObjectKey{Namespace: w.Namespace, Name: pod}, behaviour), "patching Pod "+pod)
	w.WaitBehaviour(pod, behaviour)
}

// Tell has a Pod behave in a way, without waiting for it.
func (c *Cluster) Tell(ctx context.Context, pod client.ObjectKey, behaviour Behaviour) error {
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, behaviourAnnotation, behaviour)
	return c.Client.Patch(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}},
		client.RawPatch(types.MergePatchType, []byte(patch)))
}

// WaitBehaviour waits until a Pod's status shows a behaviour.
func (w *World) WaitBehaviour(pod string, behaviour Behaviour) {
	w.tb.Helper()
	w.WaitPod(pod, "to be "+string(behaviour), func(pod *corev1.Pod) bool { return shows(pod, behaviour) })
}

// Stick keeps a Pod Terminating when it is deleted, as a process or a mount
// that hangs does. Deleting it is the test's own affair.
func (w *World) Stick(pod string) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.annotate(pod, stuckAnnotation, "true")
}

// Unstick ends Stick.
func (w *World) Unstick(pod string) {
	w.tb.Helper()
	w.annotate(pod, stuckAnnotation, nil)
}

// SlowClock makes the clock of a Pod's kubelet slow, for what it says of the Pod
// from then on. The Pod that replaces it has a kubelet whose clock is right.
func (w *World) SlowClock(pod string, by time.Duration) {
	w.tb.Helper()
	w.Needs(w.tb, Nodes)
	w.annotate(pod, clockAnnotation, (-by).String())
}

// shows tells whether the Pod that stays has the status of a behaviour.
func shows(pod *corev1.Pod, behaviour Behaviour) bool {
	is := func(of corev1.PodConditionType) bool { return PodCondition(pod, of).Status == corev1.ConditionTrue }
	if pod.DeletionTimestamp != nil || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	state := pod.Status.ContainerStatuses[0].State
	for _, stage := range stages {
		if stage.Behaviour == behaviour {
			as := state.Waiting == nil && stage.Waiting == "" || state.Waiting != nil && state.Waiting.Reason == stage.Waiting
			return as && is(corev1.PodReady) == stage.PodReady() && is(corev1.ContainersReady) == stage.Ready
		}
	}
	return false
}

func (w *World) annotate(pod, key string, value any) {
	w.tb.Helper()
	w.patch(&corev1.Pod{ObjectMeta: w.named(pod)},
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
}

// patch merges changes into an object.
func (w *World) patch(object client.Object, changes map[string]any) {
	w.tb.Helper()
	w.must(w.merge(w.tb.Context(), object, changes), "changing an object")
}

func (w *World) merge(ctx context.Context, object client.Object, changes map[string]any) error {
	content, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	if err := w.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, content)); err != nil {
		return fmt.Errorf("patching %s %s: %w", kind(object), object.GetName(), err)
	}
	return nil
}
