// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"fmt"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/test/cluster"
)

// requireByItself checks what Flux would say of an object without the
// expressions of the example.
func requireByItself(t *testing.T, want status.Status, object *unstructured.Unstructured) {
	t.Helper()
	result, err := status.Compute(object)
	require.NoError(t, err)
	require.Equal(t, want, result.Status, "%s: %s", object.GetKind(), result.Message)
}

func paused(t *testing.T, f *flux) {
	tm := f.newTeam(t)
	for _, file := range []string{fleetFile, sessionsFile} {
		tm.spec(file, "maintenance: {paused: true}")
	}
	tm.commit(ready)
	tm.w.Behave("my-fleet-1", cluster.Unready)
	fleet := tm.fleet()
	cluster.Wait(t, "the healer to see two ready members", tm.Object(fleet, func() (bool, string) {
		return number(fleet, "status", "readyReplicas") == 2, fmt.Sprint(fleet.Object["status"])
	}))
	tm.sync(t, ready)
	requireByItself(t, status.InProgressStatus, tm.fleet())
	requireByItself(t, status.CurrentStatus, tm.set()) // OnDelete: nobody rolls it out
	requireByItself(t, status.InProgressStatus, tm.get("apps/v1", "Deployment", "sessions"))

	// What is committed meanwhile is staged, and restarts nobody.
	pod := tm.w.Pod("my-fleet-2")
	tm.spec(fleetFile, "cells: {idleEvictSeconds: 7}")
	tm.commit(ready)
	require.Equal(t, pod.UID, tm.w.Pod("my-fleet-2").UID)

	tm.w.Behave("my-fleet-1", cluster.Ready)
	for _, file := range []string{fleetFile, sessionsFile} {
		tm.edit(file, "paused: true", "paused: false")
	}
	tm.commit(ready)
	tm.waitPhase("PersistentFleet", "my-fleet", "Ready")
	require.NotEqual(t, pod.UID, tm.w.Pod("my-fleet-2").UID)
}

func stopped(t *testing.T, f *flux) {
	tm := f.newTeam(t)
	for _, file := range []string{fleetFile, sessionsFile} {
		tm.spec(file, "maintenance: {stopped: true}")
	}
	tm.commit(ready)
	tm.waitPhase("PersistentFleet", "my-fleet", "Stopped")
	tm.waitPhase("BucketFleet", "sessions", "Stopped")
	tm.sync(t, ready)
	require.Zero(t, number(tm.set(), "spec", "replicas"))
	requireByItself(t, status.InProgressStatus, tm.fleet())

	for _, file := range []string{fleetFile, sessionsFile} {
		tm.edit(file, "stopped: true", "stopped: false")
	}
	tm.commit(ready)
	tm.waitPhase("PersistentFleet", "my-fleet", "Ready")
	require.EqualValues(t, 3, number(tm.set(), "spec", "replicas"))
}

func blocked(t *testing.T, f *flux) {
	tm := f.team(t)
	tm.w.AddNode(tm.w.Zones[0])
	// Somebody's claim, which was there before the fleet.
	foreign := &corev1.PersistentVolumeClaim{ObjectMeta: tm.meta("data-my-fleet-3")}
	foreign.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	foreign.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	require.NoError(t, f.Client.Create(t.Context(), foreign))
	tm.remove(sessionsFile)
	tm.follow(fleetsFile)
	tm.commit(ready)

	tm.edit(fleetFile, "replicas: 3", "replicas: 4")
	tm.commit(failed("HealthCheckFailed", "PersistentFleet/"+tm.w.Namespace+"/my-fleet status: 'Failed'"))
	said := tm.mustRun("kubectl -n flux-system get kustomization fleets")
	require.Contains(t, said, "stalled resources")
	said = tm.mustRun(`kubectl get pfleet my-fleet -n fleets -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}'`)
	require.Contains(t, said, "data-my-fleet-3")
	requireByItself(t, status.FailedStatus, tm.fleet())

	tm.edit(fleetFile, "replicas: 4", "replicas: 3")
	tm.commit(ready)
}
