// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	before := tm.versions(t)
	objects := tm.inventory(t)
	tm.mustRun(`kubectl -n flux-system patch kustomization fleets --type merge -p '{"spec": {"suspend": true}}'`)
	tm.mustRun("kubectl -n flux-system delete kustomization fleets")
	cluster.Wait(t, "the Kustomization to be gone", tm.Gone(tm.empty()))
	for _, object := range objects {
		now := object.DeepCopy()
		require.NoError(t, tm.Client.Get(t.Context(), key(object), now))
		require.Equal(t, before[name(now)], version(now))
	}
}
