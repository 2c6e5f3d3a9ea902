// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/test/cluster"
)

// The status subresource takes metadata along. What is guarded is guarded there
// too, and controllers go on reporting.
func TestStatusWritesAreGuarded(t *testing.T) {
	t.Parallel()
	f := newLive(t, routed)
	before := f.state()
	for object, tries := range map[string]map[string]string{
		"statefulset/my-fleet": {
			`{"metadata":{"labels":{"celld.eric.dev/fleet-uid":null}}}`:                                               "the object is that of PersistentFleet",
			`{"metadata":{"annotations":{"celld.eric.dev/seal":null}}}`:                                               "is not the seal of this object",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1"}]}}`:          "an owner (ConfigMap a 1)",
			`{"metadata":{"labels":{"celld.eric.dev/fleet-uid":"8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"}},"status":{}}`: "the object is that of PersistentFleet",
		},
		"service/my-fleet":             {`{"metadata":{"labels":{"celld.eric.dev/fleet-uid":null}}}`: "the object is that of PersistentFleet"},
		"poddisruptionbudget/my-fleet": {`{"metadata":{"labels":{"celld.eric.dev/fleet-uid":null}}}`: "the object is that of PersistentFleet"},
		"persistentvolumeclaim/data-my-fleet-0": {
			`{"metadata":{"labels":{"celld.eric.dev/fleet-uid":null}}}`:                                      "the disk is that of PersistentFleet",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1"}]}}`: "an owner (ConfigMap a 1)",
		},
	} {
		for change, want := range tries {
			said, err := f.kubectl("", append(patch(object, change), "--subresource=status")...)
			require.Error(t, err, "%s: %s", object, change)
			require.Contains(t, said, want)
		}
	}
	require.Equal(t, before, f.state())
	said, err := f.kubectl("", append(patch("statefulset/my-fleet", `{"status":{"availableReplicas":3}}`), "--subresource=status")...)
	require.NoError(t, err, said)
}

// Deleting a definition deletes all that it defines without asking anybody, so
// it is refused while there is any. Only dry runs: all tests share them.
func TestDefinitionsStay(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	require.NoError(t, f.c.Client.Create(t.Context(), reservation("s3-stays-"+f.GetNamespace(), "s3://stays", identity)))
	said, err := f.kubectl("", "delete", "-f", "../../../dist/kustomize/crds.yaml", "--dry-run=server", "--ignore-not-found")
	require.Error(t, err)
	require.Contains(t, said, "deletes every PersistentFleet, with its members and their disks")
	require.Contains(t, said, "deletes every StorageReservation")
	said, err = f.kubectl("", "delete", "crd", "httproutes.gateway.networking.k8s.io", "--dry-run=server")
	require.NoError(t, err, said)
}

// Nothing would be left of a fleet whose dependents were orphaned.
func TestOrphaningAFleetIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	said, err := f.kubectl("", "delete", "pfleet/my-fleet", "--cascade=orphan")
	require.Error(t, err)
	require.Contains(t, said, "propagationPolicy: Orphan keeps nothing here")
	require.Nil(t, f.read(v1alpha1.GroupVersion.String(), f.Kind(), f.GetName()).GetDeletionTimestamp())
	said, err = f.kubectl("", "delete", "pfleet/my-fleet", "--wait=false")
	require.NoError(t, err, said)
}

// A namespace with a protected fleet stays, whatever the value says.
func TestNamespaceOfAProtectedFleetStays(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(f *v1alpha1.PersistentFleet) {
		f.Annotations = map[string]string{v1alpha1.AnnotationProtect: "True"}
	})
	f.sync()
	said, err := f.kubectl("", "delete", "namespace", f.GetNamespace(), "--wait=false")
	require.Error(t, err)
	require.Contains(t, said, "would be deleted with its members and disks: remove the annotation from the fleet first")
	said, err = f.kubectl("", "annotate", "pfleet/my-fleet", "celld.eric.dev/protect=false", "--overwrite")
	require.NoError(t, err, said)
	said, err = f.kubectl("", "delete", "namespace", f.GetNamespace(), "--wait=false")
	require.NoError(t, err, said)
}

