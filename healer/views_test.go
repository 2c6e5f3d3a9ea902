// SPDX-License-Identifier: Apache-2.0

package healer

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/healer/rules"
)

// What counts as shown of a write to a Pod, by what the cache has.
func TestShown(t *testing.T) {
	target := rules.Ref{Kind: "Pod", Namespace: "fleets", Name: "my-fleet-0", UID: "uid"}
	cached := func(uid, version string, going bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fleets", Name: "my-fleet-0", UID: types.UID(uid), ResourceVersion: version}}
		if going {
			p.DeletionTimestamp, p.Finalizers = new(metav1.NewTime(noon)), []string{"f"}
		}
		return p
	}
	for name, c := range map[string]struct {
		write written
		cache *corev1.Pod
		want  bool
	}{
		"an older version":              {written{Ref: target, version: "10"}, cached("uid", "9", false), false},
		"older, though it sorts later":  {written{Ref: target, version: "1000"}, cached("uid", "999", false), false},
		"this version":                  {written{Ref: target, version: "10"}, cached("uid", "10", false), true},
		"a later version":               {written{Ref: target, version: "10"}, cached("uid", "11", false), true},
		"a much later version":          {written{Ref: target, version: "99999999999999999999"}, cached("uid", "100000000000000000000", false), true},
		"versions nobody can compare":   {written{Ref: target, version: "x"}, cached("uid", "9", false), true},
		"gone":                          {written{Ref: target, version: "10"}, nil, true},
		"a successor":                   {written{Ref: target, version: "10"}, cached("another", "3", false), true},
		"made, not there yet":           {written{Ref: rules.Ref{Kind: "Pod", Namespace: "fleets", Name: "my-fleet-0"}, version: "10", made: true}, nil, false},
		"made, there":                   {written{Ref: rules.Ref{Kind: "Pod", Namespace: "fleets", Name: "my-fleet-0"}, version: "10", made: true}, cached("uid", "10", false), true},
		"made, an older one there":      {written{Ref: rules.Ref{Kind: "Pod", Namespace: "fleets", Name: "my-fleet-0"}, version: "10", made: true}, cached("uid", "9", false), false},
		"deleted, still there":          {written{Ref: target, deleted: true}, cached("uid", "99", false), false},
		"deleted, going":                {written{Ref: target, deleted: true}, cached("uid", "99", true), true},
		"deleted, gone":                 {written{Ref: target, deleted: true}, nil, true},
		"deleted, and there is another": {written{Ref: target, deleted: true}, cached("another", "99", false), true},
	} {
		t.Run(name, func(t *testing.T) {
			builder := fake.NewClientBuilder()
			if c.cache != nil {
				builder.WithObjects(c.cache)
			}
			cache, v := builder.Build(), newViews()
			fleet := Request{Kind: "PersistentFleet", NamespacedName: types.NamespacedName{Namespace: "fleets", Name: "my-fleet"}}
			v.wrote(fleet, c.write)
			for range 2 {
				got, err := v.current(t.Context(), cache, fleet)
				require.NoError(t, err)
				require.Equal(t, c.want, got)
			}
		})
	}
}

// Of several writes to an object the last counts; each of several objects does; each fleet has its own.
func TestViews(t *testing.T) {
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "fleets", Name: name, UID: "uid", ResourceVersion: version}}
	}
	target := func(name string) rules.Ref {
		return rules.Ref{Kind: "Pod", Namespace: "fleets", Name: name, UID: "uid"}
	}
	cache := fake.NewClientBuilder().WithObjects(pod("a", "5"), pod("b", "5")).Build()
	mine := Request{Kind: "PersistentFleet", NamespacedName: types.NamespacedName{Namespace: "fleets", Name: "mine"}}
	other := Request{Kind: "BucketFleet", NamespacedName: mine.NamespacedName}
	current := func(v *views, r Request) bool {
		ok, err := v.current(t.Context(), cache, r)
		require.NoError(t, err)
		return ok
	}

	v := newViews()
	require.True(t, current(v, mine))
	v.wrote(mine, written{Ref: target("a"), deleted: true})
	require.False(t, current(v, mine))
	v.wrote(mine, written{Ref: target("a"), version: "5"})
	require.True(t, current(v, mine), "the patch after the deletion is the last word")
	v.wrote(mine, written{Ref: target("a"), version: "5"})
	v.wrote(mine, written{Ref: target("b"), version: "6"})
	require.False(t, current(v, mine))
	require.True(t, current(v, other))
	v.forget(mine)
	require.True(t, current(v, mine))

	v.wrote(mine, written{Ref: target("a"), version: "5"})
	broken := interceptor.NewClient(cache, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("no cache")
	}})
	ok, err := v.current(t.Context(), broken, mine)
	require.EqualError(t, err, "no cache")
	require.False(t, ok, "what cannot be read is not shown")
}

// The healer's first look after each write is at what it wrote, or it does not look.
func TestOwnWritesAreSeen(t *testing.T) {
	w := newWorld(t)
	w.started("kind: PersistentFleet")
	w.lose("data-my-fleet-1")
	w.freeze()
	w.reconcile()
	wrote := w.wrote
	for range 5 {
		w.clock.SetTime(w.now().Add(time.Hour))
		w.reconcile()
	}
	require.Equal(t, wrote, w.wrote, w.trace.String())
	w.frozen = nil
	w.settle(time.Hour)
	requireWell(t, w)
}

// A read that fails says nothing about the fleet: what was written about it is still to be seen.
func TestFailedReadForgetsNoWrite(t *testing.T) {
	request := Request{Kind: v1alpha1.KindPersistentFleet, NamespacedName: types.NamespacedName{Namespace: "fleets", Name: "my-fleet"}}
	failing := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("the API server does not answer")
		},
	})
	h := &Healer{Client: failing, views: newViews()}
	h.views.wrote(request, written{Ref: rules.Ref{Kind: rules.KindStatefulSet, Name: "my-fleet"}, version: "7"})
	_, err := h.Reconcile(t.Context(), request)
	require.Error(t, err)
	require.Len(t, h.views.writes[request], 1)
}
