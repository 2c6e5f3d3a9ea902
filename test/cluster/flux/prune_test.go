// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/test/cluster"
)

func prunedFleet(t *testing.T, f *flux) {
	tm := f.newTeam(t)
	objects, reservation := tm.inventory(t), text(tm.fleet(), "status", "reservation")
	require.Len(t, tm.claims(), 3)
	tm.remove(fleetFile)
	tm.commit(ready)
	for _, object := range objects {
		if object.GetLabels()["celld.eric.dev/fleet"] == "my-fleet" || object.GetKind() == "PersistentFleet" {
			cluster.Wait(t, object.GetKind()+" "+object.GetName()+" to be gone", tm.Gone(object))
		}
	}
	require.Empty(t, tm.claims())
	tm.requireReservation(reservation)
	tm.waitPhase("BucketFleet", "sessions", "Ready")
}

func (tm *team) requireReservation(name string) {
	tm.t.Helper()
	reservation := tm.object("celld.eric.dev/v1alpha1", "StorageReservation", name)
	reservation.SetNamespace("")
	tm.w.Get(reservation)
	require.Empty(tm.t, reservation.GetDeletionTimestamp())
}

func protectedFleet(t *testing.T, f *flux) {
	tm := f.newTeam(t)
	tm.edit(fleetFile, "  name: my-fleet\n", "  name: my-fleet\n  annotations: {celld.eric.dev/protect: \"true\"}\n")
	tm.commit(ready)
	objects := tm.inventory(t)
	file := tm.read(fleetFile)
	tm.remove(fleetFile)
	tm.commit(failed("PruneFailed", "celld.eric.dev/protect"))
	for _, object := range objects {
		require.NoError(t, tm.Client.Get(t.Context(), key(object), object.DeepCopy()), name(object))
	}

	// Whoever meant it puts the fleet back, and all is as it was.
	tm.write(fleetFile, file)
	tm.commit(ready)
	tm.edit(fleetFile, `celld.eric.dev/protect: "true"`, `celld.eric.dev/protect: "false"`) // else its namespace would stay
	tm.commit(ready)
}

func suspendedKustomization(t *testing.T, f *flux) {
	tm := f.newSmallTeam(t)
	before, objects := tm.settled(t), tm.inventory(t)
	parent := tm.bootstrap()
	tm.mustRun(`kubectl -n flux-system patch kustomization fleets --field-manager me --type merge -p '{"spec": {"suspend": true}}'`)
	parent.sync(t, ready)
	require.Equal(t, true, tm.specified("suspend"), "Flux takes it back")
	parent.forget(t)
	tm.mustRun("kubectl -n flux-system delete kustomization fleets")
	tm.requireLeft(before, objects)

	// Another one takes them over, without a change. This one leaves them too.
	tm.edit(fleetsFile, "prune: true", "prune: true\n  deletionPolicy: Orphan")
	tm.MustKubectl(t, "apply", "--server-side", "-f", filepath.Join(tm.dir, fleetsFile))
	tm.wait(t, "the fleets again", ready, func(*unstructured.Unstructured) bool { return true })
	tm.mustRun("kubectl -n flux-system delete kustomization fleets")
	tm.requireLeft(before, objects)
}

// requireLeft checks that the Kustomization is gone and what it applied is not.
func (tm *team) requireLeft(versions map[string]string, objects []*unstructured.Unstructured) {
	tm.t.Helper()
	cluster.Wait(tm.t, "the Kustomization to be gone", tm.Gone(tm.empty()))
	for _, object := range objects {
		now := object.DeepCopy()
		require.NoError(tm.t, tm.Client.Get(tm.t.Context(), key(object), now))
		require.Equal(tm.t, versions[name(object)], version(now))
	}
}

// bootstrap returns a Kustomization that applies the team's own, as that of a
// bootstrapped Flux does.
func (tm *team) bootstrap() *kustomization {
	tm.t.Helper()
	parent := &kustomization{f: tm.flux, name: tm.name + "-root"}
	require.NoError(tm.t, os.Mkdir(filepath.Join(tm.dir, "clusters", "parent"), 0o755))
	tm.write("clusters/parent/fleets.yaml", tm.read(fleetsFile))
	object := parent.empty()
	object.Object["spec"] = map[string]any{
		"interval": "10m", "prune": false, "path": "./clusters/parent",
		"sourceRef": map[string]any{"kind": "GitRepository", "name": tm.name},
	}
	require.NoError(tm.t, tm.Client.Create(tm.t.Context(), object))
	tm.t.Cleanup(func() { parent.forget(tm.t) })
	parent.waitRevision(tm.t, tm.publish(tm.t, "GitRepository", tm.name, tm.dir), ready)
	return parent
}

// specified returns a field of the spec of the team's Kustomization.
func (tm *team) specified(field string) any {
	tm.t.Helper()
	object := tm.empty()
	require.NoError(tm.t, tm.Client.Get(tm.t.Context(), key(object), object))
	return object.Object["spec"].(map[string]any)[field]
}
