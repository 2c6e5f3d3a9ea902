// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// A fleet is looked at again when somebody changes it, and not when the healer does.
func TestWhatWakesAFleet(t *testing.T) {
	ours, theirs := []string{v1alpha1.FinalizerFleetCleanup}, []string{v1alpha1.FinalizerFleetCleanup, "example.com/backup"}
	deleted := &metav1.Time{Time: noon}
	for name, tc := range map[string]struct {
		before, after metav1.ObjectMeta
		want          bool
	}{
		"the status":                         {},
		"the healer's finalizer is added":    {after: metav1.ObjectMeta{Finalizers: ours}},
		"the spec":                           {before: metav1.ObjectMeta{Generation: 1}, after: metav1.ObjectMeta{Generation: 2}, want: true},
		"an annotation":                      {after: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}}},
		"protection is taken away":           {before: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationProtect: "true"}}, want: true},
		"the healer's finalizer is removed":  {before: metav1.ObjectMeta{Finalizers: ours}, want: true},
		"another's finalizer, while deleted": {before: metav1.ObjectMeta{Finalizers: ours, DeletionTimestamp: deleted}, after: metav1.ObjectMeta{Finalizers: theirs, DeletionTimestamp: deleted}, want: true},
		"another's finalizer is gone, while deleted": {
			before: metav1.ObjectMeta{Finalizers: theirs, DeletionTimestamp: deleted}, after: metav1.ObjectMeta{Finalizers: ours, DeletionTimestamp: deleted}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, fleetChanged.Update(event.UpdateEvent{
				ObjectOld: &v1alpha1.PersistentFleet{ObjectMeta: tc.before}, ObjectNew: &v1alpha1.PersistentFleet{ObjectMeta: tc.after},
			}))
		})
	}
}

// A fleet whose object is gone leaves neither notes nor metrics.
func TestFleetThatIsGoneIsForgotten(t *testing.T) {
	w := newWorld(t)
	registry := prometheus.NewPedanticRegistry()
	w.healer.Metrics = NewMetrics(registry, "test")
	w.started("kind: PersistentFleet")
	request := Request{Kind: v1alpha1.KindPersistentFleet, NamespacedName: simRequest}
	require.Contains(t, w.healer.memory.fleets, request)
	fleet := w.fleet()
	fleet.SetFinalizers(nil)
	w.update(fleet)
	require.NoError(t, w.api.Delete(t.Context(), fleet))
	_, err := w.healer.Reconcile(w.ctx, request)
	require.NoError(t, err)
	require.Empty(t, w.healer.memory.fleets)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				require.NotEqual(t, simRequest.Name, label.GetValue(), family.GetName())
			}
		}
	}
}

// An action that has begun is finished, even when the healer is told to stop: half of a hand-over costs the next one another look.
func TestStopDoesNotCutAnActionShort(t *testing.T) {
	w, disk := dueForReplacement(t)
	ctx, cancel := context.WithCancel(w.ctx)
	w.onWrite = cancel
	_, err := w.healer.Reconcile(ctx, Request{Kind: v1alpha1.KindPersistentFleet, NamespacedName: simRequest})
	require.NoError(t, err)
	require.Error(t, ctx.Err(), "nothing was written: "+w.trace.String())
	w.restart()
	w.settle(time.Minute)
	require.NotEqual(t, disk, w.disk("my-fleet-1"), w.trace.String())
}
