// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/webhook"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// A store answers reads from a list of objects, or with an error.
type store struct {
	objects []client.Object
	err     error
	reads   atomic.Int64
}

func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.reads.Add(1)
	if s.err != nil {
		return s.err
	}
	for _, o := range s.objects {
		if o.GetName() == key.Name && o.GetNamespace() == key.Namespace && kindOf(o) == kindOf(into) {
			return convert(o, into)
		}
	}
	return apierrors.NewNotFound(corev1.Resource("things"), key.Name)
}

func (s *store) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	s.reads.Add(1)
	if s.err != nil {
		return s.err
	}
	var o client.ListOptions
	o.ApplyOptions(options)
	var items []any
	for _, object := range s.objects {
		in := o.Namespace == "" || object.GetNamespace() == o.Namespace
		if in && kindOf(object)+"List" == kindOf(list) && (o.LabelSelector == nil || o.LabelSelector.Matches(labelsOf(object))) {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				return err
			}
			items = append(items, content)
		}
	}
	if u, ok := list.(*unstructured.UnstructuredList); ok {
		for _, item := range items {
			u.Items = append(u.Items, unstructured.Unstructured{Object: item.(map[string]any)})
		}
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"items": items}, list)
}

type labelsOfObject map[string]string

func labelsOf(o client.Object) labelsOfObject           { return o.GetLabels() }
func (l labelsOfObject) Has(key string) bool            { _, ok := l[key]; return ok }
func (l labelsOfObject) Get(key string) string          { return l[key] }
func (l labelsOfObject) Lookup(k string) (string, bool) { v, ok := l[k]; return v, ok }

func kindOf(o runtime.Object) string {
	if kind := o.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	kinds, _, err := clientgoscheme.Scheme.ObjectKinds(o)
	if err != nil {
		return ""
	}
	return kinds[0].Kind
}

func convert(from, into client.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		return err
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = content
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, into)
}

func newReader(t testing.TB, cached, live *store) *webhook.Reader {
	t.Helper()
	metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	return &webhook.Reader{Cached: cached, Live: live, Metrics: metrics}
}

func stored(t testing.TB, patches ...string) client.Object {
	t.Helper()
	return rulestest.Fleet(t, rulestest.Persistent, patches...)
}

func metaOf(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "fleets", Name: name, Labels: labels}
}

