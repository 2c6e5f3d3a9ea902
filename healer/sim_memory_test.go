// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shown is what the healer's informers showed last.
type shown map[types.UID]*corev1.Pod

// inform shows the healer's memory what became of Pods, as informers do, unless the caches stand still.
func (w *world) inform() {
	if w.frozen != nil {
		return
	}
	now := shown{}
	for _, pod := range w.pods() {
		now[pod.UID] = &pod
		w.healer.memory.observed(&pod)
	}
	for uid, pod := range w.shown {
		if now[uid] == nil {
			w.healer.memory.gone(pod)
		}
	}
	w.shown = now
}

// eventsOf lists events by fields, which the fake client cannot.
func (w *world) eventsOf(ctx context.Context, list *corev1.EventList, opts []client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	if err := w.api.List(ctx, list, client.InNamespace(options.Namespace)); err != nil {
		return err
	}
	list.Items = slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		return !options.FieldSelector.Matches(fields.Set{"involvedObject.uid": string(e.InvolvedObject.UID), "reason": e.Reason})
	})
	return nil
}
