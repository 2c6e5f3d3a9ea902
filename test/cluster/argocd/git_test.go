// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// broken are commits that must not reach the cluster, and what Argo CD says.
var broken = map[string]struct {
	change func(*fleet)
	says   []string
}{
	"a field with a typo": {
		func(f *fleet) { f.edit(directory+"/fleet.yaml", "replicas: 3", "replica: 3") },
		[]string{`fleet.yaml:8:3: spec.replica: unknown field, did you mean "replicas"?`, "nothing was rendered (application broken, path quickstart"},
	},
	"a file that holds no fleet any more": {
		func(f *fleet) { f.write(directory+"/fleet.yaml", "# nothing\n") },
		[]string{"holds no fleet"},
	},
	"no fleet file any more": {
		func(f *fleet) { f.git("rm", "--quiet", directory+"/fleet.yaml") },
		[]string{`could not find cmp-server plugin with name "fleetwright" supporting the given repository`},
	},
}

// testBroken commits what cannot be rendered to a fleet that runs.
func (s *system) testBroken(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "broken")
	good := f.commit("A fleet")
	f.start()
	f.waitSynced(good, "Healthy")
	before := f.generations(t)
	for name, tc := range broken {
		tc.change(f)
		f.commit(name)
		f.refresh()
		f.waitCondition("ComparisonError", tc.says...)
		require.Equal(t, "Unknown", f.Sync.Status)
		require.Equal(t, before, f.generations(t), name)
		f.git("reset", "--quiet", "--hard", good)
	}
	f.refresh()
	f.waitSynced(good, "Healthy")
	require.Empty(t, f.Conditions)
	require.Equal(t, before, f.generations(t))
}

// testRefused commits what renders and is refused, and then something better.
func (s *system) testRefused(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "refused")
	good := f.commit("A fleet")
	f.start()
	f.waitSynced(good, "Healthy")
	spec, template := f.stored().Spec, f.set().Spec.Template

	f.edit(directory+"/fleet.yaml", "bucket: s3://refused", "bucket: s3://another")
	f.commit("Another bucket")
	f.refresh()
	f.wait("to be refused", func() bool {
		return f.OperationState.Phase == "Running" && strings.Contains(f.OperationState.Message, "spec.storage.bucket") &&
			strings.Contains(f.OperationState.Message, "cannot be changed")
	})
	require.Equal(t, spec, f.stored().Spec)
	require.Equal(t, template, f.set().Spec.Template)

	f.edit(directory+"/fleet.yaml", "bucket: s3://another", "bucket: s3://refused")
	f.edit(directory+"/fleet.yaml", "replicas: 3", "replicas: 4")
	f.push("The old bucket, and another member", "Healthy")
	f.waitReplicas(4)
}

// testForced commits another bucket to a fleet that is applied with force, which
// deletes what is Invalid: the change is Forbidden, and all stays.
func (s *system) testForced(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "forced")
	f.edit(directory+"/fleet.yaml", "  name: my-fleet\n", "  name: my-fleet\n  annotations: {argocd.argoproj.io/sync-options: Force=true}\n")
	good := f.commit("A fleet")
	f.start(func(o *unstructured.Unstructured) { // with server-side apply there is no force
		unstructured.RemoveNestedField(o.Object, "spec", "syncPolicy", "syncOptions")
	})
	f.waitSynced(good, "Healthy")
	before := f.generations(t)

	f.edit(directory+"/fleet.yaml", "bucket: s3://forced", "bucket: s3://another")
	f.commit("Another bucket")
	f.refresh()
	f.wait("to be refused", func() bool {
		return f.OperationState.Phase == "Running" && strings.Contains(f.OperationState.Message, "spec.storage.bucket: cannot be changed")
	})
	after := f.generations(t)
	for _, object := range []string{"PersistentFleet my-fleet", "StatefulSet my-fleet"} {
		require.Equal(t, before[object], after[object])
	}
}

// testServerSideDiff shows why the examples do not ask for it: Argo CD forgets
// that a commit was refused.
func (s *system) testServerSideDiff(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "forgotten")
	good := f.commit("A fleet")
	f.start(serverSideDiff)
	f.waitSynced(good, "Healthy")
	f.edit(directory+"/fleet.yaml", "bucket: s3://forgotten", "bucket: s3://another")
	refused := f.commit("Another bucket")
	f.refresh() // a ComparisonError, until Argo CD compares again
	f.waitSynced(refused, "Healthy")
	require.Equal(t, "s3://forgotten", f.stored().Spec.Storage.Bucket)
}