func TestGather(t *testing.T) {
	me := rulestest.Live(t)
	labels := map[string]string{v1alpha1.LabelFleetUID: me.Identity}
	yes, three := true, int32(3)
	reservation := &v1alpha1.StorageReservation{ObjectMeta: metav1.ObjectMeta{Name: render.ReservationName(me.Bucket)}, Spec: v1alpha1.StorageReservationSpec{Bucket: "s3://my-bucket",
		Identity: me.Identity, Fleet: v1alpha1.FleetReference{Kind: "PersistentFleet", Namespace: "fleets", Name: "my-fleet"}}}
	reservation.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindStorageReservation))
	controlled := metaOf("my-fleet-2", labels)
	controlled.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "my-fleet", UID: "1", Controller: &yes}}
	ending := metaOf("my-fleet-5", labels)
	ending.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	shared := stored(t, `{metadata: {namespace: others}}`)
	all := &store{objects: []client.Object{
		stored(t), stored(t, `{metadata: {name: b}, spec: {storage: {bucket: s3://b}}}`), shared, rulestest.Fleet(t, rulestest.Bucket, `{metadata: {name: c}, spec: {storage: {bucket: s3://c}}}`),
		reservation,
		&appsv1.StatefulSet{ObjectMeta: metaOf("my-fleet", labels), Spec: appsv1.StatefulSetSpec{Replicas: &three}, Status: appsv1.StatefulSetStatus{ReadyReplicas: 2}},
		&corev1.PersistentVolumeClaim{ObjectMeta: metaOf("data-my-fleet-0", labels)},
		&corev1.PersistentVolumeClaim{ObjectMeta: metaOf("data-my-fleet-100", labels)},
		&corev1.PersistentVolumeClaim{ObjectMeta: metaOf("data-my-fleet-b-0", labels)},
		&corev1.PersistentVolumeClaim{ObjectMeta: metaOf("data-my-fleet-1", nil)},
		&corev1.Pod{ObjectMeta: metaOf("my-fleet-0", labels)}, &corev1.Pod{ObjectMeta: metaOf("my-fleet-1", nil)}, &corev1.Pod{ObjectMeta: controlled},
		&corev1.Pod{ObjectMeta: metaOf("my-fleet-3", labels), Status: corev1.PodStatus{Phase: corev1.PodFailed}},
		&corev1.Pod{ObjectMeta: metaOf("my-fleet-4", labels), Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, &corev1.Pod{ObjectMeta: ending},
	}}
	nothing := &store{err: errors.New("this must not be read")}
	everything := rules.Needs{Fleets: true, Bucket: true, Workload: true, Claims: true, Orphans: true}

	t.Run("live", func(t *testing.T) {
		in := rulestest.Input(t, rules.Create, "", rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet"), rules.Facts{})
		cached := &store{objects: all.objects[:5]} // rivals and reservation
		newReader(t, cached, all).Gather(t.Context(), in, rules.Needs{Fleets: true, Bucket: true, Claims: true, Orphans: true, Live: true})
		b, c := rulestest.Live(t, `{metadata: {name: b}, spec: {storage: {bucket: s3://b}}}`), rulestest.Live(t, rulestest.Bucket, `{metadata: {name: c}, spec: {storage: {bucket: s3://c}}}`)
		require.Equal(t, rulestest.Known([]rules.Fleet{me, b, c}), in.Facts.Fleets)
		require.Equal(t, rulestest.Known([]rules.Fleet{me, rulestest.Live(t, `{metadata: {namespace: others}}`)}), in.Facts.Rivals)
		require.Equal(t, rulestest.Known([]rules.Reservation{{Name: render.ReservationName(me.Bucket), Bucket: "s3://my-bucket", Identity: me.Identity, Fleet: "PersistentFleet fleets/my-fleet"}}), in.Facts.Reservations)
		require.Equal(t, rulestest.Known([]rules.Claim{{Name: "data-my-fleet-0", Identity: me.Identity}, {Name: "data-my-fleet-1"}}), in.Facts.Claims)
		require.Equal(t, rulestest.Known([]string{"my-fleet-0"}), in.Facts.Orphans)
		require.EqualValues(t, 3, cached.reads.Load())
	})
	t.Run("cached", func(t *testing.T) {
		in := rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rules.Facts{})
		newReader(t, all, nothing).Gather(t.Context(), in, rules.Needs{Fleets: true, Bucket: true})
		require.Equal(t, rules.Present, in.Facts.Fleets.State)
		require.Equal(t, rules.Present, in.Facts.Rivals.State)
		require.Equal(t, rules.Present, in.Facts.Reservations.State)
	})
	t.Run("workload of a claim", func(t *testing.T) {
		in := rulestest.Input(t, rules.Delete, rulestest.Claim("data-my-fleet-0", me.Identity), "", rules.Facts{})
		newReader(t, nothing, all).Gather(t.Context(), in, rules.Needs{Fleets: true, Workload: true, Live: true})
		require.Equal(t, rulestest.Known(rules.Workload{Replicas: 3, Ready: 2}), in.Facts.Workload)
	})
	t.Run("absent", func(t *testing.T) {
		in := rulestest.FleetInput(t, rulestest.Bucket, "", `{}`, rules.Facts{})
		newReader(t, &store{}, &store{}).Gather(t.Context(), in, everything)
		require.Equal(t, rulestest.Known([]rules.Fleet(nil)), in.Facts.Fleets)
		require.Empty(t, in.Facts.Reservations.Value)
		require.Equal(t, rules.Absent, in.Facts.Workload.State)
	})
	t.Run("definitions are gone", func(t *testing.T) {
		gone := &store{err: apierrors.NewNotFound(corev1.Resource("persistentfleets"), "")}
		in := rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rules.Facts{})
		newReader(t, gone, gone).Gather(t.Context(), in, everything)
		require.Equal(t, rulestest.Known([]rules.Fleet(nil)), in.Facts.Fleets)
	})
	t.Run("kinds are not known", func(t *testing.T) {
		unknown := &store{err: &meta.NoKindMatchError{}}
		in := rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rules.Facts{})
		newReader(t, unknown, unknown).Gather(t.Context(), in, everything)
		require.Equal(t, rulestest.Known([]rules.Fleet(nil)), in.Facts.Fleets)
		for _, state := range []rules.State{in.Facts.Reservations.State, in.Facts.Workload.State, in.Facts.Claims.State} {
			require.Equal(t, rules.Absent, state)
		}
	})
	t.Run("all of a fleet", func(t *testing.T) {
		patches := []string{`{metadata: {namespace: others, annotations: {celld.eric.dev/protect: "x"}, deletionTimestamp: "2026-01-03T00:00:00Z"}}`,
			`{spec: {placement: {maxPerZone: 4}, replicas: 5, identity: ` + rulestest.Foreign + `, maintenance: {paused: true}}}`,
			`{spec: {placement: {mode: Relaxed}, maintenance: {stopped: true}, storage: {bucket: "az://data/a", region: null, azureAccount: one}}}`,
			`{metadata: {creationTimestamp: "2026-01-05T00:00:00Z"}, spec: {storage: {store: minio-a, endpoint: {url: "https://a.test"}}}}`}
		for i, patch := range patches {
			for _, base := range []string{rulestest.Persistent, rulestest.Merged(t, rulestest.Bucket, `{spec: {workload: Ordered}}`), rulestest.Bucket} {
				in := &rules.Input{Operation: rules.Delete, Resource: rules.Namespaces, Namespace: []string{"others", "fleets", "fleets", "fleets"}[i]}
				live := &store{objects: []client.Object{rulestest.Fleet(t, base, patch)}}
				newReader(t, nothing, live).Gather(t.Context(), in, rules.Needs{Fleets: true, Live: true})
				require.Equal(t, rulestest.Known([]rules.Fleet{rulestest.Live(t, base, patch)}), in.Facts.Fleets)
			}
		}
	})
	t.Run("instances", func(t *testing.T) {
		in := &rules.Input{Operation: rules.Delete, Resource: rules.Definitions, Old: rulestest.Parsed(t, `{"spec":{"names":{"kind":"PersistentFleet"}}}`)}
		newReader(t, nothing, all).Gather(t.Context(), in, rules.Needs{Instances: true})
		require.Equal(t, rulestest.Known(true), in.Facts.Instances)
		newReader(t, nothing, &store{}).Gather(t.Context(), in, rules.Needs{Instances: true})
		require.Equal(t, rulestest.Known(false), in.Facts.Instances)
		newReader(t, nothing, &store{err: apierrors.NewNotFound(corev1.Resource("persistentfleets"), "")}).Gather(t.Context(), in, rules.Needs{Instances: true})
		require.Equal(t, rules.Absent, in.Facts.Instances.State)
		newReader(t, nothing, nothing).Gather(t.Context(), in, rules.Needs{Instances: true})
		require.Equal(t, rules.Failed, in.Facts.Instances.State)
	})
	t.Run("no bucket", func(t *testing.T) {
		in := rulestest.Input(t, rules.Create, "", `{"kind":"StatefulSet"}`, rules.Facts{})
		newReader(t, nothing, nothing).Gather(t.Context(), in, rules.Needs{Bucket: true, Live: true})
		require.Equal(t, rules.Absent, in.Facts.Rivals.State)
	})
	for name, err := range map[string]error{"failed": errors.New("connection refused"), "slow": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			broken := &store{err: err}
			in := rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rules.Facts{})
			reader := newReader(t, broken, broken)
			reader.Gather(t.Context(), in, everything)
			reader.GatherNamespace(t.Context(), in)
			for _, state := range []rules.State{in.Facts.Fleets.State, in.Facts.Rivals.State, in.Facts.Reservations.State,
				in.Facts.Workload.State, in.Facts.Claims.State, in.Facts.Orphans.State, in.Facts.Namespace.State} {
				require.Equal(t, rules.Failed, state)
			}
			require.NotEmpty(t, in.Facts.Fleets.Why)
		})
	}
}

func TestGatherNamespace(t *testing.T) {
	gone := metav1.Now()
	ns := func(deleted *metav1.Time) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fleets", DeletionTimestamp: deleted}}
	}
	for want, objects := range map[rules.Fact[rules.Namespace]][]client.Object{
		rulestest.Known(rules.Namespace{}):                  {ns(nil)},
		rulestest.Known(rules.Namespace{Terminating: true}): {ns(&gone)},
		{State: rules.Absent}:                               nil,
	} {
		in := &rules.Input{Namespace: "fleets"}
		newReader(t, nil, &store{objects: objects}).GatherNamespace(t.Context(), in)
		require.Equal(t, want, in.Facts.Namespace)
	}
}
