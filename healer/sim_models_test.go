// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"slices"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
			left := slices.DeleteFunc(slices.Clone(owner.GetFinalizers()), func(f string) bool { return f == metav1.FinalizerDeleteDependents })
			if len(left) < len(owner.GetFinalizers()) {
				owner.SetFinalizers(left)
				w.update(owner)
			}
		}
	}
}