// An object full of commas and keys can be changed, and deleted where any other
// could be.
func TestFullObjectsCanBeChanged(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	claim := f.claim(5)
	claim.Annotations = map[string]string{"commas": strings.Repeat(",", 60_000)}
	labels := map[string]string{}
	for i := range 20_000 {
		labels["celld.eric.dev/l"+strings.Repeat("x", i%5)+string(rune('a'+i%26))+resource.NewQuantity(int64(i), resource.DecimalSI).String()] = ""
	}
	claim.Labels = labels
	claim.Labels[v1alpha1.LabelFleetUID] = identity
	claim.Name = "data-other-5"
	require.NoError(t, f.c.Client.Create(t.Context(), claim))
	said, err := f.kubectl("", "label", "persistentvolumeclaim/data-other-5", "celld.eric.dev/fleet-uid-")
	require.NoError(t, err, said)
	said, err = f.kubectl("", "delete", "persistentvolumeclaim/data-other-5", "--wait=false")
	require.NoError(t, err, said)
	said, err = f.kubectl("", "annotate", "pfleet/my-fleet", "commas="+strings.Repeat(",", 60_000))
	require.NoError(t, err, said)
	said, err = f.kubectl("", "delete", "pfleet/my-fleet", "--wait=false")
	require.NoError(t, err, said)
}

// A StatefulSet with another name, whose claims are called like those of a
// member, gets none.
func TestClaimsAtAMembersNameByAnotherTemplate(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.sync()
	mark, labels := f.c.Mark(t), map[string]string{"app": "other"}
	require.NoError(t, f.c.Client.Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.GetNamespace(), Name: "fleet"},
		Spec: appsv1.StatefulSetSpec{
			Ordinals: &appsv1.StatefulSetOrdinals{Start: 7},
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data-my"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}},
		},
	}))
	cluster.Wait(t, "its claim to be refused", func(ctx) (bool, string) {
		tried := f.c.Requests(t, mark, func(r cluster.Request) bool {
			return r.Resource == "persistentvolumeclaims" && r.Namespace == f.GetNamespace() && r.Writes() && r.Code == 403
		})
		return len(tried) > 0, "its writes: " + join(tried)
	})
}

// Labelled later or created so: a workload that is not the live fleet's, and a
// part with an owner, do not come in.
func TestWhatIsNotTheLiveFleetsIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(f *v1alpha1.PersistentFleet) {
		f.Spec.Identity = "9f14e45f-ceea-467f-a9d5-0c2a1f5b7e11"
		f.Annotations = nil
	})
	require.NoError(t, f.apply(f.rendered()[0]))
	other := of(t, f.c, f.DeepCopyObject().(v1alpha1.Fleet))
	other.Store().Bucket += "-other"
	err := other.apply(other.rendered()[1])
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "env[CELLD_BUCKET].value: is \"s3://"+f.GetNamespace()+"-other\"")
	renamed := of(t, f.c, f.DeepCopyObject().(v1alpha1.Fleet))
	renamed.SetName("renamed")
	err = renamed.apply(renamed.rendered()[1])
	require.True(t, denied(err), "%v", err)
	require.ErrorContains(t, err, "whose workload has its name")

	unlabelled := other.rendered()[1]
	unlabelled.SetLabels(nil)
	require.NoError(t, f.c.Client.Create(t.Context(), unlabelled))
	err = other.apply(other.rendered()[1])
	require.True(t, denied(err), "%v", err)
	require.NoError(t, f.c.Client.Delete(t.Context(), unlabelled, client.PropagationPolicy(metav1.DeletePropagationBackground)))

	for _, part := range f.rendered()[2:] {
		part.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "1"}})
		err = f.apply(part)
		require.True(t, denied(err), "%s: %v", part.GetKind(), err)
	}
}
