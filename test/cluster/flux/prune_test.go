// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"path/filepath"
	"strings"
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
	var kept, lost []string
	for _, object := range objects {
		if strings.HasPrefix(object.GetName(), "sessions") {
			continue
		}
		if tm.Client.Get(t.Context(), key(object), object.DeepCopy()) == nil {
			kept = append(kept, object.GetKind())
		} else {
			lost = append(lost, object.GetKind())
		}
	}
	require.ElementsMatch(t, []string{"PersistentFleet", "StatefulSet"}, kept)
	require.ElementsMatch(t, []string{"Service", "Service", "PodDisruptionBudget", "NetworkPolicy"}, lost)

	// Whoever meant it puts the fleet back, and all is as it was.
	tm.write(fleetFile, file)
	tm.commit(ready)
}

func suspendedKustomization(t *testing.T, f *flux) {
	tm := f.newSmallTeam(t)
	before, objects := tm.settled(t), tm.inventory(t)
	tm.mustRun(`kubectl -n flux-system patch kustomization fleets --type merge -p '{"spec": {"suspend": true}}'`)
	tm.mustRun("kubectl -n flux-system delete kustomization fleets")
	tm.requireLeft(before, objects)

	// Another one takes them over, without a change. This one leaves them too.
	tm.edit(fleetsFile, "prune: true", "prune: true\n  deletionPolicy: Orphan")
	tm.kubectl(t, "apply", "--server-side", "-f", filepath.Join(tm.dir, fleetsFile))
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
