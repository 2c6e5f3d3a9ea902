// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/test/cluster"
	"github.com/fleetwright/fleetwright/webhook/serve"
)

const (
	digest   = "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	identity = "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11" // of some other fleet
)

// fleet is a fleet in a namespace: a test edits the spec and syncs it.
type fleet struct {
	v1alpha1.Fleet
	t      testing.TB
	c      *cluster.Cluster
	healer client.Client
}

// newFleet returns a fleet that nobody has to run, in a namespace of its own.
func newFleet(t *testing.T, change ...func(*v1alpha1.PersistentFleet)) *fleet {
	t.Helper()
	c := newCluster(t)
	return inNamespace(t, c, newNamespace(t, c), change...)
}

// newLive returns a fleet with three members that run.
func newLive(t *testing.T, change ...func(*v1alpha1.PersistentFleet)) *fleet {
	t.Helper()
	w := newCluster(t).World(t)
	f := inNamespace(t, w.Cluster, w.Namespace, append(change, func(f *v1alpha1.PersistentFleet) { f.Spec.Placement.Zones = w.Zones })...)
	f.run()
	return f
}

// run brings up three members, as sync tool and healer together do.
func (f *fleet) run() {
	f.t.Helper()
	f.sync()
	f.scale(3)
	f.waitReady(3)
}

func inNamespace(t testing.TB, c *cluster.Cluster, namespace string, change ...func(*v1alpha1.PersistentFleet)) *fleet {
	t.Helper()
	replicas := int32(3)
	f := &v1alpha1.PersistentFleet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "my-fleet"}}
	f.Spec.Replicas = &replicas
	f.Spec.RuntimeImage = "registry.test/celld" + digest
	f.Spec.ServiceAccountName = "default"
	f.Spec.Placement.Zones = []string{"a", "b", "c"}
	f.Spec.Storage.Bucket, f.Spec.Storage.Region = "s3://"+namespace, "us-east-1"
	f.Spec.Storage.StorageClassName = cluster.StorageClass
	for _, c := range change {
		c(f)
	}
	return of(t, c, f)
}

func of(t testing.TB, c *cluster.Cluster, f v1alpha1.Fleet) *fleet {
	t.Helper()
	return &fleet{Fleet: f, t: t, c: c, healer: cluster.NewClient(t, c.ConfigFor(t, serve.DefaultHealer, "system:masters"))}
}

func newNamespace(t testing.TB, c *cluster.Cluster) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "guards-"}}
	require.NoError(t, c.Client.Create(t.Context(), namespace))
	return namespace.Name
}

// rendered is what a sync tool gets to apply.
func (f *fleet) rendered() []*unstructured.Unstructured {
	f.t.Helper()
	objects, err := render.Render(f.Fleet, render.Options{})
	require.NoError(f.t, err)
	decoded, err := cluster.Decode(objects.AppendYAML(nil))
	require.NoError(f.t, err)
	return decoded
}

// sync does what a sync tool does with what render prints.
func (f *fleet) sync() {
	f.t.Helper()
	for _, object := range f.rendered() {
		require.NoError(f.t, f.apply(object), object.GetKind()+" "+object.GetName())
	}
}

func (f *fleet) apply(object *unstructured.Unstructured, options ...client.ApplyOption) error {
	return f.c.Client.Apply(f.t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
		append(options, client.FieldOwner("sync-tool"), client.ForceOwnership)...)
}

// scale does what the healer does.
func (f *fleet) scale(replicas int32) {
	f.t.Helper()
	set := f.read("apps/v1", "StatefulSet", f.GetName())
	change := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{"namespace": f.GetNamespace(), "name": f.GetName(), "uid": string(set.GetUID())},
		"spec":     map[string]any{"replicas": int64(replicas)},
	}}
	require.NoError(f.t, f.healer.Apply(f.t.Context(), client.ApplyConfigurationFromUnstructured(change),
		client.FieldOwner("fleetwright-healer"), client.ForceOwnership))
}

func (f *fleet) waitReady(count int32) {
	f.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: f.GetName()}}
	cluster.Wait(f.t, fmt.Sprintf("%d ready members", count), f.c.Object(set, func() (bool, string) {
		s := set.Status
		return s.ObservedGeneration == set.Generation && s.ReadyReplicas == count && s.Replicas == count && s.UpdatedReplicas == count &&
			s.CurrentRevision == s.UpdateRevision, fmt.Sprintf("%+v", s)
	}))
}

func (f *fleet) read(apiVersion, kind, name string) *unstructured.Unstructured {
	f.t.Helper()
	u := f.named(apiVersion, kind, name)
	require.NoError(f.t, f.c.Client.Get(f.t.Context(), client.ObjectKeyFromObject(u), u))
	return u
}

func (f *fleet) named(apiVersion, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(f.GetNamespace())
	u.SetName(name)
	return u
}

// kubectl runs kubectl in the fleet's namespace.
func (f *fleet) kubectl(input string, args ...string) (said string, err error) {
	f.t.Helper()
	out, errs, err := f.c.Kubectl(f.t, []byte(input), append([]string{"-n", f.GetNamespace()}, args...)...)
	return out + errs, err
}

// guarded turns the webhook on or off for the fleet's namespace, and waits
// until the API server has heard of it.
func (f *fleet) guarded(on bool) {
	f.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.GetNamespace()}}
	patch := `{"metadata":{"labels":{"` + without + `":"true"}}}`
	if on {
		patch = strings.Replace(patch, `"true"`, "null", 1)
	}
	require.NoError(f.t, f.c.Client.Patch(f.t.Context(), namespace, client.RawPatch("application/merge-patch+json", []byte(patch))))
	invalid := f.named(v1alpha1.GroupVersion.String(), f.Kind(), f.GetName()+"-probe")
	invalid.Object["spec"] = f.read(v1alpha1.GroupVersion.String(), f.Kind(), f.GetName()).Object["spec"]
	cluster.Wait(f.t, fmt.Sprintf("the webhook to be asked: %t", on), func(ctx ctx) (bool, string) {
		err := f.c.Client.Create(ctx, invalid.DeepCopy(), client.DryRunAll)
		return on && denied(err) || !on && err == nil, errorText(err)
	})
}

// reservation is a bucket that belongs to a fleet.
func reservation(name, bucket, identity string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"bucket": bucket, "identity": identity,
		"fleet": map[string]any{"kind": v1alpha1.KindPersistentFleet, "namespace": "elsewhere", "name": "first"},
	}}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindStorageReservation))
	u.SetName(name)
	return u
}

// denied tells whether an error is a denial of the webhook.
func denied(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "celld.eric.dev\" denied the request")
}

func errorText(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}
