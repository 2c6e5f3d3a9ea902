// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// patience is for a sync: a health check looks every five seconds.
const patience = 90 * time.Second

// verdict is what a Kustomization says when it is done.
type verdict struct {
	status, reason string
	says           []string
}

var ready = verdict{status: "True", reason: "ReconciliationSucceeded"}

func failed(reason string, says ...string) verdict {
	return verdict{status: "False", reason: reason, says: says}
}

// kustomization is one of Flux.
type kustomization struct {
	f    *flux
	name string
}

func (k *kustomization) empty() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("kustomize.toolkit.fluxcd.io/v1")
	object.SetKind("Kustomization")
	object.SetNamespace(system)
	object.SetName(k.name)
	return object
}

// waitRevision waits until Flux is done with a revision.
func (k *kustomization) waitRevision(t *testing.T, revision string, want verdict) {
	t.Helper()
	k.wait(t, revision, want, func(object *unstructured.Unstructured) bool {
		return text(object, "status", "lastAttemptedRevision") == revision
	})
}

// sync has Flux look again, and waits until it is done.
func (k *kustomization) sync(t *testing.T, want verdict) {
	t.Helper()
	token := strconv.FormatInt(time.Now().UnixNano(), 10)
	k.patch(t, `{"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "`+token+`"}}}`)
	k.wait(t, "what was asked for at "+token, want, func(object *unstructured.Unstructured) bool {
		return text(object, "status", "lastHandledReconcileAt") == token
	})
}

func (k *kustomization) wait(t *testing.T, what string, want verdict, done func(*unstructured.Unstructured) bool) {
	t.Helper()
	object := k.empty()
	awaited := fmt.Sprintf("Kustomization %s to be done with %s: %v", k.name, what, want)
	cluster.WaitWithin(t, patience, awaited, seldom(k.f.Object(object, func() (bool, string) {
		is := verdictOf(object)
		return done(object) && want.agrees(is), fmt.Sprint(is)
	})))
	if want.status == "False" {
		k.f.page.saw(verdictOf(object).says[0])
	}
}

// seldom has Wait look twice a second. Ten times, by each test, were a quarter of
// all requests.
func seldom(check cluster.Check) cluster.Check {
	var looked time.Time
	seen := "nothing"
	return func(ctx context.Context) (ok bool, _ string) {
		if time.Since(looked) < 500*time.Millisecond {
			return false, seen
		}
		ok, seen = check(ctx)
		looked = time.Now()
		return ok, seen
	}
}

func (v verdict) agrees(is verdict) bool {
	return v.status == is.status && v.reason == is.reason && containsAll(is.says[0], v.says)
}

func verdictOf(object *unstructured.Unstructured) verdict {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" {
			return verdict{fmt.Sprint(c["status"]), fmt.Sprint(c["reason"]), []string{fmt.Sprint(c["message"])}}
		}
	}
	return verdict{says: []string{""}}
}

func (k *kustomization) patch(t *testing.T, patch string) {
	t.Helper()
	require.NoError(t, k.f.Client.Patch(t.Context(), k.empty(), client.RawPatch(types.MergePatchType, []byte(patch))))
}

// forget deletes it and leaves what it applied.
func (k *kustomization) forget(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cluster.Patience)
	defer cancel()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"suspend": true}}`))
	if err := k.f.Client.Patch(ctx, k.empty(), patch); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
	if err := k.f.Client.Delete(ctx, k.empty()); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// inventory reads everything that it has applied.
func (k *kustomization) inventory(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	object := k.empty()
	require.NoError(t, k.f.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	entries, _, err := unstructured.NestedSlice(object.Object, "status", "inventory", "entries")
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	var objects []*unstructured.Unstructured
	for _, entry := range entries {
		entry := entry.(map[string]any)
		id := strings.Split(entry["id"].(string), "_") // namespace, name, group, kind
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(strings.TrimPrefix(id[2]+"/"+entry["v"].(string), "/"))
		object.SetKind(id[3])
		object.SetNamespace(id[0])
		object.SetName(id[1])
		require.NoError(t, k.f.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		objects = append(objects, object)
	}
	return objects
}

// versions are those of everything that it has applied, by name.
func (k *kustomization) versions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, object := range k.inventory(t) {
		out[name(object)] = version(object)
	}
	return out
}

// settled are the versions once nobody changes anything: a controller may still
// count what is ready.
func (k *kustomization) settled(t *testing.T) map[string]string {
	t.Helper()
	var last map[string]string
	cluster.Wait(t, "what Kustomization "+k.name+" applied to settle", seldom(func(context.Context) (bool, string) {
		now := k.versions(t)
		same := maps.Equal(last, now)
		last = now
		return same, fmt.Sprint(now)
	}))
	return last
}

func (k *kustomization) requireSyncChangesNothing(t *testing.T) {
	t.Helper()
	before := k.settled(t)
	k.sync(t, ready)
	require.Equal(t, before, k.versions(t))
}

func name(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

func version(object *unstructured.Unstructured) string {
	return fmt.Sprintf("generation %d, version %s", object.GetGeneration(), object.GetResourceVersion())
}

func key(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }
