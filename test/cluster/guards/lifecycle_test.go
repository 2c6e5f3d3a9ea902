// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// Members start, restart and move on to another template with the webhook on,
// and a drift from a time when it was off is repaired.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	f := newLive(t)
	spec := f.Shared()

	spec.Maintenance.RestartToken = "again"
	f.sync()
	f.waitReady(3)
	spec.Maintenance.Paused = true
	f.sync()
	spec.RuntimeImage = "registry.test/celld@sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
	f.sync()
	said, err := f.kubectl("", "scale", "statefulset/my-fleet", "--replicas=0")
	require.NoError(t, err, said)
	spec.Maintenance.Paused = false
	f.sync()
	f.scale(3)
	f.waitReady(3)
	spec.RuntimeImage = "registry.test/celld" + digest // a rollback
	f.sync()
	f.waitReady(3)
	f.scale(2) // fewer than the fleet declares
	f.waitReady(2)
	for ordinal := range 3 {
		require.True(t, denied(f.c.Client.Delete(t.Context(), f.claim(ordinal))), ordinal)
	}
	require.NoError(t, f.c.Client.Create(t.Context(), f.claim(3))) // as a contraction leaves it
	require.NoError(t, f.c.Client.Delete(t.Context(), f.claim(3)))
	require.NoError(t, f.healer.Delete(t.Context(), f.claim(1), client.DryRunAll))
}

func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	f.guarded(false)
	for _, args := range [][]string{
		{"set", "image", "statefulset/my-fleet", "celld=registry.test/other"},
		patch("poddisruptionbudget/my-fleet", `{"spec":{"maxUnavailable":3}}`),
		patch("networkpolicy/my-fleet", `{"spec":{"ingress":[{}]},"metadata":{"labels":{"celld.eric.dev/fleet-uid":null}}}`),
		{"annotate", "service/my-fleet", "celld.eric.dev/seal=garbage", "--overwrite"},
	} {
		said, err := f.kubectl("", args...)
		require.NoError(t, err, said)
	}
	f.guarded(true)
	said, err := f.kubectl("", "label", "statefulset/my-fleet", "team=a") // nothing that is sealed
	require.NoError(t, err, said)
	f.sync()
	for _, object := range f.rendered()[1:] {
		text, err := f.read(object.GetAPIVersion(), object.GetKind(), object.GetName()).MarshalJSON()
		require.NoError(t, err)
		seal, err := seal.Of(text)
		require.NoError(t, err)
		require.Equal(t, object.GetAnnotations()[v1alpha1.AnnotationSeal], seal.String(), object.GetKind())
	}
}

// sidecar is what a policy adds to workloads.
const sidecar = `Object{metadata: Object.metadata{labels: {"mesh": "on"}}, spec: Object.spec{template: Object.spec.template{
	metadata: Object.spec.template.metadata{labels: {"mesh": "on"}},
	spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "proxy", image: "proxy"}]}}}}`

// A policy of the cluster adds a sidecar and labels to every workload: a sync
// passes, and so do upgrades and the repair of a drift; a policy that changes
// the image does not pass.
func TestMutatingPolicy(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.mutate("sidecar", sidecar)
	f.sync()
	require.Len(t, f.containers(), 2, "the policy is at work")
	f.sync()
	f.Shared().Maintenance.RestartToken = "again"
	f.sync()
	f.guarded(false)
	said, err := f.kubectl("", "set", "image", "statefulset/my-fleet", "celld=registry.test/other")
	require.NoError(t, err, said)
	f.guarded(true)
	f.sync()
	require.Equal(t, f.Shared().RuntimeImage, f.containers()[0])

	g := newFleet(t)
	g.mutate("mirror", `Object{spec: Object.spec{template: Object.spec.template{
		spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "celld", image: "mirror.test/celld"}]}}}}`)
	objects := g.rendered()
	require.NoError(t, g.apply(objects[0]))
	err = g.apply(objects[1])
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "the object is not what was rendered")

	h := newFleet(t)
	h.sync()
	h.mutate("late", sidecar)
	said, err = h.kubectl("", "label", "statefulset/my-fleet", "team=a")
	require.Error(t, err)
	require.Contains(t, said, "spec.template.spec.containers[proxy]: is not render's, and was changed on the way in by a mutating policy")
	h.Shared().Maintenance.RestartToken = "again"
	h.sync()
	require.Len(t, h.containers(), 2)
}

// A key of this project that render does not set is refused. One that came
// while the webhook was away is named by the next sync, and can be removed.
func TestForeignKey(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	f.guarded(false)
	for _, object := range []string{"statefulset/my-fleet", "service/my-fleet"} {
		said, err := f.kubectl("", "annotate", object, "celld.eric.dev/protect=true")
		require.NoError(t, err, said)
	}
	f.guarded(true)
	f.Shared().Maintenance.RestartToken = "again"
	objects := f.rendered()
	require.NoError(t, f.apply(objects[0]))
	err := f.apply(objects[1])
	require.True(t, denied(err), "%v", err)
	require.EqualError(t, err, `admission webhook "workload.celld.eric.dev" denied the request: metadata.annotations[celld.eric.dev/protect]: `+
		"is a key of this project that render does not set here, and breaks the seal: remove it")
	for _, object := range []string{"statefulset/my-fleet", "service/my-fleet"} {
		said, err := f.kubectl("", "annotate", object, "celld.eric.dev/protect-")
		require.NoError(t, err, said)
	}
	f.sync()
}

// mutate makes a policy that changes the StatefulSets of the fleet's namespace,
// and waits until it does.
func (f *fleet) mutate(name, expression string) {
	f.t.Helper()
	name += "-" + f.GetNamespace()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": f.GetNamespace()}}
	all, fail := admissionregistrationv1.NamespacedScope, admissionregistrationv1.Fail
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy: &fail, ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: selector, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
					Rule: admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"},
						Resources: []string{"statefulsets"}, Scope: &all},
				}}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
			}},
		},
	}
	require.NoError(f.t, f.c.Client.Create(f.t.Context(), policy))
	require.NoError(f.t, f.c.Client.Create(f.t.Context(), &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	}))
	cluster.Wait(f.t, "the policy to be at work", func(ctx ctx) (bool, string) {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: "probe"}, Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "celld", Image: "unchanged"}}}},
		}}
		err := f.c.Client.Create(ctx, set, client.DryRunAll)
		spec := set.Spec.Template.Spec
		return err == nil && (len(spec.Containers) == 2 || spec.Containers[0].Image != "unchanged"), errorText(err)
	})
}

// containers are the images of the fleet's StatefulSet.
func (f *fleet) containers() []string {
	f.t.Helper()
	set := &appsv1.StatefulSet{}
	require.NoError(f.t, f.c.Client.Get(f.t.Context(), client.ObjectKey{Namespace: f.GetNamespace(), Name: f.GetName()}, set))
	images := make([]string, len(set.Spec.Template.Spec.Containers))
	for i, c := range set.Spec.Template.Spec.Containers {
		images[i] = c.Image
	}
	return images
}
