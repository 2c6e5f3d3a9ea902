// SPDX-License-Identifier: Apache-2.0

package flux_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/test/cluster"
)

func healersWork(t *testing.T, f *flux) {
	tm := f.newSmallTeam(t)
	for _, zone := range tm.w.Zones[:2] {
		tm.w.AddNode(zone)
	}
	tm.edit(fleetFile, "replicas: 3", "replicas: 5")
	tm.commit(ready)
	require.EqualValues(t, 5, number(tm.set(), "spec", "replicas"))
	tm.requireSyncChangesNothing(t)

	lost := tm.w.Claim("data-my-fleet-1")
	tm.w.Behave("my-fleet-1", cluster.Crashing) // as without a disk
	tm.w.LoseVolume(lost.Name)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: tm.meta(lost.Name)}
	// A healer that has just begun replaces nothing for its delay, one minute here.
	cluster.WaitWithin(t, 3*time.Minute, "a fresh disk", tm.Object(claim, func() (bool, string) {
		return claim.UID != lost.UID && claim.Status.Phase == corev1.ClaimBound, cluster.DescribeClaim(claim)
	}))
	tm.waitPhase("PersistentFleet", "my-fleet", "Ready")
	tm.requireSyncChangesNothing(t)
	require.Equal(t, claim.UID, tm.w.Claim(lost.Name).UID)
}

func drift(t *testing.T, f *flux) {
	tm := f.newSmallTeam(t)
	lost := &corev1.Service{ObjectMeta: tm.meta("my-fleet-peers")}
	tm.w.Get(lost)
	tm.w.Delete(lost)
	tm.MustKubectl(t, "patch", "pfleet", "my-fleet", "-n", tm.w.Namespace, "--type=merge", "-p", `{"spec": {"cells": {"idleEvictSeconds": 7}}}`)
	for args, remedy := range map[string]string{
		"rollout restart statefulset my-fleet":            "spec.maintenance.restartToken",
		"scale statefulset my-fleet --replicas 2":         "spec.replicas",
		"set image statefulset my-fleet celld=celld:edge": "spec.runtimeImage",
	} {
		_, stderr, err := f.Kubectl(t, nil, append(strings.Fields(args), "-n", tm.w.Namespace)...)
		require.Error(t, err)
		require.Contains(t, stderr, remedy)
	}

	tm.mustRun(`kubectl -n flux-system patch kustomization fleets --field-manager me --type merge -p '{"spec": {"suspend": true}}'`)
	tm.mustRun(`kubectl -n flux-system patch kustomization fleets --field-manager me --type merge -p '{"spec": {"suspend": false}}'`)
	said := tm.mustRun(`kubectl -n flux-system annotate --overwrite kustomization fleets reconcile.fluxcd.io/requestedAt="$(date +%s)"`)
	require.Contains(t, said, "annotated")
	tm.sync(t, ready)
	repaired := &corev1.Service{ObjectMeta: tm.meta("my-fleet-peers")}
	tm.w.Get(repaired)
	require.NotEqual(t, lost.UID, repaired.UID)
	require.Zero(t, number(tm.fleet(), "spec", "cells", "idleEvictSeconds"))

	tm.spec(fleetFile, "maintenance: {restartToken: \"1\"}")
	pod := tm.w.Pod("my-fleet-2")
	tm.commit(ready)
	require.NotEqual(t, pod.UID, tm.w.Pod("my-fleet-2").UID)
}

func refusedChange(t *testing.T, f *flux) {
	tm := f.newTeam(t)
	before := tm.settled(t)
	tm.edit(fleetFile, "storageClassName: ebs-delete", "storageClassName: ebs-delete\n    size: 20Gi")
	tm.edit(sessionsFile, "replicas: 3", "replicas: 4")
	tm.commit(failed("ReconciliationFailed", "StatefulSet/"+tm.w.Namespace+"/my-fleet dry-run failed", "updates to statefulset spec"))
	require.Equal(t, before, tm.versions(t))

	// What Flux changes after the rendering is refused too.
	tm.edit(fleetFile, "\n    size: 20Gi", "")
	tm.edit(sessionsFile, "replicas: 4", "replicas: 3")
	tm.commit(ready)
	for change, says := range map[string]string{
		`"images": [{"name": "ghcr.io/ewhauser/celld", "newName": "registry.example.com/celld"}]`: "change spec.runtimeImage of the fleet in Git",
		// Several objects are refused, for one reason or another.
		`"targetNamespace": "default"`: "denied the request",
		`"namePrefix": "our-"`:         "denied the request",
	} {
		tm.patch(t, `{"spec": {"images": null, "targetNamespace": null, "namePrefix": null, `+change+`}}`)
		tm.sync(t, failed("ReconciliationFailed", says))
	}
	require.Equal(t, before, tm.versions(t))
}
