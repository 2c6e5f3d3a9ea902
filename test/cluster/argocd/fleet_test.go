// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// directory is where a repository has the fleet of a test.
const directory = "quickstart"

// fleet is a fleet in Git, the Application that syncs it, and the namespace
// that it lives in.
type fleet struct {
	*application
	*repository
	t         testing.TB
	s         *system
	namespace string
}

// newFleet puts the quickstart into a repository, for a namespace and a bucket
// of its own, which the fleet does not name: the Application does.
func (s *system) newFleet(t *testing.T, namespace string) *fleet {
	t.Helper()
	f := &fleet{repository: newRepository(t), t: t, s: s, namespace: namespace}
	require.NoError(t, s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}))
	f.write(directory+"/fleet.yaml", quickstart(t, namespace))
	f.write(directory+"/account.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: celld-runtime\n")
	return f
}

// quickstart is the example with a bucket of its own, and no namespace.
func quickstart(t *testing.T, bucket string) string {
	t.Helper()
	text := read(t, "examples/quickstart/fleet.yaml")
	for old, replacement := range map[string]string{"  namespace: fleets\n": "", "s3://my-bucket": "s3://" + bucket} {
		require.Contains(t, text, old)
		text = strings.Replace(text, old, replacement, 1)
	}
	return text
}

// start creates the Application that the example shows, changed as a test
// wants it.
func (f *fleet) start(changes ...func(*unstructured.Unstructured)) {
	f.t.Helper()
	object := example(f.t, "application.yaml", f.url())
	object.SetName(f.namespace)
	require.NoError(f.t, unstructured.SetNestedField(object.Object, f.namespace, "spec", "destination", "namespace"))
	for _, change := range changes {
		change(object)
	}
	f.application = create(f.t, f.s.Cluster, object)
}

// push commits, and waits until the Application is as Git says.
func (f *fleet) push(message, health string) {
	f.t.Helper()
	revision := f.commit(message)
	f.refresh()
	f.waitSynced(revision, health)
}

// requireInSync compares anew, with nothing cached.
func (f *fleet) requireInSync(when string) {
	f.t.Helper()
	f.refresh()
	require.Equal(f.t, "Synced", f.Sync.Status, "%s: %s", when, f.application)
}

// requireSyncChangesNothing syncs again.
func (f *fleet) requireSyncChangesNothing(t *testing.T) {
	t.Helper()
	before := f.generations(t)
	f.sync()
	require.Equal(t, before, f.generations(t))
}

// kinds are those that the quickstart renders to.
var kinds = []schema.GroupVersionKind{
	{Group: "celld.eric.dev", Version: "v1alpha1", Kind: "PersistentFleet"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Version: "v1", Kind: "Service"}, {Version: "v1", Kind: "ServiceAccount"},
}

// generations tells objects of the namespace apart from what they will be
// after a change of anything that is not a status.
func (f *fleet) generations(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		require.NoError(t, f.s.Client.List(t.Context(), list, client.InNamespace(f.namespace)))
		for i := range list.Items {
			o := &list.Items[i]
			out[kind.Kind+" "+o.GetName()] = fmt.Sprint(o.GetUID(), o.GetGeneration(), o.GetLabels(), o.GetAnnotations())
		}
	}
	return out
}

// set is the StatefulSet.
func (f *fleet) set() *appsv1.StatefulSet {
	f.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "my-fleet"}}
	f.s.Get(set)
	return set
}

// waitReplicas waits until the healer has scaled, and all members are ready.
func (f *fleet) waitReplicas(n int32) {
	f.t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "my-fleet"}}
	cluster.Wait(f.t, fmt.Sprintf("%d members", n), f.s.Object(set, func() (bool, string) {
		return set.Spec.Replicas != nil && *set.Spec.Replicas == n && set.Status.ReadyReplicas == n, fmt.Sprintf("%+v", set.Status)
	}))
}

// live names the fleet in the cluster.
func (f *fleet) live() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kinds[0])
	object.SetNamespace(f.namespace)
	object.SetName("my-fleet")
	return object
}

// claims are those of the namespace.
func (f *fleet) claims() []string {
	f.t.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	require.NoError(f.t, f.s.Client.List(f.t.Context(), list, client.InNamespace(f.namespace)))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// remove removes a file of the directory that was not committed yet.
func (f *fleet) remove(name string) {
	f.t.Helper()
	require.NoError(f.t, os.Remove(filepath.Join(f.dir, directory, name)))
}

// stored is the fleet as the cluster has it.
func (f *fleet) stored() *v1alpha1.PersistentFleet {
	f.t.Helper()
	fleet := &v1alpha1.PersistentFleet{}
	object := f.live()
	f.s.Get(object)
	require.NoError(f.t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, fleet))
	return fleet
}
