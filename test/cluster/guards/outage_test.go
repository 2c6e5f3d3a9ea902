// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/webhook/registration"
)

// While the webhook is down, what its guards are closed for waits, and nothing
// else is affected. Not parallel: all tests share the webhook.
func TestWebhookIsDown(t *testing.T) {
	f := newFleet(t, func(f *v1alpha1.PersistentFleet) { f.Finalizers = []string{v1alpha1.FinalizerFleetCleanup} })
	f.sync()
	require.NoError(t, client.IgnoreAlreadyExists(f.c.Client.Create(t.Context(), f.claim(0))))
	other := newNamespace(t, f.c)
	ending := newFleet(t, func(f *v1alpha1.PersistentFleet) {
		f.Annotations = map[string]string{v1alpha1.AnnotationProtect: "true"}
	})
	ending.sync()
	require.NoError(t, client.IgnoreAlreadyExists(f.c.Client.Create(t.Context(), ending.claim(0))))

	defer func() {
		guard.running = guard.start(t)
		guard.service.route(guard.running)
		guard.waitAsked(t)
	}()
	guard.running.end(t)
	guard.service.route()

	waits := map[string][]string{
		"template": {"set", "image", "statefulset/my-fleet", "celld=registry.test/other"},
		"count":    {"scale", "statefulset/my-fleet", "--replicas=0"},
		"workload": {"delete", "statefulset/my-fleet", "--wait=false"},
		"policy":   patch("networkpolicy/my-fleet", `{"spec":{"ingress":[{}]}}`),
		"disk":     {"delete", "pvc/data-my-fleet-0", "--wait=false"},
	}
	for name, args := range waits {
		t.Run(name+" waits", func(t *testing.T) {
			said, err := f.kubectl("", args...)
			require.Error(t, err)
			require.Contains(t, said, "failed calling webhook")
		})
	}

	t.Run("others are not affected", func(t *testing.T) {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "postgres"}, Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, ServiceName: "postgres",
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "registry.test/a"}}}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: f.claim(0).Spec}},
		}}
		require.NoError(t, f.c.Client.Create(t.Context(), set))
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "data-postgres-0"}}
		cluster.Wait(t, "a claim of another StatefulSet", f.c.Object(claim, func() (bool, string) { return true, "" }))
		require.NoError(t, f.c.Client.Delete(t.Context(), claim))
		by := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "data-by-hand-0"}, Spec: f.claim(0).Spec}
		require.NoError(t, f.c.Client.Create(t.Context(), by))
		require.NoError(t, f.c.Client.Patch(t.Context(), set, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`))))
		require.NoError(t, f.c.Client.Delete(t.Context(), set))
	})
	t.Run("a namespace with a protected fleet ends", func(t *testing.T) {
		said, err := ending.kubectl("", "delete", "pfleet/my-fleet", "--wait=false")
		require.Error(t, err)
		require.Contains(t, said, "failed calling webhook")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ending.GetNamespace()}}
		require.NoError(t, f.c.Client.Delete(t.Context(), namespace))
		cluster.Wait(t, "the namespace to be gone", f.c.Gone(namespace))
	})
	t.Run("what destroys nothing passes", func(t *testing.T) {
		for _, args := range [][]string{
			{"label", "statefulset/my-fleet", "team=a"},
			patch("pfleet/my-fleet", `{"spec":{"replicas":4}}`),
			patch("pfleet/my-fleet", `{"metadata":{"labels":{"team":"a"}}}`),
			{"annotate", "pvc/data-my-fleet-0", "a=b"},
			{"delete", "pfleet/my-fleet", "--wait=false"},
			patch("pfleet/my-fleet", `{"metadata":{"finalizers":null}}`), // the fleet goes
		} {
			said, err := f.kubectl("", args...)
			require.NoError(t, err, said)
		}
	})
}

// With a broken caBundle the replica is not ready, and it mends the bundle.
func TestBrokenBundleIsMended(t *testing.T) {
	c := newCluster(t)
	configuration := guard.configuration()
	require.NoError(t, c.Client.Get(t.Context(), client.ObjectKeyFromObject(configuration), configuration))
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.CABundle = nil
	}
	require.NoError(t, c.Client.Update(t.Context(), configuration))
	cluster.Wait(t, "a bundle in every entry", func(ctx ctx) (bool, string) {
		for i, bundle := range guard.bundles(ctx, t) {
			if len(bundle) == 0 {
				return false, "none in " + configuration.Webhooks[i].Name
			}
		}
		return true, ""
	})
	guard.waitAsked(t)
	cluster.Wait(t, "the webhook to be ready", func(ctx ctx) (bool, string) { return guard.running.ready(ctx) })
}

// What the API server cannot read it says, and the request can be repeated:
// without its rights the webhook closes the guards that need facts.
func TestUnreadableFactsAreRetryable(t *testing.T) {
	f := newFleet(t)
	f.sync()
	require.NoError(t, client.IgnoreAlreadyExists(f.c.Client.Create(t.Context(), f.claim(0))))
	binding := f.named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", registration.Name)
	binding.SetNamespace("")
	require.NoError(t, f.c.Client.Get(t.Context(), client.ObjectKeyFromObject(binding), binding))
	require.NoError(t, f.c.Client.Delete(t.Context(), binding.DeepCopy()))
	defer func() {
		require.NoError(t, f.c.Client.Create(t.Context(), restorable(binding)))
		guard.waitAsked(t)
		cluster.Wait(t, "facts to be read again", func(ctx ctx) (bool, string) {
			err := f.c.Client.Delete(ctx, f.claim(0), client.DryRunAll)
			return denied(err), errorText(err)
		})
	}()
	cluster.Wait(t, "the deletion of a disk to be put off", func(ctx ctx) (bool, string) {
		err := f.c.Client.Delete(ctx, f.claim(0), client.DryRunAll)
		_, suggested := apierrors.SuggestsClientDelay(err)
		return apierrors.IsServiceUnavailable(err) && suggested && strings.Contains(err.Error(), "could not be read") &&
			strings.Contains(err.Error(), "try again"), errorText(err)
	})
}

// The way out when the webhook has to be gone: its configuration is deleted,
// the thing is done, and the configuration is applied again. The webhook fills
// in its caBundle by itself.
func TestBreakGlass(t *testing.T) {
	c := newCluster(t)
	r := reservation("s3-given-up", "s3://given-up", identity)
	require.NoError(t, c.Client.Create(t.Context(), r))
	kubectl := func(input string, args ...string) {
		_, errs, err := c.Kubectl(t, []byte(input), args...)
		require.NoError(t, err, errs)
	}
	kubectl("", "delete", "validatingwebhookconfiguration", registration.Name)
	cluster.Wait(t, "the reservation to be given up", func(ctx ctx) (bool, string) {
		err := client.IgnoreNotFound(c.Client.Delete(ctx, r.DeepCopy()))
		return err == nil, errorText(err)
	})
	ready, said := guard.running.ready(t.Context())
	require.False(t, ready)
	require.Contains(t, said, "[-]certificate")

	again, err := json.Marshal(guard.configuration())
	require.NoError(t, err)
	kubectl(string(again), "apply", "--server-side", "-f", "-")
	guard.waitAsked(t)
	cluster.Wait(t, "the webhook to be ready", func(ctx ctx) (bool, string) { return guard.running.ready(ctx) })
}