// testDrift changes by hand what Git says.
func (s *system) testDrift(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "drift")
	revision := f.commit("A fleet")
	f.start(func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, "spec", "syncPolicy", "automated", "selfHeal")
	})
	f.waitSynced(revision, "Healthy")

	before := f.stored()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "my-fleet"}}
	require.NoError(t, s.Client.Delete(t.Context(), service))
	image := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"runtimeImage":"registry.test/celld@sha256:`+strings.Repeat("0", 64)+`"}}`))
	require.NoError(t, s.Client.Patch(t.Context(), f.live(), image))
	f.wait("to show the drift", func() bool {
		drifted := map[string]string{}
		for _, r := range f.Resources {
			drifted[r.Kind+" "+r.Name] = r.Status
		}
		return f.Sync.Status == "OutOfSync" && drifted["Service my-fleet"] == "OutOfSync" &&
			drifted["PersistentFleet my-fleet"] == "OutOfSync" && drifted["StatefulSet my-fleet"] == "Synced"
	})

	f.patch(`{"spec":{"syncPolicy":{"automated":{"selfHeal":true}}}}`)
	f.waitSynced(revision, "Healthy")
	s.Get(service)
	require.Equal(t, before.Spec.RuntimeImage, f.stored().Spec.RuntimeImage)

	// What Git does not mention is no drift, and stays.
	pause := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"maintenance":{"paused":true}}}`))
	require.NoError(t, s.Client.Patch(t.Context(), f.live(), pause))
	f.waitSynced(revision, "Progressing") // the workload in Git still rolls out, so the pause is not held
	f.requireInSync("paused by hand")
	f.edit(directory+"/fleet.yaml", "spec:\n", "spec:\n  maintenance: {paused: false}\n")
	f.push("Not paused", "Healthy")
	require.False(t, f.stored().Spec.Maintenance.Paused)
}

// testPrune takes one of two fleets out of Git, which needs a person's consent,
// and then the Application away.
func (s *system) testPrune(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "prune")
	f.write(directory+"/other-fleet.yaml", strings.NewReplacer("s3://prune", "s3://prune-other",
		"  name: my-fleet\n", "  name: other\n  annotations:\n    argocd.argoproj.io/sync-options: Prune=confirm,Delete=confirm\n",
	).Replace(quickstart(t, "prune")))
	both := f.commit("Two fleets")
	f.start(func(o *unstructured.Unstructured) {
		o.SetFinalizers([]string{"resources-finalizer.argocd.argoproj.io/foreground"})
	})
	f.waitSynced(both, "Healthy")
	require.Len(t, f.claims(), 6)
	before := f.generations(t)

	f.git("rm", "--quiet", directory+"/other-fleet.yaml")
	one := f.commit("One fleet")
	f.refresh()
	f.wait("to ask", func() bool {
		return f.OperationState.Phase == "Running" &&
			strings.HasPrefix(f.OperationState.Message, "Waiting for pruning confirmation of celld.eric.dev/v1alpha1/PersistentFleet/other")
	})
	cluster.Holds(t, time.Second, "nothing is pruned", func(ctx) (bool, string) {
		return maps.Equal(before, f.generations(t)), ""
	})
	f.patch(`{"metadata":{"annotations":{"argocd.argoproj.io/deletion-approved":"` + time.Now().UTC().Format(time.RFC3339) + `"}}}`)
	f.waitSynced(one, "Healthy")
	require.Equal(t, []string{"data-my-fleet-0", "data-my-fleet-1", "data-my-fleet-2"}, f.claims(), "the healer has deleted the others' disks")
	require.Len(t, f.generations(t), len(before)-6, "the fleet and the five objects that ran it")

	require.NoError(t, s.Client.Delete(t.Context(), f.object))
	s.waitGone(t, f.object)
	require.Empty(t, f.claims())
	require.Len(t, f.generations(t), 1, "the service account of the namespace itself")
}

// testParameters renders to another namespace than the destination.
func (s *system) testParameters(t *testing.T) {
	t.Parallel()
	f := s.newFleet(t, "parameters")
	f.write(directory+"/account.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: celld-runtime\n  namespace: parameters\n")
	revision := f.commit("A fleet")
	f.start(
		func(o *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(o.Object, "default", "spec", "destination", "namespace"))
		},
		parameters(t, "namespace", "parameters", "healer-namespace", "fleetwright-system"),
	)
	f.waitSynced(revision, "Healthy")
	f.waitReplicas(3)

	parameters(t, "namspace", "parameters")(f.object)
	require.NoError(t, s.Client.Update(t.Context(), f.object))
	f.waitCondition("ComparisonError", `parameter "namspace": unknown; there are namespace and healer-namespace`)
}
